"""The turns of a round: asked all at once, written in line-up order, together where they end together."""

import asyncio
from collections.abc import AsyncIterator, Collection, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from itertools import takewhile

from agents.decision import sound
from agents.model import Ask, Call, Decision, Prompt, View
from agents.text import printable
from arena.asking import NotKept, Tried, recorded
from arena.budget import Payer
from arena.cohort import leaders, seed_for, waves
from arena.desk import reserved
from arena.fault import named, without_keys
from arena.lease import LEASE, heartbeat, is_gone
from arena.model import NO_EVIDENCE, Cohort, Entrant, Turn
from arena.reserving import Wish
from arena.store.read import StoredCohort, StoredRound
from arena.store.record import Record
from arena.store.turns import Claimed
from arena.timetable import WINDOW
from arena.world import Mind, World
from markets.model import MarketId, Snapshot
from portfolio.execute import execute_on, is_out
from portfolio.floor import Floor
from portfolio.ledger import post
from portfolio.marks import mark_all
from portfolio.model import Rejection

NONE: Set[str] = frozenset()
TOO_LATE = "closed_since"
"""The code of what is refused because its market closed while the agent was thinking."""
CLOSED = "the market has closed since the snapshot was taken"


@dataclass(frozen=True, slots=True)
class Seat:
    """One entrant at the table: what it sees, the mind behind it, its claim, and the floor they all share."""

    entrant: Entrant
    entrant_id: int
    token: int
    mind: Mind
    ask: Ask
    view: View
    floor: Floor
    barred: str = ""
    closed: Set[MarketId] = frozenset()


async def play_turns(
    stored: StoredCohort,
    round: StoredRound,
    world: World,
    record: Record,
    late: bool,
    only: Collection[str] | None = None,
) -> AsyncIterator[Turn]:
    """The turns that are missing, and until it is too `late` those that failed; of some `only`, if so wished.

    Each is written before it is given; those it depends on come first.
    """
    found = record.snapshot(stored.id, round.at)
    if found is None:
        raise LookupError(f"round {round.number} of cohort {stored.cohort.number} has no snapshot")
    closed = closed_since(stored.cohort, found[1], world.now())
    for wave in waves(stored.cohort.entrants):
        verdicts = record.verdicts(round.id)
        silent, failed = unfinished(stored, verdicts), unfinished(stored, verdicts, {"failed"})
        missing = silent if late else failed
        ready = [
            x
            for x in wave
            if x.name in missing
            and (only is None or x.name in only)
            and not set(leaders(x.settings)) & set(silent)
        ]
        if world.crew is not None and only is None and not late:
            called = [x.name for x in ready if not barred(x, failed, late)]
            played, left = await by_crew(called, stored, round, found[1].seen_at, world, record)
            for turn in played:
                yield turn
            ready = [x for x in ready if x.name not in called or x.name in left]
        seats = [
            replace(seat, barred=barred(seat.entrant, failed, late), closed=closed)
            for seat in take_seats(ready, stored, round, found[1], world, record)
        ]
        held = {seat.entrant_id: seat.token for seat in seats}
        async with heartbeat(partial(renew, round.id, held, world, record)):
            tasks = [asyncio.create_task(take_turn(seat, round.number)) for seat in seats]
            try:
                async for ended in in_order(tasks):
                    sitting, seats = seats[: len(ended)], seats[len(ended) :]
                    for turn in write(ended, sitting, held, stored, round, world, record):
                        yield turn
            finally:
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)


async def by_crew(
    names: Sequence[str],
    stored: StoredCohort,
    round: StoredRound,
    seen_at: datetime,
    world: World,
    record: Record,
) -> tuple[list[Turn], Collection[str]]:
    """Turns that workers play: those that are in when they have done, and who is left for want of workers.

    A round that is caught up has its time from when its prices were looked at; once that is over, it is too
    late for whoever is left.
    """
    if not names or world.crew is None:
        return [], ()

    def too_late() -> bool:
        return is_late(stored.cohort, seen_at, world.now())

    def missing() -> Collection[str]:
        return () if too_late() else set(names).intersection(unfinished(stored, record.verdicts(round.id)))

    left = await world.crew(stored, round, names, missing)
    played = record.turns(round.id, [stored.entrant_ids[name] for name in names if name not in left])
    return played, () if too_late() else left


def renew(round_id: int, held: dict[int, int], world: World, record: Record) -> None:
    """Stay alive: hold calls under way, and the claims on turns that no other has taken over."""
    world.desk.renew()
    mine = record.renew_claims(round_id, held, LEASE)
    for lost in held.keys() - mine:
        del held[lost]


def barred(entrant: Entrant, failed: Collection[str], late: bool) -> str:
    """Why an entrant is not asked, or nothing: it is too late, or one it is made from has failed."""
    without = [name for name in leaders(entrant.settings) if name in failed]
    return "not played in time" if late else f"{', '.join(without)} failed" if without else ""


async def in_order(tasks: Sequence["asyncio.Task[Turn]"]) -> AsyncIterator[list[Turn]]:
    """The turns in their order: as soon as the next one has ended, it and those after it that have too.

    What kept the record from keeping an answer is raised as it is, once the turns before it are given.
    """
    left = list(tasks)
    while left:
        await asyncio.wait(left[:1])
        good = takewhile(lambda task: task.done() and not task.cancelled() and not task.exception(), left)
        if ended := [task.result() for task in good]:
            left = left[len(ended) :]
            yield ended
            continue
        try:
            await left[0]
        except NotKept as error:
            raise error.fault from error


def unfinished(stored: StoredCohort, verdicts: Mapping[int, str], again: Set[str] = NONE) -> tuple[str, ...]:
    """Entrants whose turn is missing, or ended in a way that is worth trying again."""
    missing = {None, *again}
    return tuple(name for name, key in stored.entrant_ids.items() if verdicts.get(key) in missing)


def is_late(cohort: Cohort, seen_at: datetime, now: datetime) -> bool:
    """Whether the world has moved on: a live turn must not be decided on prices that are history."""
    return cohort.stamp == "live" and now - seen_at > WINDOW


def closed_since(cohort: Cohort, snapshot: Snapshot, now: datetime) -> Set[MarketId]:
    """Markets in a live snapshot that have closed by now: on these it is too late to trade."""
    if cohort.stamp != "live":
        return frozenset()
    return {listing.market.id for listing in snapshot if listing.market.closes_at <= now}


def take_seats(
    todo: list[Entrant],
    stored: StoredCohort,
    round: StoredRound,
    snapshot: Snapshot,
    world: World,
    record: Record,
) -> Iterator[Seat]:
    """Claim the turns that nobody else holds, and gather what each entrant may see."""
    if not todo:
        return
    cohort = stored.cohort
    ids = {entrant.name: stored.entrant_ids[entrant.name] for entrant in todo}
    floor = Floor(snapshot, cohort.rules)
    tokens = record.claim(round.id, [*ids.values()], world.holder, LEASE, is_gone)
    accounts = record.holdings(stored.id)
    led = dict.fromkeys(name for entrant in todo for name in leaders(entrant.settings))
    stated = record.stated(round.id, list(led))
    marks = mark_all({name: accounts[name] for name in ids}, snapshot, cohort.rules.quote_age)
    calls = record.calls(round.id, [*ids.values()])
    evidence = {} if cohort.evidence == NO_EVIDENCE else record.evidence(round.id)
    since = max((earlier.at for earlier in record.rounds(stored.id) if earlier.at < round.at), default=None)
    for entrant in todo:
        key, account = ids[entrant.name], accounts[entrant.name]
        if key not in tokens:
            continue

        mind = mind_of(entrant, cohort, world)
        payer = Payer(round.id, key, tokens[key])
        ask = asking(mind, payer, entrant.name, calls.get(key, ()), world, record)
        view = View(
            snapshot=snapshot,
            holdings=account,
            mark=marks[entrant.name],
            rules=cohort.rules,
            seed=seed_for(cohort.seed, round.number, entrant.name),
            round=round.number,
            rounds=cohort.rounds,
            stated={name: stated.get(name, ()) for name in leaders(entrant.settings)},
            evidence=evidence,
            since=since,
        )
        yield Seat(entrant, key, tokens[key], mind, ask, view, floor)


def asking(mind: Mind, payer: Payer, name: str, stored: Sequence[Call], world: World, record: Record) -> Ask:
    """An entrant's way to its model: past what the record knows already, and past the desk."""

    def wish(worst: int | None) -> Wish:
        return Wish(payer, mind.provider, worst, world.holder, world.now())

    def keep(attempt: int, tried: Tried) -> None:
        record.keep_call(payer.round_id, payer.entrant_id, attempt, tried.call, world.now(), tried.place)

    attempt = reserved(mind.ask, world.desk, mind.provider, name, wish, mind.worst_case)
    return recorded(attempt, stored, keep)


def mind_of(entrant: Entrant, cohort: Cohort, world: World) -> Mind:
    """The entrant's mind; where it can't be made, one that fails with the reason."""
    try:
        return world.mind(cohort, entrant)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - anyone's code: it must not stop the others
        fault = error

    async def fails(_view: View, _ask: Ask) -> Decision:
        raise fault

    async def unasked(_prompt: Prompt) -> Call:
        raise fault

    return Mind(fails, unasked, lambda _: None)


async def take_turn(seat: Seat, number: int) -> Turn:
    """Ask the agent, then meet its wishes with the prices: decide and execute, no writing."""
    view = seat.view
    decision = await decide(seat)
    bets = [bet for bet in decision.bets if bet.market_id not in seat.closed]
    sales = [sale for sale in decision.sales if sale.market_id not in seat.closed]
    wished = [*(bet.market_id for bet in decision.bets), *(sale.market_id for sale in decision.sales)]
    shut = [market for market in wished if market in seat.closed]
    fills, refused = execute_on(seat.floor, bets, sales, view.holdings)
    return Turn(
        entrant=seat.entrant.name,
        cash=view.holdings.cash,
        decision=decision,
        fills=tuple(fills),
        rejections=(*decision.rejections, *(Rejection(TOO_LATE, CLOSED, x) for x in shut), *refused),
        entries=tuple(post(fills, view.holdings, view.snapshot.at, f"fill:{number}")),
    )


async def decide(seat: Seat) -> Decision:
    """The agent's decision. One that is out is not asked; one that breaks has failed, and says so."""
    if seat.barred:
        return Decision(verdict="failed", note=seat.barred)
    if is_out(seat.view.holdings, seat.view.rules):
        return Decision(verdict="out", note="no cash for a legal bet and nothing held")
    try:
        return sound(await seat.mind.agent(seat.view, seat.ask), seat.view)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - anyone's code: it must not stop the others
        return Decision(verdict="failed", note=printable(without_keys(named(error))))


def write(
    turns: Sequence[Turn],
    seats: Sequence[Seat],
    held: dict[int, int],
    stored: StoredCohort,
    round: StoredRound,
    world: World,
    record: Record,
) -> list[Turn]:
    """Put turns in the record. Those that were taken over meanwhile are left out: the other one's counts.

    They are not `held` any more: a claim that a failed turn has given back must not be renewed.
    """
    for seat in seats:
        held.pop(seat.entrant_id, None)
    claimed = [Claimed(seat.entrant_id, seat.token, turn) for seat, turn in zip(seats, turns, strict=True)]
    place = stored.cohort.number, round.number
    kept = record.keep_turns(round.id, place, claimed, world.code_version)
    return [each.turn for each in claimed if each.entrant_id in kept]
