"""Polymarket's markets and prices over real HTTP, from records made by hand in its shape."""

import json
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any

import pytest

from markets.model import Level, Listing, Market, MarketId, Quote
from markets.venue import Catalogue, CatalogueFilter, VenueError
from markets.venues.polymarket import Polymarket, Settings, venue
from portfolio.execute import execute
from portfolio.rules import REALISTIC
from tests.builders import NOW, a_bet, a_snapshot, an_account, listed, quote_of, usd
from tests.builders import a_market as our_market
from tests.venue_server.polymarket import (
    CLOB,
    GAMMA,
    RAIN_BOOK,
    PolymarketWire,
    Raw,
    a_book,
    a_market,
    an_end,
    token,
)
from tests.venue_server.server import HTML, Asked, VenueServer, status
from tests.venue_server.visit import Answer, polymarket

RAIN = MarketId("polymarket:1001")
LISTS = f"{GAMMA}/markets/keyset"


def catalogue(server: VenueServer, *markets: Any, at: datetime = NOW, **settings: Any) -> Answer[Any]:
    return polymarket(PolymarketWire([*markets]).serve(server), lambda venue: listed(venue, at), **settings)


def listings(server: VenueServer, wire: PolymarketWire, *ids: str, at: datetime = NOW) -> Answer[Any]:
    asked = [MarketId(market_id) for market_id in ids or (RAIN,)]
    return polymarket(wire.serve(server), lambda venue: venue.listings(at, asked))


def quoted(server: VenueServer, book: Raw | None = RAIN_BOOK, **changes: Any) -> tuple[Any, list[str]]:
    """Return the quote of one market with these prices and this book, and the codes of what was set aside."""
    books = [] if book is None else [book]
    answer = listings(server, PolymarketWire([a_market(**changes)], books))
    assert {record for record, _ in answer.codes} <= {"1001"}
    return answer.said[0].quote, [code for _, code in answer.codes]


def refusal(quote: Quote) -> str | None:
    """Return why a bet on this quote isn't filled by the rules of live arenas, or None if it is."""
    snapshot = a_snapshot(Listing(our_market(RAIN), quote))
    _, refused = execute([a_bet(100, market=RAIN)], [], an_account(), snapshot, REALISTIC)
    return refused[0].code if refused else None


def names(answer: Answer[Any]) -> list[str]:
    return [listing.market.id.removeprefix("polymarket:") for listing in answer.said]


def many(count: int) -> list[Raw]:
    return [a_market(str(1001 + n)) for n in range(count)]


def each(*changes: Raw) -> list[Raw]:
    """Return the markets 1001, 1002 … with one change each; None leaves a field out."""
    return [a_market(str(1001 + n), **change) for n, change in enumerate(changes)]


def told(cases: Sequence[tuple[Any, str]]) -> list[tuple[str, str]]:
    """Return what is to be told of the markets 1001, 1002 …, without those that need no remark."""
    return [(str(1001 + n), code) for n, (_, code) in enumerate(cases) if code]


# --- a market's page


def test_a_market_is_read_field_by_field(server: VenueServer) -> None:
    answer = catalogue(server, a_market())
    assert answer.aside == []
    assert answer.said[0].market == Market(
        id=RAIN,
        event_id="polymarket:71001",
        question="Will it rain?",
        rules="This market resolves to Yes if it rains.",
        category="weather",
        opens_at=datetime(2025, 12, 1, 10, 0, 0, 500_000, tzinfo=UTC),
        closes_at=datetime(2026, 3, 1, 10, tzinfo=UTC),
        tick=usd("0.01"),
        fee_rate=usd("0.04"),
        min_shares=usd(5),
        tags="weather",
    )


def test_its_price_is_that_of_the_page_at_the_time_of_reading(server: VenueServer) -> None:
    assert catalogue(server, a_market()).said[0].quote == Quote(
        RAIN, NOW, usd("0.40"), usd("0.42"), usd("0.41"), last=usd("0.41"), volume=usd("1234.56")
    )


def test_yes_is_found_by_its_name_not_by_its_place(server: VenueServer) -> None:
    """Where NO comes first nobody says whose the best prices are: the outcomes' own are sure."""
    prices: Raw = {"outcomePrices": ["0.8", "0.2"], "bestBid": 0.79, "bestAsk": 0.81, "lastTradePrice": 0.8}
    turned = a_market(outcomes=["No", "Yes"], **prices)
    offered = catalogue(server, turned).said[0].quote
    assert (offered.mid, offered.bid, offered.ask) == (usd("0.2"), None, None)
    answer = listings(server, PolymarketWire([turned], [RAIN_BOOK]))
    assert (answer.said[0].quote.bid, answer.codes) == (usd("0.40"), [("1001", "gap")])


def test_of_any_two_outcomes_the_first_is_yes_and_the_question_says_so(server: VenueServer) -> None:
    prices = json.dumps(["0.41", "0.59"])
    tokens = json.dumps([token("1001", "Yes"), token("1001", "No")])
    sides = {"question": "FaZe vs. illwill", "outcomePrices": prices, "clobTokenIds": tokens}
    game = a_market("1001", ["FaZe", "illwill"], **sides)
    answer = listings(server, PolymarketWire([game], [RAIN_BOOK]))
    assert answer.aside == []
    assert answer.said[0].market.question == "FaZe vs. illwill (YES: FaZe, NO: illwill)"
    assert answer.said[0].quote.bid == usd("0.40")
    assert catalogue(server, game).said[0].quote.mid == usd("0.41")


def test_outcomes_that_nobody_can_tell_apart_are_left_out_and_counted(server: VenueServer) -> None:
    odd = [["Yes", "Yes"], ["Up", " up"], ["", "No"]]
    wire = PolymarketWire([*each(*({"outcomes": some} for some in odd)), a_market("1009")])
    read = polymarket(wire.serve(server), lambda venue: venue.catalogue(NOW))
    assert [listing.market.id for listing in read.said.listings] == ["polymarket:1009"]
    assert (read.said.left_out, read.aside) == ({"bad outcomes": 3}, [])
    assert listings(server, wire).codes == [("1001", "bad_outcomes")]


OVER = {"endDate": "2026-01-01T00:00:00Z"}
TAKEN = {"outcomePrices": '["0.999", "0.001"]', "bestBid": 0.998, "bestAsk": 0.999}


OFFERS: list[tuple[Raw, str]] = [
    ({}, ""),
    (OVER, ""),
    (OVER | TAKEN, "decided"),
    (TAKEN, ""),
    ({"umaResolutionStatus": "proposed"}, "being resolved"),
    ({"umaResolutionStatus": "disputed"}, "being resolved"),
    ({"active": False}, "not trading"),
    ({"archived": True}, "not trading"),
    ({"acceptingOrders": False}, "not trading"),
    ({"enableOrderBook": False}, "not trading"),
    ({"startDate": "2026-01-04T12:00:01Z"}, "not open yet"),
    ({"negRiskOther": True}, "placeholder"),
]


def test_what_is_open_is_on_offer_or_counted(server: VenueServer) -> None:
    wire = PolymarketWire(each(*(changes for changes, _ in OFFERS)))
    read = polymarket(wire.serve(server), lambda venue: venue.catalogue(NOW))
    offered = [f"polymarket:{1001 + n}" for n, (_, reason) in enumerate(OFFERS) if not reason]
    assert [x.market.id for x in read.said.listings] == offered
    assert read.said.left_out == Counter(reason for _, reason in OFFERS if reason)
    assert read.aside == []


def test_the_venue_leaves_out_what_the_rule_does_not_want(server: VenueServer) -> None:
    thin = a_market("1002", volume="99")
    late = a_market("1003", endDate="2026-05-01T00:00:00Z")
    wire = PolymarketWire([a_market(), thin, late])
    wanted = CatalogueFilter(usd(1000), datetime(2026, 4, 1, tzinfo=UTC))
    read = polymarket(wire.serve(server), lambda venue: venue.catalogue(NOW, wanted))
    assert [x.market.id for x in read.said.listings] == [RAIN]
    asked = server.log[0].params
    assert (asked["volume_num_min"], asked["end_date_max"]) == ("1000", "2026-04-01T00:00:00Z")
    assert (asked["order"], asked["ascending"]) == ("id", "true")


PLACES = [
    ("Person A", True, False, "placeholder"),
    ("Candidate AB", True, False, "placeholder"),
    ("Other", True, False, "placeholder"),
    ("Anybody else", False, True, "placeholder"),
    ("Abiy Ahmed", True, False, ""),
    ("Person A", False, False, ""),
    ("Other", False, False, ""),
]


def test_places_held_in_augmented_events_are_left_out(server: VenueServer) -> None:
    held = each(
        *(
            {
                "groupItemTitle": title,
                "negRiskOther": other,
                "events": [{"id": "7", "negRiskAugmented": augmented}],
            }
            for title, augmented, other, _ in PLACES
        )
    )
    assert names(catalogue(server, *held)) == ["1005", "1006", "1007"]
    ids = [f"polymarket:{raw['id']}" for raw in held]
    wire = PolymarketWire(held, [RAIN_BOOK | {"asset_id": token(raw["id"])} for raw in held])
    assert listings(server, wire, *ids).codes == told([(place, code) for *place, code in PLACES])


STORIES: list[tuple[Raw, str]] = [
    ({"gameId": 1427074}, "polymarket:game:1427074"),
    ({"events": [{"id": "7", "title": "Chiefs vs. Raiders", "gameId": "88"}]}, "polymarket:game:88"),
    ({"events": [{"id": "7", "title": "Ethereum above ___ on June 10?"}]}, "polymarket:ethereum @2026-06-10"),
    ({"events": [{"id": "7", "title": "Next Prime Minister of Ethiopia?"}]}, ""),
    ({"events": [{"id": "7", "title": 5, "gameId": ["x"]}]}, ""),
    ({"events": []}, ""),
]


def test_a_story_is_the_game_or_what_a_dated_title_is_about(server: VenueServer) -> None:
    answer = catalogue(server, *each(*(changes for changes, _ in STORIES)))
    assert [x.market.story for x in answer.said] == [story for _, story in STORIES]


FEES: list[tuple[Raw, str, str]] = [
    ({}, "0.04", ""),
    ({"feeSchedule": {"rate": 0.07}}, "0.07", ""),
    ({"feeSchedule": {"rate": 0}}, "0", ""),
    ({"feeSchedule": None}, "0.05", ""),
    ({"feesEnabled": None, "feeSchedule": None}, "0.05", ""),
    ({"feesEnabled": False, "feeSchedule": None}, "0", ""),
    ({"feeSchedule": None, "takerBaseFee": 200}, "0.05", ""),
    ({"feeSchedule": {"rate": 0.04, "exponent": 2}}, "0.05", "unknown_fee"),
    ({"feeSchedule": {"rate": 1.5, "exponent": 1}}, "0.05", "unknown_fee"),
]


def test_the_fee_is_that_of_the_schedule_never_the_base_fee_and_else_the_usual(server: VenueServer) -> None:
    answer = catalogue(server, *each(*(changes for changes, *_ in FEES)))
    assert [x.market.fee_rate for x in answer.said] == [usd(rate) for _, rate, _ in FEES]
    assert answer.codes == told([(changes, code) for changes, _, code in FEES])


CATEGORIES: list[tuple[list[str], str]] = [
    (["hide-from-new", "meta", "equities", "finance"], "finance"),
    (["fed", "finance", "economy"], "economy"),
    (["trump", "us-politics", "politics"], "politics"),
    (["mentions"], "other"),
    ([], "other"),
]


def test_the_category_is_by_the_tags_and_on_an_old_page_in_words(server: VenueServer) -> None:
    tagged = each(*({"tags": [{"slug": slug} for slug in tags]} for tags, _ in CATEGORIES))
    old = a_market("1009", tags=None, category="US-current-affairs")
    found = [x.market.category for x in catalogue(server, *tagged, old).said]
    assert found == [*(category for _, category in CATEGORIES), "us-current-affairs"]


def test_a_market_without_an_event_is_its_own(server: VenueServer) -> None:
    answer = catalogue(server, *(a_market(name, events=None) for name in ("1001", "1002")))
    assert len({listing.market.event_id for listing in answer.said}) == 2


def test_a_market_without_a_date_is_open_since_it_was_made_and_closes_who_knows_when(
    server: VenueServer,
) -> None:
    market = catalogue(server, a_market(startDate=None, endDate=None)).said[0].market
    assert market.opens_at == datetime(2025, 12, 1, 9, 0, 0, 123_456, tzinfo=UTC)
    assert market.closes_at.year == 9999


BAD_PAGES: list[tuple[Raw, str]] = [
    ({"question": None}, "malformed"),
    ({"question": " "}, "no_question"),
    ({"question": "\0"}, "malformed"),
    ({"closed": "false"}, "malformed"),
    ({"outcomes": "Yes, No"}, "malformed"),
    ({"outcomes": '["Yes", 0]'}, "malformed"),
    ({"outcomes": '["Yes"]'}, "malformed"),
    ({"outcomes": '["Yes", "No", "Draw"]'}, "malformed"),
    ({"outcomes": []}, "malformed"),
    ({"outcomes": "[" * 900}, "malformed"),
    ({"outcomes": json.dumps(["Yes", "No" * 1_000])}, "malformed"),
    ({"endDate": "tomorrow"}, "malformed"),
    ({"endDate": "2026-03-01T10:00:00"}, "malformed"),
    ({"startDate": None, "createdAt": None}, "no_open_time"),
    ({"orderPriceMinTickSize": 0}, "bad_tick"),
    ({"orderPriceMinTickSize": 0.5}, "bad_tick"),
    ({"orderMinSize": -5}, "malformed"),
    ({"events": [{}]}, "malformed"),
    ({"feeSchedule": {"rate": "free"}}, "malformed"),
]


def test_pages_that_make_no_sense_are_set_aside_and_the_others_stay(server: VenueServer) -> None:
    bad = [a_market() | {"id": str(1001 + n)} | changes for n, (changes, _) in enumerate(BAD_PAGES)]
    bad = [{name: value for name, value in raw.items() if value is not None} for raw in bad]
    answer = catalogue(server, *bad, a_market("1099"))
    assert names(answer) == ["1099"]
    assert answer.codes == told(BAD_PAGES)
    for item in answer.aside:
        assert (item.venue, item.kind) == ("polymarket", "market")
        assert item.reason
        assert item.raw.startswith("{")


def test_a_record_that_is_none_is_set_aside(server: VenueServer) -> None:
    junk: list[Any] = [None, 7, "market", [], {}, a_market() | {"id": 1001}]
    answer = catalogue(server, *junk, a_market("1002"))
    assert names(answer) == ["1002"]
    assert [item.code for item in answer.aside] == ["malformed"] * len(junk)


# --- prices


BAD_PRICES: list[tuple[Raw, str]] = [
    ({"bestBid": 0.5}, "crossed"),
    ({"bestBid": 1.2}, "bad_price"),
    ({"bestBid": -0.1}, "malformed"),
    ({"bestAsk": "cheap"}, "malformed"),
    ({"bestAsk": True}, "malformed"),
    ({"bestBid": None, "outcomePrices": '["0.41", "0.2"]'}, "bad_price"),
    ({"bestBid": None, "outcomePrices": '["0.41"]'}, "bad_price"),
    ({"bestBid": None, "outcomePrices": '["0.41", "-1"]'}, "bad_price"),
    ({"bestBid": None, "outcomePrices": '["NaN", "0"]'}, "bad_price"),
    ({"outcomePrices": "0.41"}, "malformed"),
    ({"bestBid": None, "bestAsk": None, "outcomePrices": None}, "no_price"),
    ({}, ""),
]


def test_a_price_that_makes_no_sense_leaves_a_market_without_one(server: VenueServer) -> None:
    answer = catalogue(server, *each(*(changes for changes, _ in BAD_PRICES)))
    assert [x.quote is None for x in answer.said] == [bool(code) for _, code in BAD_PRICES]
    assert answer.codes == told(BAD_PRICES)
    assert {item.kind for item in answer.aside} == {"quote"}


SIDES: list[tuple[Raw, str | None, str | None, str]] = [
    ({"bestBid": 0, "outcomePrices": '["0.0005", "0.9995"]'}, None, "0.42", "0.0005"),
    ({"bestBid": None}, None, "0.42", "0.41"),
    ({"bestAsk": 1}, "0.4", None, "0.41"),
    ({"bestBid": None, "outcomePrices": '["0", "1"]'}, None, "0.42", "0"),
    ({"bestBid": 0.003, "bestAsk": 0.004}, "0.003", "0.004", "0.0035"),
    ({"bestBid": "0.40", "bestAsk": "0.42"}, "0.4", "0.42", "0.41"),
]


def test_a_side_at_zero_or_a_dollar_is_offered_by_nobody(server: VenueServer) -> None:
    quotes = [quote_of(x) for x in catalogue(server, *each(*(changes for changes, *_ in SIDES))).said]
    wanted = [[None if price is None else usd(price) for price in prices] for _, *prices in SIDES]
    assert [[quote.bid, quote.ask, quote.mid] for quote in quotes] == wanted


def test_a_volume_may_be_missing_or_a_number(server: VenueServer) -> None:
    said = catalogue(server, *each({"volume": None}, {"volume": None, "volumeNum": 12.5})).said
    assert [quote_of(x).volume for x in said] == [None, usd("12.5")]


# --- books


def test_a_book_is_best_first_whatever_its_order_on_the_wire(server: VenueServer) -> None:
    quote, codes = quoted(server)
    assert codes == []
    assert quote.bids == tuple(
        Level(usd(p), usd(n)) for p, n in (("0.4", "100.25"), ("0.39", "200"), ("0.01", "900"))
    )
    assert quote.asks == tuple(
        Level(usd(p), usd(n)) for p, n in (("0.42", "50.5"), ("0.43", "300"), ("0.99", "800"))
    )
    assert (quote.bid, quote.ask, quote.mid, quote.at) == (usd("0.40"), usd("0.42"), usd("0.41"), NOW)
    assert (quote.last, quote.volume) == (usd("0.41"), usd("1234.56"))
    assert refusal(quote) is None
    for side in ("bids", "asks"):
        for order in (sorted, reversed):
            mixed = RAIN_BOOK | {side: list(order(RAIN_BOOK[side], **_by_size(order)))}
            assert quoted(server, mixed) == (quote, [])


def _by_size(order: Any) -> dict[str, Any]:
    return {"key": lambda step: step["size"]} if order is sorted else {}


def test_the_mid_is_that_of_the_book_where_both_agree(server: VenueServer) -> None:
    quote, codes = quoted(server, a_book("1001", bids=[("0.45", "10")], asks=[("0.47", "10")]))
    assert (quote.mid, codes) == (usd("0.46"), [])


def test_a_page_over_five_cents_from_its_book_is_told_and_stops_fills(server: VenueServer) -> None:
    for bid, ask in (("0.45", "0.48"), ("0.34", "0.37")):
        quote, codes = quoted(server, a_book("1001", bids=[(bid, "500")], asks=[(ask, "500")]))
        assert codes == ["gap"]
        assert (quote.bid, quote.ask, quote.mid) == (usd(bid), usd(ask), usd("0.41"))
        assert quote.bids == (Level(usd(bid), usd(500)),)
        assert refusal(quote) == "gap"


def test_an_empty_book_leaves_no_price_to_trade_at(server: VenueServer) -> None:
    quote, codes = quoted(server, a_book("1001", [], []))
    assert codes == ["empty_book"]
    assert (quote.bid, quote.ask, quote.bids, quote.asks) == (None, None, (), ())
    assert quote.mid == usd("0.41")
    assert refusal(quote) == "no_book"


def test_a_book_of_one_side_is_as_it_is(server: VenueServer) -> None:
    quote, codes = quoted(server, a_book("1001", [("0.40", "10")], []))
    assert codes == []
    assert (quote.bid, quote.ask, quote.mid) == (usd("0.40"), None, usd("0.41"))


BAD_BOOKS: list[tuple[Raw, str]] = [
    ({"bids": [{"price": "0.5", "size": "1"}]}, "crossed"),
    ({"bids": [{"price": "0.1", "size": "1"}, {"price": "0.10", "size": "2"}]}, "bad_book"),
    ({"asks": [{"price": "1", "size": "1"}]}, "bad_book"),
    ({"asks": [{"price": "0", "size": "1"}]}, "bad_book"),
    ({"asks": [{"price": "1.2", "size": "1"}]}, "bad_book"),
    ({"asks": [{"price": 0.5, "size": "1"}]}, "malformed"),
    ({"asks": [{"price": "0.5", "size": "-1"}]}, "malformed"),
    ({"asks": [{"price": "0.5"}]}, "malformed"),
    ({"asks": None}, "malformed"),
    ({"bids": "none"}, "malformed"),
]


def test_books_that_make_no_sense_are_left_out_and_no_order_is_filled_from_them(server: VenueServer) -> None:
    markets = many(len(BAD_BOOKS))
    books = [
        RAIN_BOOK | {"asset_id": token(raw["id"])} | changes
        for raw, (changes, _) in zip(markets, BAD_BOOKS, strict=True)
    ]
    answer = listings(server, PolymarketWire(markets, books), *(f"polymarket:{raw['id']}" for raw in markets))
    quotes = [quote_of(x) for x in answer.said]
    assert {(x.bid, x.ask, x.bids, x.asks) for x in quotes} == {(usd("0.40"), usd("0.42"), (), ())}
    assert refusal(quotes[0]) == "no_book"
    assert answer.codes == told(BAD_BOOKS)


def test_levels_of_no_size_are_nobodys(server: VenueServer) -> None:
    book = RAIN_BOOK | {"bids": [*RAIN_BOOK["bids"], {"price": "0.41", "size": "0"}]}
    assert quoted(server, book)[0].bid == usd("0.40")


def test_token_ids_are_names_never_numbers(server: VenueServer) -> None:
    """As a number such a name would lose its last digits, and the book of another market might come."""
    assert len(token("1001")) == 77
    quote, codes = quoted(server, clobTokenIds=f"[{token('1001')}, {token('1001', 'No')}]")
    assert codes == ["malformed"]
    assert quote.bids == ()


def test_a_market_that_has_no_book_to_ask_for_has_its_page_alone(server: VenueServer) -> None:
    ids = ["[]", '["x", "y"]', '["", ""]', json.dumps(["../secret", "8"])]
    markets = each(*({"clobTokenIds": text} for text in ids))
    answer = listings(server, PolymarketWire(markets), *(f"polymarket:{raw['id']}" for raw in markets))
    assert {(quote_of(x).bid, quote_of(x).bids) for x in answer.said} == {(usd("0.40"), ())}
    assert answer.codes == told([(text, "no_token") for text in ids])
    assert server.counts[f"{CLOB}/book"] == 0


def test_a_book_that_is_not_shown_is_told(server: VenueServer) -> None:
    assert quoted(server, None)[1] == ["no_book"]


def test_books_are_asked_for_many_at_once(server: VenueServer) -> None:
    markets = many(250)
    wire = PolymarketWire(markets, [RAIN_BOOK | {"asset_id": token(raw["id"])} for raw in markets])
    answer = listings(server, wire, *(f"polymarket:{raw['id']}" for raw in markets))
    assert answer.aside == []
    assert all(listing.quote.bids for listing in answer.said)
    assert server.counts == {LISTS: 3, f"{CLOB}/books": 3}


def test_where_there_are_no_books_of_many_each_is_asked_for_alone(server: VenueServer) -> None:
    books = [RAIN_BOOK, RAIN_BOOK | {"asset_id": token("1002")}]
    answer = listings(
        server, PolymarketWire(many(2), books, many_books=False), RAIN, MarketId("polymarket:1002")
    )
    assert answer.aside == []
    assert [listing.quote.bid for listing in answer.said] == [usd("0.40")] * 2
    assert server.counts[f"{CLOB}/book"] == 2


def test_the_book_of_another_market_is_not_believed(server: VenueServer) -> None:
    wire = PolymarketWire(many(1))
    wire.serve(server)
    server.route(f"{CLOB}/books", [RAIN_BOOK | {"asset_id": token("1002")}])
    server.route(f"{CLOB}/book", RAIN_BOOK | {"asset_id": token("1002")})
    answer = polymarket(server.url, lambda venue: venue.listings(NOW, [RAIN]))
    assert quote_of(answer.said[0]).bids == ()
    assert answer.codes == [("1001", "no_book")]


# --- the list, page by page


def test_a_list_that_was_broken_off_is_read_on_from_there(server: VenueServer) -> None:
    wire = PolymarketWire(many(250))
    url = wire.serve(server)
    number = count(1)
    server.route(LISTS, lambda asked: status(500) if next(number) in (3, 4) else wire._by_cursor(asked))

    async def twice(venue: Polymarket) -> Catalogue:
        with pytest.raises(VenueError) as raised:
            await venue.catalogue(NOW)
        assert raised.value.code == "server_error"
        return await venue.catalogue(NOW + minutes)

    for minutes, asked in ((timedelta(minutes=15), 5), (timedelta(minutes=16), 7)):
        number = count(1)
        before = server.counts[LISTS]
        read = polymarket(url, twice).said
        assert [x.market.id for x in read.listings] == [f"polymarket:{1001 + n}" for n in range(250)]
        assert {x.quote.at for x in read.listings if x.quote} == {NOW + minutes}
        assert server.counts[LISTS] - before == asked


# --- chosen markets


def test_a_closed_market_is_found_again_and_has_no_price(server: VenueServer) -> None:
    """A list holds open markets or closed ones: who asks for open ones alone believes that it vanished."""
    answer = listings(server, PolymarketWire([an_end()], [RAIN_BOOK]))
    assert [(x.market.id, x.quote) for x in answer.said] == [(RAIN, None)]
    assert [asked.params["closed"] for asked in server.log] == ["false", "true"]


def test_a_market_past_its_date_that_still_trades_keeps_its_price(server: VenueServer) -> None:
    """Its date is a plan of the venue's; what is held is worth what it trades at, until it is resolved."""
    late = datetime(2026, 3, 5, tzinfo=UTC)
    answer = listings(server, PolymarketWire(many(1), [RAIN_BOOK]), at=late)
    assert answer.said[0].quote.mid == usd("0.41")
    offered = catalogue(server, *many(1), at=late).said[0]
    assert offered.market.closes_at == datetime(2026, 3, 8, 10, tzinfo=UTC)


def test_an_answer_to_what_was_not_asked_is_no_answer(server: VenueServer) -> None:
    PolymarketWire().serve(server)
    server.route(LISTS, {"markets": many(3)})
    server.route(f"{CLOB}/books", [RAIN_BOOK])
    assert names(polymarket(server.url, lambda venue: venue.listings(NOW, [RAIN]))) == ["1001"]


# --- prices of the past


def test_the_past_of_a_market_is_its_prices_by_the_hour(server: VenueServer) -> None:
    start = datetime(2026, 1, 1, tzinfo=UTC)
    hours = [int((start + timedelta(hours=n)).timestamp()) for n in range(4)]
    points = [{"t": hours[n], "p": p} for n, p in ((2, 0.36), (0, 0.415), (1, 0), (3, 1))]
    wire = PolymarketWire(many(1), past={token("1001"): [*points, {"t": hours[1] + 60, "p": 1.2}]})
    end = start + timedelta(hours=2)
    answer = polymarket(wire.serve(server), lambda venue: venue.history(RAIN, start, end))
    assert [(quote.at, quote.mid) for quote in answer.said] == [
        (start, usd("0.415")),
        (start + timedelta(hours=1), 0),
        (end, usd("0.36")),
    ]
    assert all(quote.bid is quote.ask is None for quote in answer.said)
    assert [item.code for item in answer.aside] == ["malformed"]


def test_the_past_of_a_closed_market_is_there_too(server: VenueServer) -> None:
    wire = PolymarketWire([an_end()], past={token("1001"): [{"t": 1767225600, "p": 0.5}]})
    start = datetime(2025, 12, 1, tzinfo=UTC)
    answer = polymarket(wire.serve(server), lambda venue: venue.history(RAIN, start, NOW))
    assert [quote.mid for quote in answer.said] == [usd("0.5")]


# --- settings


def test_its_settings_say_where_it_is_and_how_often_it_is_asked() -> None:
    settings = Settings.model_validate({})
    assert settings.per_second == 5
    assert settings.url.startswith("https://gamma-api.")
    assert settings.book_url.startswith("https://clob.")
    assert venue(settings).stamp == "live"


def test_a_venue_that_is_down_is_not_asked_for_every_name(server: VenueServer) -> None:
    url = PolymarketWire().serve(server)
    server.fail(LISTS, HTML, forever=True)
    asked = [MarketId(f"polymarket:{1_000 + n}") for n in range(100)]
    with pytest.raises(VenueError) as raised:
        polymarket(url, lambda venue: venue.listings(NOW, asked))
    assert raised.value.code == "not_json"
    assert server.counts[LISTS] <= 2 * 12


def test_a_name_that_spoils_the_question_for_all_is_found_and_told(server: VenueServer) -> None:
    """Nobody has seen the venue do it; but one held market must not keep the others from being paid."""
    wire = PolymarketWire([a_market("1001"), a_market("1002")])

    def spoilt(asked: Asked) -> Any:
        return status(400) if "666" in asked.query.get("id", ()) else wire._by_cursor(asked)

    url = wire.serve(server)
    server.route(LISTS, spoilt)
    server.route(f"{GAMMA}/markets", lambda asked: status(400))
    names = [MarketId(f"polymarket:{name}") for name in ("1001", "666", "1002")]
    answer = polymarket(url, lambda venue: venue.listings(NOW, names))
    assert [listing.market.id for listing in answer.said] == [names[0], names[2]]
    assert ("666", "refused") in answer.codes
