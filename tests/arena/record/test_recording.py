"""What a record has seen is in the bundle that is made of it, for whoever plays it at any time."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from arena.record.queries.cohorts import read_learnt_resolutions
from arena.record.queries.markets import (
    BEGINNING,
    read_known_ids,
    read_listings_as_of,
    read_markets,
    read_newest_instant,
)
from markets.bundle import WriteCounts, read, write
from markets.model import MarketId
from markets.simulation.settings import Settings
from markets.venue import QuarantinedRecord
from markets.venues.simulator import venue
from tests.builders import NOW, a_listing, a_resolution, listed, usd
from tests.opened_record import OpenedRecord
from tests.rows import sightings_seen

DAY = timedelta(days=1)
FOG = MarketId("sky:fog")
MIST = MarketId("sky:mist")


def wrote(
    record: OpenedRecord, folder: Path, since: datetime = BEGINNING, until: datetime = NOW + 99 * DAY
) -> WriteCounts:
    with record.reading() as connection:
        return write(folder, sightings_seen(connection, since, until))


def test_a_season_that_was_watched_reads_the_same_from_its_bundle(
    record: OpenedRecord, tmp_path: Path
) -> None:
    """At every midnight each market has the page, the price and the end that the record knew then."""
    settings = Settings(weeks=2, markets=20, events=8, jump_rate=0.2, outage_rate=0.1)
    world = venue(settings)
    start = datetime.combine(settings.start, datetime.min.time(), UTC)
    looks = [start + number * DAY / 3 for number in range(3 * 30)]
    for at in looks:
        record.sync("simulator", asyncio.run(listed(world, at)), at, "simulated")
        with record.reading() as connection:
            known = read_known_ids(connection, at)
        record.resolve(asyncio.run(world.resolutions(at, known)), at)
    written = wrote(record, tmp_path / "seen", until=looks[-1])
    assert written.prices > 200
    bundle = read(tmp_path / "seen")
    with record.reading() as connection:
        for day in range(30):
            at = start + day * DAY
            ids = read_known_ids(connection, at)
            listings = read_listings_as_of(connection, ids, at)
            assert [bundle.markets[x.market.id].page(at) for x in listings] == [x.market for x in listings]
            assert [bundle.markets[x.market.id].quote(at) for x in listings] == [x.quote for x in listings]
        learnt = record.read(read_learnt_resolutions, list(bundle.markets), looks[-1])
    ends = [replace(end, known_at=max(end.known_at, learnt_at)) for end, learnt_at in learnt]
    told = [end for recording in bundle.markets.values() for end in recording.ends]
    assert ends
    assert sorted(told, key=str) == sorted(ends, key=str)


def test_a_price_that_stays_is_told_once_a_day(record: OpenedRecord, tmp_path: Path) -> None:
    for number in range(12):
        at = NOW + number * DAY / 4
        record.sync("sky", [a_listing(market=FOG, at=at)], at)
    written = wrote(record, tmp_path / "seen")
    assert written == WriteCounts(pages=1, prices=5, resolutions=0)
    assert [at.hour for at in read(tmp_path / "seen").markets[FOG].known] == [12, 0, 0, 0, 6]


def test_only_a_stretch_of_time_is_told(record: OpenedRecord, tmp_path: Path) -> None:
    for number in range(6):
        at = NOW + number * DAY
        listing = a_listing("0.10", f"0.2{number}", market=FOG, at=at, question=f"Fog {number // 2}?")
        record.sync("sky", [listing], at)
    since = NOW + 1.5 * DAY
    until = NOW + 4.5 * DAY
    assert wrote(record, tmp_path / "some", since, until) == WriteCounts(pages=3, prices=3, resolutions=0)
    told = read(tmp_path / "some").markets[FOG]
    assert [page.question for page in told.pages] == ["Fog 0?", "Fog 1?", "Fog 2?"]
    assert [quote.ask for quote in told.quotes] == [usd("0.22"), usd("0.23"), usd("0.24")]
    assert wrote(record, tmp_path / "none", NOW + 50 * DAY, NOW + 51 * DAY).prices == 0


def test_what_was_seen_later_is_added_later(record: OpenedRecord, tmp_path: Path) -> None:
    record.sync("sky", [a_listing(market=FOG, at=NOW)], NOW)
    wrote(record, tmp_path / "seen", until=NOW)
    later = NOW + DAY
    listings = [a_listing("0.50", "0.51", market=market, at=later) for market in (FOG, MIST)]
    record.sync("sky", listings, later)
    record.resolve([a_resolution("1", FOG, at=later)], later)
    assert wrote(record, tmp_path / "seen", until=later) == WriteCounts(pages=1, prices=2, resolutions=1)
    assert wrote(record, tmp_path / "seen", until=later) == WriteCounts(pages=0, prices=0, resolutions=0)


def test_what_a_bundle_cannot_hold_is_left_out_and_told(record: OpenedRecord, tmp_path: Path) -> None:
    upside_down = a_listing(market=MIST, at=NOW, opens_at=NOW, closes_at=NOW - DAY)
    record.sync("sky", [a_listing(market=FOG, at=NOW), upside_down], NOW)
    told: list[QuarantinedRecord] = []
    with record.reading() as connection:
        written = write(tmp_path / "seen", sightings_seen(connection, BEGINNING, NOW), told.append)
    assert (written.pages, {aside.record for aside in told}) == (1, {"mist"})
    assert list(read(tmp_path / "seen").markets) == [FOG]


def test_an_empty_record_makes_an_empty_bundle(record: OpenedRecord, tmp_path: Path) -> None:
    assert wrote(record, tmp_path / "seen") == WriteCounts(0, 0, 0)


def test_markets_are_open_waiting_or_ended(record: OpenedRecord) -> None:
    names = ("open", "closed", "gone", "back", "ended")
    closes = dict.fromkeys(names, NOW + 9 * DAY) | {"closed": NOW + DAY}
    for number, shown in enumerate((names, ("open", "closed", "ended"), ("open", "closed", "back", "ended"))):
        at = NOW + number * timedelta(hours=1)
        listings = [a_listing(market=f"sky:{name}", at=at, closes_at=closes[name]) for name in shown]
        record.sync("sky", listings, at)
    record.resolve([a_resolution(None, "sky:ended", at=NOW)], NOW)
    with record.reading() as connection:
        found = {seen.listing.market.id[4:]: seen.status for seen in read_markets(connection, NOW + 2 * DAY)}
        assert read_newest_instant(connection, NOW) == NOW + timedelta(hours=2)
        assert read_newest_instant(connection, NOW + DAY) == NOW + DAY
    assert found == {"open": "open", "closed": "waiting", "gone": "waiting", "back": "open", "ended": "ended"}
