"""How an arena stands, read by indices alone: what goes on counts, not how much the record holds.

Nothing here reads a whole table that grows with prices, marks, calls, forecasts or ledgers.

What is held in cohorts that play, and how old the prices of it are.

A few figures of an arena that runs: what it spent today, and what it holds.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import BindParameter, Connection, bindparam, case, func, select

from arena.record.model.status import LeaderStatus, OpenCohort, OpenPositions, QuarantineCount, RoundState
from arena.record.schema.codec import cohort_of
from arena.record.schema.dialects import NOW
from arena.record.schema.tables import (
    CALL,
    COHORT,
    ENTRANT,
    ENTRY,
    ITEM,
    LEASE,
    MARK,
    ROUND,
    SET_ASIDE,
    SNAPSHOT,
    SYNC,
    TURN,
)
from arena.record.write.reservations import COST

LEADER_LEASE = "scheduler"
IS_OPEN = COHORT.c.ended_at.is_(None)
COHORT_IDS: BindParameter[Sequence[int]] = bindparam("ids", expanding=True)
VENUE_NAMES: BindParameter[Sequence[str]] = bindparam("names", expanding=True)

LEADER_LEASE_ROW = select(LEASE.c.holder, LEASE.c.expires_at, LEASE.c.expires_at > NOW).where(
    LEASE.c.name == LEADER_LEASE
)


def read_leader(connection: Connection, is_alive: Callable[[str], bool]) -> LeaderStatus | None:
    """Who schedules, or did last. Whether a holder whose lease holds is alive, the caller may know better."""
    row = connection.execute(LEADER_LEASE_ROW).one_or_none()
    if row is None or not row.holder:
        return None
    holder, until, leased = row
    host, _, rest = holder.partition("/")
    return LeaderStatus(host, rest.partition("/")[0], bool(leased) and is_alive(holder), until)


HALTS = (COHORT.c.paused_at, COHORT.c.stopped_at)
OPEN_COHORTS = select(COHORT.c.id, COHORT.c.frozen, *HALTS).where(IS_OPEN).order_by(COHORT.c.number)


def read_open_cohorts(connection: Connection) -> list[OpenCohort]:
    """The cohorts that have not ended, oldest first."""
    found = []
    for key, frozen, paused_at, stopped_at in connection.execute(OPEN_COHORTS):
        cohort = cohort_of(frozen)
        age = cohort.rules.quote_age
        place = (cohort.starts_at, cohort.every, cohort.rounds, cohort.stamp, cohort.venue)
        agents = len(cohort.entrants)
        found.append(OpenCohort(key, cohort.number, *place, age, agents, paused_at, stopped_at))
    return found


COHORT_STARTS = select(COHORT.c.number, COHORT.c.starts_at).order_by(COHORT.c.number)


def read_cohort_starts(connection: Connection) -> list[tuple[int, datetime]]:
    """The number of every cohort, and when it started."""
    return [(number, starts_at) for number, starts_at in connection.execute(COHORT_STARTS)]


NEWEST_ROUND_TIME = select(func.max(ROUND.c.at)).scalar_subquery()
SHOWN_ROUNDS = (
    select(
        ROUND.c.id,
        COHORT.c.number.label("cohort"),
        ROUND.c.number,
        ROUND.c.at,
        SNAPSHOT.c.taken_at,
        ROUND.c.done,
        select(func.count()).where(ENTRANT.c.cohort_id == COHORT.c.id).scalar_subquery().label("agents"),
    )
    .select_from(
        ROUND.join(COHORT, ROUND.c.cohort_id == COHORT.c.id).join(
            SNAPSHOT, ROUND.c.snapshot_id == SNAPSHOT.c.id
        )
    )
    .where(IS_OPEN | (ROUND.c.at == NEWEST_ROUND_TIME))
    .order_by(ROUND.c.at, COHORT.c.number)
)
STATUS_COUNTS = (
    select(TURN.c.round_id, TURN.c.verdict, func.count())
    .where(TURN.c.round_id.in_(COHORT_IDS))
    .group_by(TURN.c.round_id, TURN.c.verdict)
    .order_by(TURN.c.round_id, TURN.c.verdict)
)


def read_round_states(connection: Connection) -> list[RoundState]:
    """The rounds of cohorts that have not ended, and of the newest decision time, oldest first."""
    rows = connection.execute(SHOWN_ROUNDS).all()
    turns: dict[int, dict[str, int]] = {row.id: {} for row in rows}
    for key, status, count in connection.execute(STATUS_COUNTS, {"ids": list(turns)}):
        turns[key][status] = count
    return [RoundState(*row[:5], done=bool(row.done), agents=row.agents, turns=turns[row.id]) for row in rows]


ENDED_ROUNDS = (
    select(func.count(), func.coalesce(func.sum(ROUND.c.done), 0))
    .select_from(ROUND.join(COHORT, ROUND.c.cohort_id == COHORT.c.id))
    .where(COHORT.c.ended_at.is_not(None))
)


def count_ended_rounds(connection: Connection) -> tuple[int, int]:
    """How many rounds cohorts that have ended began, and how many of them are done."""
    begun, done = connection.execute(ENDED_ROUNDS).one()
    return int(begun), int(done)


ALL_STATUS_COUNTS = select(TURN.c.verdict, func.count()).group_by(TURN.c.verdict).order_by(TURN.c.verdict)


def count_turns(connection: Connection) -> dict[str, int]:
    """How all turns ended."""
    return dict(connection.execute(ALL_STATUS_COUNTS).all())


LAST_SYNC = select(func.max(SYNC.c.at)).where(SYNC.c.venue.in_(VENUE_NAMES))


def read_last_sync(connection: Connection, venues: Collection[str]) -> datetime | None:
    """When a catalogue of these venues was last read."""
    found: datetime | None = connection.scalar(LAST_SYNC, {"names": sorted(venues)})
    return found


QUARANTINE_COUNTS = (
    select(SET_ASIDE.c.venue, SET_ASIDE.c.kind, SET_ASIDE.c.code, func.count())
    .where(SET_ASIDE.c.last_seen_at >= bindparam("since", type_=SET_ASIDE.c.last_seen_at.type))
    .group_by(SET_ASIDE.c.venue, SET_ASIDE.c.kind, SET_ASIDE.c.code)
    .order_by(SET_ASIDE.c.venue, SET_ASIDE.c.kind, SET_ASIDE.c.code)
)


def read_quarantine_counts(connection: Connection, since: datetime) -> list[QuarantineCount]:
    """What was set aside since an instant."""
    return [QuarantineCount(*row) for row in connection.execute(QUARANTINE_COUNTS, {"since": since})]


OPENED_LOTS = case((ENTRY.c.held > 0, 1), else_=0) - case((ENTRY.c.held > ENTRY.c.shares, 1), else_=0)
"""Whether an entry opens a position (1), closes one (-1), or neither: `held` is what there is after it."""
OPEN_COHORT_IDS = select(COHORT.c.id).where(COHORT.c.ended_at.is_(None))
OPEN_LOTS = (
    select(ENTRANT.c.cohort_id, ENTRY.c.market_id, func.sum(OPENED_LOTS))
    .select_from(ENTRANT.join(ENTRY, ENTRY.c.entrant_id == ENTRANT.c.id))
    .where(ENTRANT.c.cohort_id.in_(OPEN_COHORT_IDS), ENTRY.c.market_id != "")
    .group_by(ENTRANT.c.cohort_id, ENTRY.c.market_id)
    .having(func.sum(OPENED_LOTS) > 0)
)

NEWER_SNAPSHOT = SNAPSHOT.alias("newer")
LAST_SNAPSHOT = (
    select(NEWER_SNAPSHOT.c.id)
    .where(NEWER_SNAPSHOT.c.cohort_id == COHORT.c.id)
    .order_by(NEWER_SNAPSHOT.c.at.desc())
    .limit(1)
)
IS_LAST_SNAPSHOT = SNAPSHOT.c.id == LAST_SNAPSHOT.correlate(COHORT).scalar_subquery()
POSITION_PRICES = (
    select(COHORT.c.id, SNAPSHOT.c.taken_at, ITEM.c.market_id, ITEM.c.quoted_at)
    .select_from(COHORT.join(SNAPSHOT, IS_LAST_SNAPSHOT).outerjoin(ITEM, ITEM.c.snapshot_id == SNAPSHOT.c.id))
    .where(COHORT.c.ended_at.is_(None))
)


def read_open_positions(
    connection: Connection, ages: Mapping[int, timedelta]
) -> tuple[OpenPositions, datetime | None]:
    """Open positions and their prices as each cohort last saw them, and when one last looked.

    `ages` says from what age on a price counts as old, by the id of the cohort.
    """
    positions = {(cohort, market): count for cohort, market, count in connection.execute(OPEN_LOTS)}
    looked, prices = list[datetime](), list[datetime]()
    priced, stale = set[tuple[int, str]](), set[str]()
    for cohort, taken_at, market, quoted_at in connection.execute(POSITION_PRICES):
        looked.append(taken_at)
        if (cohort, market) not in positions or quoted_at is None:
            continue
        priced.add((cohort, market))
        prices.append(quoted_at)
        if taken_at - quoted_at > ages[cohort]:
            stale.add(market)
    stale.update(market for cohort, market in positions.keys() - priced)
    markets = {market for _, market in positions}
    held = OpenPositions(sum(positions.values()), len(markets), len(stale), min(prices, default=None))
    return held, max(looked, default=None)


MARKED_COHORT_IDS: BindParameter[Sequence[int]] = bindparam("ids", expanding=True)


@dataclass(frozen=True, slots=True)
class RunFigures:
    """What calls cost since an instant, in millionths of a dollar; how many positions are open, and stale."""

    spent: int = 0
    positions: int = 0
    stale: int = 0


def read_spent_since(connection: Connection, since: datetime) -> int:
    """What calls cost since then, at their worst where that is not known."""
    whole = select(func.coalesce(func.sum(COST), 0)).where(CALL.c.made_at >= since)
    return int(connection.execute(whole).scalar_one())


LAST_SNAPSHOT_TIMES = (
    select(func.max(SNAPSHOT.c.at).label("at"), SNAPSHOT.c.cohort_id)
    .where(SNAPSHOT.c.cohort_id.in_(MARKED_COHORT_IDS))
    .group_by(SNAPSHOT.c.cohort_id)
    .subquery()
)
IS_NEWEST_SNAPSHOT = (SNAPSHOT.c.cohort_id == LAST_SNAPSHOT_TIMES.c.cohort_id) & (
    SNAPSHOT.c.at == LAST_SNAPSHOT_TIMES.c.at
)
LATEST_MARKS = SNAPSHOT.join(LAST_SNAPSHOT_TIMES, IS_NEWEST_SNAPSHOT).join(
    MARK, (MARK.c.at == SNAPSHOT.c.at) & (MARK.c.snapshot_id == SNAPSHOT.c.id)
)
STALE_COUNT = select(func.coalesce(func.sum(MARK.c.stale), 0)).select_from(LATEST_MARKS)


def count_stale_positions(connection: Connection, cohort_ids: Sequence[int]) -> int:
    """How many positions of these cohorts had a stale price when they were last marked."""
    return int(connection.execute(STALE_COUNT, {"ids": cohort_ids}).scalar_one())
