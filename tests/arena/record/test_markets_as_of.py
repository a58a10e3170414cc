"""What was known of a market at an instant: against a plain list of all that was ever seen."""

from pathlib import Path

import pytest
from hypothesis import given

from arena.record.queries.markets import read_known_ids, read_listings_as_of, read_quotes_as_of
from arena.verify import verify
from markets.model import MarketId, Quote
from tests.arena.record.histories import (
    MARKETS,
    Look,
    all_times,
    begun,
    histories,
    keep,
    minute,
    plainly,
    played,
)
from tests.builders import NOW, a_listing, usd
from tests.opened_record import OpenedRecord

FOG, MIST, DEW = MARKETS


@given(looks=histories())
def test_a_price_is_the_newest_that_anyone_had_seen_and_snapshots_stay(
    looks: list[Look], empty: Path
) -> None:
    with played(empty, looks) as record, record.reading() as connection:
        for at in all_times():
            plain = {market: quote for market in MARKETS if (quote := plainly(looks, market, at))}
            assert read_quotes_as_of(connection, MARKETS, at) == plain, at
        assert verify(connection) == []
        for look in looks:
            found = record.snapshot(1, minute(look.minute))
            assert (found and list(found[1])) == (None if look.sync else look.listings)


@pytest.fixture
def record(empty: Path, tmp_path: Path) -> OpenedRecord:
    return begun(empty, tmp_path / "record.db")


def quote_at(record: OpenedRecord, market: MarketId, at: int) -> Quote | None:
    return record.read(read_quotes_as_of, [market], minute(at)).get(market)


def rows(record: OpenedRecord) -> int:
    with record.reading() as connection:
        return int(connection.exec_driver_sql("SELECT count(*) FROM quote").scalar_one())


def test_a_price_that_stays_is_one_row_and_stays_fresh(record: OpenedRecord) -> None:
    for number in range(5):
        keep(record, Look(True, number, {FOG: usd("0.40")}))
    assert rows(record) == 1
    assert quote_at(record, FOG, 9) == Quote(FOG, minute(4), None, None, usd("0.40"))


def test_a_late_price_does_not_change_what_a_sync_has_found(record: OpenedRecord) -> None:
    keep(record, Look(True, 1, {FOG: usd("0.40")}))
    keep(record, Look(True, 9, {FOG: usd("0.40")}))
    keep(record, Look(False, 5, {FOG: usd("0.70")}))
    prices = [quote.mid if (quote := quote_at(record, FOG, at)) else None for at in (0, 1, 4, 5, 8, 9, 10)]
    assert prices == [None, *(usd(price) for price in ("0.4", "0.4", "0.7", "0.7", "0.4", "0.4"))]


def test_pages_are_those_of_their_time(record: OpenedRecord) -> None:
    for number, question in ((1, "Fog?"), (4, "Will there be fog?"), (6, "Will there be fog?")):
        listing = a_listing(market=FOG, question=question, at=minute(number))
        record.sync("sky", [listing], minute(number))
    with record.reading() as connection:
        said = [read_listings_as_of(connection, [MIST, FOG], minute(number)) for number in (0, 1, 3, 4, 9)]
        assert read_known_ids(connection, NOW) == []
        assert read_known_ids(connection, minute(1)) == [FOG]
    questions = [[listing.market.question for listing in listings] for listings in said]
    assert questions == [[], ["Fog?"], ["Fog?"], ["Will there be fog?"], ["Will there be fog?"]]
    assert [listing.quote.at for listings in said[1:] for listing in listings if listing.quote] == [
        minute(number) for number in (1, 1, 4, 6)
    ]
