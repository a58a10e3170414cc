"""Manifold over real HTTP, from records made by hand in its shape."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, cast

import pytest

from markets.model import Market, MarketId, Quote
from markets.venues.wire.http import HttpClient
from markets.venues.wire.manifold_requests import every_market, topic_markets
from portfolio.execute import execute
from portfolio.rules import NAMED, REPLAY, SEED
from tests.builders import NOW, a_bet, a_snapshot, an_account, listed, usd
from tests.venue_server import manifold as wires
from tests.venue_server.manifold import ManifoldWire, Raw, a_market, an_end, ms
from tests.venue_server.server import HTML, VenueServer, status
from tests.venue_server.visit import Answer, manifold

RAIN = MarketId("manifold:rain")
SNOW = MarketId("manifold:snow")


def catalogue(server: VenueServer, *markets: Any, **settings: Any) -> Answer[Any]:
    return manifold(ManifoldWire([*markets]).serve(server), lambda venue: listed(venue, NOW), **settings)


def listings(server: VenueServer, *markets: Any, ids: tuple[str, ...] = (RAIN,)) -> Answer[Any]:
    asked = [MarketId(market_id) for market_id in ids]
    return manifold(ManifoldWire([*markets]).serve(server), lambda venue: venue.listings(NOW, asked))


def resolutions(server: VenueServer, *markets: Any, ids: tuple[str, ...] = (RAIN,)) -> Answer[Any]:
    asked = [MarketId(market_id) for market_id in ids]
    return manifold(ManifoldWire([*markets]).serve(server), lambda venue: venue.resolutions(NOW, asked))


def names(answer: Answer[Any]) -> list[str]:
    return [listing.market.id.removeprefix("manifold:") for listing in answer.said]


# --- the catalogue


def test_a_market_and_its_price_are_read_field_by_field(server: VenueServer) -> None:
    answer = listings(server, a_market())
    assert answer.aside == []
    [listing] = answer.said
    assert listing.market == Market(
        id=RAIN,
        event_id="manifold:rain",
        question="Will it rain?",
        rules="YES if it rains.",
        category="other",
        opens_at=datetime(2025, 12, 1, tzinfo=UTC),
        closes_at=datetime(2026, 3, 1, tzinfo=UTC),
        story="manifold:will it rain",
    )
    price = usd("0.41")
    assert listing.quote == Quote(RAIN, NOW, None, None, price, price, usd("1234.56"))


def test_a_catalogue_has_no_descriptions_and_is_else_the_same(server: VenueServer) -> None:
    [listed] = catalogue(server, a_market()).said
    [read] = listings(server, a_market()).said
    assert listed.market.rules == "Will it rain?"
    assert replace(listed.market, rules=read.market.rules) == read.market
    assert listed.quote == read.quote


class ShortPages:
    """A server that gives fewer records a page than it is asked for."""

    async def get(self, path: str, **asked: Any) -> list[Raw]:
        return [{"id": f"m{n}"} for n in range(900)]


def test_a_page_of_the_past_that_is_nearly_full_is_not_the_last() -> None:
    http = cast(HttpClient, ShortPages())
    _, before = asyncio.run(every_market(http, None))
    _, offset = asyncio.run(topic_markets(http, "rain", "100"))
    assert (before, offset) == ("m899", "1000")


def test_no_more_than_the_newest_are_read(server: VenueServer) -> None:
    answer = catalogue(server, *(a_market(f"m{n}") for n in range(2_500)), newest=1_200)
    assert len(answer.said) == 1_200
    assert [asked.params["limit"] for asked in server.log] == ["1000", "200"]
    assert answer.aside == []


def test_where_it_has_more_than_the_newest_that_are_read_that_is_told(server: VenueServer) -> None:
    url = ManifoldWire([a_market(f"m{n}") for n in range(300)]).serve(server)
    for newest, limit in ((100, 100), (301, None)):
        read = manifold(url, lambda venue: venue.catalogue(NOW), newest=newest).said
        assert (len(read.listings), read.limit) == (min(newest, 300), limit)


def test_what_is_not_yes_or_no_or_in_cash_is_not_for_us_and_old_ones_are_in_mana(server: VenueServer) -> None:
    kinds = (
        "FREE_RESPONSE",
        "MULTIPLE_CHOICE",
        "NUMERIC",
        "PSEUDO_NUMERIC",
        "POLL",
        "BOUNTIED_QUESTION",
        "STONK",
    )
    others = [a_market(kind, outcomeType=kind) for kind in kinds] + [a_market("cash", token="CASH")]
    markets = *others, a_market(token=None)
    ids = tuple(f"manifold:{raw['id']}" for raw in markets)
    for answer in (catalogue(server, *markets), listings(server, *markets, ids=ids)):
        assert (names(answer), answer.aside) == (["rain"], [])


def test_only_what_can_be_traded_on_now_is_in_the_catalogue(server: VenueServer) -> None:
    closed = a_market("closed", closeTime=ms(2026, 1, 4, 12))
    early = a_market("early", createdTime=ms(2026, 1, 4, 13))
    endless = a_market("endless", closeTime=None)
    beyond = a_market("beyond", closeTime=10**16)
    farther = a_market("farther", closeTime=10**30)
    ended = an_end("ended", closeTime=ms(2026, 3, 1))
    answer = catalogue(server, ended, closed, early, endless, beyond, farther)
    assert (names(answer), answer.aside) == (["endless", "beyond", "farther"], [])
    assert {listing.market.closes_at.year for listing in answer.said} == {9999}


BAD_MARKETS: list[tuple[dict[str, Any], str]] = [
    ({"outcomeType": None}, "malformed"),
    ({"outcomeType": "BINARY2"}, "not_binary"),
    ({"token": "GOLD"}, "not_mana"),
    ({"question": None}, "malformed"),
    ({"question": ""}, "no_question"),
    ({"question": "Will it \udc00"}, "malformed"),
    ({"createdTime": "2025-12-01"}, "malformed"),
    ({"closeTime": 1.5}, "malformed"),
    ({"closeTime": float("inf")}, "malformed"),
    ({"createdTime": -1}, "malformed"),
    ({"isResolved": 0}, "malformed"),
    ({"isResolved": None}, "malformed"),
]
BAD_PRICES: list[dict[str, Any]] = [
    {"probability": None},
    {"probability": "0.41"},
    {"probability": -0.1},
    {"probability": 1.2},
    {"probability": float("inf")},
    {"probability": True},
]


def test_markets_and_prices_that_make_no_sense_are_set_aside_alone(server: VenueServer) -> None:
    markets = [a_market(f"m{n}", **changes) for n, (changes, _) in enumerate(BAD_MARKETS)]
    prices = [a_market(f"p{n}", **changes) for n, changes in enumerate(BAD_PRICES)]
    answer = catalogue(server, *markets, *prices, a_market())
    assert names(answer) == [*(f"p{n}" for n in range(len(BAD_PRICES))), "rain"]
    assert [listing.quote is None for listing in answer.said] == [True] * len(BAD_PRICES) + [False]
    told = [("market", f"m{n}", code) for n, (_, code) in enumerate(BAD_MARKETS)]
    told += [("quote", f"p{n}", "malformed") for n in range(len(BAD_PRICES))]
    assert [(item.kind, item.record, item.code) for item in answer.aside] == told
    assert all(item.reason and item.raw.startswith('{"id": "') for item in answer.aside)


def test_a_hair_over_one_is_one_and_a_price_of_nothing_is_a_price(server: VenueServer) -> None:
    sure = a_market(probability=1.000000000000004)
    never = a_market("snow", probability=1.6e-12)
    assert [listing.quote.mid for listing in catalogue(server, sure, never).said] == [usd(1), 0]


# --- what can be filled at a price without a book


@pytest.mark.parametrize(
    ("rules", "price"),
    [(SEED, "0.41"), (REPLAY, "0.42"), (REPLAY.model_copy(update={"fill": "mid"}), "0.41")],
)
def test_rules_that_need_no_book_fill_at_its_price(server: VenueServer, rules: Any, price: str) -> None:
    snapshot = a_snapshot(*listings(server, a_market()).said)
    fills, refused = execute([a_bet(500, market=RAIN)], [], an_account(), snapshot, rules)
    assert refused == []
    assert [level.price for fill in fills for level in fill.levels] == [usd(price)]
    assert sum(fill.fee for fill in fills) == 0


def test_rules_that_walk_a_book_refuse(server: VenueServer) -> None:
    snapshot = a_snapshot(*listings(server, a_market()).said)
    fills, refused = execute([a_bet(500, market=RAIN)], [], an_account(), snapshot, NAMED["realistic"])
    assert (fills, [refusal.code for refusal in refused]) == ([], ["no_book"])


# --- chosen markets


def test_a_record_that_comes_in_the_place_of_another_is_no_answer(server: VenueServer) -> None:
    url = ManifoldWire([a_market()]).serve(server)
    server.route("/v0/market/snow", an_end())
    answer = manifold(url, lambda venue: venue.resolutions(NOW, [SNOW, RAIN]))
    assert answer.said == []
    assert answer.codes == [("snow", "malformed")]


def test_trouble_with_one_market_does_not_keep_back_the_others(server: VenueServer) -> None:
    url = ManifoldWire([an_end(), an_end("snow")]).serve(server)
    for wrong in (status(500), status(403), HTML, status(404)):
        server.fail("/v0/market/snow", wrong, forever=True)
        answer = manifold(url, lambda venue: venue.resolutions(NOW, [SNOW, RAIN]))
        assert [end.market_id for end in answer.said] == [RAIN]
        assert [record for record, _ in answer.codes] == ["snow"]


def test_where_all_have_vanished_each_is_told(server: VenueServer) -> None:
    assert listings(server, ids=(SNOW, RAIN)).codes == [("snow", "missing"), ("rain", "missing")]


# --- how markets end


ENDS: list[tuple[Raw, int | None]] = [
    ({"resolution": "YES", "resolutionProbability": 0.03}, usd(1)),
    ({"resolution": "NO", "resolutionProbability": "?"}, 0),
    ({"resolution": "YES", "resolutionProbability": None}, usd(1)),
    ({"resolution": "MKT", "resolutionProbability": 0.33, "probability": 0.13}, usd("0.33")),
    ({"resolution": "MKT", "resolutionProbability": 0.5}, usd("0.5")),
    ({"resolution": "CANCEL"}, None),
]
WAITS: list[tuple[Raw, str]] = [
    ({"resolution": "MKT", "resolutionProbability": None}, "no_probability"),
    ({"resolution": "MKT", "resolutionProbability": 1.5}, "bad_probability"),
    ({"resolution": "MKT", "resolutionProbability": "0.5"}, "bad_probability"),
    ({"resolution": None}, "unknown"),
    ({"resolution": "8QLtNRRNgO"}, "unknown"),
    ({"isResolved": False}, "contradiction"),
    ({"outcomeType": "PSEUDO_NUMERIC", "resolution": "MKT"}, "not_binary"),
    ({"resolution": 1}, "malformed"),
    ({"resolutionTime": "yesterday"}, "malformed"),
]


def test_an_ended_market_pays_what_its_resolution_says_or_waits_flagged(server: VenueServer) -> None:
    ends = [an_end(f"e{n}", **changes) for n, (changes, _) in enumerate(ENDS)]
    waits = [an_end(f"w{n}", **changes) for n, (changes, _) in enumerate(WAITS)]
    answer = resolutions(server, *ends, *waits, ids=tuple(f"manifold:{raw['id']}" for raw in ends + waits))
    assert [(end.market_id, end.payout) for end in answer.said] == [
        (f"manifold:e{n}", payout) for n, (_, payout) in enumerate(ENDS)
    ]
    assert {(end.version, end.known_at) for end in answer.said} == {(1, datetime(2026, 1, 2, tzinfo=UTC))}
    assert [end.source for end in answer.said] == [f"manifold: {raw['resolution']}" for raw in ends]
    assert [(item.record, item.kind, item.code) for item in answer.aside] == [
        (f"w{n}", "resolution", code) for n, (_, code) in enumerate(WAITS)
    ]


def test_an_open_market_has_no_end(server: VenueServer) -> None:
    answer = resolutions(server, a_market(), a_market("snow", closeTime=ms(2026, 1, 1)), ids=(RAIN, SNOW))
    assert (answer.said, answer.aside) == ([], [])


def test_no_end_is_known_before_it_was_read(server: VenueServer) -> None:
    ends = an_end(resolutionTime=None), an_end("snow", resolutionTime=ms(2026, 1, 9))
    assert [end.known_at for end in resolutions(server, *ends, ids=(RAIN, SNOW)).said] == [NOW, NOW]


# --- what prices were


def test_history_is_the_price_after_each_bet_oldest_first(server: VenueServer) -> None:
    times = {"b5": (4, 13), "b4": (4, 12), "b3": (3, 0), "b2": (2, 0), "b1": (1, 0)}
    prices = {"b5": 0.9, "b4": 0.41, "b3": 0.3, "b2": 0.2, "b1": 0.1}
    bets = [wires.a_bet(name, ms(2026, 1, *when), prices[name]) for name, when in times.items()]
    broken = [
        wires.a_bet("b0", ms(2026, 1, 3), 1.5),
        wires.a_bet("other", ms(2026, 1, 3), 0.5, market="snow"),
    ]
    url = ManifoldWire(bets=bets + broken).serve(server)
    start = datetime(2026, 1, 2, tzinfo=UTC)
    answer = manifold(url, lambda venue: venue.history(RAIN, start, NOW))
    assert [(quote.at.day, quote.mid) for quote in answer.said] == [
        (2, usd("0.2")),
        (3, usd("0.3")),
        (4, usd("0.41")),
    ]
    assert answer.codes == [("b0", "malformed")]
    assert manifold(url, lambda venue: venue.history(MarketId("sim:rain"), start, NOW)).said == []


def test_a_bet_on_another_market_is_no_history(server: VenueServer) -> None:
    url = ManifoldWire().serve(server)
    bet = wires.a_bet("b1", ms(2026, 1, 3), 0.5, market="snow")
    server.route("/v0/bets", lambda asked: [] if "before" in asked.params else [bet])
    answer = manifold(url, lambda venue: venue.history(RAIN, datetime(2026, 1, 2, tzinfo=UTC), NOW))
    assert (answer.said, answer.codes) == ([], [("b1", "other_market")])
