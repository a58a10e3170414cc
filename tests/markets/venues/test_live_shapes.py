"""`make live`, against local servers: what is as recorded, and what has drifted."""

import runpy
from pathlib import Path
from typing import Any

import pytest

from tests.provider.replies import GOOD, says
from tests.provider.server import faulty
from tests.venue_server import kalshi, manifold
from tests.venue_server.polymarket import CLOB, GAMMA, RAIN_BOOK, PolymarketWire, a_market
from tests.venue_server.server import VenueServer, status

LIVE = runpy.run_path(str(Path(__file__).parents[3] / "scripts" / "live.py"))


def asked(tmp_path: Path, venue: str, urls: str, *options: str, agent: str = "kind: market") -> int:
    config = tmp_path / "config.yaml"
    config.write_text(f"markets: {{venue: {venue}, {venue}: {{{urls}}}}}\nagents: [{{{agent}}}]\n")
    status: int = LIVE["main"]([str(config), "--venue", venue, *options])
    return status


def on_gamma(**changes: Any) -> PolymarketWire:
    events = [{"id": "7", "title": "Rain", "slug": "rain"}]
    return PolymarketWire([a_market(events=events, slug="rain", **changes)], [RAIN_BOOK])


def test_a_venue_that_is_as_recorded(
    server: VenueServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    url = on_gamma().serve(server)
    assert asked(tmp_path, "polymarket", f"url: '{url}{GAMMA}', book_url: '{url}{CLOB}'", "--no-models") == 0
    assert capsys.readouterr().out == "polymarket markets: as recorded\npolymarket book: as recorded\n"


def test_what_drifted_is_named(
    server: VenueServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    url = on_gamma(endDate=None, bestBid="0.4", closed=0).serve(server)
    assert asked(tmp_path, "polymarket", f"url: '{url}{GAMMA}', book_url: '{url}{CLOB}'", "--no-models") == 2
    said = capsys.readouterr().out.splitlines()
    assert said == [
        "polymarket markets: 3 drifted",
        "  markets[].closed holds number, where it held bool",
        "  markets[].endDate is gone",
        "  markets[].bestBid holds text, where it held number",
        "polymarket book: as recorded",
    ]


def test_the_other_venues_and_a_model(
    server: VenueServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    event = kalshi.an_event(kalshi.a_market())
    book = {"RAIN-26-A": kalshi.BOOK}
    url = kalshi.KalshiWire([event], [kalshi.a_series()], books=book).serve(server)
    with faulty() as provider:
        provider.script("m", says(GOOD))
        agent = f"model: openai/m, base_url: '{provider.url}', price: {{input: 1, output: 1}}"
        assert asked(tmp_path, "kalshi", f"url: '{url}'", agent=agent) == 0
    assert "openai/m: as recorded" in capsys.readouterr().out
    url = manifold.ManifoldWire([manifold.a_market()]).serve(server)
    assert asked(tmp_path, "manifold", f"url: '{url}'", "--no-models") == 0
    server.fail("/v0/markets", status(404), forever=True)
    assert asked(tmp_path, "manifold", f"url: '{url}'", "--no-models") == 1
