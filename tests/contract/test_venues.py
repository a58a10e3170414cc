"""What holds for every venue in markets/venues, and for those that need nothing from outside."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import ModuleType

import pytest
from pydantic import BaseModel

import markets.venues
from markets.model import Listing, MarketId, Resolution
from markets.registry import load, names
from markets.venue import Venue
from tests.builders import listed, result_of

HOME = Path(markets.venues.__path__[0])
SUNDAYS = [datetime(2026, 1, 4, tzinfo=UTC) + timedelta(weeks=n) for n in range(0, 22, 3)]


EVERY = [load("markets.venues", name) for name in names(HOME)]
ALONE = [module for module in EVERY if module.stamp == "simulated"]
"""The others need a server or a recording, and meet them in tests of their own."""


@pytest.fixture(params=ALONE, ids=lambda module: module.__name__, scope="module")
def module(request: pytest.FixtureRequest) -> ModuleType:
    found: ModuleType = request.param
    return found


@pytest.fixture(scope="module")
def venue(module: ModuleType) -> Venue:
    made: Venue = module.venue(module.Settings())
    return made


def catalogue(venue: Venue, at: datetime) -> list[Listing]:
    return result_of(listed(venue, at))


def seen(venue: Venue) -> list[MarketId]:
    return sorted({x.market.id for at in SUNDAYS for x in catalogue(venue, at)})


@pytest.mark.parametrize("module", EVERY, ids=lambda module: module.__name__)
def test_settings_are_frozen_and_know_their_keys(module: ModuleType) -> None:
    assert issubclass(module.Settings, BaseModel)
    assert module.Settings.model_config["extra"] == "forbid"
    assert module.Settings.model_config["frozen"]


@pytest.mark.parametrize("module", [x for x in EVERY if x.stamp != "replay"], ids=lambda x: x.__name__)
def test_settings_have_defaults(module: ModuleType) -> None:
    assert module.Settings() == module.Settings.model_validate(module.Settings().model_dump())


@pytest.mark.parametrize("module", EVERY, ids=lambda module: module.__name__)
def test_it_says_what_its_results_are_worth(module: ModuleType) -> None:
    assert module.stamp in ("live", "replay", "simulated")


def test_the_catalogue_holds_open_markets_once_each(module: ModuleType, venue: Venue) -> None:
    name = module.__name__.rpartition(".")[2]
    assert seen(venue)
    for at in SUNDAYS:
        listings = catalogue(venue, at)
        assert len({x.market.id for x in listings}) == len(listings)
        for listing in listings:
            market = listing.market
            assert market.id.startswith(f"{name}:")
            assert market.opens_at <= at < market.closes_at
            assert market.question
            assert market.rules
            assert market.category
            assert market.event_id


def test_quotes_belong_to_their_market_and_are_never_from_the_future(venue: Venue) -> None:
    for at in SUNDAYS:
        for listing in result_of(venue.listings(at, seen(venue))):
            if listing.quote is not None:
                assert listing.quote.market_id == listing.market.id
                assert listing.quote.at <= min(at, listing.market.closes_at)


def test_listings_agree_with_the_catalogue_in_the_order_asked_for(venue: Venue) -> None:
    for at in SUNDAYS:
        listed = catalogue(venue, at)
        backwards = [x.market.id for x in reversed(listed)]
        assert result_of(venue.listings(at, backwards)) == list(reversed(listed))


def test_what_was_shown_can_be_asked_for_ever_after(venue: Venue) -> None:
    shown = [x.market.id for x in catalogue(venue, SUNDAYS[0])]
    for at in SUNDAYS:
        assert [x.market.id for x in result_of(venue.listings(at, shown))] == shown


def test_resolutions_come_after_the_close_and_stay(venue: Venue) -> None:
    known: list[Resolution] = []
    for at in SUNDAYS:
        now = result_of(venue.resolutions(at, seen(venue)))
        assert all(end.known_at <= at for end in now)
        assert set(known) <= set(now)
        open_now = {x.market.id for x in catalogue(venue, at)}
        assert not open_now & {end.market_id for end in now}
        known = now
    assert known


def test_only_what_was_asked_for_is_answered(venue: Venue) -> None:
    last = SUNDAYS[-1]
    one = seen(venue)[0]
    assert {x.market.id for x in result_of(venue.listings(last, [one]))} <= {one}
    assert {x.market_id for x in result_of(venue.resolutions(last, [one]))} <= {one}
    assert result_of(venue.listings(last, [])) == []
    assert result_of(venue.resolutions(last, [])) == []


def test_the_same_question_has_the_same_answer_whatever_was_asked_between(
    module: ModuleType, venue: Venue
) -> None:
    fresh: Venue = module.venue(module.Settings())
    assert catalogue(fresh, SUNDAYS[2]) == catalogue(venue, SUNDAYS[2])
    catalogue(fresh, SUNDAYS[-1])
    assert catalogue(fresh, SUNDAYS[2]) == catalogue(venue, SUNDAYS[2])
