"""What the page of one market asks of the record."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

from arena.record.queries.market_history import (
    MarketAccount,
    MarketForecast,
    MarketRound,
    MarketTrade,
    PageVersion,
    PriceHistory,
    ResolutionVersion,
    read_last_marks,
    read_market_accounts,
    read_market_forecasts,
    read_market_rounds,
    read_market_trades,
    read_page_versions,
    read_price_history,
    read_resolution_versions,
)
from arena.record.queries.markets import BEGINNING, read_newest_instant
from arena.record.schema.database import Connection
from arena.record.schema.newest import newest_rows
from arena.record.schema.world import QuoteRow
from arena.record.write.listings import QUOTE_FIELDS as PRICED
from arena.record.write.listings import quote_of
from dashboard.source import RecordSource, ask, cached
from dashboard.thin import thin
from markets.model import Market, MarketId, Quote
from portfolio.ledger import lot_key
from portfolio.model import Entry, LotKey, Side
from portfolio.money import worth
from portfolio.value import LotProfit, price_of, profit_by_lot

PRICES = 800
SAID = 800
"""So many prices and so many stated probabilities a chart has at most."""
DEALT = 1_000
"""So many trades are read, the newest."""

Priced = Mapping[int, tuple[Quote, datetime]]
"""By cohort the price that a market was valued by last, and when that was."""


@dataclass(frozen=True, slots=True)
class MarketPosition:
    """An agent's lot in a cohort, held or closed; `price` is of the side's own share, where it is held."""

    cohort: int
    agent: str
    side: Side
    lot: LotProfit
    price: int | None


@dataclass(frozen=True, slots=True)
class MarketPage:
    """One market, whole: its newest page and price as of `now`, the record's newest instant."""

    market: Market
    quote: Quote | None
    now: datetime
    pages: tuple[PageVersion, ...]
    ends: tuple[ResolutionVersion, ...]
    offered: tuple[MarketRound, ...]
    dealt: tuple[MarketTrade, ...]
    positions: tuple[MarketPosition, ...]

    @property
    def closed(self) -> bool:
        """Whether nothing can be bet on it any more."""
        return bool(self.ends) or self.market.closes_at <= self.now


@dataclass(frozen=True, slots=True)
class History:
    """A market's prices and what was said of it, as much as a chart can take."""

    prices: PriceHistory
    said: tuple[MarketForecast, ...]
    thinned: bool


@cached
def market_page(record: RecordSource, market: str) -> MarketPage | None:
    """One market; None if the record knows none of that id."""
    return ask(record, lambda connection: _read_page(connection, MarketId(market)))


@cached
def history(record: RecordSource, market: str, agent: str = "") -> History:
    """What a market cost, and what all agents or one of them said of it, over time."""
    return ask(record, lambda connection: _read_history(connection, MarketId(market), agent))


def _read_page(connection: Connection, market: MarketId) -> MarketPage | None:
    pages = read_page_versions(connection, market)
    if not pages:
        return None
    now = max(read_newest_instant(connection, BEGINNING), pages[-1].at)
    quoted = newest_rows(connection, QuoteRow, [market], "at", *PRICED).get(market)
    offered, accounts = read_market_rounds(connection, market), read_market_accounts(connection, market)
    first = {account.cohort: account.entrant_id for account in accounts}
    priced = read_last_marks(connection, market, first.values())
    return MarketPage(
        market=pages[-1].market,
        quote=None if quoted is None else quote_of(quoted),
        now=now,
        pages=tuple(pages),
        ends=tuple(read_resolution_versions(connection, market)),
        offered=tuple(offered),
        dealt=tuple(read_market_trades(connection, market, DEALT)),
        positions=tuple(found for account in accounts for found in _positions(account, priced)),
    )


def _positions(account: MarketAccount, priced: Priced) -> Iterator[MarketPosition]:
    """An account's lots; what has no price is valued at its cost, as everywhere."""
    lots: dict[LotKey, list[Entry]] = {}
    for entry in account.entries:
        lots.setdefault(lot_key(entry), []).append(entry)
    quote, at = priced.get(account.cohort, (None, BEGINNING))
    for key, entries in lots.items():
        shares, cost = sum(entry.shares for entry in entries), sum(entry.cost for entry in entries)
        price = price_of(quote, key[1], at, None).value
        value = cost if price is None else worth(shares, price)
        lot = profit_by_lot(entries, {key: value})[key]
        yield MarketPosition(account.cohort, account.agent, key[1], lot, price if shares else None)


def _read_history(connection: Connection, market: MarketId, agent: str) -> History:
    rounds = [place.round_id for place in read_market_rounds(connection, market) if place.shown]
    last = read_market_forecasts(connection, market, rounds[-1:], agent)
    kept = thin(rounds, SAID // max(len(last), 1))
    said = read_market_forecasts(connection, market, kept, agent)
    return History(read_price_history(connection, market, PRICES), tuple(said), len(kept) < len(rounds))
