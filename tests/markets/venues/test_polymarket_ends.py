"""How Polymarket's markets end, over real HTTP.

No recording has a market that is disputed, corrected or paid half by Gamma: those here are made by hand
from the documented shapes, as are all others of this file.
"""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from markets.model import MarketId, Resolution
from tests.builders import NOW, usd
from tests.venue_server.polymarket import (
    CLOB,
    PolymarketWire,
    Raw,
    a_book_end,
    a_market,
    an_end,
    condition,
)
from tests.venue_server.server import HTML, RESET, VenueServer, status
from tests.venue_server.visit import Answer, polymarket

RAIN = MarketId("polymarket:1001")
SNOW = MarketId("polymarket:1002")
CLOSED_AT = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


def ended(server: VenueServer, *markets: Any, ends: list[Any] | None = None) -> Answer[Any]:
    """Return how the markets 1001 and 1002 ended, and what the order book says of it."""
    wire = PolymarketWire([*markets], ends=ends or [])
    return polymarket(wire.serve(server), lambda venue: venue.resolutions(NOW, [RAIN, SNOW]))


def payouts(answer: Answer[Any]) -> dict[str, int]:
    return {end.market_id: end.payout for end in answer.said}


def test_a_winner_pays_a_dollar_a_share_since_the_market_was_closed(server: VenueServer) -> None:
    answer = ended(server, an_end("1001", "1", "0"), an_end("1002", "0", "1"))
    assert answer.said == [
        Resolution(RAIN, 1, CLOSED_AT, usd(1), "polymarket: resolved"),
        Resolution(SNOW, 1, CLOSED_AT, 0, "polymarket: resolved"),
    ]
    assert answer.aside == []


def test_the_winner_is_found_by_name_not_by_place(server: VenueServer) -> None:
    turned = an_end("1001", "0", "1", outcomes=["No", "Yes"])
    assert payouts(ended(server, turned, a_market("1002"))) == {RAIN: usd(1)}


def test_fifty_fifty_pays_half_a_dollar(server: VenueServer) -> None:
    answer = ended(
        server, an_end("1001", "0.5", "0.5"), a_market("1002"), ends=[a_book_end(won=None, half=True)]
    )
    assert payouts(answer) == {RAIN: usd("0.50")}
    assert answer.said[0].outcome is None
    assert answer.aside == []


def test_fifty_fifty_by_gamma_alone_pays_half_too(server: VenueServer) -> None:
    assert payouts(ended(server, an_end("1001", "0.5", "0.5"), a_market("1002"))) == {RAIN: usd("0.50")}


DONE: list[Raw] = [
    {"umaResolutionStatus": "settled"},
    {"umaResolutionStatus": None, "resolutionStatus": "resolved"},
    {"umaResolutionStatus": None, "resolutionStatus": "settled"},
    {"umaResolutionStatus": "Resolved", "resolutionStatus": ""},
]
WAITS: list[tuple[Raw, str]] = [
    ({"umaResolutionStatus": "disputed"}, "disputed"),
    ({"umaResolutionStatus": "challenged"}, "disputed"),
    ({"umaResolutionStatus": "resolved", "resolutionStatus": "disputed"}, "disputed"),
    ({"umaResolutionStatus": "proposed"}, "not_final"),
    ({"umaResolutionStatus": "resolved", "resolutionStatus": "proposed"}, "not_final"),
    ({"umaResolutionStatus": None}, "no_status"),
    ({"umaResolutionStatus": ""}, "no_status"),
    ({"outcomePrices": '["0.9995", "0.0005"]'}, "unclear"),
    ({"outcomePrices": '["0.99999999999", "0.00000000001"]'}, "unclear"),
    ({"outcomePrices": '["0", "0"]'}, "unclear"),
    ({"outcomePrices": '["1", "1"]'}, "unclear"),
    ({"outcomePrices": '["1", "0", "0"]'}, "unclear"),
    ({"outcomePrices": '["1"]'}, "unclear"),
    ({"outcomePrices": '["yes", "no"]'}, "unclear"),
    ({"outcomePrices": '["NaN", "0"]'}, "unclear"),
    ({"outcomePrices": None}, "unclear"),
    ({"outcomePrices": '["0.58433", "0.41567"]', "outcomes": ["Long", "Short"]}, "unclear"),
    ({"outcomes": ["Up", "up"]}, "bad_outcomes"),
    ({"closedTime": "soon"}, "malformed"),
    ({"umaResolutionStatus": 1}, "malformed"),
    ({"umaResolutionStatus": "disputed", "closed": False}, "disputed"),
    ({"closed": "yes"}, "malformed"),
]


def test_the_oracle_is_done_in_more_words_than_one_and_what_is_not_sure_waits(server: VenueServer) -> None:
    cases = [(changes, "") for changes in DONE] + WAITS
    wire = PolymarketWire([an_end(str(1001 + n), **changes) for n, (changes, _) in enumerate(cases)])
    ids = [MarketId(f"polymarket:{1001 + n}") for n in range(len(cases))]
    answer = polymarket(wire.serve(server), lambda venue: venue.resolutions(NOW, ids))
    assert payouts(answer) == dict.fromkeys(ids[: len(DONE)], usd(1))
    assert sorted(answer.codes) == [(str(1001 + n), code) for n, (_, code) in enumerate(cases) if code]
    assert {item.kind for item in answer.aside} == {"resolution"}


def test_an_open_market_waits_without_a_word(server: VenueServer) -> None:
    statuses = (None, "", "proposed")
    wire = PolymarketWire([a_market(str(1001 + n), umaResolutionStatus=x) for n, x in enumerate(statuses)])
    ids = [MarketId(f"polymarket:{1001 + n}") for n in range(3)]
    answer = polymarket(wire.serve(server), lambda venue: venue.resolutions(NOW, ids))
    assert (answer.said, answer.aside) == ([], [])


def test_closed_is_asked_for_in_so_many_words(server: VenueServer) -> None:
    """`active` stays true, and a list that isn't of closed markets doesn't hold one that has ended."""
    assert an_end()["active"] is True
    assert payouts(ended(server, an_end())) == {RAIN: usd(1)}
    assert server.log[0].params["closed"] == "true"


def test_a_time_of_closing_in_the_future_is_not_believed(server: VenueServer) -> None:
    answer = ended(server, an_end(closedTime="2027-01-01 00:00:00+00"), an_end("1002", closedTime=None))
    assert [end.known_at for end in answer.said] == [NOW, NOW]


def test_a_result_that_is_corrected_is_answered_as_it_is_now(server: VenueServer) -> None:
    """The record numbers the versions: a live venue only says how things stand."""
    wire = PolymarketWire([an_end()], ends=[a_book_end()])

    async def twice(venue: Any) -> list[int]:
        before = await venue.resolutions(NOW, [RAIN])
        wire.markets[0] = an_end("1001", "0", "1")
        wire.ends[0] = a_book_end(won="No")
        after = await venue.resolutions(NOW, [RAIN])
        return [end.payout for end in before + after]

    assert polymarket(wire.serve(server), twice).said == [usd(1), 0]


# --- the order book's word


def test_the_order_book_confirms_and_is_then_asked_no_more(server: VenueServer) -> None:
    wire = PolymarketWire([an_end()], ends=[a_book_end()])

    async def twice(venue: Any) -> list[Resolution]:
        return [*await venue.resolutions(NOW, [RAIN]), *await venue.resolutions(NOW, [RAIN])]

    answer = polymarket(wire.serve(server), twice)
    assert [end.payout for end in answer.said] == [usd(1), usd(1)]
    assert answer.said[0].source == "polymarket: resolved, per the order book"
    assert server.counts[f"{CLOB}/markets/{condition('1001')}"] == 1


def test_a_correction_that_the_order_book_does_not_share_waits(server: VenueServer) -> None:
    wire = PolymarketWire([an_end()], ends=[a_book_end()])

    async def twice(venue: Any) -> list[list[Resolution]]:
        before = await venue.resolutions(NOW, [RAIN])
        wire.markets[0] = an_end("1001", "0", "1")
        return [before, await venue.resolutions(NOW, [RAIN])]

    answer = polymarket(wire.serve(server), twice)
    assert [len(ends) for ends in answer.said] == [1, 0]
    assert answer.codes == [("1001", "contradiction")]


BOOK_ENDS: list[tuple[Raw, str]] = [
    ({"won": "No"}, "contradiction"),
    ({"won": None, "half": True}, "contradiction"),
    ({"won": "Yes", "half": True}, "contradiction"),
    ({"tokens": [{"outcome": "Yes", "winner": True}] * 2}, "contradiction"),
    ({"tokens": [{"outcome": "Gastelum", "winner": True}]}, "bad_outcomes"),
    ({"tokens": [{"outcome": "Yes", "winner": "true"}]}, "malformed"),
    ({"tokens": None}, "malformed"),
    ({"closed": None}, "malformed"),
    ({"won": None}, ""),
    ({"won": "No", "closed": False}, ""),
    ({"tokens": []}, ""),
]


def test_where_the_two_disagree_it_waits_and_where_the_book_has_no_word_the_page_counts(
    server: VenueServer,
) -> None:
    ids = [MarketId(f"polymarket:{1001 + n}") for n in range(len(BOOK_ENDS) + 1)]
    ends = [a_book_end(str(1001 + n), **said) for n, (said, _) in enumerate(BOOK_ENDS)]
    wire = PolymarketWire([an_end(str(1001 + n)) for n in range(len(ids))], ends=ends)
    answer = polymarket(wire.serve(server), lambda venue: venue.resolutions(NOW, ids))
    codes = [code for _, code in BOOK_ENDS] + [""]
    assert list(payouts(answer)) == [
        market_id for market_id, code in zip(ids, codes, strict=True) if not code
    ]
    assert answer.codes == [(str(1001 + n), code) for n, code in enumerate(codes) if code]


NO_WORD: Raw = {"umaResolutionStatus": None, "umaResolutionStatuses": "[]"}
ALONE: list[tuple[Raw, Raw | None, int | None]] = [
    ({}, {}, usd(1)),
    ({"negRisk": True, "negRiskOther": False}, {"neg_risk": True}, usd(1)),
    ({"outcomePrices": '["0", "1"]'}, {"won": "No"}, 0),
    ({"outcomes": ["No", "Yes"], "outcomePrices": '["0", "1"]'}, {}, usd(1)),
    ({"outcomes": ["No", "Yes"], "outcomePrices": '["1", "0"]'}, {"won": "No"}, 0),
    ({"outcomePrices": '["0.5", "0.5"]'}, {"won": None, "half": True}, usd("0.5")),
    ({"umaResolutionStatuses": '["proposed", "disputed", "proposed"]'}, {}, usd(1)),
    ({"umaResolutionStatuses": "nonsense"}, {}, usd(1)),
    ({"closedTime": None, "umaEndDate": "2026-01-02T03:04:05Z"}, {}, usd(1)),
    ({"closedTime": None, "updatedAt": "2026-01-03T11:00:00.5Z"}, {}, usd(1)),
    ({"closedTime": "2027-01-01 00:00:00+00", "updatedAt": "2026-01-03T11:00:00Z"}, {}, usd(1)),
    ({"updatedAt": "2026-01-04T11:00:00Z"}, {}, usd(1)),
    ({"updatedAt": "soon"}, {}, usd(1)),
    ({"closedTime": None, "updatedAt": "2026-01-03T15:00:00Z"}, {}, None),
    ({"closedTime": None, "updatedAt": "2027-01-01T00:00:00Z"}, {}, None),
    ({"closedTime": None, "updatedAt": "soon"}, {}, None),
    ({"umaResolutionStatuses": '["proposed", "disputed"]'}, {}, None),
    ({"outcomePrices": '["0", "1"]'}, {}, None),
    ({}, {"won": "No"}, None),
    ({}, {"won": None}, None),
    ({}, {"won": None, "half": True}, None),
    ({"outcomePrices": '["0.5", "0.5"]'}, {}, None),
    ({}, {"tokens": [{"outcome": "Yes", "winner": True}, {"outcome": "No", "winner": True}]}, None),
    ({}, {"closed": False}, None),
    ({}, None, None),
    ({"conditionId": "0x12"}, {}, None),
    ({"outcomePrices": '["0.9995", "0.0005"]'}, {}, None),
    ({"outcomePrices": '["0.7", "0.3"]'}, {}, None),
    ({"outcomePrices": None}, {}, None),
    ({"closedTime": "2026-01-03 15:00:00+00"}, {}, None),
    ({"closedTime": "2027-01-01 00:00:00+00"}, {}, None),
    ({"closedTime": None}, {}, None),
    ({"closed": False}, {}, None),
]


@pytest.mark.parametrize(("page", "book", "payout"), ALONE)
def test_without_the_oracles_word_page_and_order_book_must_agree(
    server: VenueServer, page: Raw, book: Raw | None, payout: int | None
) -> None:
    ends = [] if book is None else [a_book_end(**book)]
    answer = ended(server, an_end(**(NO_WORD | page)), a_market("1002"), ends=ends)
    assert list(payouts(answer).values()) == ([] if payout is None else [payout])
    assert [end.source for end in answer.said] == ["polymarket: order book alone"] * len(answer.said)
    is_open = page.get("closed") is False
    assert len(answer.aside) == (payout is None and not is_open)


@pytest.mark.parametrize("closed_time", [None, "2027-01-01 00:00:00+00"])
def test_a_market_without_a_time_of_closing_counts_from_when_it_was_first_seen_closed(
    server: VenueServer, closed_time: str | None
) -> None:
    wire = PolymarketWire([an_end(**NO_WORD, closedTime=closed_time)], ends=[a_book_end()])

    async def looks(venue: Any) -> list[list[Resolution]]:
        times = [NOW, NOW + timedelta(hours=23), NOW + timedelta(hours=24)]
        return [await venue.resolutions(at, [RAIN]) for at in times]

    answer = polymarket(wire.serve(server), looks)
    assert [len(ends) for ends in answer.said] == [0, 0, 1]
    assert answer.said[2][0].known_at == NOW + timedelta(hours=24)


@pytest.mark.parametrize("fault", [status(500), HTML, RESET], ids=["500", "html", "reset"])
def test_without_both_words_nothing_is_paid(server: VenueServer, fault: Any) -> None:
    PolymarketWire([an_end(**NO_WORD), an_end("1002")], ends=[a_book_end()]).serve(server)
    server.fail(f"{CLOB}/markets/{condition('1001')}", fault, forever=True)
    answer = polymarket(server.url, lambda venue: venue.resolutions(NOW, [RAIN, SNOW]))
    assert payouts(answer) == {SNOW: usd(1)}
    assert ("1001", "no_status") in answer.codes


def test_an_end_by_the_order_book_alone_is_confirmed_each_time(server: VenueServer) -> None:
    wire = PolymarketWire([an_end(**NO_WORD)], ends=[a_book_end()])

    async def looks(venue: Any) -> list[list[Resolution]]:
        alone = await venue.resolutions(NOW, [RAIN])
        wire.ends[0] = a_book_end(won="No")
        against = await venue.resolutions(NOW, [RAIN])
        wire.markets[0] = an_end("1001", "0", "1")
        return [alone, against, await venue.resolutions(NOW, [RAIN])]

    answer = polymarket(wire.serve(server), looks)
    assert [[end.payout for end in ends] for ends in answer.said] == [[usd(1)], [], [0]]
    assert answer.said[2][0].source == "polymarket: resolved, per the order book"
    assert answer.codes == [("1001", "contradiction")]


def test_the_page_of_another_market_is_no_word(server: VenueServer) -> None:
    PolymarketWire([an_end()]).serve(server)
    server.route(f"{CLOB}/markets/", a_book_end("1002", won="No"))
    answer = polymarket(server.url, lambda venue: venue.resolutions(NOW, [RAIN]))
    assert payouts(answer) == {RAIN: usd(1)}


def test_what_is_no_name_of_a_market_is_not_asked_for(server: VenueServer) -> None:
    names = ["0x12", "../../x", f"{condition('1')}/..", ""]
    wire = PolymarketWire([an_end(str(1001 + n), conditionId=name) for n, name in enumerate(names)])
    ids = [MarketId(f"polymarket:{1001 + n}") for n in range(4)]
    answer = polymarket(wire.serve(server), lambda venue: venue.resolutions(NOW, ids))
    assert list(payouts(answer).values()) == [usd(1)] * 4
    assert not [path for path in server.counts if path.startswith(CLOB)]


@pytest.mark.parametrize("fault", [status(500), HTML, RESET], ids=["500", "html", "reset"])
def test_trouble_with_the_order_book_is_told_once_and_the_pages_count(
    server: VenueServer, fault: Any
) -> None:
    wire = PolymarketWire([an_end(), an_end("1002", "0", "1")])
    wire.serve(server)
    for name in ("1001", "1002"):
        server.fail(f"{CLOB}/markets/{condition(name)}", fault, forever=True)
    answer = polymarket(server.url, lambda venue: venue.resolutions(NOW, [RAIN, SNOW]))
    assert payouts(answer) == {RAIN: usd(1), SNOW: 0}
    assert [item.kind for item in answer.aside] == ["page"]
    assert server.counts[f"{CLOB}/markets/{condition('1002')}"] == 0
