"""Kalshi over real HTTP, from records made by hand in its shape."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from markets.model import Level, Market, MarketId, Quote
from markets.venue import VenueError
from portfolio.model import Rejection
from portfolio.quotes import check_spread
from portfolio.rules import REALISTIC
from tests.builders import NOW, listed, quote_of, usd
from tests.venue_server.kalshi import (
    BOOK,
    ROOT,
    KalshiWire,
    Raw,
    a_book,
    a_market,
    a_series,
    an_end,
    an_event,
)
from tests.venue_server.server import HTML, RESET, TRUNCATED, VenueServer, reply, status
from tests.venue_server.visit import Answer, kalshi

RAIN = MarketId("kalshi:RAIN-26-A")
OTHER = MarketId("kalshi:RAIN-26-B")


def catalogue(server: VenueServer, wire: KalshiWire, at: datetime = NOW, **settings: Any) -> Answer[Any]:
    return kalshi(wire.serve(server), lambda venue: listed(venue, at), **settings)


def listings(server: VenueServer, wire: KalshiWire, *ids: str, at: datetime = NOW) -> Answer[Any]:
    asked = [MarketId(id) for id in ids or (RAIN,)]
    return kalshi(wire.serve(server), lambda venue: venue.listings(at, asked))


def resolutions(server: VenueServer, wire: KalshiWire, *ids: str, at: datetime = NOW) -> Answer[Any]:
    asked = [MarketId(id) for id in ids or (RAIN,)]
    return kalshi(wire.serve(server), lambda venue: venue.resolutions(at, asked))


def quoted(
    server: VenueServer, book: Any = None, **changes: Any
) -> tuple[Quote | None, list[tuple[str, str]]]:
    """The quote of one market with these prices and this book, and what was set aside."""
    books = {} if book is None else {"RAIN-26-A": book}
    answer = listings(server, KalshiWire([an_event(a_market(**changes))], books=books))
    return answer.said[0].quote, answer.codes


def many(number: int) -> list[Raw]:
    return [an_event(a_market(f"E{n}-26-A"), ticker=f"E{n}-26") for n in range(number)]


# --- the catalogue


def test_a_market_and_its_price_are_read_field_by_field(server: VenueServer) -> None:
    answer = catalogue(server, KalshiWire([an_event(a_market())]))
    assert answer.aside == []
    [listing] = answer.said
    assert listing.market == Market(
        id=RAIN,
        event_id="kalshi:RAIN-26",
        question="Will it rain? — Rain",
        rules="If it rains, then the market resolves to Yes.",
        category="Climate",
        opens_at=datetime(2025, 12, 1, 10, tzinfo=UTC),
        closes_at=datetime(2026, 3, 1, 10, tzinfo=UTC),
        tick=usd("0.01"),
        fee_rate=usd("0.07"),
        tags="RAIN",
    )
    bid, ask, mid, last = (usd(price) for price in ("0.40", "0.42", "0.41", "0.41"))
    assert listing.quote == Quote(RAIN, NOW, bid, ask, mid, last, usd("1234.56"))


def test_every_page_is_read_once(server: VenueServer) -> None:
    answer = catalogue(server, KalshiWire(many(450)))
    assert [x.market.id for x in answer.said] == [f"kalshi:E{n}-26-A" for n in range(450)]
    asked = [asked.params.get("cursor") for asked in server.log if asked.path == f"{ROOT}/events"]
    assert asked == [None, "from:200", "from:400"]
    assert answer.aside == []


def incomplete(url: str, **settings: Any) -> str:
    """Why a catalogue is no whole one."""
    with pytest.raises(VenueError) as raised:
        kalshi(url, lambda venue: listed(venue, NOW), **settings)
    assert raised.value.code == "incomplete"
    return raised.value.message


def test_a_cursor_that_leads_back_to_its_page_makes_no_list(server: VenueServer) -> None:
    wire = KalshiWire(many(3))
    url = wire.serve(server)
    server.route(f"{ROOT}/events", {"events": wire.events, "cursor": "again"})
    assert incomplete(url).endswith("page 2 only repeats what was on the pages before it")
    assert server.counts[f"{ROOT}/events"] == 2


def test_pages_without_an_end_are_left_after_so_many(server: VenueServer) -> None:
    url = KalshiWire().serve(server)
    numbers = iter(range(1_000))

    def page(_: object) -> Raw:
        ticker = f"N{next(numbers)}-26"
        return {"events": [an_event(a_market(f"{ticker}-A"), ticker=ticker)], "cursor": ticker}

    server.route(f"{ROOT}/events", page)
    assert incomplete(url, pages=7).endswith("there are more pages after page 7")
    assert server.counts[f"{ROOT}/events"] == 7


def test_a_record_that_comes_again_counts_once_and_is_told(server: VenueServer) -> None:
    wire = KalshiWire([*many(200), *many(1), an_event(a_market())])
    answer = catalogue(server, wire)
    assert len(answer.said) == 201
    assert answer.codes == [("page 2", "repeated")]


def test_a_cursor_that_is_no_text_is_told(server: VenueServer) -> None:
    url = KalshiWire().serve(server)
    server.route(f"{ROOT}/events", {"events": many(1), "cursor": 7})
    assert incomplete(url).endswith("the cursor of its next page is 7")


def test_combinations_and_scalars_are_not_for_us(server: VenueServer) -> None:
    combo = a_market("RAIN-26-B", mve_collection_ticker="KXMVE-R", yes_bid_dollars="nonsense")
    scalar = a_market("RAIN-26-C", market_type="scalar")
    answer = catalogue(server, KalshiWire([an_event(a_market(), combo, scalar)]))
    assert [x.market.id for x in answer.said] == [RAIN]
    assert answer.aside == []


def test_only_what_can_be_traded_on_now_is_in_the_catalogue(server: VenueServer) -> None:
    paused = a_market("RAIN-26-B", status="inactive")
    early = a_market("RAIN-26-C", open_time="2026-01-04T12:00:01Z")
    closed = a_market("RAIN-26-D", close_time="2026-01-04T12:00:00Z")
    paid = an_end("RAIN-26-E")
    answer = catalogue(server, KalshiWire([an_event(a_market(), paused, early, closed, paid)]))
    assert [x.market.id for x in answer.said] == [RAIN]
    assert answer.aside == []


BAD_MARKETS: dict[str, tuple[dict[str, Any], str]] = {
    "no status": ({"status": None}, "malformed"),
    "another status": ({"status": "open"}, "unknown_status"),
    "status is a number": ({"status": 3}, "malformed"),
    "no type": ({"market_type": None}, "malformed"),
    "another type": ({"market_type": "categorical"}, "not_binary"),
    "no event": ({"event_ticker": None}, "malformed"),
    "a path for a name": ({"ticker": "../../etc/passwd"}, "malformed"),
    "no close": ({"close_time": None}, "malformed"),
    "a time without a zone": ({"close_time": "2026-03-01T10:00:00"}, "malformed"),
    "no time at all": ({"close_time": "soon"}, "malformed"),
    "never opened": ({"open_time": None, "created_time": None}, "malformed"),
    "neither title nor subtitle": ({"title": "", "yes_sub_title": ""}, "no_question"),
    "a title with a zero byte": ({"title": "Will\0it?"}, "malformed"),
    "half a character": ({"title": "Will it \ud83d"}, "malformed"),
    "worth a hundred": ({"notional_value_dollars": "100.0000"}, "not_a_dollar"),
}


@pytest.mark.parametrize("why", BAD_MARKETS)
def test_a_market_that_makes_no_sense_is_set_aside_alone(server: VenueServer, why: str) -> None:
    changes, code = BAD_MARKETS[why]
    bad = a_market(**({"ticker": "RAIN-26-B", "event_ticker": "RAIN-26"} | changes))
    answer = catalogue(server, KalshiWire([an_event(bad, a_market())]))
    assert [x.market.id for x in answer.said] == [RAIN]
    [item] = answer.aside
    assert (item.venue, item.kind, item.code) == ("kalshi", "market", code)
    assert item.record == str(changes.get("ticker", "RAIN-26-B"))
    assert item.reason
    assert item.raw.startswith('{"ticker": ')


@pytest.mark.parametrize(
    "bad", [None, 7, "x", [], {}, {"event_ticker": "X", "series_ticker": "X", "markets": {}}]
)
def test_an_event_that_makes_no_sense_is_set_aside_alone(server: VenueServer, bad: Any) -> None:
    answer = catalogue(server, KalshiWire([bad, an_event(a_market())]))
    assert [x.market.id for x in answer.said] == [RAIN]
    assert [item.code for item in answer.aside] == ["malformed"]


def test_what_has_no_name_is_told_all_the_same(server: VenueServer) -> None:
    answer = catalogue(server, KalshiWire([an_event(a_market(ticker="RAIN-26-A"), {"title": "?"})]))
    assert answer.codes == [("(no name)", "malformed")]


def test_markets_of_one_title_are_told_apart_by_their_subtitles(server: VenueServer) -> None:
    two = [a_market(f"RAIN-26-{n}", yes_sub_title=n, title="How much?") for n in "AB"]
    same = a_market("RAIN-26-C", yes_sub_title="Will it rain?")
    answer = catalogue(server, KalshiWire([an_event(*two, same)]))
    assert [x.market.question for x in answer.said] == ["How much? — A", "How much? — B", "Will it rain?"]
    assert {x.market.event_id for x in answer.said} == {"kalshi:RAIN-26"}


def test_the_finest_step_of_the_prices_is_the_tick(server: VenueServer) -> None:
    steps = [{"step": "0.0100"}, {"step": "0.0010"}]
    fine = a_market("RAIN-26-B", price_ranges=steps)
    named = a_market("RAIN-26-C", price_ranges=None, price_level_structure="tapered_deci_cent")
    nothing = a_market("RAIN-26-D", price_ranges=None, price_level_structure=None)
    answer = catalogue(server, KalshiWire([an_event(a_market(), fine, named, nothing)]))
    assert [x.market.tick for x in answer.said] == [usd(tick) for tick in ("0.01", "0.001", "0.001", "0.01")]


# --- fees


FEES: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    "usual": ({}, {}, "0.07"),
    "half, as for stock indices": ({}, {"fee_multiplier": 0.5}, "0.035"),
    "makers pay too, which takers don't mind": ({}, {"fee_type": "quadratic_with_maker_fees"}, "0.07"),
    "free": ({}, {"fee_multiplier": 0}, "0"),
    "the event's own": ({"fee_multiplier_override": 2}, {"fee_multiplier": 0.5}, "0.14"),
    "the event says nothing": (
        {"fee_multiplier_override": None, "fee_type_override": None},
        {"fee_multiplier": 0.5},
        "0.035",
    ),
}


@pytest.mark.parametrize("which", FEES)
def test_the_fee_is_that_of_the_event_or_its_series(server: VenueServer, which: str) -> None:
    event, series, rate = FEES[which]
    wire = KalshiWire([an_event(a_market(), **event)], series=[a_series(**series)])
    for answer in (catalogue(server, wire), listings(server, wire)):
        assert answer.said[0].market.fee_rate == usd(rate)
    assert "unknown_fee" not in [code for _, code in catalogue(server, wire).codes]


@pytest.mark.parametrize("series", [{"fee_type": "flat"}, {"fee_multiplier": 11}, {"fee_multiplier": -1}])
def test_a_fee_nobody_knows_is_told_and_the_usual_one_taken(server: VenueServer, series: Any) -> None:
    answer = catalogue(server, KalshiWire([an_event(a_market())], series=[a_series(**series)]))
    assert answer.said[0].market.fee_rate == usd("0.07")
    assert answer.codes == [("RAIN-26", "unknown_fee")]


def test_without_its_series_a_catalogue_has_the_usual_fees(server: VenueServer) -> None:
    wire = KalshiWire([an_event(a_market())], series=[])
    url = wire.serve(server)
    server.fail(f"{ROOT}/series", status(500), forever=True)
    answer = kalshi(url, lambda venue: listed(venue, NOW))
    assert answer.said[0].market.fee_rate == usd("0.07")
    assert answer.codes == [("/series", "server_error")]


# --- prices and books


def test_a_bid_for_no_is_an_offer_of_yes_and_the_best_comes_first(server: VenueServer) -> None:
    quote, aside = quoted(server, BOOK)
    assert aside == []
    assert quote is not None
    levels = [("0.40", "100"), ("0.39", "200"), ("0.01", "900")]
    assert quote.bids == tuple(Level(usd(price), usd(size)) for price, size in levels)
    levels = [("0.42", "50.5"), ("0.43", "300"), ("0.98", "800")]
    assert quote.asks == tuple(Level(usd(price), usd(size)) for price, size in levels)
    assert (quote.bid, quote.ask, quote.mid) == (usd("0.40"), usd("0.42"), usd("0.41"))
    assert quote.at == NOW


def test_the_order_on_the_wire_does_not_matter(server: VenueServer) -> None:
    turned = {side: levels[::-1] for side, levels in BOOK.items()}
    assert quoted(server, turned) == quoted(server, BOOK)


def test_the_book_is_newer_than_the_page(server: VenueServer) -> None:
    book = a_book(yes=[("0.4400", "5.00")], no=[("0.5400", "5.00")])
    quote, aside = quoted(server, book)
    assert quote is not None
    assert (quote.bid, quote.ask, quote.mid) == (usd("0.44"), usd("0.46"), usd("0.45"))
    assert aside == []


def test_a_book_far_from_the_page_is_told_and_stops_orders(server: VenueServer) -> None:
    book = a_book(yes=[("0.6000", "5.00")], no=[("0.3800", "5.00")])
    answer = listings(server, KalshiWire([an_event(a_market())], books={"RAIN-26-A": book}))
    [listing] = answer.said
    assert (listing.quote.bid, listing.quote.ask, listing.quote.mid) == (usd("0.6"), usd("0.62"), usd("0.41"))
    assert answer.codes == [("RAIN-26-A", "gap")]
    refused = check_spread(listing.quote, listing.market, REALISTIC)
    assert isinstance(refused, Rejection)
    assert refused.code == "gap"


def test_an_empty_side_is_nobodys_offer(server: VenueServer) -> None:
    page = {"yes_bid_dollars": "0.0000", "yes_bid_size_fp": "0.00"}
    quote, aside = quoted(server, a_book(yes=[], no=[("0.5800", "7.00")]), **page)
    assert quote is not None
    assert (quote.bid, quote.ask, quote.mid, quote.bids) == (None, usd("0.42"), None, ())
    assert aside == []


def test_levels_without_shares_are_left_out(server: VenueServer) -> None:
    book = a_book(yes=[("0.4100", "0.00"), ("0.4000", "9.00")], no=[("0.5800", "7.00")])
    quote, _ = quoted(server, book)
    assert quote is not None
    assert quote.bids == (Level(usd("0.40"), usd(9)),)


BAD_BOOKS: dict[str, tuple[Any, str]] = {
    "no book": (None, "bad_book"),
    "a list": ([], "bad_book"),
    "one side": ({"yes_dollars": [["0.4000", "1.00"]]}, "bad_book"),
    "a side of text": ({"yes_dollars": "0.4000", "no_dollars": []}, "bad_book"),
    "a level of one": ({"yes_dollars": [["0.4000"]], "no_dollars": []}, "bad_book"),
    "a level of cents": ({"yes_dollars": [[40, 100]], "no_dollars": []}, "bad_book"),
    "a level at a dollar": (a_book([("1.0000", "1.00")], []), "bad_book"),
    "a level at nothing": (a_book([("0.0000", "1.00")], []), "bad_book"),
    "below nothing": (a_book([("-0.1000", "1.00")], []), "bad_book"),
    "over a dollar": (a_book([("1.2000", "1.00")], []), "bad_book"),
    "no number": (a_book([("NaN", "1.00")], []), "bad_book"),
    "an exponent": (a_book([("4e-1", "1.00")], []), "bad_book"),
    "less than no shares": (a_book([("0.4000", "-5.00")], []), "bad_book"),
    "a price twice": (a_book([("0.4000", "1.00"), ("0.40", "2.00")], []), "bad_book"),
    "crossed": (a_book([("0.4300", "1.00")], [("0.5800", "1.00")]), "crossed"),
    "empty, though the page has prices": (a_book([], []), "empty_book"),
}


@pytest.mark.parametrize("why", BAD_BOOKS)
def test_a_book_that_makes_no_sense_is_not_believed(server: VenueServer, why: str) -> None:
    book, code = BAD_BOOKS[why]
    wire = KalshiWire(
        [an_event(a_market(), a_market("RAIN-26-B"))], books={"RAIN-26-A": book, "RAIN-26-B": BOOK}
    )
    answer = listings(server, wire, RAIN, OTHER)
    first, second = (x.quote for x in answer.said)
    assert (first.bid, first.ask, first.bids, first.asks) == (usd("0.40"), usd("0.42"), (), ())
    assert len(second.bids) == len(second.asks) == 3
    assert answer.codes == [("RAIN-26-A", code)]


BAD_PRICES: dict[str, tuple[dict[str, Any], str]] = {
    "cents only": (
        {"yes_bid_dollars": None, "yes_ask_dollars": None, "yes_bid": 40, "yes_ask": 42},
        "no_price",
    ),
    "one side": ({"yes_ask_dollars": None}, "no_price"),
    "no text": ({"yes_bid_dollars": ""}, "no_price"),
    "a number": ({"yes_bid_dollars": 0.4}, "malformed"),
    "below nothing": ({"yes_bid_dollars": "-0.1000"}, "malformed"),
    "no number": ({"yes_ask_dollars": "NaN"}, "malformed"),
    "over a dollar": ({"yes_ask_dollars": "1.2000"}, "bad_price"),
    "crossed": ({"yes_bid_dollars": "0.4300"}, "crossed"),
    "sizes that are none": ({"yes_bid_size_fp": "many"}, "malformed"),
}


@pytest.mark.parametrize("why", BAD_PRICES)
def test_a_market_whose_price_makes_no_sense_has_none(server: VenueServer, why: str) -> None:
    changes, code = BAD_PRICES[why]
    quote, aside = quoted(server, BOOK, **changes)
    assert quote is None
    assert aside == [("RAIN-26-A", code)]


def test_prices_of_nothing_and_of_a_dollar_are_nobodys(server: VenueServer) -> None:
    sides = {"yes_bid_dollars": "0.0000", "yes_ask_dollars": "1.0000", "last_price_dollars": "0.0000"}
    answer = catalogue(server, KalshiWire([an_event(a_market(**sides))]))
    quote = answer.said[0].quote
    assert (quote.bid, quote.ask, quote.mid, quote.last) == (None, None, None, None)


def test_a_price_without_size_is_nobodys(server: VenueServer) -> None:
    answer = catalogue(server, KalshiWire([an_event(a_market(yes_bid_size_fp="0.00"))]))
    quote = answer.said[0].quote
    assert (quote.bid, quote.ask, quote.mid) == (None, usd("0.42"), None)


def test_books_are_asked_for_by_the_hundred(server: VenueServer) -> None:
    names = [f"RAIN-26-{n}" for n in range(230)]
    wire = KalshiWire([an_event(*(a_market(name) for name in names))], books=dict.fromkeys(names, BOOK))
    answer = listings(server, wire, *(f"kalshi:{name}" for name in reversed(names)))
    assert [x.market.id for x in answer.said] == [f"kalshi:{name}" for name in reversed(names)]
    assert all(len(quote_of(x).bids) == 3 for x in answer.said)
    assert server.counts[f"{ROOT}/markets/orderbooks"] == 3
    asked = [asked.params["mve_filter"] for asked in server.log if asked.path == f"{ROOT}/markets"]
    assert asked == ["exclude"] * 5
    assert answer.aside == []


@pytest.mark.parametrize("instead", [status(403), status(404), status(400)])
def test_where_many_books_cannot_be_had_each_is_asked_for_alone(server: VenueServer, instead: Any) -> None:
    wire = KalshiWire([an_event(a_market(), a_market("RAIN-26-B"))], books={"RAIN-26-A": BOOK})
    url = wire.serve(server)
    server.fail(f"{ROOT}/markets/orderbooks", instead, forever=True)
    answer = kalshi(url, lambda venue: venue.listings(NOW, [RAIN, OTHER]))
    assert [len(quote_of(x).bids) for x in answer.said] == [3, 0]
    assert answer.codes == [("RAIN-26-B", "no_book")]


# --- chosen markets


def test_listings_come_in_the_order_asked_for_and_only_ours(server: VenueServer) -> None:
    wire = KalshiWire(
        [an_event(a_market(), a_market("RAIN-26-B"))], books={"RAIN-26-A": BOOK, "RAIN-26-B": BOOK}
    )
    ids = [OTHER, "manifold:RAIN-26-A", RAIN, OTHER, "kalshi:a,b", "kalshi:../events"]
    answer = listings(server, wire, *ids)
    assert [x.market.id for x in answer.said] == [OTHER, RAIN]
    assert answer.aside == []
    assert listings(server, wire, "sim:x").said == []


def test_a_closed_market_is_listed_without_a_price(server: VenueServer) -> None:
    wire = KalshiWire([an_event(an_end(), a_market("RAIN-26-B", status="inactive"))])
    answer = listings(server, wire, RAIN, OTHER)
    assert [(x.market.id, x.quote) for x in answer.said] == [(RAIN, None), (OTHER, None)]
    assert server.counts[f"{ROOT}/markets/orderbooks"] == 0


def test_listings_know_what_the_catalogue_knows_of_events(server: VenueServer) -> None:
    series = [a_series(fee_multiplier=0.5)]
    wire = KalshiWire([an_event(a_market())], series=series, books={"RAIN-26-A": BOOK})
    [fresh] = listings(server, wire).said
    assert (fresh.market.category, fresh.market.fee_rate) == ("Climate", usd("0.035"))
    assert server.counts[f"{ROOT}/events/RAIN-26"] == server.counts[f"{ROOT}/series/RAIN"] == 1

    async def after_a_catalogue(venue: Any) -> Any:
        [offered] = await listed(venue, NOW)
        return offered, *(await venue.listings(NOW, [RAIN]))

    offered, again = kalshi(wire.serve(server), after_a_catalogue).said
    assert offered.market == again.market == fresh.market
    assert server.counts[f"{ROOT}/events/RAIN-26"] == 1


def test_a_market_whose_event_is_gone_is_listed_all_the_same(server: VenueServer) -> None:
    answer = listings(server, KalshiWire(alone=[a_market()], books={"RAIN-26-A": BOOK}))
    assert answer.said[0].market.category == "other"
    assert answer.codes == [("RAIN-26", "missing")]


def test_old_markets_are_found_among_the_historical_ones(server: VenueServer) -> None:
    wire = KalshiWire([an_event(a_market())], historical=[an_end("RAIN-26-B", "0.0000", result="no")])
    answer = resolutions(server, wire, RAIN, OTHER)
    assert [(end.market_id, end.payout) for end in answer.said] == [(OTHER, 0)]
    assert answer.aside == []


def test_a_market_that_has_vanished_is_told_and_the_rest_answered(server: VenueServer) -> None:
    wire = KalshiWire([an_event(a_market())], books={"RAIN-26-A": BOOK})
    answer = listings(server, wire, OTHER, RAIN)
    assert [x.market.id for x in answer.said] == [RAIN]
    assert answer.codes == [("RAIN-26-B", "missing")]


def test_trouble_with_the_historical_page_does_not_keep_back_the_others(server: VenueServer) -> None:
    wire = KalshiWire([an_event(an_end())])
    url = wire.serve(server)
    server.fail(f"{ROOT}/historical/markets", status(500), forever=True)
    answer = kalshi(url, lambda venue: venue.resolutions(NOW, [OTHER, RAIN]))
    assert [end.market_id for end in answer.said] == [RAIN]
    assert answer.codes == [("/historical/markets", "server_error")]


# --- how markets end


ENDS: dict[str, tuple[dict[str, Any], int | None]] = {
    "yes": ({"dollars": "1.0000", "result": "yes"}, usd(1)),
    "no": ({"dollars": "0.0000", "result": "no"}, 0),
    "a fair price": ({"dollars": "0.3700", "result": "scalar"}, usd("0.37")),
    "half": ({"dollars": "0.5000", "result": "scalar"}, usd("0.5")),
    "dollars alone": ({"dollars": "1.0000", "result": ""}, usd(1)),
    "void": ({"dollars": None, "result": "void"}, None),
}


@pytest.mark.parametrize("how", ENDS)
def test_a_final_market_pays_its_dollars(server: VenueServer, how: str) -> None:
    changes, payout = ENDS[how]
    [end] = resolutions(server, KalshiWire([an_event(an_end(**changes))])).said
    assert (end.market_id, end.version, end.payout) == (RAIN, 1, payout)
    assert end.known_at == datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    assert end.source.startswith("kalshi: finalized")


WAITS: dict[str, tuple[dict[str, Any], str]] = {
    "no dollars": ({"dollars": None, "result": "yes"}, "no_value"),
    "empty dollars": ({"dollars": "", "result": "no"}, "no_value"),
    "cents": ({"dollars": None, "result": "yes", "settlement_value": 100}, "no_value"),
    "yes that pays nothing": ({"dollars": "0.0000", "result": "yes"}, "contradiction"),
    "no that pays half": ({"dollars": "0.5000", "result": "no"}, "contradiction"),
    "over a dollar": ({"dollars": "1.2000", "result": ""}, "contradiction"),
    "below nothing": ({"dollars": "-0.1000", "result": ""}, "malformed"),
    "a number": ({"dollars": "1.0000", "settlement_value_dollars": 1}, "malformed"),
    "another result": ({"dollars": "1.0000", "result": "all_yes"}, "unknown_result"),
    "disputed": ({"status": "disputed", "result": "yes"}, "disputed"),
    "amended": ({"status": "amended", "result": "no"}, "disputed"),
    "another status": ({"status": "settled", "result": "yes"}, "unknown_status"),
    "no status": ({"status": None, "result": "yes"}, "malformed"),
}


@pytest.mark.parametrize("why", WAITS)
def test_an_end_that_is_not_clear_waits_flagged_and_the_others_settle(server: VenueServer, why: str) -> None:
    changes, code = WAITS[why]
    wire = KalshiWire([an_event(an_end(**changes), an_end("RAIN-26-B", result="yes"))])
    answer = resolutions(server, wire, RAIN, OTHER)
    assert [(end.market_id, end.payout) for end in answer.said] == [(OTHER, usd(1))]
    [item] = answer.aside
    assert (item.record, item.kind, item.code) == ("RAIN-26-A", "resolution", code)


@pytest.mark.parametrize("state", ["initialized", "inactive", "active", "closed", "determined"])
def test_an_end_that_is_still_to_come_is_nothing_to_tell_of(server: VenueServer, state: str) -> None:
    wire = KalshiWire([an_event(an_end(status=state, result="yes"))])
    answer = resolutions(server, wire)
    assert (answer.said, answer.aside) == ([], [])


@pytest.mark.parametrize("when", [None, "", "2026-01-09T00:00:00Z"])
def test_no_end_is_known_before_it_was_read(server: VenueServer, when: str | None) -> None:
    [end] = resolutions(server, KalshiWire([an_event(an_end(settlement_ts=when))])).said
    assert end.known_at == NOW


def test_a_correction_is_read_as_it_now_stands(server: VenueServer) -> None:
    wire = KalshiWire([an_event(an_end(result="yes"))])
    assert resolutions(server, wire).said[0].payout == usd(1)
    wire.events[0] = an_event(an_end(dollars="0.0000", result="no"))
    assert resolutions(server, wire).said[0].payout == 0


# --- trouble


PATHS = {"catalogue": "/events", "listings": "/markets", "resolutions": "/markets"}
ASK: dict[str, Callable[[VenueServer, KalshiWire], Answer[Any]]] = {
    "catalogue": catalogue,
    "listings": listings,
    "resolutions": resolutions,
}
FAULTS = {
    "429": (status(429, retry_after="0"), "rate_limited"),
    "500": (status(500), "server_error"),
    "html": (HTML, "not_json"),
    "truncated": (TRUNCATED, "not_json"),
    "reset": (RESET, "unreachable"),
}


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("question", PATHS)
def test_trouble_that_passes_changes_nothing(server: VenueServer, question: str, fault: str) -> None:
    ask = ASK[question]
    wire = KalshiWire([an_event(a_market(), an_end("RAIN-26-B"))], books={"RAIN-26-A": BOOK})
    calm = ask(server, wire)
    server.fail(ROOT + PATHS[question], FAULTS[fault][0])
    assert ask(server, wire) == calm


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("question", PATHS)
def test_trouble_that_stays_is_no_answer(server: VenueServer, question: str, fault: str) -> None:
    ask = ASK[question]
    wrong, code = FAULTS[fault]
    server.fail(ROOT + PATHS[question], wrong, forever=True)
    with pytest.raises(VenueError) as raised:
        ask(server, KalshiWire([an_event(a_market())]))
    assert raised.value.code == code


@pytest.mark.parametrize("page", [[], {}, {"events": None, "markets": {}}, 7, None])
@pytest.mark.parametrize("question", PATHS)
def test_a_page_without_its_list_is_no_answer(server: VenueServer, question: str, page: Any) -> None:
    ask = ASK[question]
    server.fail(ROOT + PATHS[question], reply(page), forever=True)
    with pytest.raises(VenueError) as raised:
        ask(server, KalshiWire())
    assert raised.value.code == "bad_page"


# --- what prices were


def a_candle(at: datetime, bid: str, ask: str, close: str = "close_dollars") -> Raw:
    return {
        "end_period_ts": int(at.timestamp()),
        "yes_bid": {close: bid},
        "yes_ask": {close: ask},
        "price": {close: None},
    }


def history(server: VenueServer, url: str, days: int = 30) -> Answer[list[Quote]]:
    return kalshi(url, lambda venue: venue.history(RAIN, NOW - timedelta(days=days), NOW))


@pytest.mark.parametrize(
    ("path", "close"), [("/series/RAIN", "close_dollars"), ("/historical", "close")], ids=["recent", "old"]
)
def test_history_is_what_was_bid_and_asked_and_never_of_later(
    server: VenueServer, path: str, close: str
) -> None:
    hours = [
        a_candle(NOW + timedelta(hours=n), f"0.4{n + 3}00", f"0.4{n + 4}00", close) for n in (-1, 0, 1, -2)
    ]
    url = KalshiWire().serve(server)
    server.route(
        f"{ROOT}{path}/markets/RAIN-26-A/candlesticks", {"candlesticks": [*hours, {"end_period_ts": 1}]}
    )
    answer = history(server, url)
    assert [(quote.at - NOW, quote.bid, quote.ask, quote.mid) for quote in answer.said] == [
        (timedelta(hours=-2), usd("0.41"), usd("0.42"), usd("0.415")),
        (timedelta(hours=-1), usd("0.42"), usd("0.43"), usd("0.425")),
    ]
    assert [item.code for item in answer.aside] == ["no_price"]


def test_of_the_hours_of_a_day_the_last_that_has_a_price_is_read(server: VenueServer) -> None:
    hours = [a_candle(NOW - timedelta(hours=n), "0.4000", "0.4200", "close_dollars") for n in range(1, 49)]
    hours[1]["yes_bid"] = {"close_dollars": "a lot"}
    url = KalshiWire().serve(server)
    server.route(f"{ROOT}/series/RAIN/markets/RAIN-26-A/candlesticks", {"candlesticks": hours})
    asked = RAIN, NOW - timedelta(days=2), NOW
    answer = kalshi(url, lambda venue: venue.history(*asked, hours=6))
    ends = [-(-quote.at.timestamp() // (6 * 3_600)) for quote in answer.said]
    assert len(set(ends)) == len(ends) == len({-(-at["end_period_ts"] // (6 * 3_600)) for at in hours})


def test_history_of_years_is_asked_for_in_pieces(server: VenueServer) -> None:
    url = KalshiWire().serve(server)
    server.route(f"{ROOT}/series/RAIN/markets/RAIN-26-A/candlesticks", {"candlesticks": []})
    history(server, url, 365)
    asked = [(int(each.params["start_ts"]), int(each.params["end_ts"])) for each in server.log]
    assert {each.params["period_interval"] for each in server.log} == {"60"}
    assert [end for _, end in asked[:-1]] == [start for start, _ in asked[1:]]
    assert asked[-1][1] - asked[0][0] == 365 * 86_400
    assert all(end - start < 5_000 * 3_600 for start, end in asked)


def test_a_market_without_a_history_has_none(server: VenueServer) -> None:
    answer = history(server, KalshiWire().serve(server))
    assert (answer.said, answer.codes) == ([], [("RAIN-26-A", "missing")])
