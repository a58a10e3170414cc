"""A recording as a venue: the contract of all venues, and nobody knows more than could be known."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

import pytest

from markets.bundle import BadBundle, read
from markets.model import Listing, MarketId, Resolution
from markets.venue import Venue, VenueError
from markets.venues import simulator
from markets.venues.recorded import LATEST_END, NO_BET, RecordedVenue, Settings, stamp, venue
from tests.builders import listed, result_of, usd
from tests.bundles import a_bundle, ended, on, page, simulated

A = MarketId("v:a")
B = MarketId("v:b")
START = datetime(2026, 1, 4, tzinfo=UTC)
TIMES = [START + timedelta(hours=31 * n) for n in range(60)]
DAILY = [f"v,a,2026-01-{day:02},0.{day:02}" for day in range(3, 20)]


def recorded(folder: Path, *lines: Any, **more: Any) -> RecordedVenue:
    a_bundle(folder, *lines, **more)
    return venue(Settings(path=folder))


def offered(world: Venue, at: datetime) -> dict[MarketId, int | None]:
    """Return the markets on offer with their mids."""
    return {x.market.id: x.mid for x in result_of(listed(world, at))}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return simulated(tmp_path_factory.mktemp("recording"))


@pytest.fixture(scope="module")
def world(folder: Path) -> RecordedVenue:
    return venue(Settings(path=folder))


def everything(world: Venue, at: datetime, ids: list[MarketId]) -> tuple[list[Listing], list[Resolution]]:
    return result_of(world.listings(at, ids)), result_of(world.resolutions(at, ids))


def test_it_says_what_its_results_are_worth() -> None:
    assert stamp == RecordedVenue.stamp == "replay"


def test_a_recorded_simulation_looks_as_the_simulation_did(world: RecordedVenue, folder: Path) -> None:
    made = simulator.venue(simulator.Settings(weeks=8, markets=30, events=12))
    ids = sorted(read(folder).markets)
    assert len(ids) == 30
    for at in [START + timedelta(days=n) for n in range(70)]:
        listings, ends = everything(made, at, ids)
        known = {end.market_id for end in ends}
        assert everything(world, at, ids) == (listings, ends)
        assert offered(world, at) == {m: p for m, p in offered(made, at).items() if m not in known}


def test_nothing_is_known_early_and_the_answers_do_not_depend_on_what_was_asked_before(
    world: RecordedVenue, folder: Path
) -> None:
    ids = sorted(read(folder).markets)
    fresh = venue(Settings(path=folder))
    before = [everything(world, at, ids) for at in TIMES]
    assert [everything(fresh, at, ids) for at in reversed(TIMES)] == before[::-1]
    for at, (listings, ends) in zip(TIMES, before, strict=True):
        assert all(x.quote is None or x.quote.at <= at for x in listings)
        assert all(x.market.opens_at <= at for x in listings)
        assert all(end.known_at <= at for end in ends)


def test_listings_come_in_the_order_asked_for_and_only_those(world: RecordedVenue) -> None:
    shown = [x.market.id for x in result_of(listed(world, TIMES[5]))]
    assert len(shown) > 3
    asked = [*reversed(shown), MarketId("v:unknown")]
    assert [x.market.id for x in result_of(world.listings(TIMES[5], asked))] == shown[::-1]
    assert result_of(world.resolutions(TIMES[-1], [MarketId("v:unknown")])) == []


def test_a_daily_price_is_shown_from_the_day_after(tmp_path: Path) -> None:
    world = recorded(tmp_path, [page()], DAILY)
    assert offered(world, on(3, 23)) == {}
    assert offered(world, on(4)) == offered(world, on(4, 23)) == {A: usd("0.03")}
    assert offered(world, on(5)) == {A: usd("0.04")}


def test_a_market_is_on_offer_while_it_is_open_and_its_price_is_fresh(tmp_path: Path) -> None:
    pages = [page(open="2026-01-06T12:00:00Z", close="2026-01-08T12:00:00Z"), page("b")]
    world = recorded(tmp_path, pages, [*DAILY, "v,b,2026-01-03,0.5"])
    assert [A in offered(world, at) for at in (on(6), on(6, 12), on(8, 11), on(8, 12))] == [
        False, True, True, False,
    ]  # fmt: skip
    assert [B in offered(world, at) for at in (on(4), on(11), on(11, 1))] == [True, True, False]
    longer = venue(Settings(path=tmp_path, price_days=9))
    assert B in offered(longer, on(13))


def test_before_it_opens_nobody_knows_a_market_and_afterwards_it_stays_known(tmp_path: Path) -> None:
    world = recorded(tmp_path, [page(open="2026-01-06", close="2026-01-08")], DAILY)
    assert result_of(world.listings(on(5), [A])) == []
    late = result_of(world.listings(on(1, month=6), [A]))
    assert [(x.market.id, x.mid) for x in late] == [(A, usd("0.19"))]


def test_once_its_end_is_known_a_market_is_off_and_a_correction_is_known_at_its_time(tmp_path: Path) -> None:
    ends = ["v:a,2,2026-01-15T10:00:00Z,0,"]
    world = recorded(tmp_path, [page(**ended("2026-01-09", 1))], DAILY, ends=ends)
    assert result_of(world.resolutions(on(9, 23), [A])) == []
    assert [end.payout for end in result_of(world.resolutions(on(10), [A]))] == [usd(1)]
    assert [end.payout for end in result_of(world.resolutions(on(15, 10), [A]))] == [usd(1), 0]
    assert A in offered(world, on(9, 23))
    assert A not in offered(world, on(10))


@pytest.mark.parametrize(("end", "bets"), [("2026-01-26", True), ("2026-01-27", False)])
def test_one_that_ends_more_than_seven_days_after_its_last_price_is_shown_and_takes_no_bets(
    tmp_path: Path, end: str, bets: bool
) -> None:
    assert timedelta(days=7) == LATEST_END
    world = recorded(tmp_path, [page(**ended(end, 1))], DAILY)
    (listing,) = result_of(listed(world, on(10)))
    assert listing.market.min_shares == (0 if bets else NO_BET)


def test_where_every_time_is_exact_a_late_end_is_one_that_came_late(tmp_path: Path) -> None:
    exact = ["v,a,2026-01-09T12:00:00Z,0.4"]
    for known_at, least in (("2026-01-30T12:00:00Z", 0), ("2026-01-30", NO_BET)):
        world = recorded(tmp_path, [page()], exact, ends=[f"v:a,1,{known_at},1,"])
        assert [x.market.min_shares for x in result_of(listed(world, on(10)))] == [least]


def a_month(folder: Path, from_day: int, luck: str) -> RecordedVenue:
    """Return twelve markets with daily prices and ends; what is dated from a day on depends on the luck."""
    early = Random("before")
    late = Random(luck)
    prices = []
    pages = []
    for name in "abcdefghijkl":
        last = early.randrange(5, 25)
        payout = (late if last + 1 >= from_day else early).randrange(2)
        pages.append(page(name, **ended(f"2026-01-{last + 1:02}", payout)))
        for day in range(1, last + 1):
            chance = late if day >= from_day else Random(f"{name} {day}")
            prices.append(f"v,{name},2026-01-{day:02},0.{chance.randrange(10**6):06}")
    return recorded(folder, pages, prices)


@pytest.mark.parametrize("day", [4, 11, 18])
def test_what_is_dated_from_a_day_on_changes_nothing_until_that_day_is_over(tmp_path: Path, day: int) -> None:
    one, two = (a_month(tmp_path / luck, day, luck) for luck in ("one", "two"))
    ids = [MarketId(f"v:{name}") for name in "abcdefghijkl"]
    times = [on(1) + timedelta(hours=7 * n) for n in range(90)]
    same = [at for at in times if everything(one, at, ids) == everything(two, at, ids)]
    assert [at for at in times if at < on(day + 1)] == [at for at in same if at < on(day + 1)]
    assert not [at for at in same if at >= on(day + 1)]
    assert [offered(one, at) for at in same] == [offered(two, at) for at in same]


def test_a_bundle_with_mistakes_or_another_one_than_was_frozen_is_refused(tmp_path: Path) -> None:
    content = read(a_bundle(tmp_path)).content
    assert isinstance(venue(Settings(path=tmp_path, content=content)), RecordedVenue)
    a_bundle(tmp_path, prices=["v,a,2026-01-03,0.41"])
    with pytest.raises(VenueError) as caught:
        venue(Settings(path=tmp_path, content=content))
    assert caught.value.code == "other_bundle"
    with pytest.raises(BadBundle):
        venue(Settings(path=tmp_path / "nowhere"))


def test_where_it_lies_is_not_part_of_what_it_is() -> None:
    assert Settings(path=Path("anywhere")).model_dump(mode="json") == {"content": "", "price_days": 7}
