"""Manifold over real HTTP, from records made by hand in its shape."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from markets.model import Market, MarketId, Quote
from markets.venue import VenueError
from portfolio.execute import execute
from portfolio.rules import NAMED, REPLAY, SEED
from tests.builders import NOW, a_bet, a_snapshot, an_account, listed, usd
from tests.venue_server import manifold as wires
from tests.venue_server.manifold import ManifoldWire, Raw, a_market, an_end, ms
from tests.venue_server.server import HTML, RESET, TRUNCATED, VenueServer, reply, status
from tests.venue_server.visit import Answer, manifold

RAIN = MarketId("manifold:rain")
SNOW = MarketId("manifold:snow")


def catalogue(server: VenueServer, *markets: Any, **settings: Any) -> Answer[Any]:
    return manifold(ManifoldWire([*markets]).serve(server), lambda venue: listed(venue, NOW), **settings)


def listings(server: VenueServer, *markets: Any, ids: tuple[str, ...] = (RAIN,)) -> Answer[Any]:
    asked = [MarketId(id) for id in ids]
    return manifold(ManifoldWire([*markets]).serve(server), lambda venue: venue.listings(NOW, asked))


def resolutions(server: VenueServer, *markets: Any, ids: tuple[str, ...] = (RAIN,)) -> Answer[Any]:
    asked = [MarketId(id) for id in ids]
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


def test_every_page_is_read_once_from_the_newest_on(server: VenueServer) -> None:
    answer = catalogue(server, *(a_market(f"m{n}") for n in range(2_500)))
    assert names(answer) == [f"m{n}" for n in range(2_500)]
    assert [asked.params.get("before") for asked in server.log] == [None, "m999", "m1999", "m2499"]
    assert answer.aside == []


def test_no_more_than_the_newest_are_read(server: VenueServer) -> None:
    answer = catalogue(server, *(a_market(f"m{n}") for n in range(2_500)), newest=1_200)
    assert len(answer.said) == 1_200
    assert [asked.params["limit"] for asked in server.log] == ["1000", "200"]
    assert answer.aside == []


def incomplete(url: str, **settings: Any) -> str:
    """Why a catalogue is no whole one."""
    with pytest.raises(VenueError) as raised:
        manifold(url, lambda venue: listed(venue, NOW), **settings)
    assert raised.value.code == "incomplete"
    return raised.value.message


def test_a_page_that_comes_again_for_ever_is_no_list(server: VenueServer) -> None:
    url = ManifoldWire().serve(server)
    server.route("/v0/markets", [a_market(f"m{n}") for n in range(3)])
    assert incomplete(url).endswith("page 2 only repeats what was on the pages before it")
    assert server.counts["/v0/markets"] == 2


def test_where_it_has_more_than_the_newest_that_are_read_that_is_told(server: VenueServer) -> None:
    url = ManifoldWire([a_market(f"m{n}") for n in range(300)]).serve(server)
    for newest, limit in ((100, 100), (301, None)):
        read = manifold(url, lambda venue: venue.catalogue(NOW), newest=newest).said
        assert (len(read.listings), read.limit) == (min(newest, 300), limit)


def test_short_pages_without_an_end_are_left_after_so_many(server: VenueServer) -> None:
    url = ManifoldWire().serve(server)
    numbers = iter(range(10_000))
    server.route("/v0/markets", lambda _: [a_market(f"m{next(numbers)}")])
    assert incomplete(url, newest=5_000).endswith("there are more pages after page 10")


def test_after_a_page_of_records_without_a_name_nothing_can_be_asked(server: VenueServer) -> None:
    url = ManifoldWire([{"question": "?"}, None]).serve(server)
    assert "none of a page's records has an id" in incomplete(url)


@pytest.mark.parametrize(
    "kind",
    ["FREE_RESPONSE", "MULTIPLE_CHOICE", "NUMERIC", "PSEUDO_NUMERIC", "POLL", "BOUNTIED_QUESTION", "STONK"],
)
def test_what_is_not_yes_or_no_is_not_for_us(server: VenueServer, kind: str) -> None:
    answer = catalogue(server, a_market("snow", outcomeType=kind), a_market())
    assert (names(answer), answer.aside) == (["rain"], [])
    answer = listings(server, a_market("snow", outcomeType=kind), a_market(), ids=(SNOW, RAIN))
    assert (names(answer), answer.aside) == (["rain"], [])


def test_markets_in_cash_are_not_for_us_and_old_ones_are_in_mana(server: VenueServer) -> None:
    answer = catalogue(server, a_market("snow", token="CASH"), a_market(token=None))
    assert (names(answer), answer.aside) == (["rain"], [])


def test_only_what_can_be_traded_on_now_is_in_the_catalogue(server: VenueServer) -> None:
    closed = a_market("closed", closeTime=ms(2026, 1, 4, 12))
    early = a_market("early", createdTime=ms(2026, 1, 4, 13))
    endless = a_market("endless", closeTime=None)
    beyond, farther = a_market("beyond", closeTime=10**16), a_market("farther", closeTime=10**30)
    ended = an_end("ended", closeTime=ms(2026, 3, 1))
    answer = catalogue(server, ended, closed, early, endless, beyond, farther)
    assert (names(answer), answer.aside) == (["endless", "beyond", "farther"], [])
    assert {listing.market.closes_at.year for listing in answer.said} == {9999}


BAD_MARKETS: dict[str, tuple[dict[str, Any], str]] = {
    "no type": ({"outcomeType": None}, "malformed"),
    "another type": ({"outcomeType": "BINARY2"}, "not_binary"),
    "another token": ({"token": "GOLD"}, "not_mana"),
    "no question": ({"question": None}, "malformed"),
    "an empty question": ({"question": ""}, "no_question"),
    "half a character": ({"question": "Will it \udc00"}, "malformed"),
    "a time of text": ({"createdTime": "2025-12-01"}, "malformed"),
    "a time with a fraction": ({"closeTime": 1.5}, "malformed"),
    "a time beyond all numbers": ({"closeTime": float("inf")}, "malformed"),
    "before all times": ({"createdTime": -1}, "malformed"),
    "a truth that is a number": ({"isResolved": 0}, "malformed"),
    "neither open nor ended": ({"isResolved": None}, "malformed"),
}


@pytest.mark.parametrize("why", BAD_MARKETS)
def test_a_market_that_makes_no_sense_is_set_aside_alone(server: VenueServer, why: str) -> None:
    changes, code = BAD_MARKETS[why]
    answer = catalogue(server, a_market("snow", **changes), a_market())
    assert names(answer) == ["rain"]
    [item] = answer.aside
    assert (item.venue, item.record, item.kind, item.code) == ("manifold", "snow", "market", code)
    assert item.reason
    assert item.raw.startswith('{"id": "snow"')


BAD_PRICES: dict[str, Any] = {
    "none": {"probability": None},
    "text": {"probability": "0.41"},
    "below nothing": {"probability": -0.1},
    "over one": {"probability": 1.2},
    "beyond all numbers": {"probability": float("inf")},
    "a truth": {"probability": True},
    "a volume below nothing": {"volume": -1},
    "a volume beyond what can be kept": {"volume": 1e15},
}


@pytest.mark.parametrize("why", BAD_PRICES)
def test_a_market_whose_price_makes_no_sense_has_none(server: VenueServer, why: str) -> None:
    answer = catalogue(server, a_market("snow", **BAD_PRICES[why]), a_market())
    assert [listing.quote is None for listing in answer.said] == [True, False]
    assert [(item.record, item.kind, item.code) for item in answer.aside] == [("snow", "quote", "malformed")]


def test_a_hair_over_one_is_one_and_a_price_of_nothing_is_a_price(server: VenueServer) -> None:
    sure, never = a_market(probability=1.000000000000004), a_market("snow", probability=1.6e-12)
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


def test_listings_come_in_the_order_asked_for_and_only_ours(server: VenueServer) -> None:
    ids = (SNOW, "kalshi:rain", RAIN, SNOW, "manifold:a/b", "manifold:")
    answer = listings(server, a_market(), a_market("snow"), ids=ids)
    assert (names(answer), answer.aside) == (["snow", "rain"], [])
    assert sorted(server.counts) == ["/v0/market/rain", "/v0/market/snow"]


def test_a_market_that_has_ended_is_listed_without_a_price(server: VenueServer) -> None:
    answer = listings(server, an_end(), a_market("snow", closeTime=ms(2026, 1, 4)), ids=(RAIN, SNOW))
    assert [(listing.market.id, listing.quote) for listing in answer.said] == [(RAIN, None), (SNOW, None)]
    assert answer.aside == []


def test_a_market_that_has_vanished_is_told_and_the_rest_answered(server: VenueServer) -> None:
    answer = listings(server, a_market(), ids=(SNOW, RAIN))
    assert names(answer) == ["rain"]
    assert answer.codes == [("snow", "missing")]
    assert listings(server, ids=(SNOW, RAIN)).codes == [("snow", "missing"), ("rain", "missing")]


def test_a_record_that_comes_in_the_place_of_another_is_no_answer(server: VenueServer) -> None:
    url = ManifoldWire([a_market()]).serve(server)
    server.route("/v0/market/snow", an_end())
    answer = manifold(url, lambda venue: venue.resolutions(NOW, [SNOW, RAIN]))
    assert answer.said == []
    assert answer.codes == [("snow", "malformed")]


@pytest.mark.parametrize("wrong", [status(500), status(403), HTML], ids=["500", "403", "html"])
def test_trouble_with_one_market_does_not_keep_back_the_others(server: VenueServer, wrong: Any) -> None:
    url = ManifoldWire([an_end(), an_end("snow")]).serve(server)
    server.fail("/v0/market/snow", wrong, forever=True)
    answer = manifold(url, lambda venue: venue.resolutions(NOW, [SNOW, RAIN]))
    assert [end.market_id for end in answer.said] == [RAIN]
    assert [record for record, _ in answer.codes] == ["snow"]


# --- how markets end


ENDS: dict[str, tuple[Raw, int | None]] = {
    "yes, whatever the probability beside it": (an_end(resolution="YES", resolutionProbability=0.03), usd(1)),
    "no, whatever the probability beside it": (an_end(resolution="NO", resolutionProbability="?"), 0),
    "yes without one": (an_end(resolution="YES", resolutionProbability=None), usd(1)),
    "a probability": (an_end(resolution="MKT", resolutionProbability=0.33, probability=0.13), usd("0.33")),
    "half": (an_end(resolution="MKT", resolutionProbability=0.5), usd("0.5")),
    "cancelled, whatever the probability beside it": (an_end(resolution="CANCEL"), None),
}


@pytest.mark.parametrize("how", ENDS)
def test_an_ended_market_pays_what_its_resolution_says(server: VenueServer, how: str) -> None:
    raw, payout = ENDS[how]
    [end] = resolutions(server, raw).said
    assert (end.market_id, end.version, end.payout) == (RAIN, 1, payout)
    assert end.known_at == datetime(2026, 1, 2, tzinfo=UTC)
    assert end.source == f"manifold: {raw['resolution']}"


WAITS: dict[str, tuple[Raw, str]] = {
    "a probability that isn't told": (an_end(resolution="MKT", resolutionProbability=None), "no_probability"),
    "a probability over one": (an_end(resolution="MKT", resolutionProbability=1.5), "bad_probability"),
    "a probability of text": (an_end(resolution="MKT", resolutionProbability="0.5"), "bad_probability"),
    "ended without a resolution": (an_end(resolution=None), "unknown"),
    "an answer's name": (an_end(resolution="8QLtNRRNgO"), "unknown"),
    "a resolution of an open market": (an_end(isResolved=False), "contradiction"),
    "no yes/no question": (an_end(outcomeType="PSEUDO_NUMERIC", resolution="MKT"), "not_binary"),
    "a resolution of a number": (an_end() | {"resolution": 1}, "malformed"),
    "a time of text": (an_end(resolutionTime="yesterday"), "malformed"),
}


@pytest.mark.parametrize("why", WAITS)
def test_an_end_that_is_not_clear_waits_flagged_and_the_others_settle(server: VenueServer, why: str) -> None:
    raw, code = WAITS[why]
    answer = resolutions(server, raw, an_end("snow"), ids=(RAIN, SNOW))
    assert [end.market_id for end in answer.said] == [SNOW]
    assert [(item.record, item.kind, item.code) for item in answer.aside] == [("rain", "resolution", code)]


def test_an_open_market_has_no_end(server: VenueServer) -> None:
    answer = resolutions(server, a_market(), a_market("snow", closeTime=ms(2026, 1, 1)), ids=(RAIN, SNOW))
    assert (answer.said, answer.aside) == ([], [])


@pytest.mark.parametrize("when", [None, ms(2026, 1, 9)])
def test_no_end_is_known_before_it_was_read(server: VenueServer, when: int | None) -> None:
    assert resolutions(server, an_end(resolutionTime=when)).said[0].known_at == NOW


def test_a_market_that_is_opened_again_has_no_end_any_more(server: VenueServer) -> None:
    assert resolutions(server, an_end()).said[0].payout == usd(1)
    assert resolutions(server, a_market()).said == []
    assert resolutions(server, an_end(resolution="CANCEL")).said[0].payout is None


# --- trouble


FAULTS = {
    "429": (status(429, retry_after="0"), "rate_limited"),
    "500": (status(500), "server_error"),
    "html": (HTML, "not_json"),
    "truncated": (TRUNCATED, "not_json"),
    "reset": (RESET, "unreachable"),
    "403": (status(403), "refused"),
}
QUESTIONS = {
    "catalogue": (catalogue, "/v0/markets"),
    "listings": (listings, "/v0/market/rain"),
    "resolutions": (resolutions, "/v0/market/rain"),
}


@pytest.mark.parametrize("fault", [name for name in FAULTS if name != "403"])
@pytest.mark.parametrize("question", QUESTIONS)
def test_trouble_that_passes_changes_nothing(server: VenueServer, question: str, fault: str) -> None:
    ask, path = QUESTIONS[question]
    calm = ask(server, a_market(), an_end("snow"))
    server.fail(path, FAULTS[fault][0])
    assert ask(server, a_market(), an_end("snow")) == calm


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("question", QUESTIONS)
def test_trouble_that_stays_is_no_answer(server: VenueServer, question: str, fault: str) -> None:
    ask, path = QUESTIONS[question]
    wrong, code = FAULTS[fault]
    server.fail(path, wrong, forever=True)
    with pytest.raises(VenueError) as raised:
        ask(server, a_market())
    assert raised.value.code == code


@pytest.mark.parametrize("page", [{}, {"markets": []}, 7, None, "[]"])
def test_a_page_that_is_no_list_is_no_answer(server: VenueServer, page: Any) -> None:
    server.fail("/v0/markets", reply(page))
    with pytest.raises(VenueError) as raised:
        catalogue(server, a_market())
    assert raised.value.code == "bad_page"


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
