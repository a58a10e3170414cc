"""Catalogues that hold fewer than half of the markets known to be open: what waits for them, and how long."""

import asyncio
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from arena.errors import ArenaError
from arena.operations.incidents import note_played
from arena.rounds.settlement import VenueSync, sync_venue
from arena.rounds.world import World
from markets.model import MarketId, Resolution
from markets.venue import EVERY_MARKET, Catalogue, CatalogueFilter
from tests.builders import NOW
from tests.opened_record import OpenedRecord
from tests.records.little_world import WEEK, LittleVenue, a_source, a_world, begun_live, play, says

HOUR = timedelta(hours=1)
SKY = a_source()


@dataclass
class ShrinkingVenue(LittleVenue):
    """A venue whose catalogue stops after its first `size` markets."""

    size: int | None = None

    async def catalogue(self, at: datetime, wanted: CatalogueFilter = EVERY_MARKET) -> Catalogue:
        whole = await super().catalogue(at, wanted)
        return Catalogue(whole.listings[: self.size])


def a_venue(count: int = 40, **more: Any) -> ShrinkingVenue:
    return ShrinkingVenue(mids={f"sim:m{number:03}": 40 for number in range(count)}, **more)


def world_at(now: datetime, venue: LittleVenue) -> World:
    return a_world(venue, {"ann": says("0.7")}, now=now)


def sync(venue: LittleVenue, at: datetime, record: OpenedRecord) -> VenueSync:
    return asyncio.run(sync_venue(venue, SKY, record, at, []))


def ongoing(record: OpenedRecord) -> list[str]:
    return [told.incident.text for told in record.incidents(only_open=True)]


@pytest.mark.parametrize("size", [0, 19])
def test_a_round_waits_six_hours_for_a_whole_catalogue_and_then_plays(
    record: OpenedRecord, size: int
) -> None:
    stored = begun_live(record, "ann")
    venue = a_venue()
    play(stored, 1, world_at(NOW, venue), record)
    venue.size = size
    second = NOW + WEEK
    for waited in (timedelta(), HOUR, 6 * HOUR - timedelta(minutes=1)):
        with pytest.raises(ArenaError, match="cohort 1 was not played") as caught:
            play(stored, 2, world_at(second + waited, venue), record)
        assert caught.value.code == "incomplete"
        assert f"it holds {size} of 40 markets known to be open" in caught.value.message
        assert "counts as it is from 2026-01-11 18:00 UTC on" in caught.value.hint
    assert ongoing(record) == [f"little sends an incomplete catalogue: {size} of 40 known open markets"]
    assert len(record.rounds(stored.id)) == 1
    found = sync(replace(venue, size=None), second + 6 * HOUR - timedelta(seconds=50), record)
    assert (found.synced.gone, ongoing(record)) == ((), [])

    venue.size = size
    with pytest.raises(ArenaError, match="cohort 1 was not played"):
        play(stored, 2, world_at(second + 6 * HOUR - timedelta(seconds=1), venue), record)
    report = play(stored, 2, world_at(second + 12 * HOUR, venue), record)
    assert any(f"{size} of 40 known open markets" in words for words in report.trouble)
    assert ongoing(record) == []

    again = play(stored, 3, world_at(second + WEEK, venue), record)
    assert not any("known open" in words for words in again.trouble)


def test_a_catalogue_that_is_whole_again_is_played_at_once(record: OpenedRecord) -> None:
    stored = begun_live(record, "ann")
    venue = a_venue()
    play(stored, 1, world_at(NOW, venue), record)
    with pytest.raises(ArenaError, match="incomplete"):
        play(stored, 2, world_at(NOW + WEEK, replace(venue, size=3)), record)
    report = play(stored, 2, world_at(NOW + WEEK + HOUR, venue), record)
    assert (report.done, report.trouble, ongoing(record)) == (True, (), [])


@pytest.mark.parametrize(("count", "size"), [(20, 0), (40, 20), (0, 0), (21, 11)])
def test_few_markets_and_half_of_many_are_taken_as_they_are(
    record: OpenedRecord, count: int, size: int
) -> None:
    venue = a_venue(count)
    sync(venue, NOW, record)
    venue.size = size
    found = sync(venue, NOW + HOUR, record)
    assert (found.synced.markets, len(found.synced.gone)) == (size, count - size)
    assert ongoing(record) == []


@pytest.mark.parametrize(("count", "size"), [(21, 10), (21, 0), (40, 19)])
def test_a_sync_of_fewer_than_half_keeps_nothing_and_calls_nothing_gone(
    record: OpenedRecord, count: int, size: int
) -> None:
    venue = a_venue(count)
    sync(venue, NOW, record)
    with pytest.raises(ArenaError, match="incomplete"):
        sync(replace(venue, size=size), NOW + HOUR, record)
    found = sync(venue, NOW + 2 * HOUR, record)
    assert (found.synced.number, found.synced.unchanged) == (2, count)


def test_other_markets_in_place_of_the_known_ones_are_no_whole_catalogue(record: OpenedRecord) -> None:
    sync(a_venue(), NOW, record)
    others = LittleVenue(mids={f"sim:other{number}": 40 for number in range(90)})
    with pytest.raises(ArenaError, match="0 of 40"):
        sync(others, NOW + HOUR, record)


def test_a_catalogue_that_stays_small_counts_after_a_day(record: OpenedRecord) -> None:
    venue = a_venue()
    sync(venue, NOW, record)
    venue.size = 5
    for hours in (1, 7, 24):
        with pytest.raises(ArenaError, match="incomplete"):
            sync(venue, NOW + hours * HOUR, record)
    found = sync(venue, NOW + 25 * HOUR, record)
    assert "5 of 40" in found.note
    assert len(found.synced.gone) == 35
    assert sync(venue, NOW + 26 * HOUR, record).note == ""


def test_a_round_a_week_later_does_not_wait_again(record: OpenedRecord) -> None:
    stored = begun_live(record, "ann")
    venue = a_venue()
    play(stored, 1, world_at(NOW, venue), record)
    venue.size = 5
    with pytest.raises(ArenaError, match="incomplete"):
        play(stored, 2, world_at(NOW + WEEK, venue), record)
    assert play(stored, 3, world_at(NOW + 2 * WEEK, venue), record).done


def test_markets_that_have_closed_or_ended_or_are_not_wanted_are_not_missed(record: OpenedRecord) -> None:
    sync(a_venue(closes_at=NOW + HOUR), NOW, record)
    assert sync(a_venue(closes_at=NOW + HOUR, size=0), NOW + 2 * HOUR, record).synced.markets == 0

    venue = a_venue(60)
    sync(venue, NOW + 3 * HOUR, record)
    ends = [Resolution(MarketId(market), 1, NOW + 3 * HOUR, 0) for market in sorted(venue.mids)[20:]]
    record.resolve(ends, NOW + 3 * HOUR, live=True)
    venue.size = 20
    assert sync(venue, NOW + 4 * HOUR, record).synced.markets == 20

    wanted = CatalogueFilter(closes_until=NOW + HOUR)
    found = asyncio.run(sync_venue(replace(venue, size=0), SKY, record, NOW + 5 * HOUR, [], wanted=wanted))
    assert found.synced.gone == ()


def test_a_reading_that_was_limited_on_purpose_is_taken(record: OpenedRecord) -> None:
    class Limited(ShrinkingVenue):
        async def catalogue(self, at: datetime, wanted: CatalogueFilter = EVERY_MARKET) -> Catalogue:
            return replace(await super().catalogue(at, wanted), limit=5)

    sync(a_venue(), NOW, record)
    limited = Limited(mids=a_venue().mids, size=5)
    assert sync(limited, NOW + HOUR, record).synced.markets == 5


def test_the_webhook_is_not_told_that_the_venue_is_down(record: OpenedRecord) -> None:
    stored = begun_live(record, "ann")
    venue = a_venue()
    play(stored, 1, world_at(NOW, venue), record)
    with pytest.raises(ArenaError, match="incomplete") as caught:
        play(stored, 2, world_at(NOW + WEEK, replace(venue, size=3)), record)
    note_played(record, "little", NOW + WEEK, NOW + WEEK, caught.value)
    told = record.incidents(9, only_open=True)
    assert [one.incident.kind for one in told] == ["catalogue_incomplete"]
    assert told[0].incident.data == {
        "venue": "little",
        "since": "2026-01-11T12:00:00+00:00",
        "message": "its catalogue is incomplete: it holds 3 of 40 markets known to be open",
        "held": 3,
        "known": 40,
    }
