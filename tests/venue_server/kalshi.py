"""Kalshi's wire on the local server, with its quirks, and records made by hand in its shape."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.venue_server.server import Asked, VenueServer, reply, status

Raw = dict[str, Any]
ROOT = "/trade-api/v2"
LISTED = {
    "open": ("active",),
    "closed": ("closed", "determined", "disputed", "amended"),
    "settled": ("finalized",),
}
JUNK = {"ticker": "KXMVE-1", "event_ticker": "KXMVE", "mve_collection_ticker": "KXMVE-R", "status": "active"}
"""A combination of other markets: what a naive question is answered with."""


def a_market(ticker: str = "RAIN-26-A", **changes: Any) -> Raw:
    """Return an open market that costs 40 to 42 cents; a change to None leaves the field out."""
    raw = {
        "ticker": ticker,
        "event_ticker": ticker.rpartition("-")[0],
        "market_type": "binary",
        "status": "active",
        "title": "Will it rain?",
        "yes_sub_title": "Rain",
        "rules_primary": "If it rains, then the market resolves to Yes.",
        "rules_secondary": "",
        "created_time": "2025-12-01T09:00:00.5Z",
        "open_time": "2025-12-01T10:00:00Z",
        "close_time": "2026-03-01T10:00:00Z",
        "notional_value_dollars": "1.0000",
        "price_level_structure": "linear_cent",
        "price_ranges": [{"start": "0.0000", "end": "1.0000", "step": "0.0100"}],
        "yes_bid_dollars": "0.4000",
        "yes_ask_dollars": "0.4200",
        "yes_bid_size_fp": "100.00",
        "yes_ask_size_fp": "50.50",
        "last_price_dollars": "0.4100",
        "volume_fp": "1234.56",
        "result": "",
    }
    return {name: value for name, value in (raw | changes).items() if value is not None}


def an_end(ticker: str = "RAIN-26-A", dollars: str | None = "1.0000", **changes: Any) -> Raw:
    """Return a market that is paid, without a result of its own unless one is given."""
    return a_market(
        ticker,
        **(
            {
                "status": "finalized",
                "settlement_value_dollars": dollars,
                "settlement_ts": "2026-01-02T03:04:05Z",
                "close_time": "2026-01-02T00:00:00Z",
            }
            | changes
        ),
    )


def an_event(*markets: Raw, ticker: str = "RAIN-26", **changes: Any) -> Raw:
    """Return an event with its markets nested in it."""
    series = ticker.partition("-")[0]
    raw = {"event_ticker": ticker, "series_ticker": series, "category": "Climate", "markets": list(markets)}
    return raw | changes


def a_series(ticker: str = "RAIN", **changes: Any) -> Raw:
    return {"ticker": ticker, "category": "Climate", "fee_type": "quadratic", "fee_multiplier": 1} | changes


def a_book(yes: Sequence[tuple[str, str]], no: Sequence[tuple[str, str]]) -> Raw:
    """Return a book as it is sent: bids on either side."""
    return {"yes_dollars": [list(level) for level in yes], "no_dollars": [list(level) for level in no]}


BOOK = a_book(
    yes=[("0.0100", "900.00"), ("0.3900", "200.00"), ("0.4000", "100.00")],
    no=[("0.0200", "800.00"), ("0.5700", "300.00"), ("0.5800", "50.50")],
)
"""The worst level of each side comes first, as on the wire."""


@dataclass
class KalshiWire:
    """What the venue has: events with their markets, series, books, and markets of long ago."""

    events: list[Any] = field(default_factory=list)
    series: list[Any] = field(default_factory=lambda: [a_series()])
    books: dict[str, Any] = field(default_factory=dict)
    historical: list[Any] = field(default_factory=list)
    alone: list[Any] = field(default_factory=list)
    candles: dict[str, list[Raw]] = field(default_factory=dict)
    cutoff: str = "2025-06-01T00:00:00Z"

    @property
    def markets(self) -> list[Any]:
        """Return those nested in events, and those that stand alone."""
        nested = (raw["markets"] for raw in self.events if isinstance(raw, dict) and "markets" in raw)
        return [market for markets in nested if isinstance(markets, list) for market in markets] + self.alone

    def serve(self, server: VenueServer) -> str:
        """Answer from now on; where from."""
        routes: Mapping[str, Callable[[Asked], Any]] = {
            "/events": self._events,
            "/events/": lambda asked: _named("event", self.events, "event_ticker", asked),
            "/series": lambda _: {"series": self.series},
            "/series/": self._of_series,
            "/markets": lambda asked: self._markets(asked, self.markets),
            "/markets/": self._book,
            "/markets/orderbooks": self._books,
            "/historical/cutoff": lambda _: {"market_settled_ts": self.cutoff},
            "/historical/markets/": lambda asked: self._candles(asked, self.historical),
            "/historical/markets": lambda asked: self._markets(asked, self.historical),
        }
        for path, answer in routes.items():
            server.route(ROOT + path, answer)
        return server.url + ROOT

    def _events(self, asked: Asked) -> Any:
        """Answer with a page of at most two hundred events, under an opaque cursor."""
        size = int(asked.params.get("limit", 100))
        after = asked.params.get("cursor")
        if size > 200 or asked.params.get("status") != "open":
            return status(400)
        start = int(after.removeprefix("from:")) if after else 0
        end = start + size
        series = asked.params.get("series_ticker")
        events = [raw for raw in self.events if series is None or raw["series_ticker"] == series]
        found = events[start:end]
        if asked.params.get("with_nested_markets") != "true":
            found = [{name: raw[name] for name in raw if name != "markets"} for raw in found]
        return {"events": found, "cursor": f"from:{end}" if end < len(events) else ""}

    def _markets(self, asked: Asked, markets: list[Any]) -> Any:
        """Answer with markets: tickers joined by commas, never repeated, or a list by status."""
        size = int(asked.params.get("limit", 100))
        after = asked.params.get("cursor")
        if len(asked.query.get("tickers", [])) > 1 or size > 1000:
            return status(400)
        found = [raw for raw in markets if isinstance(raw, dict)]
        if (tickers := asked.params.get("tickers")) is not None:
            found = [raw for raw in found if raw.get("ticker") in tickers.split(",")]
        if (wanted := asked.params.get("status")) is not None:
            found = [raw for raw in found if raw.get("status") in LISTED[wanted]]
        if (event := asked.params.get("event_ticker")) is not None:
            found = [raw for raw in found if raw.get("event_ticker") == event]
        if (series := asked.params.get("series_ticker")) is not None:
            found = [raw for raw in found if raw["ticker"].partition("-")[0] == series]
        junk = [] if asked.params.get("mve_filter") == "exclude" else [JUNK]
        start = int(after.removeprefix("from:")) if after else 0
        rest = f"from:{start + size}" if start + size < len(found) else ""
        return {"markets": junk + found[start : start + size], "cursor": rest}

    def _of_series(self, asked: Asked) -> Any:
        if asked.path.endswith("/candlesticks"):
            return self._candles(asked, self.markets)
        return _named("series", self.series, "ticker", asked)

    def _candles(self, asked: Asked, markets: list[Any]) -> Any:
        """Answer with the candles of a market that is one of these."""
        name = asked.path.removesuffix("/candlesticks").rpartition("/")[2]
        if name not in {raw["ticker"] for raw in markets}:
            return status(404)
        start = int(asked.params["start_ts"])
        end = int(asked.params["end_ts"])
        found = [raw for raw in self.candles.get(name, []) if start <= raw["end_period_ts"] <= end]
        return {"candlesticks": found}

    def _books(self, asked: Asked) -> Any:
        """Answer with books by repeated tickers; one with commas is one ticker, whose book is empty."""
        tickers = asked.query.get("tickers", [])
        if not 1 <= len(tickers) <= 100:
            return status(400)
        return {
            "orderbooks": [
                {"ticker": ticker, "orderbook_fp": self.books.get(ticker, a_book([], []))}
                for ticker in tickers
            ]
        }

    def _book(self, asked: Asked) -> Any:
        ticker = asked.path.removeprefix(f"{ROOT}/markets/").removesuffix("/orderbook")
        return {"orderbook_fp": self.books[ticker]} if ticker in self.books else status(404)


def _named(what: str, records: list[Any], key: str, asked: Asked) -> Any:
    name = asked.path.rpartition("/")[2]
    found = [raw for raw in records if isinstance(raw, dict) and raw.get(key) == name]
    return reply({what: found[0]}) if found else status(404)
