"""Kalshi over real HTTP, from records made by hand in its shape."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from markets.model import Level, Market, MarketId, Quote
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
from tests.venue_server.server import VenueServer, status
from tests.venue_server.visit import Answer, kalshi

RAIN = MarketId("kalshi:RAIN-26-A")
OTHER = MarketId("kalshi:RAIN-26-B")


def catalogue(server: VenueServer, wire: KalshiWire, at: datetime = NOW, **settings: Any) -> Answer[Any]:
    return kalshi(wire.serve(server), lambda venue: listed(venue, at), **settings)


def listings(server: VenueServer, wire: KalshiWire, *ids: str, at: datetime = NOW) -> Answer[Any]:
    asked = [MarketId(market_id) for market_id in ids or (RAIN,)]
    return kalshi(wire.serve(server), lambda venue: venue.listings(at, asked))


def resolutions(server: VenueServer, wire: KalshiWire, *ids: str, at: datetime = NOW) -> Answer[Any]:
    asked = [MarketId(market_id) for market_id in ids or (RAIN,)]
    return kalshi(wire.serve(server), lambda venue: venue.resolutions(at, asked))


def quoted(
    server: VenueServer, book: Any = None, **changes: Any
) -> tuple[Quote | None, list[tuple[str, str]]]:
    """Return the quote of one market with these prices and this book, and what was set aside."""
    books = {} if book is None else {"RAIN-26-A": book}
    answer = listings(server, KalshiWire([an_event(a_market(**changes))], books=books))
    return answer.said[0].quote, answer.codes


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


BAD_MARKETS: list[tuple[dict[str, Any], str]] = [
    ({"status": None}, "malformed"),
    ({"status": "open"}, "unknown_status"),
    ({"status": 3}, "malformed"),
    ({"market_type": None}, "malformed"),
    ({"market_type": "categorical"}, "not_binary"),
    ({"event_ticker": None}, "malformed"),
    ({"ticker": "../../etc/passwd"}, "malformed"),
    ({"close_time": None}, "malformed"),
    ({"close_time": "2026-03-01T10:00:00"}, "malformed"),
    ({"close_time": "soon"}, "malformed"),
    ({"open_time": None, "created_time": None}, "malformed"),
    ({"title": "", "yes_sub_title": ""}, "no_question"),
    ({"title": "Will\0it?"}, "malformed"),
    ({"title": "Will it \ud83d"}, "malformed"),
    ({"notional_value_dollars": "100.0000"}, "not_a_dollar"),
]


def test_markets_that_make_no_sense_are_set_aside_alone(server: VenueServer) -> None:
    named = [
        ({"ticker": f"RAIN-26-B{n}", "event_ticker": "RAIN-26"} | changes, code)
        for n, (changes, code) in enumerate(BAD_MARKETS)
    ]
    answer = catalogue(server, KalshiWire([an_event(*(a_market(**bad) for bad, _ in named), a_market())]))
    assert [x.market.id for x in answer.said] == [RAIN]
    assert answer.codes == [(bad["ticker"], code) for bad, code in named]
    for item in answer.aside:
        assert (item.venue, item.kind) == ("kalshi", "market")
        assert item.reason
        assert item.raw.startswith('{"ticker": ')


def test_events_that_make_no_sense_are_set_aside_alone(server: VenueServer) -> None:
    bad: list[Any] = [None, 7, "x", [], {}, {"event_ticker": "X", "series_ticker": "X", "markets": {}}]
    answer = catalogue(server, KalshiWire([*bad, an_event(a_market())]))
    assert [x.market.id for x in answer.said] == [RAIN]
    assert [item.code for item in answer.aside] == ["malformed"] * len(bad)


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


FEES: list[tuple[dict[str, Any], dict[str, Any], str]] = [
    ({}, {}, "0.07"),
    ({}, {"fee_multiplier": 0.5}, "0.035"),  # as for stock indices
    ({}, {"fee_type": "quadratic_with_maker_fees"}, "0.07"),  # makers pay too, which takers don't mind
    ({}, {"fee_multiplier": 0}, "0"),
    ({"fee_multiplier_override": 2}, {"fee_multiplier": 0.5}, "0.14"),
    ({"fee_multiplier_override": None, "fee_type_override": None}, {"fee_multiplier": 0.5}, "0.035"),
    ({}, {"fee_type": "flat"}, "unknown"),
    ({}, {"fee_multiplier": 11}, "unknown"),
    ({}, {"fee_multiplier": -1}, "unknown"),
]


def test_the_fee_is_that_of_the_event_or_its_series_and_the_usual_where_nobody_knows(
    server: VenueServer,
) -> None:
    numbers = range(len(FEES))
    events = [an_event(a_market(f"F{n}-26-A"), ticker=f"F{n}-26", **FEES[n][0]) for n in numbers]
    wire = KalshiWire(events, [a_series(f"F{n}", **FEES[n][1]) for n in numbers])
    rates = [usd("0.07" if rate == "unknown" else rate) for *_, rate in FEES]
    offered = catalogue(server, wire)
    chosen = listings(server, wire, *(f"kalshi:F{n}-26-A" for n in numbers))
    for answer in (offered, chosen):
        assert [x.market.fee_rate for x in answer.said] == rates
    unknown = [(f"F{n}-26", "unknown_fee") for n in numbers if FEES[n][2] == "unknown"]
    assert [told for told in offered.codes if told[1] == "unknown_fee"] == unknown


def test_without_its_series_a_catalogue_has_the_usual_fees(server: VenueServer) -> None:
    wire = KalshiWire([an_event(a_market())], series=[])
    url = wire.serve(server)
    server.fail(f"{ROOT}/series", status(500), forever=True)
    answer = kalshi(url, lambda venue: listed(venue, NOW))
    assert answer.said[0].market.fee_rate == usd("0.07")
    assert answer.codes == [("/series", "server_error")]


@pytest.mark.parametrize(("hours", "asked"), [(23, 1), (24, 2)])
def test_the_long_list_of_series_is_kept_for_a_day(server: VenueServer, hours: int, asked: int) -> None:
    wire = KalshiWire([an_event(a_market())], [a_series(fee_multiplier=0.5)])

    async def twice(venue: Any) -> Any:
        await listed(venue, NOW)
        return await listed(venue, NOW + timedelta(hours=hours))

    [listing] = kalshi(wire.serve(server), twice).said
    assert listing.market.fee_rate == usd("0.035")
    assert server.counts[f"{ROOT}/series"] == asked


def test_a_list_of_series_that_failed_is_asked_for_again_and_chosen_markets_have_their_fees(
    server: VenueServer,
) -> None:
    wire = KalshiWire([an_event(a_market())], [a_series(fee_multiplier=0.5)], books={"RAIN-26-A": BOOK})
    url = wire.serve(server)
    server.fail(f"{ROOT}/series", status(403))

    async def chosen_then_listed(venue: Any) -> Any:
        await listed(venue, NOW)
        return await venue.listings(NOW, [RAIN]), await listed(venue, NOW)

    chosen, offered = kalshi(url, chosen_then_listed).said
    assert [x.market.fee_rate for x in (*chosen, *offered)] == [usd("0.035")] * 2
    assert server.counts[f"{ROOT}/series"] == 2


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


def test_the_book_is_newer_than_the_page_and_levels_without_shares_are_nobodys(server: VenueServer) -> None:
    newer = a_book(yes=[("0.4500", "0.00"), ("0.4400", "5.00")], no=[("0.5400", "5.00")])
    quote, aside = quoted(server, newer)
    assert quote is not None
    assert (quote.bid, quote.ask, quote.mid) == (usd("0.44"), usd("0.46"), usd("0.45"))
    assert quote.bids == (Level(usd("0.44"), usd(5)),)
    page = {"yes_bid_dollars": "0.0000", "yes_bid_size_fp": "0.00"}
    one_side, more = quoted(server, a_book(yes=[], no=[("0.5800", "7.00")]), **page)
    assert one_side is not None
    assert (one_side.bid, one_side.ask, one_side.mid, one_side.bids) == (None, usd("0.42"), None, ())
    assert (aside, more) == ([], [])


def test_a_book_far_from_the_page_is_told_and_stops_orders(server: VenueServer) -> None:
    book = a_book(yes=[("0.6000", "5.00")], no=[("0.3800", "5.00")])
    answer = listings(server, KalshiWire([an_event(a_market())], books={"RAIN-26-A": book}))
    [listing] = answer.said
    assert (listing.quote.bid, listing.quote.ask, listing.quote.mid) == (usd("0.6"), usd("0.62"), usd("0.41"))
    assert answer.codes == [("RAIN-26-A", "gap")]
    refused = check_spread(listing.quote, listing.market, REALISTIC)
    assert isinstance(refused, Rejection)
    assert refused.code == "gap"


BAD_BOOKS: list[tuple[Any, str]] = [
    (None, "bad_book"),
    ([], "bad_book"),
    ({"yes_dollars": [["0.4000", "1.00"]]}, "bad_book"),
    ({"yes_dollars": "0.4000", "no_dollars": []}, "bad_book"),
    ({"yes_dollars": [["0.4000"]], "no_dollars": []}, "bad_book"),
    ({"yes_dollars": [[40, 100]], "no_dollars": []}, "bad_book"),
    (a_book([("1.0000", "1.00")], []), "bad_book"),
    (a_book([("0.0000", "1.00")], []), "bad_book"),
    (a_book([("-0.1000", "1.00")], []), "bad_book"),
    (a_book([("1.2000", "1.00")], []), "bad_book"),
    (a_book([("NaN", "1.00")], []), "bad_book"),
    (a_book([("4e-1", "1.00")], []), "bad_book"),
    (a_book([("0.4000", "-5.00")], []), "bad_book"),
    (a_book([("0.4000", "1.00"), ("0.40", "2.00")], []), "bad_book"),
    (a_book([("0.4300", "1.00")], [("0.5800", "1.00")]), "crossed"),
    (a_book([], []), "empty_book"),
    ({side: levels[::-1] for side, levels in BOOK.items()}, ""),
    (BOOK, ""),
]


def test_books_that_make_no_sense_are_not_believed(server: VenueServer) -> None:
    names = [f"RAIN-26-B{n}" for n in range(len(BAD_BOOKS))]
    books = {name: book for name, (book, _) in zip(names, BAD_BOOKS, strict=True)}
    wire = KalshiWire([an_event(*map(a_market, names))], books=books)
    answer = listings(server, wire, *(f"kalshi:{name}" for name in names))
    *bad, turned, good = (quote_of(x) for x in answer.said)
    assert {(x.bid, x.ask, x.bids, x.asks) for x in bad} == {(usd("0.40"), usd("0.42"), (), ())}
    assert turned.bids == good.bids != ()
    told = [(name, code) for name, (_, code) in zip(names, BAD_BOOKS, strict=True) if code]
    assert answer.codes == told


BAD_PRICES: list[tuple[dict[str, Any], str]] = [
    ({"yes_bid_dollars": None, "yes_ask_dollars": None, "yes_bid": 40, "yes_ask": 42}, "no_price"),
    ({"yes_ask_dollars": None}, "no_price"),
    ({"yes_bid_dollars": ""}, "no_price"),
    ({"yes_bid_dollars": 0.4}, "malformed"),
    ({"yes_bid_dollars": "-0.1000"}, "malformed"),
    ({"yes_ask_dollars": "NaN"}, "malformed"),
    ({"yes_ask_dollars": "1.2000"}, "bad_price"),
    ({"yes_bid_dollars": "0.4300"}, "crossed"),
    ({"yes_bid_size_fp": "many"}, "malformed"),
]


def test_markets_whose_price_makes_no_sense_have_none(server: VenueServer) -> None:
    names = [f"RAIN-26-B{n}" for n in range(len(BAD_PRICES))]
    markets = [a_market(name, **changes) for name, (changes, _) in zip(names, BAD_PRICES, strict=True)]
    wire = KalshiWire([an_event(*markets)], books=dict.fromkeys(names, BOOK))
    answer = listings(server, wire, *(f"kalshi:{name}" for name in names))
    assert [x.quote for x in answer.said] == [None] * len(names)
    assert answer.codes == [(name, code) for name, (_, code) in zip(names, BAD_PRICES, strict=True)]


def test_prices_of_nothing_of_a_dollar_and_without_size_are_nobodys(server: VenueServer) -> None:
    sides = {"yes_bid_dollars": "0.0000", "yes_ask_dollars": "1.0000", "last_price_dollars": "0.0000"}
    sizeless = a_market("RAIN-26-B", yes_bid_size_fp="0.00")
    answer = catalogue(server, KalshiWire([an_event(a_market(**sides), sizeless)]))
    first, second = (quote_of(x) for x in answer.said)
    assert (first.bid, first.ask, first.mid, first.last) == (None, None, None, None)
    assert (second.bid, second.ask, second.mid) == (None, usd("0.42"), None)


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


def test_where_many_books_cannot_be_had_each_is_asked_for_alone(server: VenueServer) -> None:
    wire = KalshiWire([an_event(a_market(), a_market("RAIN-26-B"))], books={"RAIN-26-A": BOOK})
    url = wire.serve(server)
    for instead in (status(403), status(404), status(400)):
        server.fail(f"{ROOT}/markets/orderbooks", instead, forever=True)
        answer = kalshi(url, lambda venue: venue.listings(NOW, [RAIN, OTHER]))
        assert [len(quote_of(x).bids) for x in answer.said] == [3, 0]
        assert answer.codes == [("RAIN-26-B", "no_book")]


# --- chosen markets


def test_a_closed_market_is_listed_without_a_price_and_its_book_not_asked_for(server: VenueServer) -> None:
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


def test_trouble_with_the_historical_page_does_not_keep_back_the_others(server: VenueServer) -> None:
    wire = KalshiWire([an_event(an_end())])
    url = wire.serve(server)
    server.fail(f"{ROOT}/historical/markets", status(500), forever=True)
    answer = kalshi(url, lambda venue: venue.resolutions(NOW, [OTHER, RAIN]))
    assert [end.market_id for end in answer.said] == [RAIN]
    assert answer.codes == [("/historical/markets", "server_error")]


# --- how markets end


ENDS: list[tuple[dict[str, Any], int | None]] = [
    ({"dollars": "1.0000", "result": "yes"}, usd(1)),
    ({"dollars": "0.0000", "result": "no"}, 0),
    ({"dollars": "0.3700", "result": "scalar"}, usd("0.37")),
    ({"dollars": "0.5000", "result": "scalar"}, usd("0.5")),
    ({"dollars": "1.0000", "result": ""}, usd(1)),
    ({"dollars": None, "result": "void"}, None),
]
WAITS: list[tuple[dict[str, Any], str]] = [
    ({"dollars": None, "result": "yes"}, "no_value"),
    ({"dollars": "", "result": "no"}, "no_value"),
    ({"dollars": None, "result": "yes", "settlement_value": 100}, "no_value"),
    ({"dollars": "0.0000", "result": "yes"}, "contradiction"),
    ({"dollars": "0.5000", "result": "no"}, "contradiction"),
    ({"dollars": "1.2000", "result": ""}, "contradiction"),
    ({"dollars": "-0.1000", "result": ""}, "malformed"),
    ({"dollars": "1.0000", "settlement_value_dollars": 1}, "malformed"),
    ({"dollars": "1.0000", "result": "all_yes"}, "unknown_result"),
    ({"status": "disputed", "result": "yes"}, "disputed"),
    ({"status": "amended", "result": "no"}, "disputed"),
    ({"status": "settled", "result": "yes"}, "unknown_status"),
    ({"status": None, "result": "yes"}, "malformed"),
]


def test_a_final_market_pays_its_dollars_and_one_that_is_not_clear_waits_flagged(server: VenueServer) -> None:
    cases = [*ENDS, *WAITS]
    names = [f"RAIN-26-B{n}" for n in range(len(cases))]
    ends = [an_end(name, **changes) for name, (changes, _) in zip(names, cases, strict=True)]
    answer = resolutions(server, KalshiWire([an_event(*ends)]), *(f"kalshi:{name}" for name in names))
    assert [end.payout for end in answer.said] == [payout for _, payout in ENDS]
    assert [end.market_id for end in answer.said] == [f"kalshi:{name}" for name in names[: len(ENDS)]]
    assert {end.known_at for end in answer.said} == {datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)}
    assert all(end.source.startswith("kalshi: finalized") for end in answer.said)
    assert answer.codes == [(name, code) for name, (_, code) in zip(names[len(ENDS) :], WAITS, strict=True)]
    assert {item.kind for item in answer.aside} == {"resolution"}


def test_an_end_that_is_still_to_come_is_nothing_to_tell_of(server: VenueServer) -> None:
    states = ["initialized", "inactive", "active", "closed", "determined"]
    ends = [an_end(f"RAIN-26-{state}", status=state, result="yes") for state in states]
    ids = [f"kalshi:RAIN-26-{state}" for state in states]
    answer = resolutions(server, KalshiWire([an_event(*ends)]), *ids)
    assert (answer.said, answer.aside) == ([], [])


def test_no_end_is_known_before_it_was_read(server: VenueServer) -> None:
    ends = [
        an_end(f"RAIN-26-{n}", settlement_ts=when)
        for n, when in enumerate((None, "", "2026-01-09T00:00:00Z"))
    ]
    answer = resolutions(server, KalshiWire([an_event(*ends)]), *(f"kalshi:RAIN-26-{n}" for n in range(3)))
    assert [end.known_at for end in answer.said] == [NOW] * 3


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
