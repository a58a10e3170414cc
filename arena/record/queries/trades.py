"""From the record to trades: every fill with the mid that its agent saw, and what it had stated."""

from collections import defaultdict
from collections.abc import Collection
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, func
from sqlmodel import and_

from agents.model import USABLE_STATUSES
from arena.record.model.trades import Trade
from arena.record.queries.cohorts import item_of
from arena.record.schema.cohort import EntrantRow, RoundRow, SnapshotItemRow
from arena.record.schema.ledger import MarkRow
from arena.record.schema.turn import FillRow, ForecastRow, TurnRow
from arena.record.schema.typed import clause, col, columns_of, joined, read_nouns, select
from arena.record.schema.world import MarketVersionRow, QuoteRow, ResolutionRow
from arena.record.write.listings import PAGE_FIELDS
from markets.millionths import ONE
from markets.model import Market

FORECAST_OF_FILL = and_(
    ForecastRow.turn_id == TurnRow.id,
    ForecastRow.market_id == FillRow.market_id,
    ForecastRow.stage == "final",
    col(TurnRow.status).in_(USABLE_STATUSES),
)
TRADED_FILLS = (
    joined(FillRow, TurnRow, RoundRow, EntrantRow)
    .outerjoin(SnapshotItemRow, item_of(FillRow.market_id))
    .outerjoin(QuoteRow)
    .outerjoin(ForecastRow, clause(FORECAST_OF_FILL))
)
PRICE_COLUMNS = (QuoteRow.bid, QuoteRow.ask, QuoteRow.mid, QuoteRow.last)
FILL_COLUMNS = (
    FillRow.market_id,
    FillRow.side,
    FillRow.action,
    FillRow.shares,
    FillRow.amount,
    FillRow.fee,
    FillRow.base,
)

TimedTrade = tuple[datetime, Trade]
"""A trade and the time of its round."""


def read_trades(connection: Connection, cohort_id: int, until: datetime) -> dict[str, list[TimedTrade]]:
    """The trades of every entrant of a cohort up to a time, in the order in which they were made."""
    query = (
        select(EntrantRow.name, RoundRow.at, *FILL_COLUMNS, *PRICE_COLUMNS, ForecastRow.probability)
        .select_from(TRADED_FILLS)
        .where(RoundRow.cohort_id == cohort_id, RoundRow.at <= until)
        .order_by(RoundRow.at, FillRow.position)
    )
    trades: dict[str, list[TimedTrade]] = defaultdict(list)
    for row in connection.execute(query):
        trades[row.name].append((row.at, _trade(row)))
    return trades


def _trade(row: Any) -> Trade:
    """Without a mid: halfway between bid and ask, else the last trade, else what was paid."""
    buy, yes = row.action == "buy", row.side == "YES"
    gross = row.amount - row.fee if buy else row.amount + row.fee
    between = row.last if row.bid is None or row.ask is None else (row.bid + row.ask) // 2
    mid = between if row.mid is None else row.mid
    if mid is None:
        paid = gross * ONE // row.shares
        mid = paid if yes else ONE - paid
    return Trade(row.market_id, yes, buy, row.shares, gross, row.fee, mid, row.probability, row.base)


def read_payouts(connection: Connection, markets: Collection[str]) -> dict[tuple[str, int], int | None]:
    """What a YES share paid by each version of how these markets ended; None for a refund."""
    rows = connection.execute(
        select(ResolutionRow.market_id, ResolutionRow.version, ResolutionRow.payout)
        .where(col(ResolutionRow.market_id).in_(markets))
        .order_by(ResolutionRow.market_id, ResolutionRow.version)
    )
    return {(row.market_id, row.version): row.payout for row in rows}


def read_equity_by_mark(connection: Connection, cohort_id: int) -> dict[str, list[int]]:
    """What every entrant's account came to, mark by mark."""
    rows = connection.execute(
        select(EntrantRow.name, MarkRow.cash, MarkRow.value)
        .select_from(joined(MarkRow, EntrantRow))
        .where(EntrantRow.cohort_id == cohort_id)
        .order_by(MarkRow.at)
    )
    equity: dict[str, list[int]] = defaultdict(list)
    for row in rows:
        equity[row.name].append(row.cash + row.value)
    return equity


def read_newest_pages(connection: Connection, markets: Collection[str] | None = None) -> list[Market]:
    """The newest page of these markets, or of all that were ever on offer to a cohort."""
    offered = select(SnapshotItemRow.market_id).distinct()
    wanted = col(MarketVersionRow.market_id).in_(offered if markets is None else markets)
    newest = select(func.max(MarketVersionRow.id)).where(wanted).group_by(MarketVersionRow.market_id)
    pages = select(col(MarketVersionRow.market_id).label("id"), *columns_of(MarketVersionRow, PAGE_FIELDS))
    rows = connection.execute(
        pages.where(col(MarketVersionRow.id).in_(newest)).order_by(MarketVersionRow.market_id)
    )
    return read_nouns(Market, rows)
