"""What Manifold really sent, read by its adapter. The expectations were written by hand from the files."""

import json
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from markets.model import MarketId
from tests.builders import listed, quote_of, usd
from tests.venue_server.manifold import ManifoldWire
from tests.venue_server.server import VenueServer
from tests.venue_server.visit import Answer, manifold

NOW = datetime(2026, 11, 21, tzinfo=UTC)
OCTOBER_2022 = datetime(2022, 10, 11, tzinfo=UTC)
ENDS = {
    "OxHMC9gyZOd8Q9QZIXAP": ("YES", usd(1), datetime(2022, 10, 10, 2, 5, 59, 583_000, tzinfo=UTC)),
    "iyF3Yidelq5jlgX24CU7": ("YES", usd(1), datetime(2022, 10, 9, 20, 58, 13, 798_000, tzinfo=UTC)),
    "4glpCEM84dYQSq6Nwvle": ("NO", 0, datetime(2022, 10, 10, 16, 0, 17, 178_000, tzinfo=UTC)),
    "mTv9PIRnmigXD7mDgKVI": ("CANCEL", None, datetime(2022, 10, 9, 14, 44, 10, 126_000, tzinfo=UTC)),
    "TaOWd6RLq4npElKPhJOS": ("MKT", usd("0.33"), datetime(2022, 10, 8, 4, 39, 47, 554_000, tzinfo=UTC)),
}
PRICES = {
    "8gUQD1g6X4BuWZwT4CpZ": ("0.2", 205),
    "LfcCEgKJG8YWOeetrwwG": ("0.40619", 40),
    "iRCyDvun0hH3FmLpbmW9": ("0.184843", 110),
    "0U4FuSgSBuhp7BGb5JZ8": ("0.235849", 80),
}


@pytest.fixture(scope="module")
def recorded(shared_data: Path) -> Path:
    return shared_data / "venues" / "manifold"


def load(path: Path) -> Any:
    return json.loads(path.read_bytes())


def ends(server: VenueServer, markets: list[Any]) -> Answer[Any]:
    ids = [MarketId(f"manifold:{raw['id']}") for raw in markets]
    return manifold(ManifoldWire(markets).serve(server), lambda venue: venue.resolutions(NOW, ids))


def test_the_ends_of_598_markets(server: VenueServer, recorded: Path) -> None:
    markets = load(recorded / "pymanifold-2022" / "markets_subset.json")
    answer = ends(server, markets)
    told = Counter(item.code for item in answer.aside)
    # 28 ended on a probability: one says on which, 27 were recorded before the venue told that
    assert Counter(end.source for end in answer.said) == {
        "manifold: YES": 232,
        "manifold: NO": 105,
        "manifold: MKT": 28 - 27,
        "manifold: CANCEL": 68,
    }
    assert told == {"no_probability": 27, "not_binary": 81 + 9 + 19 + 4 + 1}
    assert Counter(end.payout for end in answer.said) == {usd(1): 232, 0: 105, None: 68, usd("0.33"): 1}
    assert len(answer.said) + told["no_probability"] == 433
    by_name = {end.market_id.removeprefix("manifold:"): end for end in answer.said}
    for name, (how, payout, known_at) in ENDS.items():
        end = by_name[name]
        assert (end.source, end.payout, end.known_at) == (f"manifold: {how}", payout, known_at)


def test_those_that_ended_on_an_untold_probability_wait(server: VenueServer, recorded: Path) -> None:
    markets = load(recorded / "pymanifold-2022" / "markets_subset.json")
    on_a_probability = {
        raw["id"] for raw in markets if raw["outcomeType"] == "BINARY" and raw.get("resolution") == "MKT"
    }
    answer = ends(server, [raw for raw in markets if raw["id"] in on_a_probability])
    waiting = {item.record for item in answer.aside if "waits" in item.reason}
    assert len(on_a_probability) == 28
    assert waiting == on_a_probability - {"TaOWd6RLq4npElKPhJOS"}


def test_the_open_yes_no_markets_of_2022(server: VenueServer, recorded: Path) -> None:
    markets = load(recorded / "pymanifold-2022" / "markets_subset.json")
    answer = manifold(ManifoldWire(markets).serve(server), lambda venue: listed(venue, OCTOBER_2022))
    assert len(answer.said) == 51 - 1  # one had closed the day before
    assert answer.aside == []
    by_name = {listing.market.id.removeprefix("manifold:"): listing for listing in answer.said}
    for name, (price, volume) in PRICES.items():
        quote = quote_of(by_name[name])
        assert (quote.mid, quote.volume, quote.bid, quote.ask) == (usd(price), usd(volume), None, None)
    market = by_name["8gUQD1g6X4BuWZwT4CpZ"].market
    assert market.opens_at == datetime(2022, 10, 10, 19, 16, 47, 836_000, tzinfo=UTC)
    assert market.closes_at == datetime(2024, 1, 1, 4, 59, tzinfo=UTC)
    assert market.event_id == market.id


def test_open_markets_of_2026(server: VenueServer, recorded: Path) -> None:
    markets = load(recorded / "pmskill-2026-08" / "manifold_search.json")
    at = datetime(2026, 8, 18, 3, tzinfo=UTC)
    answer = manifold(ManifoldWire(markets).serve(server), lambda venue: listed(venue, at))
    assert [
        (x.market.id.removeprefix("manifold:"), quote_of(x).mid, quote_of(x).volume) for x in answer.said
    ] == [
        ("hZsE0A09Sd", usd("0.029391"), usd("841.006407")),
        ("lqtROphAhp", usd("0.011657"), usd("1211.894332")),
        ("udAUupudlE", usd("0.081732"), usd("262.752109")),
    ]
    assert answer.said[1].market.closes_at == datetime(2026, 9, 16, 18, 25, tzinfo=UTC)
    assert answer.aside == []


def test_ended_markets_of_2026(server: VenueServer, recorded: Path) -> None:
    answer = ends(server, load(recorded / "capture-2026-10" / "search_resolved.json"))
    assert [(end.market_id.removeprefix("manifold:"), end.payout) for end in answer.said] == [
        ("UVHhF9M4jfGQcjdBshzd", usd(1)),
        ("Ss7VLXukYkrHyRLmkkZB", 0),
    ]
    assert answer.codes == [("5pcLg2QtSA", "not_binary")]


def test_a_market_on_its_own_page(server: VenueServer, recorded: Path) -> None:
    raw = load(recorded / "pymanifold-2022" / "test_resolve_market_binary_0.json")
    ids = [MarketId("manifold:l6jsJPhOWSztXtzqhpU7")]
    at = datetime(2022, 10, 12, tzinfo=UTC)
    answer = manifold(ManifoldWire([raw]).serve(server), lambda venue: venue.listings(at, ids))
    [listing] = answer.said
    assert (listing.market.question, quote_of(listing).mid) == ("test binary market", usd("0.504975"))
    url = ManifoldWire(bets=raw["bets"]).serve(server)
    bets = manifold(url, lambda venue: venue.history(ids[0], OCTOBER_2022, at))
    assert bets.said[-1].mid == usd("0.504975")
    assert bets.aside == []
