"""A hash of the sources of each market's page on a site, which is drawn again when that changes."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from arena.record.queries.cohorts import read_hidden_rounds
from arena.record.queries.markets import ShowingRound
from arena.record.schema.cohort import CohortRow, EntrantRow, SnapshotItemRow
from arena.record.schema.database import Connection
from arena.record.schema.ledger import EntryRow, MarkRow
from arena.record.schema.newest import newest_rows
from arena.record.schema.turn import ForecastRow, TurnRow
from arena.record.schema.typed import col, func, joined, select
from arena.record.schema.world import MarketVersionRow, QuoteRow, ResolutionRow
from markets.hashes import digest
from markets.model import MarketId


@dataclass(frozen=True, slots=True)
class MarketState:
    """The state of a market's page as a hash, with its event, and when it closes.

    `listed` are the newest version of its page, and of its resolution if it has one.
    """

    event_id: str
    closes_at: datetime
    listed: tuple[int, int | None]
    hash: str


def read_market_states(
    connection: Connection, shown: Mapping[MarketId, ShowingRound]
) -> dict[MarketId, MarketState]:
    """Return the state of each market that was shown, by its newest round.

    Another page, price, resolution, forecast, trade or valuation of it makes another hash.
    """
    ids = list(shown)
    page_rows = newest_rows(connection, MarketVersionRow, ids, "version", "event_id", "closes_at")
    quote_rows = newest_rows(connection, QuoteRow, ids, "at", "at")
    resolution_rows = newest_rows(connection, ResolutionRow, ids, "version", "version")
    forecast_counts = _count_told_forecasts(connection)
    entry_counts = _count_rows(connection, EntryRow)
    valued = _read_valued_items(connection)

    states = {}
    for market_id, shown_round in shown.items():
        page = page_rows[market_id]
        quote_id = quote_rows[market_id].id if market_id in quote_rows else None
        end_id = resolution_rows[market_id].id if market_id in resolution_rows else None
        newest = [page.id, quote_id, end_id]
        counts = [forecast_counts.get(market_id, 0), entry_counts.get(market_id, 0)]
        state = digest([newest, shown_round.round_id, counts, valued.get(market_id, [])])
        states[market_id] = MarketState(page.event_id, page.closes_at, (page.id, end_id), state)
    return states


def _count_told_forecasts(connection: Connection) -> dict[str, int]:
    """Return how many forecasts each market has, without those that are hidden for now."""
    counts = _count_rows(connection, ForecastRow)
    hidden = read_hidden_rounds(connection)
    if not hidden:
        return counts

    source = joined(ForecastRow, TurnRow)
    query = select(ForecastRow.market_id, func.count()).select_from(source)
    query = query.where(col(TurnRow.round_id).in_(hidden)).group_by(ForecastRow.market_id)
    for market, count in connection.execute(query):
        counts[market] -= count
    return counts


def _count_rows(connection: Connection, row: type[ForecastRow | EntryRow]) -> dict[str, int]:
    """Return how many rows of a table each market has."""
    query = select(row.market_id, func.count()).group_by(row.market_id)
    return dict(connection.execute(query).all())


def read_valued_snapshots(connection: Connection) -> dict[int, list[int]]:
    """Return the snapshots at which the accounts of each cohort were last valued, by its number."""
    newest = (
        select(MarkRow.snapshot_id)
        .where(MarkRow.entrant_id == EntrantRow.id)
        .order_by(col(MarkRow.at).desc())
        .limit(1)
        .correlate(EntrantRow)
        .scalar_subquery()
    )
    query = select(CohortRow.number, newest).select_from(joined(EntrantRow, CohortRow))

    snapshots = defaultdict[int, set[int]](set)
    for cohort, snapshot in connection.execute(query.where(newest.is_not(None))):
        snapshots[cohort].add(snapshot)
    return {cohort: sorted(own) for cohort, own in snapshots.items()}


def _read_valued_items(connection: Connection) -> dict[str, list[list[Any]]]:
    """Return the prices at which each market was last valued."""
    snapshots = set[int]()
    for own in read_valued_snapshots(connection).values():
        snapshots.update(own)

    item = (SnapshotItemRow.snapshot_id, SnapshotItemRow.quote_id, SnapshotItemRow.quoted_at)
    query = select(SnapshotItemRow.market_id, *item).where(col(SnapshotItemRow.snapshot_id).in_(snapshots))
    valued = defaultdict[str, list[Any]](list)
    for market, *values in connection.execute(query.order_by(SnapshotItemRow.snapshot_id)):
        valued[market].append([str(value) for value in values])
    return valued
