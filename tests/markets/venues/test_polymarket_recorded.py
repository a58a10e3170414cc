"""What Polymarket really answered once, over real HTTP, against a table read off the files by eye."""

from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from markets.model import Level, MarketId, Resolution
from markets.venues.wire.polymarket_prices import book_payout
from tests.builders import listed, quote_of, usd
from tests.venue_server import recorded
from tests.venue_server.polymarket import PolymarketWire
from tests.venue_server.server import VenueServer
from tests.venue_server.visit import Answer, polymarket

JULY = datetime(2026, 7, 25, 6, tzinfo=UTC)
AUGUST = datetime(2026, 8, 18, 19, tzinfo=UTC)

PRICES = {
    "1654958": ("0.734", "0.737", "0.7355", "0.734", "27163273.273136"),
    "1931121": ("0.997", "0.998", "0.9975", "0.998", "3183248.438115"),
    "2774056": ("0.06", "0.07", "0.065", "0.06", "10590001.951022"),
    "540819": ("0.49", "0.5", "0.495", "0.49", "11604921.919034"),
    "691547": ("0.22", "0.31", "0.265", "0.24", "549126.434708"),
    "2694508": ("0.003", "0.004", "0.0035", "0.003", "22464.864568"),
    "559659": ("0.014", "0.015", "0.0145", "0.013", "6313171.174692"),
    "3096133": ("0.76", "0.99", "0.875", "0.83", "2330.237287"),
}
"""Bid, ask, mid, last and volume, by id."""
PAGES = {
    "1654958": (
        "287395",
        "Will there be no change in Fed interest rates after the July 2026 meeting?",
        "other",
        "2026-03-20T00:12:44.271047",
        "2026-07-29T00:00:00",
        ("0.001", "0.05", "5"),
    ),
    "2774056": (
        "ALONE",
        "Strait of Hormuz traffic returns to normal by August 31?",
        "other",
        "2026-07-02T21:49:34.448693",
        "2026-08-31T00:00:00",
        ("0.01", "0", "5"),
    ),
    "691547": (
        "16183",
        "Kraken IPO by December 31, 2026?",
        "crypto",
        "2025-11-19T15:49:34.522000",
        "2027-01-01T05:00:00",
        ("0.01", "0.04", "5"),
    ),
    "3096133": (
        "746342",
        "Will Meta Platforms, Inc. (META) hit (LOW) $540 in August?",
        "finance",
        "2026-07-25T04:01:09",
        "2026-09-01T03:59:59.999000",
        ("0.01", "0.04", "5"),
    ),
}
"""Event, question, category, when it opens and closes; tick, fee and least number of shares."""
ENDS = {
    "516950": ("0", "2026-01-01T07:30:39"),
    "597964": ("0", "2026-07-01T06:02:10"),
    "949495": ("0", "2026-06-17T20:04:49"),
    "1460332": ("0", "2026-03-19T23:20:15"),
    "2489956": ("0", "2026-06-10T13:13:13"),
    "3096128": ("1", "2026-08-05T13:46:57"),
    "3096130": ("1", "2026-08-03T13:48:15"),
}
"""What a YES share paid, and since when."""
YES_NO = ("Yes", "No")
WAITING = {
    "12": "no_status",  # legacy: prices 0 and 0
    "43": "no_status",  # legacy: a scalar that closed at 0.58 and 0.42
}
"""Which wait, and why."""


@pytest.fixture(scope="module")
def wire(shared_data: Path) -> PolymarketWire:
    return PolymarketWire(
        recorded.markets(shared_data), recorded.books(shared_data), recorded.ends(shared_data)
    )


@pytest.fixture
def every(wire: PolymarketWire) -> list[MarketId]:
    return [MarketId(f"polymarket:{raw['id']}") for raw in wire.markets]


def by_name(answer: Answer[Any]) -> dict[str, Any]:
    return {listing.market.id.removeprefix("polymarket:"): listing for listing in answer.said}


def test_all_that_trades_is_in_the_catalogue_and_nothing_makes_no_sense(
    server: VenueServer, wire: PolymarketWire
) -> None:
    url = wire.serve(server)
    july = polymarket(url, lambda venue: listed(venue, JULY))
    august = polymarket(url, lambda venue: listed(venue, AUGUST))
    assert (july.aside, august.aside) == ([], [])
    # July's, a ladder that opened that morning, and four past their nominal ends that still trade
    assert len(july.said) == 12 + 11 + 4
    # what is left of July's, its ladder, two more of the week, ten past their ends, one with other outcomes
    assert len(august.said) == 5 + 11 + 13 + 9 + 10 + 1
    assert all(listing.quote is not None for listing in july.said + august.said)
    assert by_name(august)["540819"].market.closes_at == datetime(2026, 8, 21, 12, tzinfo=UTC)  # weeks later
    assert not {"1642124", "2063134", "516950", "43"} & {
        *by_name(july),
        *by_name(august),
    }


def test_pages_and_prices_are_as_the_table_says(server: VenueServer, wire: PolymarketWire) -> None:
    url = wire.serve(server)
    august = by_name(polymarket(url, lambda venue: listed(venue, AUGUST)))
    found = august | by_name(polymarket(url, lambda venue: listed(venue, JULY)))
    for name, (bid, ask, mid, last, volume) in PRICES.items():
        quote = quote_of(found[name])
        wanted = [usd(number) for number in (bid, ask, mid, last, volume)]
        assert [quote.bid, quote.ask, quote.mid, quote.last, quote.volume] == wanted, name
    for name, (event, question, category, opens, closes, numbers) in PAGES.items():
        market = found[name].market
        assert market.event_id == f"polymarket:{event.replace('ALONE', f'alone-{name}')}", name
        assert (market.question, market.category) == (question, category), name
        assert [market.opens_at, market.closes_at] == [
            datetime.fromisoformat(f"{time}+00:00") for time in (opens, closes)
        ], name
        assert [market.tick, market.fee_rate, market.min_shares] == [usd(number) for number in numbers], name


def test_asked_for_by_name_all_are_found_open_or_closed(
    server: VenueServer, wire: PolymarketWire, every: list[MarketId]
) -> None:
    answer = polymarket(wire.serve(server), lambda venue: venue.listings(AUGUST, every))
    told = {record: code for record, code in answer.codes if code != "no_book"}
    assert told == {}
    assert len(answer.said) == len(every) - len(told)
    assert [listing.market.id for listing in answer.said] == [
        name for name in every if name.removeprefix("polymarket:") not in told
    ]


def test_the_two_real_books_are_best_first(
    server: VenueServer, wire: PolymarketWire, shared_data: Path
) -> None:
    asked = [MarketId("polymarket:2063134"), MarketId("polymarket:2774056")]
    answer = polymarket(wire.serve(server), lambda venue: venue.listings(JULY, asked))
    assert answer.aside == []
    ethiopia, hormuz = (quote_of(listing) for listing in answer.said)

    assert (len(ethiopia.bids), len(ethiopia.asks)) == (1, 62)
    assert ethiopia.bids[0] == Level(usd("0.001"), usd("10118.15"))
    assert ethiopia.asks[:3] == (
        Level(usd("0.004"), usd("2698.62")),
        Level(usd("0.006"), usd("4999.99")),
        Level(usd("0.01"), usd("20")),
    )
    assert ethiopia.asks[-1] == Level(usd("0.999"), usd("216.96"))
    assert (ethiopia.bid, ethiopia.ask, ethiopia.mid) == (usd("0.001"), usd("0.004"), usd("0.0025"))

    assert (len(hormuz.bids), len(hormuz.asks)) == (6, 78)
    assert hormuz.bids[:2] == (
        Level(usd("0.06"), usd("100885.17")),
        Level(usd("0.05"), usd("545718.75")),
    )
    assert hormuz.bids[-1] == Level(usd("0.01"), usd("1284793.19"))
    assert hormuz.asks[:2] == (Level(usd("0.07"), usd("142510.87")), Level(usd("0.08"), usd("400876.55")))
    assert hormuz.asks[-1] == Level(usd("0.99"), usd("2123711.34"))
    assert (hormuz.bid, hormuz.ask, hormuz.mid) == (usd("0.06"), usd("0.07"), usd("0.065"))

    for quote in (ethiopia, hormuz):
        assert [level.price for level in quote.bids] == sorted((x.price for x in quote.bids), reverse=True)
        assert [level.price for level in quote.asks] == sorted(x.price for x in quote.asks)
    wire_order = [book["asks"][0]["price"] for book in recorded.books(shared_data)[:2]]
    assert wire_order == ["0.999", "0.99"]  # the worst first: read in wire order, $500 would buy dearly


def test_those_that_are_over_pay_and_those_that_are_not_sure_wait(
    server: VenueServer, wire: PolymarketWire, every: list[MarketId]
) -> None:
    answer = polymarket(wire.serve(server), lambda venue: venue.resolutions(AUGUST, every))
    assert dict(answer.codes) == WAITING
    assert Counter(end.payout for end in answer.said) == {0: 19, usd(1): 20}
    found = {end.market_id.removeprefix("polymarket:"): end for end in answer.said}
    for name, (paid, since) in ENDS.items():
        assert found[name].payout == usd(paid), name
        assert found[name].known_at == datetime.fromisoformat(f"{since}+00:00"), name
    assert not found.keys() & WAITING.keys()
    assert found["1460332"].source == "polymarket: resolved, per the order book"


CEASEFIRE = MarketId("polymarket:1812085")
CEASED = datetime(2026, 5, 9, 2, 7, 1, tzinfo=UTC)
"""A market that closed at 1 and 0 without a word of the oracle; the order book says that Yes won."""


@pytest.mark.parametrize(("hours", "paid"), [(1, False), (23, False), (24, True), (2_000, True)])
def test_a_market_without_the_oracles_word_is_paid_by_the_order_book_after_a_day(
    server: VenueServer, wire: PolymarketWire, hours: int, paid: bool
) -> None:
    at = CEASED + timedelta(hours=hours)
    answer = polymarket(wire.serve(server), lambda venue: venue.resolutions(at, [CEASEFIRE]))
    wanted = Resolution(CEASEFIRE, 1, CEASED + timedelta(days=1), usd(1), "polymarket: order book alone")
    assert answer.said == [wanted] * paid
    assert answer.codes == [] if paid else answer.codes == [("1812085", "no_status")]


def test_the_order_books_fifty_fifty_pays_half_and_its_winner_all(shared_data: Path) -> None:
    half, won_by_no, katana, ceasefire = recorded.ends(shared_data)[:4]
    ends = (half, won_by_no, katana, ceasefire)
    assert [book_payout(raw, YES_NO) for raw in ends] == [usd("0.5"), 0, 0, usd(1)]


def test_many_old_markets_have_no_winner_at_the_order_book(shared_data: Path) -> None:
    """So its silence must not keep a market from being paid: only its word against the page's does."""
    old = [raw for raw in recorded.ends(shared_data)[4:] if not any(x["winner"] for x in raw["tokens"])]
    assert len(old) == 76
    assert {book_payout(raw, YES_NO) for raw in old} == {None}


def test_the_recorded_past_is_read_point_by_point(server: VenueServer, shared_data: Path) -> None:
    wire = PolymarketWire(recorded.markets(shared_data))
    points = recorded.past(shared_data)
    asked = MarketId("polymarket:2063134")
    token = recorded.books(shared_data)[0]["asset_id"]
    wire.past[token] = points
    start, end = (datetime.fromtimestamp(points[n]["t"], UTC) for n in (0, -1))
    answer = polymarket(wire.serve(server), lambda venue: venue.history(asked, start, end))
    assert answer.aside == []
    assert len(answer.said) == 20
    assert [quote.mid for quote in answer.said][:3] == [usd("0.415"), usd("0.255"), usd("0.26")]
    assert answer.said[0].at == datetime(2026, 9, 30, 5, 8, 16, tzinfo=UTC)
