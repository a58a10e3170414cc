"""What each market's page is made of, as a short text that changes with it: read for all of them at once."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, func

from arena.record.queries.market_history import VALUED_SNAPSHOT
from arena.record.queries.markets import ShowingRound
from arena.record.schema.cohort import CohortRow, EntrantRow, SnapshotItemRow
from arena.record.schema.ledger import EntryRow
from arena.record.schema.newest import newest_rows
from arena.record.schema.turn import ForecastRow
from arena.record.schema.typed import IDS, col, joined, select
from arena.record.schema.world import MarketVersionRow, QuoteRow, ResolutionRow
from markets.hashes import digest
from markets.model import MarketId

FORECAST_COUNTS = select(ForecastRow.market_id, func.count()).group_by(ForecastRow.market_id)
ENTRY_COUNTS = (
    select(EntryRow.market_id, func.count())
    .where(col(EntryRow.market_id).is_not(None))
    .group_by(EntryRow.market_id)
)
VALUED_BY_COHORT = (
    select(CohortRow.number, VALUED_SNAPSHOT)
    .select_from(joined(EntrantRow, CohortRow))
    .where(VALUED_SNAPSHOT.is_not(None))
)
VALUED_ITEMS = (
    select(
        SnapshotItemRow.market_id,
        SnapshotItemRow.snapshot_id,
        SnapshotItemRow.quote_id,
        SnapshotItemRow.quoted_at,
    )
    .where(col(SnapshotItemRow.snapshot_id).in_(IDS))
    .order_by(SnapshotItemRow.snapshot_id)
)


def read_valued_snapshots(connection: Connection) -> dict[int, list[int]]:
    """By which snapshots the accounts of each cohort were valued last, by the cohort's number."""
    found = defaultdict[int, set[int]](set)
    for cohort, snapshot in connection.execute(VALUED_BY_COHORT):
        found[cohort].add(snapshot)
    return {cohort: sorted(snapshots) for cohort, snapshots in found.items()}


@dataclass(frozen=True, slots=True)
class MarketState:
    """What a market's page is made of, as a hash; beside it its event, and when it closes.

    `listed` are the newest version of its page, and of its resolution if it has one.
    """

    event_id: str
    closes_at: datetime
    listed: tuple[int, int | None]
    hash: str


def read_market_states(
    connection: Connection, shown: Mapping[MarketId, ShowingRound]
) -> dict[MarketId, MarketState]:
    """Of each market that was shown, by the newest round that did.

    Another page, price, resolution, forecast, trade or valuation of it makes another hash.
    """
    ids, valued = list(shown), defaultdict[str, list[Any]](list)
    pages = newest_rows(connection, MarketVersionRow, ids, "version", "event_id", "closes_at")
    quotes = newest_rows(connection, QuoteRow, ids, "at", "at")
    ends = newest_rows(connection, ResolutionRow, ids, "version", "version")
    counts = [dict(connection.execute(query).all()) for query in (FORECAST_COUNTS, ENTRY_COUNTS)]
    snapshots = sorted({id for some in read_valued_snapshots(connection).values() for id in some})
    for market, *rest in connection.execute(VALUED_ITEMS, {"ids": snapshots}):
        valued[market].append([str(one) for one in rest])
    found = dict[MarketId, MarketState]()
    for id, round in shown.items():
        newest = [rows[id].id if id in rows else None for rows in (pages, quotes, ends)]
        parts = [newest, round.round_id, [count.get(id, 0) for count in counts], valued[id]]
        listed = pages[id].id, ends[id].id if id in ends else None
        found[id] = MarketState(pages[id].event_id, pages[id].closes_at, listed, digest(parts))
    return found
