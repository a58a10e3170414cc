"""The turns of a round: asked all at once, written as they end, together where they end together."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterator, Mapping, Sequence, Set
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial

from agents.answers.decisions import sound_decision
from agents.answers.parse import READER_VERSION
from agents.model import (
    DECIDED_STATUSES,
    USABLE_STATUSES,
    Ask,
    Call,
    CallError,
    Decision,
    Prompt,
    TooLate,
    View,
)
from agents.text import printable
from arena.calls.recorded_ask import EndedAttempt, NotKept, recorded_ask
from arena.calls.reservations import reserved_ask
from arena.cohorts.cohort import forecast_sources, play_waves, seed_for
from arena.cohorts.schedule import PLAY_WINDOW
from arena.record.model.cohort import NO_EVIDENCE, Cohort, Entrant, Turn
from arena.record.model.incident import usage_not_believed
from arena.record.model.lease import heartbeat
from arena.record.model.reservation import Payer, ReservationRequest
from arena.record.queries.cohorts import (
    StoredCohort,
    StoredRound,
    read_calls,
    read_final_forecasts,
    read_rounds,
    read_turn_statuses,
)
from arena.record.queries.decisions import read_turns
from arena.record.record import Record
from arena.record.write.calls import add_call
from arena.record.write.evidence import read_evidence
from arena.record.write.reservations import read_pauses
from arena.record.write.turns import TurnUnderClaim, claim_turns, renew_claims
from arena.rounds.error_text import redact_keys, unexpected_error_text
from arena.rounds.evidence import gather_context, toolbox
from arena.rounds.world import Player, World
from markets.model import MarketId, Snapshot
from markets.venue import VenueError
from portfolio.execute import execute_at, is_out
from portfolio.ledger import post
from portfolio.marks import mark_all
from portfolio.matching import SnapshotOffers, WorseOffers
from portfolio.model import Rejection
from portfolio.quotes import duration_text

NO_NAMES: Set[str] = frozenset()
CLOSED_CODE = "closed_since"
"""The code of what is refused because its market closed while the agent was thinking."""
CLOSED_WORDS = "the market has closed since the snapshot was taken"


@dataclass(frozen=True, slots=True)
class ClaimedTurn:
    """An entrant whose turn is claimed: its player, what it sees, and what the snapshot offers to all.

    `excluded` is why it is not asked, and `waiting` for what it waits, or nothing; `asked` is whether it was
    asked before, `missed` whether its window is over. With `look_again` it is scored at the prices of when it
    has answered, and filled at these; `retried` after a failure, at the worse of both.
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
    round: StoredRound,
    world: World,
    record: Record,
    late: bool,
    again: bool,
    only: Collection[str] | None = None,
) -> AsyncIterator[Turn]:
    """The turns that are missing, and until it is too `late` those that failed; or of some `only`.

    Each is written before it is given; those it depends on come first. `again` is whether the round was
    begun before.
    """
    taken = record.snapshot(stored.id, round.at)
    if taken is None:
        raise LookupError(f"round {round.number} of cohort {stored.cohort.number} has no snapshot")
    snapshot = taken[1]
    for wave in play_waves(stored.cohort.entrants):
        statuses = record.read(read_turn_statuses, round.id)
        pending, failed = unfinished_turns(stored, statuses), unfinished_turns(stored, statuses, {"failed"})
        missing = pending if late else failed
        ready = [
            x
            for x in wave
            if x.name in missing
            and (only is None or x.name in only)
            and not set(forecast_sources(x.settings)) & set(pending)
        ]
        if world.dispatch is not None and only is None and not late:
            delivered = [x.name for x in ready if not exclusion_reason(x, failed)]
            played, left = await play_by_workers(
                delivered, stored, round, snapshot.seen_at, again, world, record
            )
            for turn in played:
                yield turn
            ready = [x for x in ready if x.name not in delivered or x.name in left]
        claims = [
            replace(
                claim,
                excluded=exclusion_reason(claim.entrant, failed),
                waiting="" if claim.asked else awaited_by(claim.entrant, stored, statuses, world),
                missed=late,
                retried=claim.entrant.name in failed and claim.entrant.name not in pending,
                look_again=second_look(claim, again, stored.cohort, world),
            )
            for claim in claimed_turns(ready, stored, round, snapshot, world, record)
        ]
        held = {claim.entrant_id: claim.token for claim in claims}
        async with heartbeat(partial(renew_turns, round.id, held, world, record)):
            tasks = {asyncio.create_task(play_turn(claim, round.number)): claim for claim in claims}
            async with at_work([*tasks], world):
                async for ended in ended_turns(tasks):
                    for turn in write_turns(ended, held, stored, round, world, record):
                        yield turn


@asynccontextmanager
async def at_work(tasks: Sequence["asyncio.Task[Turn]"], world: World) -> AsyncIterator[None]:
    """Break tasks off at the end of the block. Where it failed, what they have paid for is kept first."""
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
    round: StoredRound,
    seen_at: datetime,
    again: bool,
    world: World,
    record: Record,
) -> tuple[list[Turn], Collection[str]]:
    """Turns that workers play: those that are in when they have done, and who is left for want of workers.

    A round that is caught up has its time from when its prices were looked at; once that is over, it is too
    late for whoever is left.
    """
    if not names or world.dispatch is None:
        return [], ()

    def too_late() -> bool:
        return is_late(stored.cohort, seen_at, world.now())

    def missing() -> Collection[str]:
        if too_late():
            return ()
        for paused in record.read(read_pauses):  # workers ask, and what they wait for is in the record
            world.reservations.waits.note(paused.name, paused.seconds)
        return set(names).intersection(unfinished_turns(stored, record.read(read_turn_statuses, round.id)))

    left = await world.dispatch(stored, round, names, missing, again)
    played = record.read(
        read_turns, round.id, [stored.entrant_ids[name] for name in names if name not in left]
    )
    return played, () if too_late() else left


def renew_turns(round_id: int, held: dict[int, int], world: World, record: Record) -> None:
    """Renew the reservations of calls under way, and the claims on turns that no other has taken over."""
    world.reservations.renew()
    mine = record.write_unfenced(renew_claims, round_id, held)
    for lost in held.keys() - mine:
        del held[lost]


def exclusion_reason(entrant: Entrant, failed: Collection[str]) -> str:
    """Why an entrant is not asked, or nothing: one it is made from has failed."""
    without = [name for name in forecast_sources(entrant.settings) if name in failed]
    return f"{', '.join(without)} failed" if without else ""


def awaited_by(entrant: Entrant, stored: StoredCohort, statuses: Mapping[int, str], world: World) -> str:
    """For what an entrant waits, or nothing: the variable of its key, or the agent that it is made from."""
    if variable := world.missing_key(entrant):
        return variable
    sources = forecast_sources(entrant.settings)
    waits = bool(sources) and all(statuses.get(stored.entrant_ids[name]) == "waiting" for name in sources)
    return sources[0] if waits else ""


async def ended_turns(
    tasks: Mapping["asyncio.Task[Turn]", ClaimedTurn],
) -> AsyncIterator[list[tuple[ClaimedTurn, Turn]]]:
    """Give the turns with their claims as they end: none waits for another that takes longer.

    What kept the record from keeping an answer is raised as it is, once the turns that have ended are given.
    """
    left = list(tasks)
    while left:
        await asyncio.wait(left, return_when=asyncio.FIRST_COMPLETED)
        done = [task for task in left if task.done()]
        good = [task for task in done if not task.cancelled() and not task.exception()]
        if good:
            yield [(tasks[task], task.result()) for task in good]

        for task in done:
            try:
                await task
            except NotKept as error:
                raise error.fault from error
        left = [task for task in left if task not in done]


def unfinished_turns(
    stored: StoredCohort, statuses: Mapping[int, str], again: Set[str] = NO_NAMES
) -> tuple[str, ...]:
    """Entrants whose turn is missing, or ended in a way that is worth trying again."""
    missing = {None, *again}
    return tuple(name for name, key in stored.entrant_ids.items() if statuses.get(key) in missing)


def is_late(cohort: Cohort, seen_at: datetime, now: datetime) -> bool:
    """Whether the world has moved on: a live turn must not be decided on prices that are history."""
    return cohort.stamp == "live" and now - seen_at > PLAY_WINDOW


def closed_since(cohort: Cohort, snapshot: Snapshot, now: datetime) -> Set[MarketId]:
    """Markets in a live snapshot that have closed by now: on these it is too late to trade."""
    if cohort.stamp != "live":
        return frozenset()
    return {listing.market.id for listing in snapshot if listing.market.closes_at <= now}


def claimed_turns(
    todo: list[Entrant],
    stored: StoredCohort,
    round: StoredRound,
    snapshot: Snapshot,
    world: World,
    record: Record,
) -> Iterator[ClaimedTurn]:
    """Claim the turns that nobody else holds, and gather what each entrant may see."""
    if not todo:
        return
    cohort = stored.cohort
    ids = {entrant.name: stored.entrant_ids[entrant.name] for entrant in todo}
    offers = SnapshotOffers(snapshot, cohort.rules)
    tokens = record.write(claim_turns, round.id, [*ids.values()], world.holder, record.watch.is_over)
    accounts = record.holdings(stored.id)
    sources = dict.fromkeys(name for entrant in todo for name in forecast_sources(entrant.settings))
    stated = record.read(read_final_forecasts, round.id, list(sources))
    marks = mark_all({name: accounts[name] for name in ids}, snapshot, cohort.rules.quote_age)
    calls = record.read(read_calls, round.id, [*ids.values()])
    evidence = {} if cohort.evidence == NO_EVIDENCE else record.read(read_evidence, round.id)
    since = max(
        (earlier.at for earlier in record.read(read_rounds, stored.id) if earlier.at < round.at), default=None
    )
    context = gather_context(todo, stored, snapshot, since, record)
    for entrant in todo:
        key, account = ids[entrant.name], accounts[entrant.name]
        if key not in tokens:
            continue
        player = player_of(entrant, cohort, world)
        payer = Payer(round.id, key, tokens[key])
        ask = ask_of_player(player, payer, entrant.name, calls.get(key, ()), world, record, round.at)
        view = View(
            snapshot=snapshot,
            holdings=account,
            mark=marks[entrant.name],
            rules=cohort.rules,
            seed=seed_for(cohort.seed, round.number, entrant.name),
            round=round.number,
            rounds=cohort.rounds,
            stated={name: stated.get(name, ()) for name in forecast_sources(entrant.settings)},
            evidence=evidence,
            since=since,
        )
        asked = bool(calls.get(key))
        told = context.told(view, key)
        if (tools := toolbox(entrant, stored, round, told, world, record)) is not None:
            told = replace(told, tools=tools)
        yield ClaimedTurn(
            entrant, key, tokens[key], player, ask, told, offers, cohort, world.now, asked=asked
        )


def ask_of_player(
    player: Player,
    payer: Payer,
    name: str,
    stored: Sequence[Call],
    world: World,
    record: Record,
    due: datetime | None = None,
) -> Ask:
    """Return an entrant's way to its model: past what the record knows already, and a reservation.

    Its round was `due` then.
    """

    def request(worst: int | None) -> ReservationRequest:
        return ReservationRequest(payer, player.provider, worst, world.holder, world.now(), player.model)

    def note_wait(error: CallError, seconds: float) -> None:
        world.reservations.waits.note(player.model or player.provider, seconds, error.code)

    def keep(attempt: int, ended: EndedAttempt) -> None:
        call = ended.call
        at = world.now()
        incident = None
        if call.usage_doubt:
            incident = usage_not_believed(name, player.model, call.usage_doubt, due or at, at)
        ids = payer.round_id, payer.entrant_id
        record.write_answer(add_call, *ids, attempt, call, at, ended.reservation, incident)

    ask = player.ask
    if world.desk is not None and player.wait is not None:
        ask = world.desk.ask(payer, player.wait, record)
    attempt = reserved_ask(ask, world.reservations, player.provider, name, request, player.worst_case)
    return recorded_ask(attempt, stored, keep, world.sleep, note_wait)


def player_of(entrant: Entrant, cohort: Cohort, world: World) -> Player:
    """The entrant's player; where it can't be made, one that fails with the reason."""
    try:
        return world.player(cohort, entrant)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - anyone's code: it must not stop the others
        fault = error

    async def fails(_view: View, _ask: Ask) -> Decision:
        raise fault

    async def unasked(_prompt: Prompt) -> Call:
        raise fault

    return Player(fails, unasked, lambda _: None)


async def play_turn(claim: ClaimedTurn, number: int) -> Turn:
    """Ask the agent, then match its orders with the prices: decide and execute, no writing."""
    view, offers, second = claim.view, claim.offers, None
    decision = await decide_turn(claim)
    now = claim.now()
    if decision.status in DECIDED_STATUSES and is_late(claim.cohort, view.snapshot.seen_at, now):
        took, most = duration_text(now - view.snapshot.seen_at), duration_text(PLAY_WINDOW)
        decision = Decision(status="late", note=f"answered {took} after its prices, and a turn has {most}")
    if claim.look_again is not None and decision.status in USABLE_STATUSES:
        try:
            second = await claim.look_again()
            fresh = SnapshotOffers(second, view.rules, view.snapshot)
            offers = WorseOffers(offers, second, view.snapshot) if claim.retried else fresh
        except VenueError as error:
            decision = Decision(status="failed", note=f"no prices of when it had answered: {error.message}")
    closed = closed_since(claim.cohort, view.snapshot, now)
    bets = [bet for bet in decision.bets if bet.market_id not in closed]
    sales = [sale for sale in decision.sales if sale.market_id not in closed]
    ordered = [*(bet.market_id for bet in decision.bets), *(sale.market_id for sale in decision.sales)]
    too_late = [market for market in ordered if market in closed]
    fills, refused = execute_at(offers, bets, sales, view.holdings)
    return Turn(
        entrant=claim.entrant.name,
        cash=view.holdings.cash,
        decision=decision,
        fills=tuple(fills),
        rejections=(
            *decision.rejections,
            *(Rejection(CLOSED_CODE, CLOSED_WORDS, x) for x in too_late),
            *refused,
        ),
        entries=tuple(post(fills, view.holdings, view.snapshot.at, f"fill:{number}")),
        second=second,
        settings=claim.entrant.replaced_hash,
        reader=READER_VERSION if decision.status in DECIDED_STATUSES else 0,
    )


def second_look(
    claim: ClaimedTurn, again: bool, cohort: Cohort, world: World
) -> Callable[[], Awaitable[Snapshot]] | None:
    """How to look a second time at what a turn was shown, once its answer is in; None where the first counts.

    It is for who may know more by then: who looks outside, or plays `again` what was begun before; and for
    all where the rules say so. Only a live venue can be asked, and a simulated one as time goes on. The
    agent that is the market states the price that was shown, whenever it does.
    """
    first, again = claim.view.snapshot, again or claim.token > 1
    if cohort.stamp == "live":
        wanted = again or cohort.rules.fill_at == "answer" or looks_outside(claim.entrant, cohort, world)
    else:
        wanted = again and cohort.stamp == "simulated" and world.pretended and world.now() > first.seen_at
    own = {market for market, _ in claim.view.holdings.lots}
    held = [listing for listing in first.held if listing.market.id in own]
    asked = [listing.market.id for listing in (*first.shown, *held)]
    if not wanted or claim.entrant.kind == "market" or not asked:
        return None

    async def look() -> Snapshot:
        # a clock that is behind must not make prices stale that have just come
        listings = await world.venue(cohort).listings(max(world.now(), first.seen_at), asked)
        quotes = {x.market.id: x.quote for x in listings if x.has_price}
        return Snapshot(
            first.at,
            tuple(replace(x, quote=quotes.get(x.market.id)) for x in first.shown),
            tuple(replace(x, quote=quotes.get(x.market.id)) for x in held),
            max(world.now(), first.seen_at),
        )

    return look


def looks_outside(entrant: Entrant, cohort: Cohort, world: World) -> bool:
    """Whether an entrant may know more than it was shown: by itself, or from others that it is made from."""
    sources = forecast_sources(entrant.settings)
    made_from = [other for other in cohort.entrants if other.name in sources]
    return player_of(entrant, cohort, world).looks_outside or any(
        looks_outside(other, cohort, world) for other in made_from
    )


async def decide_turn(claim: ClaimedTurn) -> Decision:
    """The agent's decision. One that waits, is late or out is not asked; one that breaks has failed."""
    if claim.waiting:
        return Decision(status="waiting", note=f"waiting for {claim.waiting}")
    if claim.missed:
        return Decision(status="late", note="not played in time")
    if claim.excluded:
        return Decision(status="failed", note=claim.excluded)
    if is_out(claim.view.holdings, claim.view.rules):
        return Decision(status="out", note="no cash for a legal bet and nothing held")
    try:
        return sound_decision(await claim.player.agent(claim.view, claim.ask), claim.view)
    except TooLate as late:
        return Decision(status="late", note=printable(str(late)))
    except (Exception, SystemExit) as error:  # noqa: BLE001 - anyone's code: it must not stop the others
        return Decision(status="failed", note=printable(redact_keys(unexpected_error_text(error))))


def write_turns(
    ended: Sequence[tuple[ClaimedTurn, Turn]],
    held: dict[int, int],
    stored: StoredCohort,
    round: StoredRound,
    world: World,
    record: Record,
) -> list[Turn]:
    """Put turns in the record. Those that were taken over meanwhile are left out: the other one's counts.

    They are not `held` any more: a claim that a failed turn has given back must not be renewed.
    """
    claimed = list[TurnUnderClaim]()
    for claim, turn in ended:
        held.pop(claim.entrant_id, None)
        claimed.append(TurnUnderClaim(claim.entrant_id, claim.token, turn, world.now()))
    place = stored.cohort.number, round.number
    written = record.add_turns(round.id, place, claimed, world.code_version)
    return [each.turn for each in claimed if each.entrant_id in written]
