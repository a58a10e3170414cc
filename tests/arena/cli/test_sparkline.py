"""How a price went, as a line of bars; and which markets are open, waiting or ended."""

from datetime import timedelta
from typing import Any

from arena.cli.markets import price_points
from arena.record.queries.markets import KnownMarket, MarketStatus, filter_markets
from markets.model import MarketId, Quote
from tests.builders import NOW, a_listing


def at(minute: int, mid: int | None) -> Quote:
    return Quote(MarketId("sky:fog"), NOW + timedelta(minutes=minute), None, None, mid)


def test_points_are_the_prices_of_their_instants() -> None:
    quotes = [at(0, 10), at(4, 20), at(5, None), at(8, 30)]
    assert price_points(quotes, NOW + timedelta(minutes=8), 5) == [10, 10, 20, None, 30]
    assert price_points(quotes, NOW + timedelta(minutes=16), 3) == [10, 30, 30]
    assert price_points([], NOW, 9) == []
    assert price_points(quotes[:1], NOW, 1) == [10]


def seen(name: str, volume: str, status: MarketStatus = "open", **changes: Any) -> KnownMarket:
    return KnownMarket(a_listing(market=f"sky:{name}", volume=volume, **changes), status, ())


def test_markets_are_chosen_by_words_category_and_status_most_traded_first() -> None:
    fog = seen("fog", "5", question="Fog in ROME?")
    mist = seen("mist", "9", category="Air", rules="Not in Rome, but mist.")
    dew = seen("dew", "9", "ended")
    every = [fog, dew, mist]
    assert filter_markets(every) == [dew, mist, fog]
    assert filter_markets(every, "rome") == [mist, fog]
    assert filter_markets(every, "rome FOG") == [fog]
    assert filter_markets(every, "sky:dew") == [dew]
    assert filter_markets(every, category="air") == [mist]
    assert filter_markets(every, status="ended") == [dew]
    assert filter_markets(every, "nothing like it") == []
