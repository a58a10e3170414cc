"""Catalogues of each live venue over real HTTP, that lack markets known to be open."""

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta

import pytest

from arena.errors import ArenaError
from arena.operations.incidents import note_job
from arena.rounds.settlement import VenueSync, sync_venue
from markets.venue import EVERY_MARKET, CatalogueFilter, Venue, VenueError
from tests.builders import NOW
from tests.opened_record import OpenedRecord
from tests.records.little_world import a_source
from tests.venue_server import kalshi, manifold, polymarket
from tests.venue_server.server import VenueServer, venue_server
from tests.venue_server.visit import Line

HOUR = timedelta(hours=1)
KNOWN = 30
Put = Callable[[VenueServer, Sequence[int]], object]
"""Puts the markets of these numbers on a server, and no others."""


def put_polymarket(server: VenueServer, numbers: Sequence[int]) -> object:
    markets = [polymarket.a_market(str(1_000 + number)) for number in numbers]
    return polymarket.PolymarketWire(markets).serve(server)


def put_kalshi(server: VenueServer, numbers: Sequence[int]) -> object:
    events = [
        kalshi.an_event(kalshi.a_market(f"RAIN-{number}-A"), ticker=f"RAIN-{number}") for number in numbers
    ]
    return kalshi.KalshiWire(events).serve(server)


def put_manifold(server: VenueServer, numbers: Sequence[int]) -> object:
    return manifold.ManifoldWire([manifold.a_market(f"rain{number}") for number in numbers]).serve(server)


VENUES: dict[str, Put] = {"polymarket": put_polymarket, "kalshi": put_kalshi, "manifold": put_manifold}


@pytest.fixture
def server() -> Iterator[VenueServer]:
    with venue_server() as running:
        yield running


def sync(
    server: VenueServer,
    record: OpenedRecord,
    name: str,
    at: datetime,
    wanted: CatalogueFilter = EVERY_MARKET,
    **settings: int,
) -> VenueSync:
    async def ask(venue: Venue) -> VenueSync:
        return await sync_venue(venue, a_source(name), record, at, [], wanted=wanted)

    url = server.url + (kalshi.ROOT if name == "kalshi" else "")
    with Line(url) as line:
        answer: VenueSync = getattr(line, name)(ask, **settings).said
    return answer


def ongoing(record: OpenedRecord) -> list[str]:
    return sorted(told.incident.text for told in record.incidents(only_open=True))


@pytest.mark.parametrize("name", VENUES)
def test_each_venue_that_sends_too_little_is_refused_and_half_is_taken(
    server: VenueServer, record: OpenedRecord, name: str
) -> None:
    put = VENUES[name]
    put(server, range(KNOWN))
    assert sync(server, record, name, NOW).synced.markets == KNOWN

    for hours, numbers in ((1, range(0)), (2, range(14)), (3, range(100, 190))):
        put(server, numbers)
        with pytest.raises(ArenaError, match="incomplete"):
            sync(server, record, name, NOW + hours * HOUR)
    assert ongoing(record) == [f"{name} sends an incomplete catalogue: 0 of 30 known open markets"]

    put(server, range(15))
    found = sync(server, record, name, NOW + 4 * HOUR)
    assert (len(found.synced.gone), found.note, ongoing(record)) == (15, "", [])


@pytest.mark.parametrize("name", VENUES)
def test_a_venue_that_shrinks_slowly_is_followed(
    server: VenueServer, record: OpenedRecord, name: str
) -> None:
    for hours, size in enumerate((90, 60, 40, 25, 13, 0)):
        VENUES[name](server, range(size))
        assert sync(server, record, name, NOW + hours * HOUR).synced.markets == size
    assert ongoing(record) == []


def test_each_venue_has_a_doubt_of_its_own(server: VenueServer, record: OpenedRecord) -> None:
    for name, put in VENUES.items():
        put(server, range(KNOWN))
        sync(server, record, name, NOW)
        put(server, range(3))
    for hours, name in enumerate(VENUES):
        with pytest.raises(ArenaError, match="incomplete"):
            sync(server, record, name, NOW + (1 + hours) * HOUR)
    assert len(ongoing(record)) == 3

    VENUES["kalshi"](server, range(KNOWN))
    assert sync(server, record, "kalshi", NOW + 24 * HOUR).note == ""
    assert "3 of 30" in sync(server, record, "polymarket", NOW + 25 * HOUR).note
    with pytest.raises(ArenaError, match="incomplete"):
        sync(server, record, "manifold", NOW + 26 * HOUR)
    assert ongoing(record) == ["manifold sends an incomplete catalogue: 3 of 30 known open markets"]


@pytest.mark.parametrize("name", VENUES)
def test_a_list_that_broke_off_for_days_is_no_small_catalogue(
    server: VenueServer, record: OpenedRecord, name: str
) -> None:
    put = VENUES[name]
    put(server, range(KNOWN))
    sync(server, record, name, NOW)
    broken = VenueError("incomplete", "its list is incomplete: page 2 only repeats what was before it", "")
    for days in (1, 2, 3):
        note_job(record, "catalogue", name, NOW + days * 24 * HOUR, broken)
    assert ongoing(record) == [f"{name} sends an incomplete catalogue"]

    put(server, [])
    for hours in (73, 80, 96):
        with pytest.raises(ArenaError, match="incomplete"):
            sync(server, record, name, NOW + hours * HOUR)
        note_job(record, "catalogue", name, NOW + hours * HOUR, broken)
    assert ongoing(record) == [f"{name} sends an incomplete catalogue: 0 of 30 known open markets"]
    assert "0 of 30" in sync(server, record, name, NOW + 97 * HOUR).note
    assert ongoing(record) == []


def test_a_catalogue_that_is_limited_and_empty_is_refused(server: VenueServer, record: OpenedRecord) -> None:
    """Its records are there, but none of them is read as an open market any more."""
    put_manifold(server, range(KNOWN))
    sync(server, record, "manifold", NOW)

    changed = [manifold.a_market(f"rain{number}", outcomeType="YES_NO") for number in range(KNOWN)]
    manifold.ManifoldWire(changed).serve(server)
    with pytest.raises(ArenaError, match="0 of 30"):
        sync(server, record, "manifold", NOW + HOUR, newest=25)

    put_manifold(server, range(KNOWN))
    assert sync(server, record, "manifold", NOW + 2 * HOUR, newest=5).synced.markets == 5


def test_what_a_narrower_rule_does_not_name_is_not_missed(server: VenueServer, record: OpenedRecord) -> None:
    put_polymarket(server, range(KNOWN))
    sync(server, record, "polymarket", NOW)
    named = CatalogueFilter(tags=("snow",), only_named=True)

    put_polymarket(server, [])
    assert sync(server, record, "polymarket", NOW + HOUR, wanted=named).synced.gone == ()
    assert ongoing(record) == []
