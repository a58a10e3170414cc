"""The generated catalogues and the server in another process, which benchmarks stand on."""

from datetime import timedelta

from tests.builders import listed
from tests.venue_server import many
from tests.venue_server.kalshi import KalshiWire
from tests.venue_server.manifold import ManifoldWire
from tests.venue_server.polymarket import PolymarketWire, polymarket
from tests.venue_server.server import venue_server
from tests.venue_server.visit import kalshi, manifold


def test_every_generated_market_is_read_whole() -> None:
    with venue_server() as server:
        url = PolymarketWire(many.polymarket(250)).serve(server)
        answer = polymarket(url, lambda venue: listed(venue, many.START))
        assert (len(answer.said), answer.aside) == (250, [])
        assert all(listing.quote and listing.quote.bid for listing in answer.said)
        assert 50 < len({listing.market.event_id for listing in answer.said}) < 125
    with venue_server() as server:
        url = KalshiWire(many.kalshi(250)).serve(server)
        answer = kalshi(url, lambda venue: listed(venue, many.START))
        assert (len(answer.said), answer.aside) == (250, [])
    with venue_server() as server:
        url = ManifoldWire(many.manifold(250)).serve(server)
        answer = manifold(url, lambda venue: listed(venue, many.START + timedelta(hours=1)))
        assert (len(answer.said), answer.aside) == (250, [])
