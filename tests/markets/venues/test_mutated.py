"""Recorded answers of venues, broken at random: what is broken is told, the rest is answered."""

import copy
import json
import os
import random
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from markets.millionths import ONE
from markets.model import Listing, MarketId, Resolution
from markets.venue import Venue, VenueError
from tests.builders import listed
from tests.venue_server import recorded
from tests.venue_server.broken import broken, changed, check, sane, well_told
from tests.venue_server.kalshi import ROOT, KalshiWire
from tests.venue_server.manifold import ManifoldWire
from tests.venue_server.polymarket import GAMMA, PolymarketWire
from tests.venue_server.server import Asked, VenueServer, reply
from tests.venue_server.visit import Answer, Line

TIMES = 150 if os.environ.get("THOROUGH") == "1" else 50
JULY = datetime(2026, 7, 25, 3, tzinfo=UTC)
AUGUST = datetime(2026, 8, 9, 12, tzinfo=UTC)
OCTOBER_2022 = datetime(2022, 10, 11, tzinfo=UTC)


@pytest.fixture
def line(server: VenueServer) -> Iterator[Line]:
    with Line(server.url) as opened:
        yield opened


@pytest.fixture
def to_kalshi(server: VenueServer) -> Iterator[Line]:
    with Line(server.url + ROOT) as opened:
        yield opened


@pytest.fixture(scope="module")
def on_polymarket(shared_data: Path) -> list[Any]:
    return recorded.markets(shared_data)


def load(shared_data: Path, *parts: str) -> Any:
    return json.loads(shared_data.joinpath("venues", *parts).read_bytes())


def on_manifold(shared_data: Path) -> list[Any]:
    records: list[Any] = load(shared_data, "manifold", "pymanifold-2022", "markets_subset.json")
    return records


def offered(at: datetime) -> Callable[[Venue], Any]:
    return lambda venue: listed(venue, at)


def ids(venue: str, names: list[str]) -> list[MarketId]:
    return [MarketId(f"{venue}:{name}") for name in names]


def payouts(answer: Answer[list[Resolution]]) -> dict[MarketId, int | None]:
    return {end.market_id: end.payout for end in answer.said}


def try_broken(
    name: str, records: list[Any], ask: Callable[[list[Any]], Answer[Any]], deep: float = 0.0
) -> Iterator[tuple[Answer[Any], str]]:
    """Yield the answers to records one of which is broken, each beside the answer of before."""
    calm = ask(records)
    rng = random.Random(name)
    for _ in range(TIMES):
        found, number, where = broken(records, rng, deep=rng.random() < deep)
        nested = records[number].get("markets", [0]) if isinstance(records[number], dict) else [0]
        early = where.startswith(("createdTime = 9223372036854775808", "createdTime = 1000000000"))
        said = ask(found)
        check(calm, said, len(nested), where, silent=early)  # it opens at the end of all days
        yield said, where


def test_a_catalogue_of_kalshi(server: VenueServer, to_kalshi: Line, shared_data: Path) -> None:
    events = load(shared_data, "kalshi", "pmvl", "kalshi_events.json")["events"]
    events += load(shared_data, "kalshi", "gnome-2026-05", "kalshi_events.json")["events"][1:3]

    def ask(sent: list[Any]) -> Answer[list[Listing]]:
        KalshiWire(sent, series=[]).serve(server)
        return to_kalshi.kalshi(offered(AUGUST))

    assert len(ask(events).said) == 18
    assert len([*try_broken("kalshi/catalogue", events, ask, deep=1)]) == TIMES


def test_books_of_kalshi(server: VenueServer, to_kalshi: Line, shared_data: Path) -> None:
    market = load(shared_data, "kalshi", "pmvl", "kalshi-market.json")["market"]
    book = load(shared_data, "kalshi", "pmvl", "kalshi-orderbook.json")["orderbook_fp"]
    names = [f"GAME-26-{n}" for n in range(5)]
    KalshiWire(alone=[market | {"ticker": name, "event_ticker": "GAME-26"} for name in names]).serve(server)

    def ask(sent: list[Any]) -> Answer[list[Listing]]:
        server.route(f"{ROOT}/markets/orderbooks", reply({"orderbooks": sent}))
        return to_kalshi.kalshi(lambda venue: venue.listings(AUGUST, ids("kalshi", names)))

    books = [{"ticker": name, "orderbook_fp": copy.deepcopy(book)} for name in names]
    assert [len(listing.quote.bids) for listing in ask(books).said if listing.quote] == [50] * 5
    for said, where in try_broken("kalshi/books", books, ask, deep=1):
        assert [listing.quote is None for listing in said.said] == [False] * 5, where


def test_ends_of_kalshi(server: VenueServer, to_kalshi: Line, shared_data: Path) -> None:
    market = load(shared_data, "kalshi", "pmvl", "kalshi-market.json")["market"]
    final = {"status": "finalized", "result": "yes", "settlement_value_dollars": "1.0000"}
    names = [f"GAME-26-{n}" for n in range(6)]
    ended = [market | final | {"ticker": name, "settlement_ts": "2026-08-09T00:00:00Z"} for name in names]

    def ask(sent: list[Any]) -> Answer[list[Resolution]]:
        KalshiWire(alone=sent).serve(server)
        return to_kalshi.kalshi(lambda venue: venue.resolutions(AUGUST, ids("kalshi", names)))

    assert len(ask(ended).said) == 6
    for said, where in try_broken("kalshi/ends", ended, ask):
        assert set(payouts(said).values()) == {ONE}, where


def test_a_catalogue_of_manifold(server: VenueServer, line: Line, shared_data: Path) -> None:
    markets = [
        raw for raw in on_manifold(shared_data) if raw["outcomeType"] == "BINARY" and not raw["isResolved"]
    ]

    def ask(sent: list[Any]) -> Answer[list[Listing]]:
        ManifoldWire(sent).serve(server)
        return line.manifold(offered(OCTOBER_2022), newest=len(markets))

    assert len(ask(markets).said) == 50
    assert len([*try_broken("manifold/catalogue", markets, ask)]) == TIMES


def test_ends_of_manifold(server: VenueServer, line: Line, shared_data: Path) -> None:
    markets = on_manifold(shared_data)
    kinds = ("YES", "NO", "CANCEL")
    ended = [raw for raw in markets if raw["outcomeType"] == "BINARY" and raw.get("resolution") in kinds]
    chosen = [raw for kind in kinds for raw in ended if raw["resolution"] == kind][::60]
    chosen += [raw for raw in markets if raw["id"] == "TaOWd6RLq4npElKPhJOS"]
    names = [raw["id"] for raw in chosen]
    ManifoldWire().serve(server)

    def ask(sent: list[Any]) -> Answer[list[Resolution]]:
        for name, record in zip(names, sent, strict=True):
            server.route(f"/v0/market/{name}", reply(record))
        return line.manifold(lambda venue: venue.resolutions(AUGUST, ids("manifold", names)))

    calm = payouts(ask(chosen))
    assert len(calm) == len(chosen) == 8
    assert len(set(calm.values())) == 4
    for said, where in try_broken("manifold/ends", chosen, ask):
        assert payouts(said).items() <= calm.items(), where


def test_a_catalogue_of_polymarket(server: VenueServer, line: Line, on_polymarket: list[Any]) -> None:
    markets = [raw for raw in on_polymarket if not raw["closed"] and raw["outcomes"] == '["Yes", "No"]']

    def ask(sent: list[Any]) -> Answer[list[Listing]]:
        PolymarketWire(sent).serve(server)
        return line.polymarket(offered(JULY))

    assert len(ask(markets).said) == 15
    assert len([*try_broken("polymarket/catalogue", markets, ask, deep=0.3)]) == TIMES


def test_books_of_polymarket(
    server: VenueServer, line: Line, on_polymarket: list[Any], shared_data: Path
) -> None:
    chosen = [raw for raw in on_polymarket if raw["id"] in ("2063134", "2774056")]
    books = recorded.books(shared_data)[:2]

    def ask(sent: list[Any]) -> Answer[list[Listing]]:
        PolymarketWire(chosen, sent).serve(server)
        return line.polymarket(lambda venue: venue.listings(JULY, asked))

    asked = ids("polymarket", [raw["id"] for raw in chosen])
    assert [len(listing.quote.asks) for listing in ask(books).said if listing.quote] == [62, 78]
    for said, where in try_broken("polymarket/books", books, ask, deep=1):
        assert [listing.quote is None for listing in said.said] == [False] * 2, where


def test_ends_of_polymarket(server: VenueServer, line: Line, on_polymarket: list[Any]) -> None:
    ended = [raw for raw in on_polymarket if raw.get("umaResolutionStatus") == "resolved"]
    ended = [raw for raw in ended if raw["outcomes"] == '["Yes", "No"]'][::4]
    asked = ids("polymarket", [raw["id"] for raw in ended])

    def ask(sent: list[Any]) -> Answer[list[Resolution]]:
        PolymarketWire(sent).serve(server)
        return line.polymarket(lambda venue: venue.resolutions(AUGUST, asked))

    calm = payouts(ask(ended))
    assert len(calm) == len(ended) == 9
    assert set(calm.values()) == {0, ONE}
    for said, where in try_broken("polymarket/ends", ended, ask):
        assert payouts(said).items() <= calm.items(), where


def test_the_order_books_word(
    server: VenueServer, line: Line, on_polymarket: list[Any], shared_data: Path
) -> None:
    """Whatever is wrong with it, no market is paid otherwise than its page says."""
    katana = next(raw for raw in on_polymarket if raw["id"] == "1460332")
    wire = PolymarketWire([katana])
    wire.serve(server)
    rng = random.Random("polymarket/word")
    paid = 0
    for _ in range(TIMES):
        wire.ends, _number, where = broken([recorded.ends(shared_data)[2]], rng, deep=True)
        said = line.polymarket(lambda venue: venue.resolutions(AUGUST, ids("polymarket", ["1460332"])))
        assert list(payouts(said).values()) in ([0], []), where
        assert said.said or said.aside, where
        assert well_told(said.aside), where
        paid += len(said.said)
    assert paid > TIMES / 2


def test_bytes_changed_on_the_way(
    server: VenueServer, line: Line, to_kalshi: Line, on_polymarket: list[Any], shared_data: Path
) -> None:
    KalshiWire().serve(server)
    events = load(shared_data, "kalshi", "pmvl", "kalshi_events.json")["events"]

    def by_before(sent: Any, asked: Asked) -> Any:
        return [] if "before" in asked.params else sent

    pages: list[tuple[str, Any, Callable[[], Answer[list[Listing]]]]] = [
        (f"{ROOT}/events", {"events": events}, partial(to_kalshi.kalshi, offered(AUGUST), pages=2)),
        ("/v0/markets", on_manifold(shared_data)[:20], partial(line.manifold, offered(OCTOBER_2022))),
        (f"{GAMMA}/markets/keyset", {"markets": on_polymarket[:30]}, partial(line.polymarket, offered(JULY))),
    ]
    for path, page, ask in pages:
        body = json.dumps(page).encode()
        rng = random.Random(path)
        codes = set()
        for _ in range(TIMES):
            server.route(path, partial(by_before, reply(changed(body, rng))))
            try:
                said = ask()
            except VenueError as error:
                codes.add(error.code)
                continue
            codes.add("")
            assert all(sane(listing) for listing in said.said)
            assert well_told(said.aside)
        assert {"", "not_json"} <= codes <= {"", "not_json", "bad_page", "incomplete"}, path
