"""What Kalshi really sent, read by its adapter. The expectations were written by hand from the files."""

import csv
import json
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from markets.model import Level, MarketId
from tests.builders import listed, quote_of, usd
from tests.venue_server.kalshi import KalshiWire
from tests.venue_server.server import VenueServer
from tests.venue_server.visit import Answer, kalshi

AUGUST = datetime(2026, 8, 4, 12, tzinfo=UTC)

# ticker, bid, ask, last, contracts traded, tick
EVENTS_OF_MAY = [
    ("KXELONMARS-99", "0.13", "0.15", "0.15", "108093.59", "0.01"),
    ("KXNEWPOPE-70-PPIZ", "0.031", "0.07", "0.032", "17555.62", "0.001"),
    ("KXNEWPOPE-70-PPAR", "0.04", "0.051", "0.04", "22570.48", "0.001"),
    ("KXNEWPOPE-70-FAMB", "0.024", "0.032", "0.024", "17235.22", "0.001"),
    ("KXNEWPOPE-70-LANT", "0.04", "0.051", "0.04", "17003.20", "0.001"),
    ("KXNEWPOPE-70-MZUP", "0.03", "0.039", "0.031", "16693.34", "0.001"),
    ("KXNEWPOPE-70-PERD", "0.022", "0.034", "0.023", "22040.76", "0.001"),
    ("KXNEWPOPE-70-AARB", "0.026", "0.036", "0.026", "15970.08", "0.001"),
    ("KXRAMPBREX-40-RAMP", "0.84", "0.92", "0.92", "7929.06", "0.01"),
    ("KXRAMPBREX-40-BREX", "0.03", "0.08", "0.03", "13986.08", "0.01"),
]
EVENTS_OF_JULY = [
    ("KXELONMARS-99", "0.12", "0.13", "0.12", "114461.59", "0.01"),
    ("KXNEXTNATOSECGEN-99-KIOH", "0.08", "0.14", "0.07", "134.00", "0.01"),
    ("KXNEXTNATOSECGEN-99-KKAL", "0.04", "0.10", "0.05", "613.99", "0.01"),
    ("KXNEXTNATOSECGEN-99-BWAL", "0.05", "0.10", "0.05", "268.00", "0.01"),
    ("KXNEXTNATOSECGEN-99-MFRE", "0.05", "0.10", "0.05", "313.00", "0.01"),
    ("KXNEXTNATOSECGEN-99-ULEY", "0.04", "0.10", "0.05", "440.00", "0.01"),
    ("KXNEXTNATOSECGEN-99-PPAV", "0.08", "0.13", "0.08", "184.25", "0.01"),
    ("KXNEXTNATOSECGEN-99-ASTU", "0.12", "0.17", "0.18", "139.52", "0.01"),
    ("KXNEXTNATOSECGEN-99-KSTA", "0.10", "0.15", "0.09", "148.00", "0.01"),
]
# a side at $0.00 or $1.00, or without size, is nobody's
MARKETS_OF_AUGUST = [
    ("KXFEDDECISION-26SEP-C25", None, "0.01", "0.01", "2475281.40", "0.01"),
    ("KXFEDDECISION-26SEP-H25", "0.28", "0.29", "0.28", "2544188.60", "0.01"),
    ("KXFEDDECISION-26SEP-H0", "0.70", "0.71", "0.71", "4284449.64", "0.01"),
    ("KXFEDDECISION-26SEP-C26", None, "0.01", "0.01", "651049.28", "0.01"),
    ("KXFEDDECISION-26SEP-H26", None, "0.01", "0.01", "787178.16", "0.01"),
]
YES = {f"KXFEDDECISION-{end}" for end in ("25SEP-C25", "25OCT-C25", "25DEC-C25", "26JAN-H0")}
NO = {
    f"KXFEDDECISION-{meeting}-{what}"
    for meeting, others in {
        "25SEP": ("H0", "H25", "H26", "C26"),
        "25OCT": ("H0", "H25", "H26", "C26"),
        "25DEC": ("H0", "H25", "H26", "C26"),
        "26JAN": ("C25", "H25", "H26", "C26"),
    }.items()
    for what in others
}


@pytest.fixture(scope="module")
def recorded(shared_data: Path) -> Path:
    return shared_data / "venues" / "kalshi"


def load(path: Path) -> Any:
    return json.loads(path.read_bytes())


def rows(answer: Answer[Any]) -> list[tuple[Any, ...]]:
    """Return the answer in the form of the tables above."""
    found = []
    for listing in answer.said:
        quote = quote_of(listing)
        prices = (quote.bid, quote.ask, quote.last, quote.volume)
        found.append((listing.market.id, *prices, listing.market.tick))
    return found


def expected(table: list[Any]) -> list[tuple[Any, ...]]:
    return [
        (f"kalshi:{ticker}", *(None if text is None else usd(text) for text in texts))
        for ticker, *texts in table
    ]


def test_events_of_may(server: VenueServer, recorded: Path) -> None:
    wire = KalshiWire(load(recorded / "gnome-2026-05" / "kalshi_events.json")["events"], series=[])
    answer = kalshi(wire.serve(server), lambda venue: listed(venue, AUGUST))
    priced = [listing for listing in answer.said if listing.quote]
    assert rows(Answer(priced, [])) == expected(EVENTS_OF_MAY)
    assert Counter(listing.market.category for listing in priced) == {
        "World": 1,
        "Elections": 7,
        "Financials": 2,
    }
    assert {x.market.event_id for x in priced if "POPE" in x.market.id} == {"kalshi:KXNEWPOPE-70"}
    # five records were cut short by hand: without prices, and three of them without a time of opening
    assert sorted(answer.codes) == [
        ("KXCS2TOTALMAPS-26AUG04EXG-3", "malformed"),
        ("KXIPHONERELEASE-IPHONE18-26OCT01", "no_price"),
        ("KXIPHONERELEASE-IPHONE18-27JAN01", "no_price"),
        ("KXNFLGAME-26AUG06CARARI-ARI", "malformed"),
        ("KXNFLGAME-26AUG06CARARI-CAR", "malformed"),
    ]


def test_events_of_july(server: VenueServer, recorded: Path) -> None:
    wire = KalshiWire(load(recorded / "pmvl" / "kalshi_events.json")["events"], series=[])
    answer = kalshi(wire.serve(server), lambda venue: listed(venue, AUGUST))
    assert rows(answer) == expected(EVENTS_OF_JULY)
    assert answer.aside == []
    mars = answer.said[0].market
    assert mars.question == "Will Elon Musk visit Mars before Aug 1, 2099? — Mars"
    assert mars.opens_at == datetime(2025, 8, 28, 20, 45, tzinfo=UTC)
    assert mars.closes_at == datetime(2099, 8, 1, 4, 59, tzinfo=UTC)


def test_markets_of_august(server: VenueServer, recorded: Path) -> None:
    markets = load(recorded / "pmskill-2026-08" / "kalshi_markets_new_fields.json")["markets"]
    ids = [MarketId(f"kalshi:{raw['ticker']}") for raw in markets]
    answer = kalshi(KalshiWire(alone=markets).serve(server), lambda venue: venue.listings(AUGUST, ids))
    assert rows(answer) == expected(MARKETS_OF_AUGUST)
    assert {listing.market.event_id for listing in answer.said} == {"kalshi:KXFEDDECISION-26SEP"}


def test_the_page_of_a_naive_question_is_all_combinations(server: VenueServer, recorded: Path) -> None:
    markets = load(recorded / "dr-manhattan" / "kalshi_markets.json")
    event = {"event_ticker": "KXMVE", "series_ticker": "KXMVE", "markets": markets}
    wire = KalshiWire([event])
    answer = kalshi(wire.serve(server), lambda venue: listed(venue, datetime(2026, 6, 22, tzinfo=UTC)))
    assert (len(markets), answer.said, answer.aside) == (5, [], [])


def test_a_deep_book_is_read_best_first(server: VenueServer, recorded: Path) -> None:
    market = load(recorded / "pmvl" / "kalshi-market.json")["market"]
    book = load(recorded / "pmvl" / "kalshi-orderbook.json")["orderbook_fp"]
    wire = KalshiWire(alone=[market], books={market["ticker"]: book})
    ids = [MarketId(f"kalshi:{market['ticker']}")]
    at = datetime(2026, 8, 9, 12, tzinfo=UTC)
    [listing] = kalshi(wire.serve(server), lambda venue: venue.listings(at, ids)).said
    quote = quote_of(listing)
    assert (quote.bid, quote.ask, quote.mid, quote.last) == tuple(
        usd(price) for price in ("0.53", "0.54", "0.535", "0.54")
    )
    assert quote.bids[:3] == tuple(
        Level(usd(price), usd(size))
        for price, size in (("0.53", "1644.73"), ("0.52", "20080.11"), ("0.51", "86249.02"))
    )
    assert quote.asks[:3] == tuple(
        Level(usd(price), usd(size))
        for price, size in (("0.54", "71915.62"), ("0.55", "74425"), ("0.56", "51822"))
    )
    assert (len(quote.bids), len(quote.asks)) == (50, 46)
    assert quote.bids[-1] == Level(usd("0.01"), usd(1_050_129))
    assert quote.asks[-1] == Level(usd("0.99"), usd(1_005_987))
    assert listing.market.question == "Houston vs San Diego Winner? — San Diego"


def test_a_book_with_one_side_and_the_fees_of_its_series(server: VenueServer, recorded: Path) -> None:
    market = load(recorded / "pmvl" / "kalshi_markets.json")["markets"][0]
    book = load(recorded / "pmvl" / "kalshi_orderbook.json")["orderbook_fp"]
    series = load(recorded / "pmvl" / "kalshi_series.json")["series"]
    wire = KalshiWire(alone=[market], books={market["ticker"]: book}, series=[series])
    ids = [MarketId("kalshi:KXBTCD-26JUL2502-T74299.99")]
    at = datetime(2026, 7, 25, 5, 30, tzinfo=UTC)
    answer = kalshi(wire.serve(server), lambda venue: venue.listings(at, ids))
    [listing] = answer.said
    quote = quote_of(listing)
    assert (quote.bid, quote.ask, quote.mid, quote.last, quote.bids) == (None, usd("0.01"), None, None, ())
    assert (len(quote.asks), quote.asks[0]) == (10, Level(usd("0.01"), usd(73_469)))
    assert (quote.asks[1], quote.asks[-1]) == (Level(usd("0.03"), usd(1)), Level(usd("0.59"), usd(1)))
    assert listing.market.fee_rate == usd("0.07")


def test_final_markets_settle_on_their_dollars(server: VenueServer, recorded: Path) -> None:
    with (recorded / "eco395-2026-02" / "kalshi_fed_markets_with_settled.csv").open(encoding="utf-8") as file:
        records = list(csv.DictReader(file))
    at = datetime(2026, 2, 19, 9, tzinfo=UTC)
    ids = [MarketId(f"kalshi:{raw['ticker']}") for raw in records]
    answer = kalshi(KalshiWire(alone=records).serve(server), lambda venue: venue.resolutions(at, ids))
    paid = {end.market_id.removeprefix("kalshi:"): end.payout for end in answer.said}
    assert paid == dict.fromkeys(YES, usd(1)) | dict.fromkeys(NO, 0)
    assert (len(records), len(answer.said), len(YES), len(NO)) == (100, 20, 4, 16)
    assert {end.known_at for end in answer.said} == {at}  # the table doesn't say when they were paid
    assert answer.aside == []


def test_all_eighty_open_markets_of_the_table_have_a_price(server: VenueServer, recorded: Path) -> None:
    with (recorded / "eco395-2026-02" / "kalshi_fed_markets_with_settled.csv").open(encoding="utf-8") as file:
        records = list(csv.DictReader(file))
    at = datetime(2026, 2, 19, 9, tzinfo=UTC)
    event = {"event_ticker": "KXFEDDECISION", "series_ticker": "KXFEDDECISION", "markets": records}
    answer = kalshi(KalshiWire([event]).serve(server), lambda venue: listed(venue, at))
    assert len(answer.said) == 80
    assert sum(quote_of(listing).bid is None for listing in answer.said) == 37
    assert len({listing.market.event_id for listing in answer.said}) == 16
    assert answer.aside == []


def test_the_final_one_without_dollars_waits_flagged(server: VenueServer, recorded: Path) -> None:
    wire = KalshiWire(load(recorded / "gnome-2026-05" / "kalshi_events.json")["events"])
    ids = [MarketId(f"kalshi:{raw['ticker']}") for raw in wire.markets]
    answer = kalshi(wire.serve(server), lambda venue: venue.resolutions(AUGUST, ids))
    assert answer.said == []
    assert answer.codes == [("KXIPHONERELEASE-IPHONE18-26JUL01", "no_value")]
