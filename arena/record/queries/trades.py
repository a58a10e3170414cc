"""From the record to trades: every fill with the mid that its agent saw, and what it had stated."""

from collections import defaultdict
from collections.abc import Collection
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, and_, func, select

from arena.record.model.trades import Trade
from arena.record.schema.tables import (
    ENTRANT,
    FILL,
    FORECAST,
    ITEM,
    MARK,
    QUOTE,
    RESOLUTION,
    ROUND,
    TURN,
    VERSION,
)
from markets.millionths import ONE
from markets.model import Market

ITEM_OF_FILL = and_(ITEM.c.snapshot_id == ROUND.c.snapshot_id, ITEM.c.market_id == FILL.c.market_id)
FORECAST_OF_FILL = and_(
    FORECAST.c.turn_id == TURN.c.id,
    FORECAST.c.market_id == FILL.c.market_id,
    FORECAST.c.stage == "final",
    TURN.c.verdict == "played",
)
TRADED_FILLS = (
    FILL.join(TURN, FILL.c.turn_id == TURN.c.id)
    .join(ROUND, TURN.c.round_id == ROUND.c.id)
    .join(ENTRANT, TURN.c.entrant_id == ENTRANT.c.id)
    .outerjoin(ITEM, ITEM_OF_FILL)
    .outerjoin(QUOTE, ITEM.c.quote_id == QUOTE.c.id)
    .outerjoin(FORECAST, FORECAST_OF_FILL)
)
PRICE_COLUMNS = (QUOTE.c.bid, QUOTE.c.ask, QUOTE.c.mid, QUOTE.c.last)
FILL_COLUMNS = (
    FILL.c.market_id,
    FILL.c.side,
    FILL.c.action,
    FILL.c.shares,
    FILL.c.amount,
    FILL.c.fee,
    FILL.c.base,
)

TimedTrade = tuple[datetime, Trade]
"""A trade and the time of its round."""


def read_trades(connection: Connection, cohort_id: int, until: datetime) -> dict[str, list[TimedTrade]]:
    """The trades of every entrant of a cohort up to a time, in the order in which they were made."""
    query = (
        select(ENTRANT.c.name, ROUND.c.at, *FILL_COLUMNS, *PRICE_COLUMNS, FORECAST.c.probability)
        .select_from(TRADED_FILLS)
        .where(ROUND.c.cohort_id == cohort_id, ROUND.c.at <= until)
        .order_by(ROUND.c.at, FILL.c.position)
    )
    found: dict[str, list[TimedTrade]] = defaultdict(list)
    for row in connection.execute(query):
        found[row.name].append((row.at, _trade(row)))
    return found


def _trade(row: Any) -> Trade:
    """Without a mid: halfway between bid and ask, else the last trade, else what was paid."""
    buy, yes = row.action == "buy", row.side == "YES"
    gross = row.amount - row.fee if buy else row.amount + row.fee
    mid = row.mid if row.mid is not None else _mid_price(row.bid, row.ask, row.last)
    if mid is None:
        paid = gross * ONE // row.shares
        mid = paid if yes else ONE - paid
    return Trade(row.market_id, yes, buy, row.shares, gross, row.fee, mid, row.probability, row.base)


def _mid_price(bid: int | None, ask: int | None, last: int | None) -> int | None:
    return last if bid is None or ask is None else (bid + ask) // 2


def read_payouts(connection: Connection, markets: Collection[str]) -> dict[tuple[str, int], int | None]:
    """What a YES share paid by each version of how these markets ended; None for a refund."""
    rows = connection.execute(
        select(RESOLUTION.c.market_id, RESOLUTION.c.version, RESOLUTION.c.payout)
        .where(RESOLUTION.c.market_id.in_(markets))
        .order_by(RESOLUTION.c.market_id, RESOLUTION.c.version)
    )
    return {(row.market_id, row.version): row.payout for row in rows}


def read_equity_by_mark(connection: Connection, cohort_id: int) -> dict[str, list[int]]:
    """What every entrant's account came to, mark by mark."""
    joined = MARK.join(ENTRANT, MARK.c.entrant_id == ENTRANT.c.id)
    rows = connection.execute(
        select(ENTRANT.c.name, MARK.c.cash, MARK.c.value)
        .select_from(joined)
        .where(ENTRANT.c.cohort_id == cohort_id)
        .order_by(MARK.c.at)
    )
    found: dict[str, list[int]] = defaultdict(list)
    for row in rows:
        found[row.name].append(row.cash + row.value)
    return found


def read_newest_pages(connection: Connection, markets: Collection[str] | None = None) -> list[Market]:
    """The newest page of these markets, or of all that were ever on offer to a cohort."""
    offered = select(ITEM.c.market_id).distinct()
    wanted = VERSION.c.market_id.in_(offered if markets is None else markets)
    newest = select(func.max(VERSION.c.id)).where(wanted).group_by(VERSION.c.market_id)
    named = [VERSION.c[name] for name in Market.__dataclass_fields__ if name != "id"]
    pages = select(VERSION.c.market_id.label("id"), *named)
    rows = connection.execute(pages.where(VERSION.c.id.in_(newest)).order_by(VERSION.c.market_id))
    return [Market(**row) for row in rows.mappings()]
