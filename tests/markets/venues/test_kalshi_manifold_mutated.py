"""Recorded answers of Kalshi and Manifold, broken at random: what is broken is told, the rest is answered."""

import copy
import json
import os
import random
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from markets.millionths import ONE
from markets.model import Listing, MarketId
from markets.venue import VenueError
from tests.builders import listed
from tests.venue_server.broken import broken, changed, check, sane, well_told
from tests.venue_server.kalshi import ROOT, KalshiWire
from tests.venue_server.manifold import ManifoldWire
from tests.venue_server.server import Asked, VenueServer, reply
from tests.venue_server.visit import Answer, Line

TIMES = 120 if os.environ.get("THOROUGH") == "1" else 40
AUGUST = datetime(2026, 8, 9, 12, tzinfo=UTC)
OCTOBER_2022 = datetime(2022, 10, 11, tzinfo=UTC)


@pytest.fixture
def to_kalshi(server: VenueServer) -> Iterator[Line]:
    with Line(server.url + ROOT) as line:
        yield line


@pytest.fixture
def to_manifold(server: VenueServer) -> Iterator[Line]:
    with Line(server.url) as line:
        yield line


def load(shared_data: Path, *parts: str) -> Any:
    return json.loads(shared_data.joinpath("venues", *parts).read_bytes())


def not_yet_open(where: str) -> bool:
    """Whether a change makes a market one that opens at the end of all days."""
    return where.startswith(("createdTime = 9223372036854775808", "createdTime = 1000000000"))


def test_a_catalogue_of_kalshi(server: VenueServer, to_kalshi: Line, shared_data: Path) -> None:
    events = load(shared_data, "kalshi", "pmvl", "kalshi_events.json")["events"]
    events += load(shared_data, "kalshi", "gnome-2026-05", "kalshi_events.json")["events"][1:3]
    wire = KalshiWire(events, series=[])
    wire.serve(server)

    def ask() -> Answer[list[Listing]]:
        return to_kalshi.kalshi(lambda venue: listed(venue, AUGUST))

    calm = ask()
    assert len(calm.said) == 18
    rng = random.Random("kalshi/catalogue")
    for _ in range(TIMES):
        wire.events, number, where = broken(events, rng, deep=True)
        check(calm, ask(), len(events[number]["markets"]), where, not_yet_open(where))


def test_books_of_kalshi(server: VenueServer, to_kalshi: Line, shared_data: Path) -> None:
    market = load(shared_data, "kalshi", "pmvl", "kalshi-market.json")["market"]
    book = load(shared_data, "kalshi", "pmvl", "kalshi-orderbook.json")["orderbook_fp"]
    names = [f"GAME-26-{n}" for n in range(5)]
    alone = [market | {"ticker": name, "event_ticker": "GAME-26"} for name in names]
    wire = KalshiWire(alone=alone)
    wire.serve(server)
    ids = [MarketId(f"kalshi:{name}") for name in names]

    def ask(books: list[Any]) -> Answer[list[Listing]]:
        server.route(f"{ROOT}/markets/orderbooks", reply({"orderbooks": books}))
        return to_kalshi.kalshi(lambda venue: venue.listings(AUGUST, ids))

    books = [{"ticker": name, "orderbook_fp": copy.deepcopy(book)} for name in names]
    calm = ask(books)
    assert [len(listing.quote.bids) for listing in calm.said if listing.quote] == [50] * 5
    rng = random.Random("kalshi/books")
    for _ in range(TIMES):
        found, _number, where = broken(books, rng, deep=True)
        said = ask(found)
        assert len(said.said) == 5, where
        assert all(listing.quote is not None for listing in said.said), where
        check(calm, said, 1, where)


def test_ends_of_kalshi(server: VenueServer, to_kalshi: Line, shared_data: Path) -> None:
    market = load(shared_data, "kalshi", "pmvl", "kalshi-market.json")["market"]
    final = {"status": "finalized", "result": "yes", "settlement_value_dollars": "1.0000"}
    names = [f"GAME-26-{n}" for n in range(6)]
    alone = [market | final | {"ticker": name, "settlement_ts": "2026-08-09T00:00:00Z"} for name in names]
    wire = KalshiWire(alone=alone)
    wire.serve(server)
    ids = [MarketId(f"kalshi:{name}") for name in names]

    def ask() -> Answer[Any]:
        return to_kalshi.kalshi(lambda venue: venue.resolutions(AUGUST, ids))

    calm = ask()
    assert len(calm.said) == 6
    rng = random.Random("kalshi/ends")
    for _ in range(TIMES):
        wire.alone, _number, where = broken(alone, rng)
        said = ask()
        check(calm, said, 1, where)
        assert {end.payout for end in said.said} == {ONE}, where


def test_a_catalogue_of_manifold(server: VenueServer, to_manifold: Line, shared_data: Path) -> None:
    markets = load(shared_data, "manifold", "pymanifold-2022", "markets_subset.json")
    markets = [raw for raw in markets if raw["outcomeType"] == "BINARY" and not raw["isResolved"]]
    wire = ManifoldWire(markets)
    wire.serve(server)

    def ask() -> Answer[list[Listing]]:
        return to_manifold.manifold(lambda venue: listed(venue, OCTOBER_2022), newest=len(markets))

    calm = ask()
    assert len(calm.said) == 50
    rng = random.Random("manifold/catalogue")
    for _ in range(TIMES):
        wire.markets, _number, where = broken(markets, rng)
        check(calm, ask(), 1, where, not_yet_open(where))


def test_ends_of_manifold(server: VenueServer, to_manifold: Line, shared_data: Path) -> None:
    markets = load(shared_data, "manifold", "pymanifold-2022", "markets_subset.json")
    kinds = ("YES", "NO", "CANCEL")
    ended = [raw for raw in markets if raw["outcomeType"] == "BINARY" and raw.get("resolution") in kinds]
    chosen = [raw for kind in kinds for raw in ended if raw["resolution"] == kind][::60]
    chosen += [raw for raw in markets if raw["id"] == "TaOWd6RLq4npElKPhJOS"]
    ids = [MarketId(f"manifold:{raw['id']}") for raw in chosen]
    ManifoldWire().serve(server)

    def ask(records: list[Any]) -> Answer[Any]:
        for raw, record in zip(chosen, records, strict=True):
            server.route(f"/v0/market/{raw['id']}", reply(record))
        return to_manifold.manifold(lambda venue: venue.resolutions(AUGUST, ids))

    calm = ask(chosen)
    payouts = {end.market_id: end.payout for end in calm.said}
    assert len(payouts) == len(chosen) == 8
    assert len(set(payouts.values())) == 4
    rng = random.Random("manifold/ends")
    for _ in range(TIMES):
        records, _number, where = broken(chosen, rng)
        said = ask(records)
        check(calm, said, 1, where)
        assert {end.market_id: end.payout for end in said.said}.items() <= payouts.items(), where


def how_it_ends(ask: Callable[[], Answer[list[Listing]]]) -> str:
    """The code of what was no answer; nothing for an answer that is sound."""
    try:
        said = ask()
    except VenueError as error:
        return error.code
    assert all(sane(listing) for listing in said.said)
    assert well_told(said.aside)
    return ""


def test_bytes_of_kalshi_changed_on_the_way(server: VenueServer, to_kalshi: Line, shared_data: Path) -> None:
    KalshiWire().serve(server)
    page = load(shared_data, "kalshi", "pmvl", "kalshi_events.json")
    body = json.dumps({"events": page["events"]}).encode()
    rng = random.Random("kalshi/bytes")
    ends = set()
    for _ in range(TIMES):
        server.fail(f"{ROOT}/events", reply(changed(body, rng)), forever=True)
        ends.add(how_it_ends(lambda: to_kalshi.kalshi(lambda venue: listed(venue, AUGUST), pages=2)))
    assert {"", "not_json"} <= ends <= {"", "not_json", "bad_page", "incomplete"}


def _page(pages: Mapping[bool, Any], asked: Asked) -> Any:
    return pages["before" in asked.params]


def test_bytes_of_manifold_changed_on_the_way(
    server: VenueServer, to_manifold: Line, shared_data: Path
) -> None:
    body = json.dumps(load(shared_data, "manifold", "pymanifold-2022", "markets_subset.json")[:20]).encode()
    rng = random.Random("manifold/bytes")
    ends = set()
    for _ in range(TIMES):
        pages = {True: [], False: reply(changed(body, rng))}
        server.route("/v0/markets", partial(_page, pages))
        ends.add(how_it_ends(lambda: to_manifold.manifold(lambda venue: listed(venue, OCTOBER_2022))))
    assert {"", "not_json"} <= ends <= {"", "not_json", "bad_page", "incomplete"}
