"""What else can be set of a simulated season: news, late, odd and corrected ends, silence and outages."""

import asyncio
import re
from collections.abc import Awaitable, Iterable
from datetime import UTC, date, datetime, timedelta
from functools import cache
from itertools import pairwise
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from markets.hashes import canonical, digest, plain_value
from markets.millionths import ONE
from markets.model import Listing, MarketId, Resolution
from markets.simulation.settings import PlainSettings, code, seeded_chance
from markets.simulation.world import build_world
from markets.venue import VenueError
from markets.venues.simulator import Settings, Simulator, venue
from tests.builders import listed
from tests.markets.simulation.test_simulator import without_other_kinds

START = datetime(2026, 1, 4, tzinfo=UTC)
END = START + timedelta(weeks=60)
SUNDAYS = [START + timedelta(weeks=n) for n in range(20)]
HOUR = timedelta(hours=1)
DAY = timedelta(days=1)
WIDE: dict[str, Any] = {
    "exclusive_share": 0.3, "ladder_share": 0.3, "jump_rate": 0.05, "fraction_share": 0.1,
    "delay_share": 0.3, "corrected_share": 0.2, "unquoted_rate": 0.1, "outage_rate": 0.1,
}  # fmt: skip


def a_season(**chosen: Any) -> Simulator:
    return season(Settings(**{"markets": 100, "events": 40} | chosen))


@cache
def season(chosen: Settings) -> Simulator:
    return venue(chosen)


def catalogue(world: Simulator, at: datetime) -> list[Listing]:
    return asyncio.run(listed(world, at))


@cache
def shown(world: Simulator) -> dict[MarketId, Listing]:
    """Return every market that was ever on offer on a Sunday, as it was first seen."""
    found = [listing for at in reversed(SUNDAYS) for listing in catalogue(world, at)]
    return {listing.market.id: listing for listing in found}


def ends(world: Simulator, at: datetime = END) -> dict[MarketId, list[Resolution]]:
    """Return all versions of how each market ended that are known by then."""
    found: dict[MarketId, list[Resolution]] = {market: [] for market in shown(world)}
    for end in asyncio.run(world.resolutions(at, list(found))):
        found[end.market_id].append(end)
    return found


def test_what_is_off_is_not_spoken_of_and_what_is_on_names_another_world() -> None:
    for key, value in WIDE.items():
        off = Settings.model_validate({key: 0})
        wide = Settings.model_validate({key: value})
        assert off == Settings()
        assert set(off.model_dump()) == set(PlainSettings.model_fields)
        assert Settings.model_validate(wide.model_dump(mode="json")) == wide
        assert wide.model_dump()[key] == value
        assert code(wide) != code(Settings())


@pytest.mark.parametrize(
    ("chosen", "said"),
    [
        ({"exclusive_share": 0.6, "ladder_share": 0.6}, "exclusive_share and ladder_share are parts"),
        ({"half_share": 0.5, "fraction_share": 0.6}, "half_share and fraction_share are parts"),
        ({"start": date(9999, 12, 30)}, "start is 9999-12-30: it lies between 1900-01-01"),
        ({"outage_rate": 1.5}, "outage_rate"),
        ({"own_step": float("inf")}, "own_step"),
        ({"delay_days": 0}, "delay_days"),
    ],
)  # fmt: skip
def test_settings_without_sense_are_refused_by_name(chosen: dict[str, Any], said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        Settings(**chosen)


def steps(world: Simulator) -> list[int]:
    """Return how far the truth of each market moved from Sunday to Sunday."""
    found = []
    for market, listing in shown(world).items():
        times = [at for at in SUNDAYS if listing.market.opens_at <= at < listing.market.closes_at]
        found += [abs(world.truth(market, a) - world.truth(market, b)) for a, b in pairwise(times)]
    return found


def test_news_moves_the_truth_at_one_go() -> None:
    calm = steps(a_season())
    newsy = steps(a_season(jump_rate=0.03, jump_size=2.5))
    assert max(calm) < 250_000
    assert sum(step > 300_000 for step in newsy) > 10
    assert sum(step < 100_000 for step in newsy) > len(newsy) / 2


def test_a_fraction_pays_whole_cents() -> None:
    world = a_season(refund_share=0, half_share=0, fraction_share=1)
    paid = [versions[-1].payout for versions in ends(world).values()]
    assert all(x is not None and 0 < x < ONE and x % 10_000 == 0 for x in paid)
    assert len(set(paid)) > 30


def waits(world: Simulator) -> list[timedelta]:
    """Return how long after its close the end of each market is known."""
    pages = {market: listing.market.closes_at for market, listing in shown(world).items()}
    return [versions[0].known_at - pages[market] for market, versions in ends(world).items()]


def test_late_ends_are_late_by_days_and_the_others_by_hours() -> None:
    found = waits(a_season(delay_share=0.4, delay_days=10))
    late = [wait for wait in found if wait > 30 * HOUR]
    assert abs(len(late) - 0.4 * len(found)) < 4 * (0.24 * len(found)) ** 0.5
    assert all(DAY <= wait <= 10 * DAY + 30 * HOUR for wait in late)
    assert max(found) > 8 * DAY
    assert max(waits(a_season())) <= 30 * HOUR


def test_a_market_whose_end_is_late_is_closed_and_unresolved_meanwhile() -> None:
    world = a_season(delay_share=1, delay_days=10)
    for market, listing in shown(world).items():
        after = listing.market.closes_at + 23 * HOUR
        assert market not in {x.market.id for x in catalogue(world, after)}
        assert asyncio.run(world.resolutions(after, [market])) == []
        assert len(asyncio.run(world.listings(after, [market]))) == 1


def test_a_corrected_end_is_wrong_first_and_right_days_later() -> None:
    world = a_season(corrected_share=0.3, corrected_days=5)
    plain = a_season()
    right = {name(market): versions[0].payout for market, versions in ends(plain).items()}
    corrected = [versions for versions in ends(world).values() if len(versions) > 1]
    assert abs(len(corrected) - 0.3 * len(right)) < 4 * (0.21 * len(right)) ** 0.5
    for market, versions in ends(world).items():
        assert [end.version for end in versions] == list(range(1, len(versions) + 1))
        assert versions[-1].payout == right[name(market)]
    for first, second in corrected:
        assert first.payout in (0, ONE)
        assert first.payout != second.payout
        assert DAY <= second.known_at - first.known_at <= 5 * DAY
        before = second.known_at - timedelta(seconds=1)
        assert asyncio.run(world.resolutions(before, [first.market_id])) == [first]


def name(market: MarketId) -> str:
    """Return a market's name without its world."""
    return market.rpartition(":")[2]


def test_a_silent_market_has_a_page_and_no_quote_for_the_day() -> None:
    world = a_season(unquoted_rate=0.2)
    loud = a_season()
    silent = 0
    for at in SUNDAYS:
        for here, there in zip(catalogue(world, at), catalogue(loud, at), strict=True):
            assert here.market.question == there.market.question
            silent += here.quote is None
            later = asyncio.run(world.listings(at + 23 * HOUR, [here.market.id]))[0]
            if here.market.closes_at > at + DAY:
                assert (later.quote is None) == (here.quote is None)
            if here.quote is not None and there.quote is not None:
                assert (here.quote.bid, here.quote.asks) == (there.quote.bid, there.quote.asks)
    total = sum(len(catalogue(world, at)) for at in SUNDAYS)
    assert abs(silent - 0.2 * total) < 4 * (0.16 * total) ** 0.5


def outages(world: Simulator, times: Iterable[datetime]) -> list[VenueError | None]:
    """Return the errors of an outage at these times, after checking that every call raises the same."""

    async def asked() -> list[list[VenueError | None]]:
        return [[await refused(ask) for ask in doors(at)] for at in times]

    def doors(at: datetime) -> tuple[Awaitable[object], ...]:
        return listed(world, at), world.listings(at, []), world.resolutions(at, [])

    async def refused(answer: Awaitable[object]) -> VenueError | None:
        try:
            await answer
        except VenueError as error:
            return error
        return None

    found = asyncio.run(asked())
    assert all(len({error is None for error in doors}) == 1 for doors in found)
    return [first for first, *_ in found]


def is_out(world: Simulator, at: datetime) -> VenueError | None:
    return outages(world, [at])[0]


def test_an_outage_shuts_every_door_until_it_is_over() -> None:
    world = a_season(markets=2, events=2, outage_rate=0.3, outage_hours=8)
    out = outages(world, [START + n * HOUR for n in range(20 * 24)])
    said = [error for error in out if error is not None]
    assert 0.03 < len(said) / len(out) < 0.09  # 0.3 a day and 4.5 hours each make 0.056
    longest = run = 0
    for error in out:
        run = run + 1 if error else 0
        longest = max(longest, run)
    assert 4 <= longest <= 16  # hours: one outage lasts 8 at most, two may touch
    assert {error.code for error in said} == {"unreachable"}


def test_an_outage_says_when_it_is_over() -> None:
    world = a_season(markets=2, events=2, outage_rate=0.1, outage_hours=40)
    error = next(error for error in outages(world, [START + n * HOUR for n in range(500)]) if error)
    assert re.fullmatch(r"the simulated venue is down at 2026-\d\d-\d\d \d\d:00 UTC", error.message)
    back = re.match(r"it is back at (\S+ \S+) UTC;", error.hint)
    assert back is not None
    at = datetime.fromisoformat(back[1]).replace(tzinfo=UTC)
    assert is_out(world, at) is None
    assert is_out(world, at - timedelta(minutes=1)) is not None


def test_a_large_season_is_built_without_a_day_being_worked_out() -> None:
    drawn: list[str] = []

    def counted(purpose: str, day: date) -> Random:
        drawn.append(purpose)
        return seeded_chance(1)(purpose, day)

    world = build_world(Settings(markets=10_000, events=3_000, **WIDE), counted)
    assert len(world) == 10_000
    assert len({life.market.event_id for life in world.values()}) == 3_000
    assert len(drawn) <= 3 * 3_000 + 1


def test_no_day_is_worked_out_before_it_has_come() -> None:
    days: list[date] = []

    def watched(purpose: str, day: date) -> Random:
        days.append(day)
        return seeded_chance(1)(purpose, day)

    world = Simulator(Settings(markets=60, events=20, **WIDE), watched)
    days.clear()
    for at in (at for at in SUNDAYS if is_out(world, at) is None):
        ids = [listing.market.id for listing in catalogue(world, at)]
        asyncio.run(world.resolutions(at, ids))
        assert max(days) <= at.date()
    assert len(days) > 1_000


@pytest.mark.parametrize("days", [16, *(pytest.param(day, marks=pytest.mark.thorough) for day in (0, 61))])
def test_nothing_that_a_wide_season_shows_depends_on_a_later_day(days: int) -> None:
    chosen = Settings(**WIDE | {"outage_rate": 0})
    last = START.date() + timedelta(days)

    def forked(purpose: str, day: date) -> Random:
        return seeded_chance(1 if day <= last else 2)(purpose, day)

    one = season(chosen)
    other = Simulator(chosen, forked)
    ids = list(shown(one))
    for at in (START, START + timedelta(days=days // 2, hours=15), START + timedelta(days=days, hours=23.9)):
        assert catalogue(one, at) == catalogue(other, at)
        assert asyncio.run(one.resolutions(at, ids)) == asyncio.run(other.resolutions(at, ids))
    assert catalogue(one, at + 2 * DAY) != catalogue(other, at + 2 * DAY)


def test_a_wide_season_is_pinned() -> None:
    world = a_season(**WIDE)
    times = [at for at in SUNDAYS if is_out(world, at) is None]
    listings = [catalogue(world, at) for at in times]
    truths = [
        [world.truth(x.market.id, at) for x in found] for found, at in zip(listings, times, strict=True)
    ]
    ids = sorted({listing.market.id for found in listings for listing in found})
    late = next(at for at in (END, END + 12 * HOUR, END + DAY) if is_out(world, at) is None)
    ended = asyncio.run(world.resolutions(late, ids))
    assert (
        digest(without_other_kinds(plain_value([times, listings, truths, ended])))
        == "cc83201c84b9b677a3911f6a036ad180c3c67cfd4f6ed1963e2ec5faf1c0cbc1"
    )


@settings(max_examples=15)
@given(st.integers(0, 2**40), st.sampled_from(["plain", "exclusive_share", "ladder_share"]), st.floats(0, 2))
def test_the_truth_is_nowhere_in_what_is_shown(seed: int, family: str, noise: float) -> None:
    """No number of a page or a quote is the true probability, to the millionth, of any market."""
    more: dict[str, Any] = {} if family == "plain" else {family: 1}
    world = venue(Settings(seed=seed, markets=30, events=10, price_noise=noise, **more))
    for at in SUNDAYS[:3]:
        found = catalogue(world, at)
        numbers = set(re.findall(r"\d+", canonical(found)))
        hidden = {world.truth(listing.market.id, at) for listing in found}
        assert not {str(p) for p in hidden if p > 10_000 and p % 5_000} & numbers
