"""What was played, entrant by entrant: every snapshot of a cohort with the decision taken at it."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from sqlalchemy import Connection, select

from arena.record.queries import read
from arena.record.queries.decided import Decided, read_decided
from arena.record.queries.ledgers import read_ledgers
from arena.record.queries.read import StoredCohort
from arena.record.schema.tables import MARK, SNAPSHOT
from markets.model import Resolution, Snapshot
from portfolio.model import Entry
from portfolio.whatif import WhatIfStep


@dataclass(frozen=True, slots=True)
class Played:
    """One entrant's season: its ledger, the steps that led to it, and how many wishes came too late.

    `stated` says whether it ever gave a probability.
    """

    agent: str
    stored: StoredCohort
    entries: tuple[Entry, ...]
    steps: tuple[WhatIfStep, ...]
    shut: int
    stated: bool


def read_played(connection: Connection, stored: StoredCohort, too_late: str) -> Iterator[Played]:
    """Every entrant of a cohort, in line-up order; `too_late` is the code that late wishes were given."""
    ledgers = read_ledgers(connection, stored.id)
    scenes = _scenes(connection, stored, ledgers.values())
    decided = read_decided(connection, stored.id, too_late)
    for agent, entries in ledgers.items():
        mine = decided.get(agent, {})
        # What belongs to a time that is not marked yet is not over: the leaderboard doesn't count it either.
        over = scenes[-1].snapshot.at if scenes else entries[0].at
        done = tuple(entry for entry in entries if entry.at <= over)
        shut = sum(turn.shut for turn in mine.values())
        stated = any(turn.beliefs for turn in mine.values())
        yield Played(agent, stored, done, tuple(_steps(scenes, mine, done)), shut, stated)


def _scenes(
    connection: Connection, stored: StoredCohort, ledgers: Iterable[Sequence[Entry]]
) -> list[WhatIfStep]:
    """The steps without anybody's decisions: each snapshot that was marked, and the ends known at it."""
    marked = select(MARK.c.snapshot_id).where(MARK.c.snapshot_id == SNAPSHOT.c.id).exists()
    mine = select(SNAPSHOT.c.at).where(SNAPSHOT.c.cohort_id == stored.id, marked).order_by(SNAPSHOT.c.at)
    found = [read.snapshot(connection, stored.id, at) for at in connection.scalars(mine).all()]
    snapshots = [pair[1] for pair in found if pair is not None]
    markets = sorted({listing.market.id for snapshot in snapshots for listing in snapshot})
    newest = read.newest_time(connection)
    if newest is None:
        return []
    known = _as_learnt(read.learnt(connection, markets, newest), ledgers)
    scenes = [WhatIfStep(x, resolutions=[r for r in known if r.known_at <= x.at]) for x in snapshots]
    over = stored.ended_at is not None and bool(scenes) and scenes[-1].snapshot.at < newest
    return [*scenes, _after_the_end(scenes[-1], known, newest)] if over else scenes


def _as_learnt(
    resolutions: Iterable[tuple[Resolution, datetime]], ledgers: Iterable[Sequence[Entry]]
) -> list[Resolution]:
    """How markets ended, as of when the cohort knew.

    A venue may tell late what it has known for long: that was when it was asked, or, where another cohort
    had asked before, when the first entry was made of it.
    """
    first = dict[tuple[str, str], datetime]()
    for entries in ledgers:
        for entry in entries:
            key = entry.market_id, entry.ref
            first[key] = min(first.get(key, entry.at), entry.at)
    return [
        replace(r, known_at=first.get((r.market_id, f"resolution:{r.version}"), max(r.known_at, learnt_at)))
        for r, learnt_at in resolutions
    ]


def _after_the_end(last: WhatIfStep, known: Iterable[Resolution], newest: datetime) -> WhatIfStep:
    """One more step for a cohort that is over: what only another history still holds ends as it did later."""
    before = {resolution.market_id for resolution in last.resolutions}
    return WhatIfStep(Snapshot(newest, ()), resolutions=[r for r in known if r.market_id not in before])


def _steps(
    scenes: Sequence[WhatIfStep], decided: Mapping[datetime, Decided], entries: Sequence[Entry]
) -> Iterator[WhatIfStep]:
    """The scenes with one entrant's decisions, and what it held before each of them."""
    held, place = dict[tuple[str, str], int](), 0
    for scene in scenes:
        at = scene.snapshot.at
        while place < len(entries) and _is_before(entries[place], at):
            held[entries[place].market_id, entries[place].side] = entries[place].held
            place += 1
        turn = decided.get(at)
        yield scene if turn is None else _with_decision(scene, turn, held)


def _is_before(entry: Entry, at: datetime) -> bool:
    """Whether an entry was made before the decision of that time."""
    return entry.at < at or (entry.at == at and not entry.ref.startswith("fill:"))


def _with_decision(scene: WhatIfStep, turn: Decided, held: Mapping[tuple[str, str], int]) -> WhatIfStep:
    # Where one market had closed by the time of the decision, so had all that close no later.
    closes = {listing.market.id: listing.market.closes_at for listing in scene.snapshot}
    by = max((closes[market] for market in turn.late & closes.keys()), default=scene.snapshot.at)
    return replace(
        scene,
        bets=turn.bets,
        sales=turn.sales,
        beliefs={market: p for market, p in turn.beliefs.items() if market in closes and closes[market] > by},
        held={(x.market_id, x.side): held.get((x.market_id, x.side), 0) for x in turn.sales},
        label=f"fill:{turn.number}",
    )
