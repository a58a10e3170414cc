"""What a rule names and asks for, of each venue over HTTP: what is sent, what comes, what a price says."""

from datetime import timedelta
from typing import Any

from markets.model import MarketId
from markets.universe import Universe, draw, filter_for
from markets.venue import Catalogue, CatalogueFilter
from tests.builders import NOW, usd
from tests.venue_server import kalshi as kalshi_wire
from tests.venue_server import manifold as manifold_wire
from tests.venue_server.polymarket import PolymarketWire, a_market
from tests.venue_server.server import VenueServer, reply
from tests.venue_server.visit import Answer, kalshi, manifold, polymarket

YEAR = int(timedelta(days=365).total_seconds())


def a_rule(**asked: Any) -> Universe:
    rule = Universe(show=9, per_event=9, closes_within=YEAR, min_volume=0, max_spread=50_000, price_only=True)
    return rule.model_copy(update=asked)


def drawn(answer: Answer[Catalogue], rule: Universe) -> set[str]:
    return {x.market.id.partition(":")[2] for x in draw(answer.said.listings, rule, 1, NOW)}


def gamma(number: int, slug: str, event: str, tag: str, **changes: Any) -> dict[str, Any]:
    events = [{"id": f"7{number}", "title": "Rain", "slug": event}]
    return a_market(str(number), slug=slug, events=events, tags=[{"id": "1", "slug": tag}], **changes)


POLYMARKET = [
    gamma(1, "rain-may", "rain", "weather"),
    gamma(2, "rain-june", "rain", "weather", volume24hr=50, liquidityNum=5_000),
    gamma(3, "cup", "fifa", "sports", volume24hr="900.5", liquidityNum=9_000),
    gamma(4, "vote", "election", "politics", liquidityNum=100),
]


def test_polymarket_is_asked_for_what_is_named_alone(server: VenueServer) -> None:
    rule = a_rule(slugs=("vote",), events=("rain", "nowhere"), tags=("sports", "weather"))
    wire = PolymarketWire(POLYMARKET)
    wanted = filter_for([rule], NOW)
    read = polymarket(wire.serve(server), lambda venue: venue.catalogue(NOW, wanted))
    assert drawn(read, rule) == {"1", "2", "3", "4"}
    assert read.codes == [("event nowhere", "missing")]
    lists = [asked.query for asked in server.log if asked.path.endswith("/markets/keyset")]
    assert [next(key for key in ("slug", "id", "tag_id") if key in one) for one in lists] == [
        "slug",
        "id",
        "tag_id",
        "tag_id",
    ]
    page = next(x.market for x in read.said.listings if x.market.id == MarketId("polymarket:3"))
    assert (page.slug, page.event_slug, page.tags) == ("cup", "fifa", "sports")


def test_what_is_not_wanted_is_left_out_by_any_name(server: VenueServer) -> None:
    wire = PolymarketWire(POLYMARKET)
    read = polymarket(wire.serve(server), lambda venue: venue.catalogue(NOW))
    rule = a_rule(not_slugs=("VOTE",), not_events=("fifa",), not_tags=("culture",))
    assert drawn(read, rule) == {"1", "2"}
    assert drawn(read, a_rule(events=("71",), not_slugs=("2",))) == {"1"}
    assert drawn(read, a_rule(tags=("WEATHER",), not_slugs=("2",))) == {"1"}


def test_figures_are_there_where_they_are_asked_for(server: VenueServer) -> None:
    wire = PolymarketWire(POLYMARKET)
    rule = a_rule(min_volume_24h=usd(50), min_liquidity=usd(1_000))
    read = polymarket(wire.serve(server), lambda venue: venue.catalogue(NOW, filter_for([rule], NOW)))
    assert server.log[0].params["liquidity_num_min"] == "1000"
    told = {x.market.id[-1]: (x.quote.volume_24h, x.quote.liquidity) for x in read.said.listings if x.quote}
    assert told == {"2": (usd(50), usd(5_000)), "3": (usd("900.5"), usd(9_000))}
    assert drawn(read, rule) == {"2", "3"}
    assert drawn(read, a_rule(min_open_interest=1)) == set()
    assert drawn(read, a_rule(min_open_interest=1, unknown_figures=True)) == {"2", "3"}
    plain = polymarket(wire.serve(server), lambda venue: venue.catalogue(NOW)).said.listings
    assert {x.quote and x.quote.liquidity for x in plain} == {None}


def test_rules_that_want_others_read_the_whole_list() -> None:
    named = a_rule(tags=("a",), min_liquidity=5)
    any_one = a_rule(unknown_figures=True)
    both = filter_for([named, any_one], NOW)
    assert (both.only_named, both.tags, both.min_liquidity, both.figures) == (False, ("a",), 0, True)


def test_kalshi_is_asked_by_event_and_series(server: VenueServer) -> None:
    def event(name: str) -> dict[str, Any]:
        figures = {"volume_24h_fp": "12.00", "open_interest_fp": "7.50"}
        return kalshi_wire.an_event(kalshi_wire.a_market(f"{name}-A", **figures), ticker=name)

    series = [kalshi_wire.a_series(x, tags=[x.title()]) for x in ("RAIN", "CUP", "VOTE", "GOLD")]
    wire = kalshi_wire.KalshiWire(
        [event(x) for x in ("RAIN-1", "RAIN-2", "CUP-1", "VOTE-1", "GOLD-1")], series
    )
    rule = a_rule(slugs=("cup-1-a",), events=("vote-1",), tags=("rain",), min_open_interest=usd(7))
    read = kalshi(wire.serve(server), lambda venue: venue.catalogue(NOW, filter_for([rule], NOW)))
    assert drawn(read, rule) == {"RAIN-1-A", "RAIN-2-A", "CUP-1-A", "VOTE-1-A"}
    assert len(read.said.listings) == 4
    assert {(x.quote.volume_24h, x.quote.open_interest) for x in read.said.listings if x.quote} == {
        (usd(12), usd("7.5"))
    }
    assert {x.market.tags for x in read.said.listings} == {"RAIN,Rain", "CUP,Cup", "VOTE,Vote"}


def test_manifold_is_asked_by_topic_and_market(server: VenueServer) -> None:
    wire = manifold_wire.ManifoldWire([
        manifold_wire.a_market("a", groupSlugs=["ai"], slug="who", volume24Hours=5, totalLiquidity=100),
        manifold_wire.a_market("b", slug="what"),
        manifold_wire.a_market("c", slug="where"),
    ])  # fmt: skip
    rule = a_rule(slugs=("what", "gone"), tags=("ai",))
    wanted = filter_for([rule], NOW)
    read = manifold(wire.serve(server), lambda venue: venue.catalogue(NOW, wanted))
    assert drawn(read, rule) == {"a", "b"}
    assert read.codes == [("gone", "missing")]
    assert "/v0/markets" not in {asked.path for asked in server.log}
    server.fail("/v0/slug/what", reply(None))
    nothing = manifold(server.url, lambda venue: venue.catalogue(NOW, wanted))
    assert nothing.codes == [("gone", "missing"), ("(no name)", "malformed")]
    both = CatalogueFilter(tags=("ai",), figures=True)
    whole = manifold(wire.serve(server), lambda venue: venue.catalogue(NOW, both)).said.listings
    told = {x.market.id[-1]: (x.market.tags, x.market.slug, x.quote and x.quote.liquidity) for x in whole}
    assert told == {"a": ("ai", "who", usd(100)), "b": ("", "what", None), "c": ("", "where", None)}
