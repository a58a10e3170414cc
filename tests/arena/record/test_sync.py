"""A venue's whole catalogue in the record: only what changes is written, all of it or nothing."""

import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event

from arena.errors import ArenaError
from arena.record.queries.markets import read_listings_as_of
from arena.record.write.quarantine import read_quarantine
from arena.record.write.sync import SyncResult, VenueSource, add_catalogue
from arena.verify import verify
from markets.model import Listing
from markets.venue import CatalogueFilter, QuarantinedRecord
from tests.arena.record.histories import begun, minute
from tests.arena.verify.test_verify import differences
from tests.builders import NOW, a_listing, a_market
from tests.opened_record import OpenedRecord
from tests.records.tampering import tamper

SKY = VenueSource("sky", "live")
FACTS = ("market", "market_version", "quote", "sync", "sighting", "set_aside")
DAY = "2026-01-01T00:00:00.000000Z"
BAD = QuarantinedRecord("sky", "hail", "market", "malformed", "outcomes: three of them", '{"id": "hail"}')


@pytest.fixture
def record(empty: Path, tmp_path: Path) -> Iterator[OpenedRecord]:
    record = begun(empty, tmp_path / "record.db")
    yield record
    record.close()


def catalogue(at: int, count: int = 30, ask: str = "0.42") -> list[Listing]:
    """Return this many markets at one minute; every third has no price."""
    listings = [a_listing("0.40", ask, market=f"sky:{number:03}", at=minute(at)) for number in range(count)]
    return [replace(x, quote=None) if place % 3 == 2 else x for place, x in enumerate(listings)]


def sync(record: OpenedRecord, at: int, listings: list[Listing], *asides: QuarantinedRecord) -> SyncResult:
    return record.write(add_catalogue, SKY, listings, minute(at), asides)


def rows(record: OpenedRecord) -> dict[str, int]:
    """Count the rows of everything that a sync writes."""
    database = sqlite3.connect(str(record.engine.url.database))
    try:
        return {t: database.execute(f"SELECT count(*) FROM {t}").fetchone()[0] for t in FACTS}
    finally:
        database.close()


def counted(found: SyncResult) -> tuple[int, ...]:
    return (found.markets, found.new, found.changed, found.quotes, found.unchanged, len(found.gone))


def test_a_first_sync_keeps_every_market_and_price(record: OpenedRecord) -> None:
    assert counted(sync(record, 1, catalogue(1))) == (30, 30, 0, 20, 0, 0)
    assert rows(record) == {
        "market": 30, "market_version": 30, "quote": 20, "sync": 1, "sighting": 20, "set_aside": 0
    }  # fmt: skip
    with record.reading() as connection:
        ids = [listing.market.id for listing in catalogue(1)]
        assert read_listings_as_of(connection, ids, minute(1)) == catalogue(1)
        assert verify(connection) == []


def test_a_second_sync_with_nothing_changed_is_one_row(record: OpenedRecord) -> None:
    sync(record, 1, catalogue(1))
    before = rows(record)
    assert counted(sync(record, 2, catalogue(2))) == (30, 0, 0, 0, 30, 0)
    assert rows(record) == before | {"sync": 2}
    with record.reading() as connection:
        ids = [listing.market.id for listing in catalogue(1)]
        assert read_listings_as_of(connection, ids, minute(2)) == catalogue(2)


def test_changes_are_told_apart(record: OpenedRecord) -> None:
    sync(record, 1, catalogue(1))
    now = catalogue(2, 28)
    now[0] = replace(now[0], market=replace(now[0].market, question="Another?"))
    now[1] = a_listing("0.50", "0.51", market="sky:001", at=minute(2))
    now[3] = replace(now[3], quote=None)
    new = a_listing(market="sky:new", at=minute(2))
    found = sync(record, 2, [*now, new])
    assert counted(found) == (29, 1, 1, 2, 26, 2)
    assert found.gone == ("sky:003", "sky:028")


def test_a_market_that_is_listed_twice_counts_once(record: OpenedRecord) -> None:
    first = catalogue(1, 1)[0]
    again = a_listing("0.60", "0.61", market="sky:000", at=minute(1))
    assert counted(sync(record, 1, [first, again])) == (1, 1, 0, 1, 0, 0)
    assert record.read(read_listings_as_of, ["sky:000"], minute(1)) == [again]


def test_a_price_from_before_is_kept_with_its_own_time(record: OpenedRecord) -> None:
    """Recorded and simulated venues know when a price was true."""
    old = a_listing(market="sky:000", at=minute(1))
    sync(record, 5, [old])
    sync(record, 6, [old])
    assert rows(record)["quote"] == 1
    assert rows(record)["sighting"] == 0
    with record.reading() as connection:
        assert read_listings_as_of(connection, ["sky:000"], minute(9)) == [old]
        assert verify(connection) == []


def test_nothing_is_added_to_the_past(record: OpenedRecord) -> None:
    sync(record, 5, catalogue(5))
    before = rows(record)
    for at in (5, 4):
        with pytest.raises(ArenaError, match="was read at 2026-01-04 12:05:00 UTC") as caught:
            sync(record, at, catalogue(at), BAD)
        assert caught.value.code == "not_newer"
    assert rows(record) == before


def test_venues_are_read_each_by_itself(record: OpenedRecord) -> None:
    sync(record, 5, catalogue(5, 3))
    listing = a_listing(market="sea:000", at=minute(1))
    found = record.write(add_catalogue, VenueSource("sea", "replay"), [listing], minute(1))
    assert (found.number, found.gone) == (1, ())
    assert record.read(verify) == []


def test_an_empty_catalogue_is_a_sync_too(record: OpenedRecord) -> None:
    sync(record, 1, catalogue(1, 3))
    assert counted(sync(record, 2, [])) == (0, 0, 0, 0, 0, 2)
    assert counted(sync(record, 3, [])) == (0, 0, 0, 0, 0, 0)
    assert counted(sync(record, 4, catalogue(4, 3))) == (3, 0, 0, 0, 3, 0)
    assert record.read(verify) == []


def test_progress_is_told_to_the_end(record: OpenedRecord) -> None:
    told = list[tuple[int, int]]()
    record.write(
        add_catalogue, SKY, catalogue(1, 2_500), minute(1), progress=lambda done, of: told.append((done, of))
    )
    assert told == [(1_000, 2_500), (2_000, 2_500), (2_500, 2_500)]


def test_more_markets_than_a_database_takes_parameters(record: OpenedRecord) -> None:
    """SQLite takes 32,766 of them in one statement."""
    listings = [Listing(a_market(f"sky:{number}"), None) for number in range(33_000)]
    assert sync(record, 1, listings).new == 33_000


class BrokenOffError(Exception):
    pass


def broken_off(record: OpenedRecord, statement: int, at: int, listings: list[Listing]) -> bool:
    """Break off a sync before a statement, and tell whether it came so far."""
    left = [statement]

    def count(*_: Any) -> None:
        left[0] -= 1
        if left[0] < 0:
            raise BrokenOffError

    event.listen(record.engine, "before_cursor_execute", count)
    try:
        sync(record, at, listings, BAD)
    except BrokenOffError:
        return True
    finally:
        event.remove(record.engine, "before_cursor_execute", count)
    return False


def test_a_sync_that_breaks_off_anywhere_leaves_nothing_half(record: OpenedRecord) -> None:
    sync(record, 1, catalogue(1, 1_010))
    before = rows(record)
    now = catalogue(2, 1_020, ask="0.43")
    statement = 0
    while broken_off(record, statement, 2, now):
        assert rows(record) == before, f"broken off before statement {statement}"
        statement += 1
    assert statement > 10
    more = {"market": 10, "market_version": 10, "quote": 680, "sync": 1, "sighting": 6, "set_aside": 1}
    assert rows(record) == {table: before[table] + more[table] for table in FACTS}
    assert record.read(verify) == []


def test_what_was_set_aside_is_counted_with_its_newest_words(record: OpenedRecord) -> None:
    for at, reason in ((1, "three outcomes"), (2, "four outcomes")):
        sync(record, at, [], replace(BAD, reason=reason), replace(BAD, code="other"))
    with record.reading() as connection:
        found = {aside.code: aside for aside in read_quarantine(connection)}
    assert set(found) == {"malformed", "other"}
    bad = found["malformed"]
    assert (bad.reason, bad.times, bad.first_seen_at, bad.last_seen_at) == (
        "four outcomes", 2, minute(1), minute(2)
    )  # fmt: skip


def test_what_was_set_aside_is_cut_short_and_can_always_be_kept(record: OpenedRecord) -> None:
    record.quarantine([replace(BAD, record="x" * 9_000, raw="\0\ud800" + "y" * 9_000)], NOW)
    aside = record.quarantined()[0]
    assert (len(aside.record), len(aside.raw), aside.raw[:3]) == (2_000, 2_000, "??y")


def test_what_was_set_aside_is_listed_newest_first_and_by_kind(record: OpenedRecord) -> None:
    for place, aside in enumerate((BAD, replace(BAD, kind="quote"), replace(BAD, kind="page"))):
        record.quarantine([replace(aside, record=str(place))], minute(place))
    record.quarantine([replace(BAD, venue="sea", record="9")], minute(9))
    with record.reading() as connection:
        asked = [
            read_quarantine(connection),
            read_quarantine(connection, limit=2),
            read_quarantine(connection, venue="sky"),
        ]
        asked.append(read_quarantine(connection, kind="quote"))
    assert [[aside.record for aside in found] for found in asked] == [
        ["9", "2", "1", "0"], ["9", "2"], ["2", "1", "0"], ["1"]
    ]  # fmt: skip


@pytest.fixture
def two(record: OpenedRecord, tmp_path: Path) -> Path:
    """Make two syncs between which a price changes and a market goes."""
    sync(record, 1, catalogue(1, 6))
    sync(record, 2, catalogue(2, 4, ask="0.43"))
    assert record.read(verify) == []
    record.close()
    return tmp_path / "record.db"


@pytest.mark.parametrize(
    ("change", "table", "words"),
    [
        ("DELETE FROM quote WHERE id = 1", "quote", "a sync saw a price"),
        ("DELETE FROM quote WHERE id = (SELECT max(id) FROM quote)", "sync", "by the quotes until then"),
        ("DELETE FROM quote WHERE market_id = 'sky:004'", "quote", "a sync saw a price"),
        ("UPDATE quote SET at = '2026-01-04T12:01:30.000000Z' WHERE id = 2", "quote", "a sync saw a price"),
        ("DELETE FROM sync WHERE number = 1", "sync", "there is no gap"),
        ("DELETE FROM sync WHERE number = 1", "sighting", "it refers to one"),
        ("DELETE FROM sighting WHERE sync_id = 2", "sync", "by the sightings"),
        ("UPDATE sighting SET quoted = 1 WHERE sync_id = 2", "sighting", "it records a change"),
        ("UPDATE sighting SET market_id = 'sky:002' WHERE sync_id = 2", "sync", "it seals the sync"),
        ("UPDATE sync SET stamp = 'replay' WHERE number = 1", "sync", "it seals the sync"),
        ("UPDATE sync SET at = '2026-01-04T12:00:00.000000Z' WHERE number = 2", "sync", "follow one another"),
        ("UPDATE sync SET hash = 'x' WHERE number = 1", "sync", "the hash of the one before"),
        (f"INSERT INTO prune VALUES (1, 1, '{DAY}', '{DAY}', 0, '')", "prune", "should be 1 or more"),
    ],
)
def test_a_record_that_does_not_say_what_was_seen_is_found_out(
    change: str, table: str, words: str, two: Path
) -> None:
    tamper(two, change)
    assert any(d.table == table and words in d.message for d in differences(two)), differences(two)


def test_a_list_without_rules_leaves_those_that_are_known(record: OpenedRecord) -> None:
    """Manifold's list has no descriptions: agents go on reading those of the market's own page."""
    [full] = catalogue(1, 1)
    bare = replace(full.market, rules=full.market.question)
    sync(record, 1, [full])
    assert counted(sync(record, 2, [replace(x, market=bare) for x in catalogue(2, 1)]))[2] == 0
    renamed = replace(bare, question="Another?", rules="Another?", category="sport")
    assert counted(sync(record, 3, [Listing(renamed, None)]))[2] == 1
    with record.reading() as connection:
        assert [x.market for x in read_listings_as_of(connection, [bare.id], minute(2))] == [full.market]
        assert [x.market for x in read_listings_as_of(connection, [bare.id], minute(3))] == [renamed]


def test_gone_is_only_what_the_venue_was_asked_for(record: OpenedRecord) -> None:
    sync(record, 1, catalogue(1, 6))
    soon = CatalogueFilter(closes_until=minute(1))
    found = record.write(add_catalogue, SKY, [], minute(2), wanted=soon)
    assert (found.markets, found.gone) == (0, ())
