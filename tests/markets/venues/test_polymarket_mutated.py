"""Recorded answers of Polymarket, broken at random: what is broken is told, the rest is answered."""

import json
import os
import random
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from markets.model import Listing, MarketId
from markets.venue import VenueError
from tests.builders import listed, usd
from tests.venue_server import recorded
from tests.venue_server.broken import broken, changed, check, sane, well_told
from tests.venue_server.polymarket import GAMMA, PolymarketWire, Wires
from tests.venue_server.server import VenueServer, reply
from tests.venue_server.visit import Answer

TIMES = 150 if os.environ.get("THOROUGH") == "1" else 50
AUGUST = datetime(2026, 8, 18, 19, tzinfo=UTC)
JULY = datetime(2026, 7, 25, 3, tzinfo=UTC)


@pytest.fixture
def line(server: VenueServer) -> Iterator[Wires]:
    with Wires(server.url) as opened:
        yield opened


@pytest.fixture(scope="module")
def markets(shared_data: Path) -> list[Any]:
    return recorded.markets(shared_data)


def ids(records: list[Any]) -> list[MarketId]:
    return [MarketId(f"polymarket:{raw['id']}") for raw in records]


def test_a_catalogue(server: VenueServer, line: Wires, markets: list[Any]) -> None:
    offered = [raw for raw in markets if not raw["closed"] and raw["outcomes"] == '["Yes", "No"]']
    wire = PolymarketWire(offered)
    wire.serve(server)

    def ask() -> Answer[list[Listing]]:
        return line.ask(lambda venue: listed(venue, JULY))

    calm = ask()
    assert len(calm.said) == 15
    rng = random.Random("polymarket/catalogue")
    for _ in range(TIMES):
        wire.markets, _number, where = broken(offered, rng, deep=rng.random() < 0.3)
        check(calm, ask(), 1, where)


def test_books(server: VenueServer, line: Wires, markets: list[Any], shared_data: Path) -> None:
    chosen = [raw for raw in markets if raw["id"] in ("2063134", "2774056")]
    books = recorded.books(shared_data)[:2]
    wire = PolymarketWire(chosen)
    wire.serve(server)

    def ask(sent: list[Any]) -> Answer[list[Listing]]:
        wire.books = sent
        return line.ask(lambda venue: venue.listings(JULY, ids(chosen)))

    calm = ask(books)
    assert [len(listing.quote.asks) for listing in calm.said if listing.quote] == [62, 78]
    rng = random.Random("polymarket/books")
    for _ in range(TIMES):
        sent, _number, where = broken(books, rng, deep=True)
        said = ask(sent)
        assert len(said.said) == 2, where
        assert all(listing.quote is not None for listing in said.said), where
        check(calm, said, 1, where)


def test_ends(server: VenueServer, line: Wires, markets: list[Any]) -> None:
    ended = [raw for raw in markets if raw.get("umaResolutionStatus") == "resolved"]
    ended = [raw for raw in ended if raw["outcomes"] == '["Yes", "No"]'][::4]
    wire = PolymarketWire()
    wire.serve(server)

    def ask(sent: list[Any]) -> Answer[Any]:
        wire.markets = sent
        return line.ask(lambda venue: venue.resolutions(AUGUST, ids(ended)))

    calm = ask(ended)
    payouts = {end.market_id: end.payout for end in calm.said}
    assert len(payouts) == len(ended) == 9
    assert set(payouts.values()) == {0, usd(1)}
    rng = random.Random("polymarket/ends")
    for _ in range(TIMES):
        sent, _number, where = broken(ended, rng)
        said = ask(sent)
        check(calm, said, 1, where)
        assert {end.market_id: end.payout for end in said.said}.items() <= payouts.items(), where


def test_the_order_books_word(
    server: VenueServer, line: Wires, markets: list[Any], shared_data: Path
) -> None:
    """Whatever is wrong with it, no market is paid otherwise than its page says."""
    katana = next(raw for raw in markets if raw["id"] == "1460332")
    word = recorded.ends(shared_data)[2]
    wire = PolymarketWire([katana])
    wire.serve(server)
    rng = random.Random("polymarket/word")
    paid = 0
    for _ in range(TIMES):
        wire.ends, _number, where = broken([word], rng, deep=True)
        said = line.ask(lambda venue: venue.resolutions(AUGUST, ids([katana])))
        assert [end.payout for end in said.said] in ([0], []), where
        assert said.said or said.aside, where
        assert well_told(said.aside), where
        paid += len(said.said)
    assert paid > TIMES / 2


def test_bytes_changed_on_the_way(server: VenueServer, line: Wires, markets: list[Any]) -> None:
    PolymarketWire().serve(server)
    body = json.dumps({"markets": markets[:30]}).encode()
    rng = random.Random("polymarket/bytes")
    ends = set()
    for _ in range(TIMES):
        server.fail(f"{GAMMA}/markets/keyset", reply(changed(body, rng)), forever=True)
        try:
            said = line.ask(lambda venue: listed(venue, JULY))
        except VenueError as error:
            ends.add(error.code)
            continue
        ends.add("")
        assert all(sane(listing) for listing in said.said)
        assert well_told(said.aside)
    assert {"", "not_json"} <= ends <= {"", "not_json", "bad_page"}
