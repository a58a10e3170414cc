"""Figures and descriptions that make no sense, at every venue: the market and its prices are read without."""

from collections.abc import Callable
from typing import Any

import pytest

from markets.model import Listing
from markets.venue import CatalogueFilter, QuarantinedRecord
from tests.builders import NOW, listed, quote_of, usd
from tests.venue_server import kalshi as kalshi_wire
from tests.venue_server import manifold as manifold_wire
from tests.venue_server import polymarket as polymarket_wire
from tests.venue_server.server import VenueServer
from tests.venue_server.visit import Answer, kalshi, manifold, polymarket

BAD_TEXTS: list[Any] = ["1e5", "50.000,00", "-1", -1, True, "much", [], {}, float("inf")]
Ask = Callable[..., Answer[list[Listing]]]


def on_polymarket(server: VenueServer, **changes: Any) -> Answer[list[Listing]]:
    wire = polymarket_wire.PolymarketWire([polymarket_wire.a_market(**changes)])
    return polymarket(wire.serve(server), lambda venue: listed(venue, NOW))


def on_kalshi(server: VenueServer, **changes: Any) -> Answer[list[Listing]]:
    wire = kalshi_wire.KalshiWire([kalshi_wire.an_event(kalshi_wire.a_market(**changes))])
    return kalshi(wire.serve(server), lambda venue: listed(venue, NOW))


def on_manifold(server: VenueServer, **changes: Any) -> Answer[list[Listing]]:
    wire = manifold_wire.ManifoldWire([manifold_wire.a_market(**changes)])
    return manifold(wire.serve(server), lambda venue: listed(venue, NOW))


VOLUMES: list[tuple[Ask, str]] = [
    (on_polymarket, "volume"),
    (on_polymarket, "volumeNum"),
    (on_kalshi, "volume_fp"),
    (on_manifold, "volume"),
]


def told(aside: list[QuarantinedRecord]) -> list[tuple[str, str]]:
    return [(record.kind, record.code) for record in aside]


@pytest.mark.parametrize(("ask", "name"), VOLUMES, ids=["gamma", "gamma number", "kalshi", "manifold"])
def test_a_bad_volume_leaves_the_prices(server: VenueServer, ask: Ask, name: str) -> None:
    alone = {"volume": None} if name == "volumeNum" else {}
    for bad in BAD_TEXTS:
        answer = ask(server, **(alone | {name: bad}))
        quote = quote_of(answer.said[0])
        assert (quote.price, quote.volume) == (usd("0.41"), None), bad
        assert told(answer.aside) == [("quote", "bad_volume")], bad
        assert name in answer.aside[0].reason


@pytest.mark.parametrize("ask", [on_polymarket, on_kalshi, on_manifold])
def test_an_unknown_volume_is_not_told(server: VenueServer, ask: Ask) -> None:
    answer = ask(server, volume=None, volume_fp=None)
    assert quote_of(answer.said[0]).volume is None
    assert answer.aside == []


def test_a_good_volume_beside_a_bad_one_counts(server: VenueServer) -> None:
    answer = on_polymarket(server, volume="1e5", volumeNum=12.5)
    assert quote_of(answer.said[0]).volume == usd("12.5")
    assert answer.aside == []


def test_a_market_without_a_volume_is_kept_from_a_rule_that_asks_for_one(server: VenueServer) -> None:
    wire = polymarket_wire.PolymarketWire([polymarket_wire.a_market(volume="1e5")])
    wanted = CatalogueFilter(figures=True)
    answer = polymarket(wire.serve(server), lambda venue: venue.catalogue(NOW, wanted))
    [listing] = answer.said.listings
    assert not CatalogueFilter(min_volume=1).admits(listing.market, listing.quote)
    assert told(answer.aside) == [("quote", "bad_volume")]


DESCRIPTIONS: list[tuple[Ask, dict[str, Any]]] = [
    (on_polymarket, {"category": 5, "tags": None}),
    (on_polymarket, {"category": "\0", "tags": None}),
    (on_polymarket, {"tags": "weather"}),
    (on_polymarket, {"tags": [1]}),
    (on_polymarket, {"slug": 7, "gameId": [], "liquidity": "1e5", "volume24hr": "much"}),
    (on_kalshi, {"volume_24h_fp": 5, "open_interest_fp": "1e5"}),
    (on_manifold, {"slug": 7}),
    (on_manifold, {"slug": "\0", "volume24Hours": "much", "totalLiquidity": -1}),
]


@pytest.mark.parametrize(("ask", "changes"), DESCRIPTIONS)
def test_what_describes_a_market_takes_nothing_with_it(
    server: VenueServer, ask: Ask, changes: dict[str, Any]
) -> None:
    answer = ask(server, **changes)
    assert quote_of(answer.said[0]).price == usd("0.41")
    assert answer.aside == []


@pytest.mark.parametrize("category", [5, ["x"], "\0"])
def test_a_bad_category_of_an_event_is_none(server: VenueServer, category: Any) -> None:
    event = kalshi_wire.an_event(kalshi_wire.a_market()) | {"category": category}
    wire = kalshi_wire.KalshiWire([event])
    answer = kalshi(wire.serve(server), lambda venue: listed(venue, NOW))
    assert answer.said[0].market.category == "other"
    assert quote_of(answer.said[0]).price == usd("0.41")
