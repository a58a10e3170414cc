"""Queries of the status: rounds, positions, prices, calls under way and spending.

Read by indices alone: what goes on counts, not how much the record holds. No table that grows with prices,
marks, calls, forecasts or ledgers is read whole.
"""

import json
from collections.abc import Callable, Collection, Mapping
from datetime import datetime, timedelta

from arena.operations.leader import LEADER_LEASE
from arena.record.model.lease import LEASE_LENGTH
from arena.record.model.status import (
    CallsUnderWay,
    CatalogueRead,
    LeaderStatus,
    OpenPositions,
    QuarantineCount,
    RoundState,
)
from arena.record.queries.cohorts import IS_TRADING
from arena.record.schema.cohort import CohortRow, EntrantRow, RoundRow, SnapshotItemRow, SnapshotRow
from arena.record.schema.database import Connection
from arena.record.schema.dialects import FromNow
from arena.record.schema.ledger import EntryRow
from arena.record.schema.turn import CallRow, TurnRow
from arena.record.schema.typed import (
    aliased,
    case,
    col,
    columns_of,
    func,
    joined,
    literal,
    read_objects,
    select,
    select_as,
    total,
)
from arena.record.schema.work import LeaseRow, ReservationRow
from arena.record.schema.world import QuarantineRow, SyncRow
from arena.record.write.reservations import COST

OPEN_COHORT_IDS = select(CohortRow.id).where(col(CohortRow.ended_at).is_(None))


def read_leader(connection: Connection, is_alive: Callable[[str], bool]) -> LeaderStatus | None:
    """Return the process that leads or led last. Whether a holder is alive, the caller may know better."""
    # By the clock: good enough to be shown, until the next beat, where that was just put forward.
    heard_lately = LeaseRow.renewed_at > FromNow(literal(-LEASE_LENGTH.total_seconds()))
    is_held = (col(LeaseRow.beat).is_not(None) & heard_lately).label("is_held")
    query = select(LeaseRow.holder, LeaseRow.renewed_at, is_held).where(LeaseRow.name == LEADER_LEASE)
    row = connection.execute(query).one_or_none()
    if row is None or row.renewed_at is None:
        return None

    # A holder is named by its host and its process, and more behind that.
    host, _, after_host = row.holder.partition("/")
    process, _, _ = after_host.partition("/")
    is_leading = bool(row.is_held) and is_alive(row.holder)
    return LeaderStatus(host, process, is_leading, row.renewed_at)


def read_cohort_starts(connection: Connection) -> list[tuple[int, datetime]]:
    """Return the number of every cohort, and when it started."""
    query = select(CohortRow.number, CohortRow.starts_at).where(IS_TRADING).order_by(CohortRow.number)
    return [(number, starts_at) for number, starts_at in connection.execute(query)]


NEWEST_ROUND_TIME = select(func.max(RoundRow.at)).join(CohortRow).where(IS_TRADING).scalar_subquery()
LINE_UP_SIZE = select(func.count()).where(EntrantRow.cohort_id == CohortRow.id).scalar_subquery()
IS_GOING_ON = col(CohortRow.ended_at).is_(None) | (RoundRow.at == NEWEST_ROUND_TIME)


def read_round_states(connection: Connection) -> list[RoundState]:
    """Return the rounds of cohorts that have not ended, and of the newest decision time, oldest first."""
    rounds = (
        select_as(
            id=RoundRow.id,
            cohort=CohortRow.number,
            number=RoundRow.number,
            at=RoundRow.at,
            taken_at=SnapshotRow.taken_at,
            done=RoundRow.done == 1,
            agents=LINE_UP_SIZE,
        )
        .join_from(RoundRow, CohortRow, RoundRow.cohort_id == CohortRow.id)
        .join(SnapshotRow, RoundRow.snapshot_id == SnapshotRow.id)
        .where(IS_TRADING, IS_GOING_ON)
        .order_by(RoundRow.at, CohortRow.number)
    )
    rows = connection.execute(rounds).all()

    turns: dict[int, dict[str, int]] = {row.id: {} for row in rows}
    counts = (
        select(TurnRow.round_id, TurnRow.status, func.count())
        .where(col(TurnRow.round_id).in_(turns))
        .group_by(TurnRow.round_id, TurnRow.status)
        .order_by(TurnRow.round_id, TurnRow.status)
    )
    for round_id, status, count in connection.execute(counts):
        turns[round_id][status] = count
    return [RoundState(**row._mapping, turns=turns[row.id]) for row in rows]


def count_ended_rounds(connection: Connection) -> tuple[int, int]:
    """Return how many rounds cohorts that have ended began, and how many of them are done."""
    query = (
        select(func.count(), total(RoundRow.done))
        .select_from(joined(RoundRow, CohortRow))
        .where(col(CohortRow.ended_at).is_not(None), IS_TRADING)
    )
    return connection.execute(query).one()


def read_last_sync(connection: Connection, venues: Collection[str]) -> datetime | None:
    """Return when a catalogue of these venues was last read."""
    query = select(func.max(SyncRow.at)).where(col(SyncRow.venue).in_(sorted(venues)))
    return connection.scalar(query)


def read_last_catalogues(connection: Connection) -> list[CatalogueRead]:
    """Return the newest reading of each venue's catalogue."""
    columns = columns_of(SyncRow, ("venue", "at", "markets", "left_out", "rejected"))
    newest = select(*columns).order_by(col(SyncRow.number).desc()).limit(1)
    first_venue = select(func.min(SyncRow.venue))

    # The names of venues are found by steps along the index.
    catalogues = []
    venue = connection.scalar(first_venue)
    while venue is not None:
        row = connection.execute(newest.where(SyncRow.venue == venue)).one()
        read = CatalogueRead(row.venue, row.at, row.markets, json.loads(row.left_out), row.rejected)
        catalogues.append(read)
        venue = connection.scalar(first_venue.where(SyncRow.venue > venue))
    return catalogues


def read_quarantine_counts(connection: Connection, since: datetime) -> list[QuarantineCount]:
    """Return the counts of records quarantined since an instant."""
    kinds = (QuarantineRow.venue, QuarantineRow.kind, QuarantineRow.code)
    query = (
        select(*kinds, func.count().label("records"))
        .where(QuarantineRow.last_seen_at >= since)
        .group_by(*kinds)
        .order_by(*kinds)
    )
    return read_objects(QuarantineCount, connection.execute(query))


OPENED_LOTS = case((EntryRow.held > 0, 1), else_=0) - case((EntryRow.held > EntryRow.shares, 1), else_=0)
"""Whether an entry opens a position (1), closes one (-1), or neither: `held` is what there is after it."""
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
    .correlate(CohortRow)
    .scalar_subquery()
)
POSITION_PRICES = (
    select(CohortRow.id, SnapshotRow.taken_at, SnapshotItemRow.market_id, SnapshotItemRow.quoted_at)
    .join_from(CohortRow, SnapshotRow, SnapshotRow.id == LAST_SNAPSHOT)
    .outerjoin(SnapshotItemRow, SnapshotItemRow.snapshot_id == SnapshotRow.id)
    .where(col(CohortRow.ended_at).is_(None))
)


def read_open_positions(
    connection: Connection, ages: Mapping[int, timedelta]
) -> tuple[OpenPositions, datetime | None]:
    """Return open positions and their prices as each cohort last saw them, and when one last looked.

    `ages` says from what age on a price counts as old, by the id of the cohort.
    """
    positions = {}
    for cohort, market, count in connection.execute(OPEN_LOTS):
        positions[cohort, market] = count

    looked_at = []
    priced = {}
    stale = set()
    for cohort, taken_at, market, quoted_at in connection.execute(POSITION_PRICES):
        looked_at.append(taken_at)
        if (cohort, market) in positions and quoted_at is not None:
            priced[cohort, market] = quoted_at
            if taken_at - quoted_at > ages[cohort]:
                stale.add(market)

    markets = set()
    for cohort, market in positions:
        markets.add(market)
        if (cohort, market) not in priced:
            stale.add(market)

    oldest = min(priced.values(), default=None)
    held = OpenPositions(sum(positions.values()), len(markets), len(stale), oldest)
    return held, max(looked_at, default=None)


def read_spent_total(connection: Connection) -> int:
    """Return the cost of all calls, summed over an index."""
    return connection.execute(select(total(COST)).select_from(CallRow)).scalar_one()


def read_dearest_round(connection: Connection, ids: Collection[int]) -> tuple[str, int]:
    """Return in words the round with the most expensive calls of these, and their cost."""
    cost = select(total(COST)).where(CallRow.round_id == RoundRow.id).correlate(RoundRow).label("cost")
    query = (
        select(CohortRow.number, RoundRow.number, cost)
        .select_from(joined(RoundRow, CohortRow))
        .where(col(RoundRow.id).in_(ids))
        .order_by(cost.desc(), CohortRow.number, RoundRow.number)
    )
    row = connection.execute(query.limit(1)).first()
    if row is None:
        return "", 0
    cohort, round_number, round_cost = row
    return f"round {round_number} of cohort {cohort}", round_cost


def read_dearest_agent(connection: Connection) -> tuple[str, int]:
    """Return in words the agent with the most expensive calls in an open cohort, and their cost."""
    cost = select(total(COST)).where(CallRow.entrant_id == EntrantRow.id).correlate(EntrantRow).label("cost")
    query = (
        select(CohortRow.number, EntrantRow.name, cost)
        .select_from(joined(EntrantRow, CohortRow))
        .where(col(EntrantRow.cohort_id).in_(OPEN_COHORT_IDS))
        .order_by(cost.desc(), CohortRow.number, EntrantRow.name)
    )
    row = connection.execute(query.limit(1)).first()
    if row is None:
        return "", 0
    cohort, agent, agent_cost = row
    return f"{agent} in cohort {cohort}", agent_cost


def read_calls_under_way(connection: Connection, is_gone: Callable[[str], bool]) -> CallsUnderWay:
    """Return the calls that are being made, and those whose worker was lost or has ended."""
    is_lost = col(ReservationRow.beat).is_(None)
    worst = total(func.coalesce(ReservationRow.worst, 0))
    query = select_as(holder=ReservationRow.holder, is_lost=is_lost, calls=func.count(), worst=worst)

    calls = 0
    worst_cost = 0
    lost = 0
    lost_cost = 0
    for row in connection.execute(query.group_by(ReservationRow.holder, is_lost)):
        if row.is_lost or is_gone(row.holder):
            lost += row.calls
            lost_cost += row.worst
        else:
            calls += row.calls
            worst_cost += row.worst
    return CallsUnderWay(calls, worst_cost, lost, lost_cost)
