"""The turns of a round: played all at once, and written as they end, together if they end together."""

import asyncio
from collections.abc import (
    AsyncGenerator,
    AsyncIterator,
    Awaitable,
    Callable,
    Collection,
    Iterator,
    Mapping,
    Sequence,
    Set,
)
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import TypeVar

from agents.answers.parse import READER_VERSION
from agents.deciding import decision_of
from agents.model import (
    DECIDED_STATUSES,
    USABLE_STATUSES,
    Ask,
    Call,
    Decision,
    Prompt,
    TooLate,
    View,
)
from agents.text import printable
from arena.calls.faults import NotKept
from arena.calls.recorded_ask import Asker, AskingTurn
from arena.cohorts.cohort import forecast_sources, play_waves, seed_for
from arena.cohorts.hidden_rounds import LEFT_OUT_WORDS, is_left_out, refused_orders, view_of_round
from arena.cohorts.schedule import PLAY_WINDOW
from arena.record.model.cohort import NO_EVIDENCE, Cohort, Entrant, Turn
from arena.record.model.lease import heartbeat
from arena.record.model.reservation import Payer
from arena.record.queries.cohorts import (
    EXCLUDED,
    StoredCohort,
    StoredRound,
    read_calls,
    read_final_forecasts,
    read_rounds,
    read_turn_statuses,
)
from arena.record.queries.decisions import read_turns
from arena.record.record import Record
from arena.record.write.evidence import read_evidence
from arena.record.write.reservations import read_pauses
from arena.record.write.turns import TurnUnderClaim, claim_turns
from arena.rounds.error_text import code_place, redact_keys, unexpected_error_text
from arena.rounds.evidence import gather_context, toolbox
from arena.rounds.listings import ids_of
from arena.rounds.world import Player, World
from markets.model import Listing, MarketId, Snapshot
from markets.venue import VenueError
from portfolio.execute import execute_at, is_out
from portfolio.ledger import post
from portfolio.marks import mark_all
from portfolio.matching import SnapshotOffers, WorseOffers
from portfolio.model import Bet, Fill, Rejection, Sale
from portfolio.quotes import duration_text

Order = TypeVar("Order", Bet, Sale)
NO_NAMES: Set[str] = frozenset()
CLOSED_CODE = "closed_since"
"""The code of an order that is refused because its market closed before the agent had answered."""
CLOSED_WORDS = "the market has closed since the snapshot was taken"


@dataclass(frozen=True, slots=True)
class ClaimedTurn:
    """An entrant whose turn is claimed: its player, what it sees, and what the snapshot offers to all.

    `excluded` is why the entrant is not asked, and `waiting` for what it waits, or nothing; `asked` says
    whether it was asked before, `missed` whether its window is over. With `look_again` the turn is scored at
    the prices of when it was answered, and filled at these; if it is `retried` after a failure, at the worse
    of both.
    """

    entrant: Entrant
    entrant_id: int
    token: int
    player: Player
    ask: Ask
    view: View
    offers: SnapshotOffers
    cohort: Cohort
    now: Callable[[], datetime]
    excluded: str = ""
    waiting: str = ""
    asked: bool = False
    missed: bool = False
    retried: bool = False
    look_again: Callable[[], Awaitable[Snapshot]] | None = None


async def play_turns(
    stored: StoredCohort,
    stored_round: StoredRound,
    world: World,
    record: Record,
    late: bool,
    again: bool,
    only: Collection[str] | None = None,
) -> AsyncGenerator[Turn, None]:
    """Play the turns that are missing and, until it is too `late`, those that failed; yield what is written.

    Agents that others are made from play before these. `only` names the agents to play, of one wave: then
    nothing is read of the others, however many there are. `again` says whether the round was begun before.
    """
    taken = record.snapshot(stored.id, stored_round.at)
    if taken is None:
        raise LookupError(f"round {stored_round.number} of cohort {stored.cohort.number} has no snapshot")
    _, snapshot = taken

    for wave in waves_to_play(stored.cohort, only):
        ids = stored.entrant_ids if only is None else entrant_ids_for(wave, stored)
        ids_to_read = None if only is None else [*ids.values()]  # None reads those of all entrants
        statuses = record.read(read_turn_statuses, stored_round.id, ids_to_read)

        missing = set(unfinished_turns(ids, statuses))
        missing_or_failed = set(unfinished_turns(ids, statuses, {"failed"}))
        playable = missing if late else missing_or_failed
        ready = list(ready_entrants(wave, playable, missing))

        if world.dispatch is not None and only is None and not late:
            for_workers = [
                entrant.name for entrant in ready if not failed_source_reason(entrant, missing_or_failed)
            ]
            played, left = await play_by_workers(
                for_workers, stored, stored_round, snapshot.seen_at, again, world, record
            )
            for turn in played:
                yield turn
            ready = [entrant for entrant in ready if entrant.name not in for_workers or entrant.name in left]

        claims = [
            replace(
                claim,
                excluded=failed_source_reason(claim.entrant, missing_or_failed),
                waiting="" if claim.asked else what_entrant_waits_for(claim.entrant, stored, statuses, world),
                missed=late,
                retried=claim.entrant.name in missing_or_failed and claim.entrant.name not in missing,
                look_again=second_look(claim, again, stored.cohort, world),
            )
            for claim in claimed_turns(ready, stored, stored_round, snapshot, world, record)
        ]

        # The heartbeat renews the claims in `held`, by entrant, for as long as their turns are played.
        held: dict[int, int] = {}
        tasks = {}
        async with heartbeat(partial(world.reservations.renew_turns, stored_round.id, held, record)):
            for claim in claims:
                held[claim.entrant_id] = claim.token
                task = asyncio.create_task(play_turn_in_place(claim, stored_round.number, world))
                tasks[task] = claim
            async with at_work([*tasks], world):
                async for ended in ended_turns(tasks):
                    for turn in write_turns(ended, held, stored, stored_round, world, record):
                        yield turn


@asynccontextmanager
async def at_work(tasks: Sequence["asyncio.Task[Turn]"], world: World) -> AsyncIterator[None]:
    """Cancel the tasks at the end of the block; if it failed, store what they have paid for first."""
    try:
        yield
    except Exception:
        await world.under_way.drain()
        raise
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def play_by_workers(
    names: Sequence[str],
    stored: StoredCohort,
    stored_round: StoredRound,
    seen_at: datetime,
    again: bool,
    world: World,
    record: Record,
) -> tuple[list[Turn], Collection[str]]:
    """Have workers play turns; return those they played, and the agents that are left for want of workers.

    The time for a round counts from when its prices were read. Once it is over no agent is left: it is too
    late for those that have not played.
    """
    if not names or world.dispatch is None:
        return [], ()

    def missing() -> Collection[str]:
        if is_late(stored.cohort, seen_at, world.now()):
            return ()

        # The calls are made by workers, so the record says which models are being spared.
        for paused in record.read(read_pauses):
            world.reservations.waits.note(paused.name, paused.seconds)
        statuses = record.read(read_turn_statuses, stored_round.id)
        unfinished = unfinished_turns(stored.entrant_ids, statuses)
        return set(names).intersection(unfinished)

    left = await world.dispatch(stored, stored_round, names, missing, again)
    played_ids = [stored.entrant_ids[name] for name in names if name not in left]
    played = record.read(read_turns, stored_round.id, played_ids)
    if is_late(stored.cohort, seen_at, world.now()):
        return played, ()
    return played, left


def waves_to_play(cohort: Cohort, only: Collection[str] | None) -> Sequence[Sequence[Entrant]]:
    """Return the entrants in waves that can play one after another, or those of these names alone."""
    if only is None:
        return play_waves(cohort.entrants)
    return [[entrant for entrant in cohort.entrants if entrant.name in only]]


def entrant_ids_for(wave: Sequence[Entrant], stored: StoredCohort) -> dict[str, int]:
    """Return the ids of the entrants of a wave, and of those that they are made from, by name."""
    ids = {}
    for entrant in wave:
        for name in (entrant.name, *forecast_sources(entrant.settings)):
            ids[name] = stored.entrant_ids[name]
    return ids


def ready_entrants(wave: Sequence[Entrant], playable: Set[str], missing: Set[str]) -> Iterator[Entrant]:
    """Yield the playable entrants of a wave that are not made from an agent whose turn is missing."""
    for entrant in wave:
        sources_have_played = missing.isdisjoint(forecast_sources(entrant.settings))
        if entrant.name in playable and sources_have_played:
            yield entrant


def failed_source_reason(entrant: Entrant, failed: Collection[str]) -> str:
    """Return why an entrant is not asked, if an agent that it is made from has failed; else nothing."""
    failed_sources = [name for name in forecast_sources(entrant.settings) if name in failed]
    if not failed_sources:
        return ""
    return ", ".join(failed_sources) + EXCLUDED


def what_entrant_waits_for(
    entrant: Entrant, stored: StoredCohort, statuses: Mapping[int, str], world: World
) -> str:
    """Return what an entrant waits for: the variable of its key, the agent it is made from, or nothing."""
    variable = world.missing_key(entrant)
    if variable:
        return variable

    # An agent made from others waits only if all of them do.
    sources = forecast_sources(entrant.settings)
    for name in sources:
        if statuses.get(stored.entrant_ids[name]) != "waiting":
            return ""
    return sources[0] if sources else ""


async def ended_turns(
    tasks: Mapping["asyncio.Task[Turn]", ClaimedTurn],
) -> AsyncIterator[list[tuple[ClaimedTurn, Turn]]]:
    """Yield turns with their claims as they end: none waits for another that takes longer.

    Once the turns that have ended are yielded, raise the error of one that failed. If an answer could not be
    stored, that is the error of the record.
    """
    running = list(tasks)
    while running:
        await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)

        ended = []
        failed_tasks = []
        for task in [*running]:
            if not task.done():
                continue
            running.remove(task)
            if task.cancelled() or task.exception():
                failed_tasks.append(task)
            else:
                ended.append((tasks[task], task.result()))

        if ended:
            yield ended
        for task in failed_tasks:
            try:
                await task  # raises the task's error
            except NotKept as error:
                raise error.fault from error


def unfinished_turns(
    entrant_ids: Mapping[str, int], statuses: Mapping[int, str], also_statuses: Set[str] = NO_NAMES
) -> tuple[str, ...]:
    """Return the entrants whose turn is missing, or ended with one of some further statuses."""
    unfinished = {None, *also_statuses}  # a missing turn has no status
    return tuple(name for name, entrant_id in entrant_ids.items() if statuses.get(entrant_id) in unfinished)


def is_late(cohort: Cohort, seen_at: datetime, now: datetime) -> bool:
    """Return whether a live turn can't be decided any more, because its prices are too old."""
    return cohort.stamp == "live" and now - seen_at > PLAY_WINDOW


def closed_since(cohort: Cohort, snapshot: Snapshot, now: datetime) -> Set[MarketId]:
    """Return the markets of a live snapshot that have closed by now: it is too late to trade on them."""
    if cohort.stamp != "live":
        return frozenset()
    return {listing.market.id for listing in snapshot if listing.market.closes_at <= now}


def claimed_turns(
    entrants: list[Entrant],
    stored: StoredCohort,
    stored_round: StoredRound,
    snapshot: Snapshot,
    world: World,
    record: Record,
) -> Iterator[ClaimedTurn]:
    """Claim the turns that no other process holds, and gather what each entrant may see."""
    if not entrants:
        return

    cohort = stored.cohort
    round_id = stored_round.id
    ids = [stored.entrant_ids[entrant.name] for entrant in entrants]
    offers = SnapshotOffers(snapshot, cohort.rules)
    tokens = record.write(claim_turns, round_id, ids, world.holder, record.watch.is_over)
    calls = record.read(read_calls, round_id, ids)

    for entrant, seen in views_of_claimed(tokens, entrants, stored, stored_round, snapshot, record):
        entrant_id = stored.entrant_ids[entrant.name]
        token = tokens[entrant_id]
        player = player_of(entrant, cohort, world)
        answers = calls.get(entrant_id, ())
        payer = Payer(round_id, entrant_id, token)
        ask = ask_of_player(player, payer, entrant.name, answers, world, record, stored_round.at)

        tools = toolbox(entrant, stored, stored_round, seen, world, record)
        view = seen if tools is None else replace(seen, tools=tools)

        yield ClaimedTurn(
            entrant, entrant_id, token, player, ask, view, offers, cohort, world.now, asked=bool(answers)
        )


def views_of_claimed(
    claimed: Collection[int],
    entrants: Sequence[Entrant],
    stored: StoredCohort,
    stored_round: StoredRound,
    snapshot: Snapshot,
    record: Record,
) -> Iterator[tuple[Entrant, View]]:
    """Yield the entrants whose turns are claimed, with what each may see, without its tools."""
    cohort = stored.cohort
    round_id = stored_round.id
    names = [entrant.name for entrant in entrants]
    sources = {}
    for entrant in entrants:
        sources.update(dict.fromkeys(forecast_sources(entrant.settings)))

    # What is the same for all entrants, or read of all of them at once.
    accounts = record.holdings(stored.id, names=names)
    stated = record.read(read_final_forecasts, round_id, [*sources])
    marks = mark_all({name: accounts[name] for name in names}, snapshot, cohort.rules.quote_age)
    evidence = {} if cohort.evidence == NO_EVIDENCE else record.read(read_evidence, round_id)
    since = time_of_round_before(stored, stored_round, record)
    context = gather_context(entrants, stored, snapshot, since, record)

    for entrant in entrants:
        name = entrant.name
        entrant_id = stored.entrant_ids[name]
        if entrant_id not in claimed:
            continue

        view = View(
            snapshot=snapshot,
            holdings=accounts[name],
            mark=marks[name],
            rules=cohort.rules,
            seed=seed_for(cohort.seed, stored_round.number, name),
            round=stored_round.number,
            rounds=cohort.rounds,
            stated={source: stated.get(source, ()) for source in forecast_sources(entrant.settings)},
            evidence=evidence,
            since=since,
        )
        yield entrant, view_of_round(cohort, context.add_to(view, entrant_id))


def time_of_round_before(stored: StoredCohort, stored_round: StoredRound, record: Record) -> datetime | None:
    """Return the time of the round before one: what has ended since is told. None for a first round."""
    previous_at = None
    for other in record.read(read_rounds, stored.id):  # oldest first
        if other.at < stored_round.at:
            previous_at = other.at
    return previous_at


def ask_of_player(
    player: Player,
    payer: Payer,
    name: str,
    stored_calls: Sequence[Call],
    world: World,
    record: Record,
    due: datetime | None = None,
) -> Ask:
    """Return how an entrant asks its model, or the desk, in a round that was `due` then.

    A question that has one of the `stored_calls` is not asked again.
    """
    ask = player.ask
    if world.desk is not None and player.wait is not None:
        ask = partial(world.desk.ask, payer=payer, wait=player.wait, record=record)

    turn = AskingTurn(payer, record, world.holder, world.now, due)
    asker = Asker(
        ask,
        player.worst_case,
        player.provider,
        name,
        world.reservations,
        player.model,
        turn,
        stored_calls,
        world.sleep,
    )
    return asker.ask


def player_of(entrant: Entrant, cohort: Cohort, world: World) -> Player:
    """Return the entrant's player; if it can't be made, one that fails with the reason."""
    try:
        return world.player(cohort, entrant)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - anyone's code: it must not stop the others
        fault = error

    async def fails(_view: View, _ask: Ask) -> Decision:
        raise fault

    async def unasked(_prompt: Prompt) -> Call:
        raise fault

    return Player(fails, unasked, lambda _: None)


async def play_turn_in_place(claim: ClaimedTurn, number: int, world: World) -> Turn:
    """Play a turn once there is a place for it."""
    async with world.turn_places:
        return await play_turn(claim, number)


async def play_turn(claim: ClaimedTurn, number: int) -> Turn:
    """Ask the agent and fill its orders; nothing is written."""
    view = claim.view
    decision = await decide_turn(claim)
    now = claim.now()
    if decision.status in DECIDED_STATUSES and is_late(claim.cohort, view.snapshot.seen_at, now):
        took = duration_text(now - view.snapshot.seen_at)
        longest = duration_text(PLAY_WINDOW)
        decision = Decision(status="late", note=f"answered {took} after its prices, and a turn has {longest}")

    # Where prices are read again, the orders are filled at these; a retried turn gets the worse of both.
    offers: SnapshotOffers | WorseOffers = claim.offers
    second = None
    if claim.look_again is not None and decision.status in USABLE_STATUSES:
        try:
            second = await claim.look_again()
            if claim.retried:
                offers = WorseOffers(claim.offers, second, view.snapshot)
            else:
                offers = SnapshotOffers(second, view.rules, view.snapshot)
        except VenueError as error:
            decision = Decision(status="failed", note=f"no prices of when it had answered: {error.message}")

    closed = closed_since(claim.cohort, view.snapshot, now)
    bets, late_bets = _open_orders(decision.bets, closed)
    sales, late_sales = _open_orders(decision.sales, closed)
    if view.hidden:
        fills: list[Fill] = []
        refused = refused_orders((*sales, *bets))
    else:
        fills, refused = execute_at(offers, bets, sales, view.holdings)

    return Turn(
        entrant=claim.entrant.name,
        cash=view.holdings.cash,
        decision=decision,
        fills=tuple(fills),
        rejections=(*decision.rejections, *late_bets, *late_sales, *refused),
        entries=tuple(post(fills, view.holdings, view.snapshot.at, f"fill:{number}")),
        second=second,
        settings=claim.entrant.replaced_hash,
        reader=READER_VERSION if decision.status in DECIDED_STATUSES else 0,
    )


def _open_orders(
    orders: Sequence[Order], closed: Collection[MarketId]
) -> tuple[list[Order], list[Rejection]]:
    """Return the orders on open markets, and rejections of those on closed markets."""
    accepted = []
    rejections = []
    for order in orders:
        if order.market_id in closed:
            rejections.append(Rejection(CLOSED_CODE, CLOSED_WORDS, order.market_id))
        else:
            accepted.append(order)
    return accepted, rejections


def second_look(
    claim: ClaimedTurn, again: bool, cohort: Cohort, world: World
) -> Callable[[], Awaitable[Snapshot]] | None:
    """Return how to read the prices of a turn again once it is answered; None if the first prices count.

    Agents that look outside may know more by then, and so may all that play a round `again`; the rules may
    say so for every agent. Only a live venue can be read again, and a simulated one as time passes. The agent
    that is the market states the price that was shown, whenever it does.
    """
    first = claim.view.snapshot
    again = again or claim.token > 1
    if cohort.stamp == "live":
        needed = again or cohort.rules.fill_at == "answer" or looks_outside(claim.entrant, cohort, world)
    else:
        time_passes = cohort.stamp == "simulated" and world.pretended
        needed = again and time_passes and world.now() > first.seen_at

    seen = list(_own_listings(claim.view))
    states_shown_price = claim.entrant.kind == "market"
    if not needed or states_shown_price or not seen:
        return None

    async def look() -> Snapshot:
        # A clock that is behind must not make prices stale that have just come.
        venue = world.venue(cohort)
        listings = await venue.listings(max(world.now(), first.seen_at), ids_of(seen))
        quotes = {listing.market.id: listing.quote for listing in listings if listing.has_price}

        # Those that were shown come first, then those that the agent holds.
        repriced = [replace(listing, quote=quotes.get(listing.market.id)) for listing in seen]
        shown_count = len(first.shown)
        shown = tuple(repriced[:shown_count])
        held = tuple(repriced[shown_count:])
        return Snapshot(first.at, shown, held, max(world.now(), first.seen_at))

    return look


def _own_listings(view: View) -> Iterator[Listing]:
    """Yield the listings of a snapshot that an agent was shown: those on offer, and those that it holds."""
    yield from view.snapshot.shown

    held_ids = {market_id for market_id, _ in view.holdings.lots}
    for listing in view.snapshot.held:
        if listing.market.id in held_ids:
            yield listing


def looks_outside(entrant: Entrant, cohort: Cohort, world: World) -> bool:
    """Return whether an entrant may know more than it was shown, by itself or from agents it is made from."""
    if player_of(entrant, cohort, world).looks_outside:
        return True

    sources = forecast_sources(entrant.settings)
    return any(other.name in sources and looks_outside(other, cohort, world) for other in cohort.entrants)


async def decide_turn(claim: ClaimedTurn) -> Decision:
    """Return the agent's decision, or why there is none: it waits, is late or out, or has failed."""
    if claim.waiting:
        return Decision(status="waiting", note=f"waiting for {claim.waiting}")
    if claim.missed:
        return Decision(status="late", note="not played in time")
    if claim.excluded:
        return Decision(status="failed", note=claim.excluded)
    if is_left_out(claim.cohort, claim.view.round, claim.entrant):
        return Decision(status="out", note=LEFT_OUT_WORDS)
    if is_out(claim.view.holdings, claim.view.rules):
        return Decision(status="out", note="no cash for a legal bet and nothing held")

    try:
        return await decision_of(claim.player.agent, claim.view, claim.ask)
    except TooLate as late:
        return Decision(status="late", note=printable(str(late)))
    except (Exception, SystemExit) as error:  # noqa: BLE001 - anyone's code: it must not stop the others
        text = code_place(error) + unexpected_error_text(error)
        return Decision(status="failed", note=printable(redact_keys(text)))


def write_turns(
    ended: Sequence[tuple[ClaimedTurn, Turn]],
    held: dict[int, int],
    stored: StoredCohort,
    stored_round: StoredRound,
    world: World,
    record: Record,
) -> Iterator[Turn]:
    """Write turns and yield them, without those that another process took over meanwhile: its turns count.

    They are removed from `held`: a claim that a failed turn has given back must not be renewed.
    """
    claimed = []
    for claim, turn in ended:
        held.pop(claim.entrant_id, None)
        claimed.append(TurnUnderClaim(claim.entrant_id, claim.token, turn, world.now()))

    numbers = stored.cohort.number, stored_round.number
    written = record.add_turns(stored_round.id, numbers, claimed, world.code_version)
    for under_claim in claimed:
        if under_claim.entrant_id in written:
            yield under_claim.turn
