"""How an arena stands: rounds, jobs, problems, open positions, stale prices, recent spending.

Read by indices alone: what goes on counts, not how much the record holds. No table that grows with prices,
marks, calls, forecasts or ledgers is read whole.
"""

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import BindParameter, Connection, bindparam, func, literal
from sqlalchemy.orm import aliased
from sqlmodel import case

from agents.model import DECIDED_STATUSES
from arena.record.model.lease import LEASE_LENGTH
from arena.record.model.status import (
    AgentAnswers,
    CatalogueRead,
    LeaderStatus,
    OpenPositions,
    QuarantineCount,
    RoundState,
)
from arena.record.queries.cohorts import IS_TRADING, PLACE
from arena.record.schema.cohort import CohortRow, EntrantRow, RoundRow, SnapshotItemRow, SnapshotRow
from arena.record.schema.dialects import FromNow
from arena.record.schema.ledger import EntryRow, MarkRow
from arena.record.schema.turn import TurnRow
from arena.record.schema.typed import (
    IDS,
    col,
    column_of,
    columns_of,
    joined,
    read_nouns,
    select,
    select_as,
    select_noun,
    total,
)
from arena.record.schema.work import LeaseRow
from arena.record.schema.world import QuarantineRow, SyncRow

LEADER_LEASE = "scheduler"
IS_OPEN = col(CohortRow.ended_at).is_(None) & IS_TRADING
VENUE_NAMES: BindParameter[Sequence[str]] = bindparam("names", expanding=True)

HEARD_LATELY = LeaseRow.renewed_at > FromNow(literal(-LEASE_LENGTH.total_seconds()))
"""By the clock: good enough to be shown, until the next beat, where that was just put forward."""
LEADER_LEASE_ROW = select(
    LeaseRow.holder, LeaseRow.renewed_at, (col(LeaseRow.beat).is_not(None) & HEARD_LATELY).label("is_held")
).where(LeaseRow.name == LEADER_LEASE)


def read_leader(connection: Connection, is_alive: Callable[[str], bool]) -> LeaderStatus | None:
    """Return who schedules, or did last. Whether a holder is alive, the caller may know better."""
    row = connection.execute(LEADER_LEASE_ROW).one_or_none()
    if row is None or row.renewed_at is None:
        return None
    host, _, rest = row.holder.partition("/")
    is_leading = bool(row.is_held) and is_alive(row.holder)
    return LeaderStatus(host, rest.partition("/")[0], is_leading, row.renewed_at)


COHORT_STARTS = select(CohortRow.number, CohortRow.starts_at).where(IS_TRADING).order_by(CohortRow.number)


def read_cohort_starts(connection: Connection) -> list[tuple[int, datetime]]:
    """The number of every cohort, and when it started."""
    return [(number, starts_at) for number, starts_at in connection.execute(COHORT_STARTS)]


NEWEST_ROUND_TIME = select(func.max(RoundRow.at)).join(CohortRow).where(IS_TRADING).scalar_subquery()
SHOWN_ROUNDS = (
    select_as(
        id=RoundRow.id,
        cohort=CohortRow.number,
        number=RoundRow.number,
        at=RoundRow.at,
        taken_at=SnapshotRow.taken_at,
        done=RoundRow.done == 1,
        agents=select(func.count()).where(EntrantRow.cohort_id == CohortRow.id).scalar_subquery(),
    )
    .join_from(RoundRow, CohortRow, RoundRow.cohort_id == CohortRow.id)
    .join(SnapshotRow, RoundRow.snapshot_id == SnapshotRow.id)
    .where(IS_OPEN | (IS_TRADING & (RoundRow.at == NEWEST_ROUND_TIME)))
    .order_by(RoundRow.at, CohortRow.number)
)
STATUS_COUNTS = (
    select(TurnRow.round_id, TurnRow.status, func.count())
    .where(col(TurnRow.round_id).in_(IDS))
    .group_by(TurnRow.round_id, TurnRow.status)
    .order_by(TurnRow.round_id, TurnRow.status)
)


def read_round_states(connection: Connection) -> list[RoundState]:
    """The rounds of cohorts that have not ended, and of the newest decision time, oldest first."""
    rows = connection.execute(SHOWN_ROUNDS).all()
    turns: dict[int, dict[str, int]] = {row.id: {} for row in rows}
    for key, status, count in connection.execute(STATUS_COUNTS, {"ids": list(turns)}):
        turns[key][status] = count
    return [RoundState(**row._mapping, turns=turns[row.id]) for row in rows]


ENDED_ROUNDS = (
    select(func.count(), total(RoundRow.done))
    .select_from(joined(RoundRow, CohortRow))
    .where(col(CohortRow.ended_at).is_not(None), IS_TRADING)
)


def count_ended_rounds(connection: Connection) -> tuple[int, int]:
    """How many rounds cohorts that have ended began, and how many of them are done."""
    begun, done = connection.execute(ENDED_ROUNDS).one()
    return begun, done


ALL_STATUS_COUNTS = select(TurnRow.status, func.count()).group_by(TurnRow.status).order_by(TurnRow.status)


def count_turns(connection: Connection) -> dict[str, int]:
    """How all turns ended."""
    return dict(connection.execute(ALL_STATUS_COUNTS).all())


@dataclass(frozen=True, slots=True)
class TurnOutcome:
    """How a turn ended: whose it is, and in which round of which cohort."""

    cohort: int
    round: int
    agent: str
    status: str


NEWEST_ROUNDS = (
    select(RoundRow.id)
    .join(CohortRow)
    .where(IS_TRADING)
    .order_by(col(RoundRow.at).desc(), col(RoundRow.id).desc())
)
TURN_OUTCOMES = (
    select_noun(TurnOutcome, TurnRow, **PLACE)
    .select_from(joined(RoundRow, TurnRow, EntrantRow, CohortRow))
    .where(col(RoundRow.id).in_(IDS))
    .order_by(CohortRow.number, RoundRow.number, EntrantRow.position)
)


def read_turn_outcomes(connection: Connection, rounds: int) -> list[TurnOutcome]:
    """How the turns of the newest rounds ended, of so many rounds, by cohort, round and agent."""
    ids = list(connection.scalars(NEWEST_ROUNDS.limit(rounds)))
    return read_nouns(TurnOutcome, connection.execute(TURN_OUTCOMES, {"ids": ids}))


ANSWERS = (
    select_as(
        agent=EntrantRow.name,
        answers=func.count(),
        malformed=total(case((TurnRow.status == "malformed", 1), else_=0)),
    )
    .select_from(joined(RoundRow, TurnRow, EntrantRow))
    .where(
        RoundRow.at >= bindparam("since", type_=column_of(RoundRow.at).type),
        col(TurnRow.status).in_(DECIDED_STATUSES),
    )
    .group_by(EntrantRow.name)
    .order_by(EntrantRow.name)
)


def read_agent_answers(connection: Connection, since: datetime) -> list[AgentAnswers]:
    """How many answers of each agent could not be read, in the rounds since an instant."""
    return read_nouns(AgentAnswers, connection.execute(ANSWERS, {"since": since}))


LAST_SYNC = select(func.max(SyncRow.at)).where(col(SyncRow.venue).in_(VENUE_NAMES))


def read_last_sync(connection: Connection, venues: Collection[str]) -> datetime | None:
    """When a catalogue of these venues was last read."""
    last: datetime | None = connection.scalar(LAST_SYNC, {"names": sorted(venues)})
    return last


QUARANTINE_COUNTS = (
    select(QuarantineRow.venue, QuarantineRow.kind, QuarantineRow.code, func.count().label("records"))
    .where(QuarantineRow.last_seen_at >= bindparam("since", type_=column_of(QuarantineRow.last_seen_at).type))
    .group_by(QuarantineRow.venue, QuarantineRow.kind, QuarantineRow.code)
    .order_by(QuarantineRow.venue, QuarantineRow.kind, QuarantineRow.code)
)


def read_catalogues(connection: Connection, venue: str, most: int) -> list[CatalogueRead]:
    """The newest readings of a venue's catalogue, the last one first."""
    names = ("venue", "at", "markets", "left_out", "rejected")
    query = select(*columns_of(SyncRow, names)).where(SyncRow.venue == venue)
    rows = connection.execute(query.order_by(col(SyncRow.number).desc()).limit(most))
    return [
        CatalogueRead(row.venue, row.at, row.markets, json.loads(row.left_out), row.rejected) for row in rows
    ]


def read_last_catalogues(connection: Connection) -> list[CatalogueRead]:
    """The newest reading of each venue's catalogue."""
    found, venue = list[CatalogueRead](), ""
    while venue := connection.scalar(select(func.min(SyncRow.venue)).where(SyncRow.venue > venue)) or "":
        found += read_catalogues(connection, venue, 1)  # the names are found by steps along the index
    return found


def read_quarantine_counts(connection: Connection, since: datetime) -> list[QuarantineCount]:
    """What was set aside since an instant."""
    return read_nouns(QuarantineCount, connection.execute(QUARANTINE_COUNTS, {"since": since}))


OPENED_LOTS = case((EntryRow.held > 0, 1), else_=0) - case((EntryRow.held > EntryRow.shares, 1), else_=0)
"""Whether an entry opens a position (1), closes one (-1), or neither: `held` is what there is after it."""
OPEN_COHORT_IDS = select(CohortRow.id).where(col(CohortRow.ended_at).is_(None))
OPEN_LOTS = (
    select(EntrantRow.cohort_id, EntryRow.market_id, func.sum(OPENED_LOTS))
    .select_from(joined(EntrantRow, EntryRow))
    .where(col(EntrantRow.cohort_id).in_(OPEN_COHORT_IDS), EntryRow.market_id != "")
    .group_by(EntrantRow.cohort_id, EntryRow.market_id)
    .having(func.sum(OPENED_LOTS) > 0)
)

NEWER_SNAPSHOT = aliased(SnapshotRow, name="newer")
LAST_SNAPSHOT = (
    select(NEWER_SNAPSHOT.id)
    .where(NEWER_SNAPSHOT.cohort_id == CohortRow.id)
    .order_by(col(NEWER_SNAPSHOT.at).desc())
    .limit(1)
)
POSITION_PRICES = (
    select(CohortRow.id, SnapshotRow.taken_at, SnapshotItemRow.market_id, SnapshotItemRow.quoted_at)
    .join_from(CohortRow, SnapshotRow, SnapshotRow.id == LAST_SNAPSHOT.correlate(CohortRow).scalar_subquery())
    .outerjoin(SnapshotItemRow, SnapshotItemRow.snapshot_id == SnapshotRow.id)
    .where(col(CohortRow.ended_at).is_(None))
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


@dataclass(frozen=True, slots=True)
class RunFigures:
    """What calls cost since an instant, in millionths of a dollar; how many positions are open, and stale."""

    spent: int = 0
    positions: int = 0
    stale: int = 0


LAST_SNAPSHOT_TIMES = (
    select(func.max(SnapshotRow.at).label("at"), SnapshotRow.cohort_id)
    .where(col(SnapshotRow.cohort_id).in_(IDS))
    .group_by(SnapshotRow.cohort_id)
    .subquery()
)
OF_COHORT = SnapshotRow.cohort_id == LAST_SNAPSHOT_TIMES.c.cohort_id
STALE_COUNT = (
    select(total(MarkRow.stale))
    .join_from(SnapshotRow, LAST_SNAPSHOT_TIMES, OF_COHORT & (SnapshotRow.at == LAST_SNAPSHOT_TIMES.c.at))
    .join(MarkRow, (MarkRow.at == SnapshotRow.at) & (MarkRow.snapshot_id == SnapshotRow.id))
)


def count_stale_positions(connection: Connection, cohort_ids: Sequence[int]) -> int:
    """How many positions of these cohorts had a stale price when they were last marked."""
    return connection.execute(STALE_COUNT, {"ids": cohort_ids}).scalar_one()
