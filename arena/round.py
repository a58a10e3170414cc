"""A round, from settling to marks. What is already in the record is not done again."""

from dataclasses import replace
from datetime import datetime

from arena.cohort import seed_for
from arena.model import RoundReport
from arena.store.read import StoredCohort
from arena.store.record import Record
from arena.turns import play_turns, quote_age, unfinished
from arena.world import World
from markets.model import Listing, MarketId, Snapshot
from markets.universe import draw
from portfolio.ledger import settle as settlements
from portfolio.value import mark


async def play_round(stored: StoredCohort, number: int, world: World, record: Record) -> RoundReport:
    """Settle, take the snapshot, let everyone play, mark: one decision time of a cohort."""
    at = stored.cohort.decides_at(number)
    if record.snapshot(stored.id, at) is None:
        await settle(stored, at, world, record)
        snapshot = await look(stored, at, world, record, number)
        record.keep_snapshot(stored.id, stored.cohort.number, snapshot, number)
    round = next(round for round in record.rounds(stored.id) if round.number == number)
    turns = [turn async for turn in play_turns(stored, round, world, record)]
    waiting = unfinished(stored, round, record, settled_for={"failed"})
    if not waiting:
        value(stored, at, record, round.id)
    return RoundReport(stored.cohort.number, number, at, tuple(turns), waiting)


async def track(stored: StoredCohort, at: datetime, world: World, record: Record) -> None:
    """Settle and mark a cohort that decides nothing at this time."""
    if record.snapshot(stored.id, at) is None:
        await settle(stored, at, world, record)
        record.keep_snapshot(stored.id, stored.cohort.number, await look(stored, at, world, record), None)
    value(stored, at, record)


async def settle(stored: StoredCohort, at: datetime, world: World, record: Record) -> None:
    """Learn how markets ended, those forecast as well as those held, and pay what they pay."""
    known = await world.venue(stored.cohort).resolutions(at, record.unresolved())
    record.keep_resolutions(known)
    accounts = record.holdings(stored.id)
    concerned = {key[0] for account in accounts.values() for key in (*account.lots, *account.settled)}
    resolutions = record.resolutions(sorted(concerned), at)
    paid = {stored.entrant_ids[name]: settlements(a, resolutions, at) for name, a in accounts.items()}
    record.keep_entries({entrant: entries for entrant, entries in paid.items() if entries})


async def look(
    stored: StoredCohort, at: datetime, world: World, record: Record, number: int | None = None
) -> Snapshot:
    """What can be known at this time: the markets drawn for a round, and all that anyone holds."""
    venue, cohort = world.venue(stored.cohort), stored.cohort
    drawn: list[MarketId] = []
    if number is not None:
        seed = seed_for(cohort.seed, "draw", number)
        drawn = [x.market.id for x in draw(await venue.catalogue(at), cohort.universe, seed, at)]
    accounts = record.holdings(stored.id).values()
    held = sorted({market for account in accounts for market, _ in account.lots} - set(drawn))
    fresh = {x.market.id: x for x in await venue.listings(at, [*drawn, *held])}
    known = {x.market.id: x for x in record.last_listings(held)}
    return Snapshot(
        at,
        tuple(fresh[market] for market in drawn if market in fresh),
        tuple(_latest(fresh.get(market), known.get(market)) for market in held),
    )


def _latest(fresh: Listing | None, known: Listing | None) -> Listing:
    """A held market as it is; where the venue is silent, as it was last seen, with its old quote."""
    listing = fresh or known
    if listing is None:
        raise LookupError("a held market is in no snapshot: the record is broken, run `arena verify`")
    return listing if listing.quote or known is None else replace(listing, quote=known.quote)


def value(stored: StoredCohort, at: datetime, record: Record, round_id: int | None = None) -> None:
    """Mark every entrant's holdings at the snapshot of this time; with that a round is done."""
    found = record.snapshot(stored.id, at)
    if found is None:
        raise LookupError(f"cohort {stored.cohort.number} has no snapshot at {at}")
    snapshot_id, snapshot = found
    age, accounts = quote_age(stored.cohort.rules), record.holdings(stored.id)
    marks = {stored.entrant_ids[name]: mark(account, snapshot, age) for name, account in accounts.items()}
    record.keep_marks(snapshot_id, marks, round_id)
