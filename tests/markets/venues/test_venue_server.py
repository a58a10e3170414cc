"""The generated catalogues and the server in another process, which benchmarks stand on."""

import asyncio
import json
from datetime import timedelta

from markets.venues.polymarket import Settings, venue
from tests.venue_server import many
from tests.venue_server.kalshi import KalshiWire
from tests.venue_server.manifold import ManifoldWire
from tests.venue_server.polymarket import PolymarketWire, polymarket
from tests.venue_server.server import venue_server
from tests.venue_server.visit import kalshi, manifold


def test_a_catalogue_is_drawn_by_its_seed() -> None:
    for made in (many.polymarket, many.kalshi, many.manifold):
        assert made(30, 7) == made(30, 7)
        assert made(30, 7) != made(30, 8)


def test_every_generated_market_is_read_whole() -> None:
    with venue_server() as server:
        url = PolymarketWire(many.polymarket(250)).serve(server)
        answer = polymarket(url, lambda venue: venue.catalogue(many.START))
        assert (len(answer.said), answer.aside) == (250, [])
        assert all(listing.quote and listing.quote.bid for listing in answer.said)
        assert 50 < len({listing.market.event_id for listing in answer.said}) < 125
    with venue_server() as server:
        url = KalshiWire(many.kalshi(250)).serve(server)
        answer = kalshi(url, lambda venue: venue.catalogue(many.START))
        assert (len(answer.said), answer.aside) == (250, [])
    with venue_server() as server:
        url = ManifoldWire(many.manifold(250)).serve(server)
        answer = manifold(url, lambda venue: venue.catalogue(many.START + timedelta(hours=1)))
        assert (len(answer.said), answer.aside) == (250, [])


def test_records_are_as_long_as_asked_for() -> None:
    lengths = [len(json.dumps(raw)) for raw in many.polymarket(200, size=3_000)]
    assert 2_990 < min(lengths) <= max(lengths) <= 3_000


def test_another_process_serves_the_same() -> None:
    async def count(url: str) -> int:
        opened = venue(Settings.model_validate({"url": url, "per_second": 1e6}))
        try:
            return len(await opened.catalogue(many.START))
        finally:
            await opened.close()

    with many.elsewhere(350) as url:
        assert asyncio.run(count(url)) == 350
