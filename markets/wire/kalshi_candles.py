"""What Kalshi's prices were: candles of an hour or a day, each with the last prices of its time."""

from datetime import datetime, timedelta

from pydantic import AliasChoices, Field

from markets.model import Quote
from markets.venue import VenueError
from markets.wire.fields import Second, Sorter, Unfit, Wire, read
from markets.wire.http import Http
from markets.wire.kalshi import quote
from markets.wire.pages import listed

MOST = 5_000
"""Candles that one answer may hold."""
HOUR, DAY = timedelta(hours=1), timedelta(days=1)


class Last(Wire):
    """The last price of a candle's time; the page of markets that ended long ago calls it otherwise."""

    close: str | None = Field(None, validation_alias=AliasChoices("close_dollars", "close"))


class Candle(Wire):
    """A stretch of time, by its end."""

    end_period_ts: Second
    yes_bid: Last
    yes_ask: Last
    price: Last | None = None


async def candles(http: Http, sorter: Sorter, ticker: str, start: datetime, end: datetime) -> list[object]:
    """A market's candles, wherever they are kept; none, and that is told, where the venue shows none."""
    step = HOUR if (end - start) / HOUR < MOST else DAY
    asked = {
        "start_ts": int(start.timestamp()),
        "end_ts": int(end.timestamp()),
        "period_interval": step // timedelta(minutes=1),
    }
    series = ticker.partition("-")[0]
    for path in (f"/series/{series}/markets/{ticker}", f"/historical/markets/{ticker}"):
        try:
            return listed(await http.get(f"{path}/candlesticks", **asked), "candlesticks")
        except VenueError as error:
            if error.code != "missing":
                raise
    sorter.tell(Unfit("quote", "missing", "the venue doesn't show its history"), ticker)
    return []


def candle_quote(raw: object, ticker: str) -> Quote:
    """The prices at the end of a candle's time."""
    candle = read(Candle, raw, "quote")
    prices = {
        "yes_bid_dollars": candle.yes_bid.close,
        "yes_ask_dollars": candle.yes_ask.close,
        "last_price_dollars": candle.price.close if candle.price else None,
    }
    return quote(prices, ticker, candle.end_period_ts)
