"""What venues' own pages and issues warn of: for each there is a way round it, or it changes nothing."""

from typing import Any

import pytest

from markets.model import MarketId
from tests.builders import NOW, listed, usd
from tests.venue_server import kalshi as kalshi_wire
from tests.venue_server.kalshi import ROOT, KalshiWire
from tests.venue_server.polymarket import CLOB, GAMMA, RAIN_BOOK, PolymarketWire, a_market, an_end
from tests.venue_server.server import VenueServer, status
from tests.venue_server.visit import kalshi, polymarket

LIST = f"{GAMMA}/markets/keyset"
RAIN = MarketId("polymarket:1001")


def refusing(server: VenueServer, path: str, parameter: str) -> None:
    """Make a list refuse every question with a parameter, as "order fields are not valid" does."""
    inner = server._routes[path]
    server.route(path, lambda asked: status(422) if parameter in asked.query else inner(asked))


def test_a_list_that_refuses_an_order_is_asked_without_one(server: VenueServer) -> None:
    """Read to its end all the same, and by its whole length."""
    made = [a_market(str(number)) for number in range(1_000, 1_230)]
    url = PolymarketWire(made).serve(server)
    calm = polymarket(url, lambda venue: listed(venue, NOW))
    refusing(server, LIST, "order")
    server.log.clear()
    assert polymarket(url, lambda venue: listed(venue, NOW)) == calm
    assert len(calm.said) == len(made)
    assert [("order" in asked.query) for asked in server.log] == [True, False] * 3


def test_a_venue_that_refuses_everything_is_asked_twice_and_no_more(server: VenueServer) -> None:
    url = PolymarketWire([a_market()]).serve(server)
    server.fail(LIST, status(403), forever=True)
    with pytest.raises(Exception, match="answered 403"):
        polymarket(url, lambda venue: listed(venue, NOW))
    assert len(server.log) == 2


def test_a_filter_that_is_ignored_lets_nothing_in(server: VenueServer) -> None:
    """By id others are sent too; by `closed` those that are, which are counted and not on offer."""
    made = [a_market("1001"), a_market("1002"), an_end("1003")]
    url = PolymarketWire(made, [RAIN_BOOK]).serve(server)
    server.route(LIST, {"markets": made})
    chosen = polymarket(url, lambda venue: venue.listings(NOW, [RAIN]))
    assert ([each.market.id for each in chosen.said], chosen.aside) == ([RAIN], [])
    catalogue = polymarket(url, lambda venue: venue.catalogue(NOW)).said
    assert len(catalogue.listings) == 2
    assert dict(catalogue.left_out) == {"not trading": 1}
    assert polymarket(url, lambda venue: venue.resolutions(NOW, [RAIN])).said == []


NEW_FIELDS: dict[str, Any] = {
    "orderPriceMinTickSize": 0.0025,
    "comboStatus": "eligible",
    "rfqEnabled": True,
    "bestBidDecimalized": "0.4000",
    "negRiskMarketID": None,
}


def test_a_tick_of_a_quarter_and_fields_that_are_new_change_nothing_else(server: VenueServer) -> None:
    url = PolymarketWire([a_market(**NEW_FIELDS)], [RAIN_BOOK]).serve(server)
    answer = polymarket(url, lambda venue: venue.listings(NOW, [RAIN]))
    [listing] = answer.said
    assert (listing.market.tick, answer.aside) == (usd("0.0025"), [])
    assert listing.quote is not None
    assert (listing.quote.bid, listing.quote.ask) == (usd("0.40"), usd("0.42"))


def test_what_a_past_price_is_nobody_says_so_it_has_no_sides(server: VenueServer) -> None:
    """Neither bid nor ask nor last is made of `p`, which docs/bundles.md tells."""
    url = PolymarketWire([a_market()]).serve(server)
    at = int(NOW.timestamp()) - 3_600
    server.route(f"{CLOB}/prices-history", {"history": [{"t": at, "p": 0.41}]})
    [price] = polymarket(url, lambda venue: venue.history(RAIN, NOW.replace(day=3), NOW)).said
    assert (price.mid, price.bid, price.ask, price.last) == (usd("0.41"), None, None, None)


EDGES = {"start": "0", "end": "0.1", "step": "0.0025"}
MIDDLE = {"start": "0.1", "end": "1", "step": "0.01"}
STRUCTURES = {
    "banded_quarter_cent": ([EDGES, MIDDLE], "0.0025"),
    "a_name_of_next_year": (None, "0.01"),
    "": ([{"start": "0", "end": "1", "step": "0.000001"}], "0.01"),
}


@pytest.mark.parametrize("structure", STRUCTURES)
def test_an_unknown_structure_of_prices_goes_by_its_ranges_or_by_the_cent(
    server: VenueServer, structure: str
) -> None:
    ranges, tick = STRUCTURES[structure]
    market = kalshi_wire.a_market(price_level_structure=structure, price_ranges=ranges, is_provisional=True)
    url = KalshiWire([kalshi_wire.an_event(market)]).serve(server)
    answer = kalshi(url, lambda venue: listed(venue, NOW))
    assert ([each.market.tick for each in answer.said], answer.aside) == ([usd(tick)], [])


def test_the_list_of_long_ago_need_not_know_the_filter_of_the_other(server: VenueServer) -> None:
    wire = KalshiWire(historical=[kalshi_wire.an_end(result="yes")])
    url = wire.serve(server)
    refusing(server, f"{ROOT}/historical/markets", "mve_filter")
    answer = kalshi(url, lambda venue: venue.resolutions(NOW, [MarketId("kalshi:RAIN-26-A")]))
    assert ([end.payout for end in answer.said], answer.aside) == ([usd(1)], [])


def test_a_provisional_result_pays_nothing_before_it_is_final(server: VenueServer) -> None:
    early = kalshi_wire.an_end(status="determined", result="yes", is_provisional=True)
    url = KalshiWire(alone=[early]).serve(server)
    assert kalshi(url, lambda venue: venue.resolutions(NOW, [MarketId("kalshi:RAIN-26-A")])).said == []
