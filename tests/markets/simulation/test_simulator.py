"""The simulated season: the same everywhere, legal throughout, and blind to what is to come."""

import asyncio
import os
import re
import subprocess
import sys
from collections import Counter
from datetime import UTC, date, datetime, timedelta
from functools import cache
from itertools import pairwise
from random import Random
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from markets.hashes import digest, plain_value
from markets.millionths import ONE
from markets.model import Listing, MarketId, Resolution
from markets.simulation.settings import seeded_chance
from markets.venues.simulator import Settings, Simulator, venue
from tests.builders import listed

START = datetime(2026, 1, 4, tzinfo=UTC)
END = START + timedelta(weeks=21)
SUNDAYS = [START + timedelta(weeks=n) for n in range(20)]
THOROUGH = os.environ.get("THOROUGH") == "1"
HOURS = [START + timedelta(hours=53 * n) for n in range(0, 66, 1 if THOROUGH else 3)]
LOOKS = [START + timedelta(hours=149 * n) for n in range(24)]
"""Often enough to see every market: none is open for less than a week."""
LINE = re.compile(
    r"- (\d{4}-\d\d-\d\d): (a careful panel|an analyst|a rumour) puts the chance at ([1-9]\d?)%\."
)


def catalogue(world: Simulator, at: datetime) -> list[Listing]:
    return asyncio.run(listed(world, at))


@cache
def season(seed: int) -> Simulator:
    return venue(Settings(seed=seed))


@cache
def everything(world: Simulator) -> list[Listing]:
    """Return every market that ever was, as its page read in the end."""
    ids = sorted({x.market.id for at in LOOKS for x in catalogue(world, at)})
    return asyncio.run(world.listings(END, ids))


def ends(world: Simulator, at: datetime = END) -> list[Resolution]:
    return asyncio.run(world.resolutions(at, [x.market.id for x in everything(world)]))


def fingerprint(seed: int) -> str:
    """Return one text for all that a season shows on its Sundays."""
    world = venue(Settings(seed=seed))
    listings = [catalogue(world, at) for at in SUNDAYS]
    truths = [
        [world.truth(x.market.id, at) for x in found] for found, at in zip(listings, SUNDAYS, strict=True)
    ]
    return digest(without_other_kinds(plain_value([listings, truths, ends(world)])))


def without_other_kinds(value: Any) -> Any:
    """Leave out what only questions of other kinds than yes or no have, as hashes of the record do."""
    if isinstance(value, list):
        return [without_other_kinds(part) for part in value]
    if not isinstance(value, dict):
        return value
    kept = {key: part for key, part in value.items() if part != "" or key not in ("form", "answer")}
    return {key: without_other_kinds(part) for key, part in kept.items()}


@pytest.fixture(scope="module")
def world() -> Simulator:
    return season(1)


def test_the_season_of_a_seed_is_pinned_whatever_hash_seed_and_time_zone() -> None:
    pinned = "b93e9611c9f0082c19135d2f017c702b1269d42281c84df7e0b4335eb9c1c4ea"
    code = "import runpy, sys; print(runpy.run_path(sys.argv[1])['fingerprint'](1))"
    for hash_seed, zone in (("1", "Asia/Kolkata"), ("2", "America/St_Johns"))[: 2 if THOROUGH else 1]:
        env = {**os.environ, "PYTHONHASHSEED": hash_seed, "TZ": zone, "PYTHONPATH": os.pathsep.join(sys.path)}
        done = subprocess.run([sys.executable, "-c", code, __file__], env=env, capture_output=True, text=True)
        assert (done.stdout.strip(), done.stderr) == (pinned, "")


def ids(settings: Settings) -> set[str]:
    found = [x.market for x in everything(venue(settings))]
    return {market.id for market in found} | {market.event_id for market in found}


def test_worlds_of_different_settings_share_no_id() -> None:
    one = ids(Settings(seed=1, markets=9, events=4))
    assert one == ids(Settings(seed=1, markets=9, events=4))
    assert len(one) == 13
    for other in (Settings(seed=2, markets=9, events=4), Settings(markets=9, events=4, spread=2)):
        assert not one & ids(other)


def test_seasons_of_one_seed_draw_alike_whatever_else_is_set() -> None:
    dear = venue(Settings(fee_rate=50_000))
    cheap = venue(Settings(fee_rate=0))
    for one, other in zip(catalogue(dear, START), catalogue(cheap, START), strict=True):
        assert (one.market.question, one.mid) == (other.market.question, other.mid)


def test_the_time_zone_of_the_question_does_not_matter(world: Simulator) -> None:
    at = SUNDAYS[4] + timedelta(hours=2)
    far = at.astimezone(ZoneInfo("America/St_Johns"))
    assert digest(catalogue(world, far)) == digest(catalogue(world, at))


def test_there_are_exactly_as_many_markets_and_events_as_asked_for(world: Simulator) -> None:
    found = everything(world)
    assert len(found) == 200
    assert len({x.market.event_id for x in found}) == 60


def test_small_seasons_add_up_too() -> None:
    for markets, events in ((1, 1), (6, 1), (7, 7), (25, 6)):
        found = everything(venue(Settings(markets=markets, events=events)))
        assert len(found) == markets
        assert len({x.market.event_id for x in found}) == events


def test_some_are_refunded_and_some_pay_half() -> None:
    kinds = Counter(end.payout for seed in range(1, 6) for end in ends(season(seed)))
    assert set(kinds) == {0, ONE, ONE // 2, None}
    assert 8 <= kinds[None] <= 35
    assert 2 <= kinds[ONE // 2] <= 22


def test_a_resolution_is_known_at_the_close_or_shortly_after(world: Simulator) -> None:
    closes = {x.market.id: x.market.closes_at for x in everything(world)}
    assert all(
        timedelta(0) <= end.known_at - closes[end.market_id] <= timedelta(hours=30) for end in ends(world)
    )


def test_prices_are_legal_on_every_day(world: Simulator) -> None:
    for at in HOURS:
        for listing in catalogue(world, at):
            assert_legal(listing)


def assert_legal(listing: Listing) -> None:
    quote = listing.quote
    tick = listing.market.tick
    assert quote is not None
    assert quote.bid is not None
    assert quote.ask is not None
    assert quote.mid is not None
    bids = [x.price for x in quote.bids]
    asks = [x.price for x in quote.asks]
    assert 0 < quote.bid < quote.mid < quote.ask < ONE
    assert 2 * quote.mid == quote.bid + quote.ask
    assert (bids[0], asks[0]) == (quote.bid, quote.ask)
    assert bids == sorted(set(bids), reverse=True)
    assert asks == sorted(set(asks))
    assert all(price % tick == 0 and 0 < price < ONE for price in bids + asks)
    assert 1 <= len(bids) <= 3
    assert 1 <= len(asks) <= 3
    assert all(level.shares > 0 for level in quote.bids + quote.asks)
    assert quote.last in (quote.bid, quote.ask)


def test_prices_and_truths_move_within_the_day_and_little_by_little(world: Simulator) -> None:
    ids = [x.market.id for x in catalogue(world, SUNDAYS[3]) if x.market.closes_at > SUNDAYS[4]][:20]
    quarters = [SUNDAYS[3] + timedelta(minutes=15 * n) for n in range(4 * 24 + 9)]
    for market in ids:
        truths = [world.truth(market, at) for at in quarters]
        assert len(set(truths)) > 0.95 * len(quarters)
        steps = [abs(b - a) for a, b in pairwise(truths)]
        assert max(steps) < 20_000, "midnights too"
    looks = [asyncio.run(world.listings(at, ids)) for at in quarters]
    moved = sum(a.mid != b.mid for one, next_ in pairwise(looks) for a, b in zip(one, next_, strict=True))
    pages = [[x.market.rules for x in found] for found in looks]
    assert any(a != b for n, (a, b) in enumerate(pairwise(pages)) if (n + 1) % 96), (
        "evidence, not at midnight"
    )
    assert 0.02 < moved / len(ids) / len(quarters) < 0.5


def test_however_often_it_is_looked_at_it_is_the_same_world(world: Simulator) -> None:
    at = SUNDAYS[5] + timedelta(hours=7, minutes=15)
    watched = season(2)
    fresh = venue(Settings(seed=2))
    for n in range(50):
        catalogue(watched, at + timedelta(hours=2 * n - 70))
    assert digest(catalogue(watched, at)) == digest(catalogue(fresh, at))


def test_the_truth_is_calibrated_weeks_before_the_end() -> None:
    """The likely comes true as often as it should, neither more nor less."""
    lean, spread = 0.0, 0.0
    for seed in range(1, 6):
        world = venue(Settings(seed=seed, own_step=0.3))
        closes = {x.market.id: x.market.closes_at for x in everything(world)}
        for end in ends(world):
            if end.outcome is not None:
                p = world.truth(end.market_id, closes[end.market_id] - timedelta(weeks=4)) / ONE
                lean += (end.outcome - p) * (p - 0.5)
                spread += p * (1 - p) * (p - 0.5) ** 2
    assert abs(lean) < 3 * spread**0.5


def test_the_page_of_a_closed_market_stands_still(world: Simulator) -> None:
    for listing in everything(world):
        assert listing.quote is not None
        closed = listing.market.closes_at
        assert listing.quote.at == closed
        assert asyncio.run(world.listings(closed, [listing.market.id])) == [listing]


def test_a_market_not_open_yet_is_unknown(world: Simulator) -> None:
    late = max((x.market for x in everything(world)), key=lambda market: market.opens_at)
    before = late.opens_at - timedelta(seconds=1)
    assert asyncio.run(world.listings(before, [late.id, MarketId("simulator:none")])) == []
    assert len(asyncio.run(world.listings(late.opens_at, [late.id]))) == 1


def test_evidence_follows_the_grammar_and_is_not_from_the_future(world: Simulator) -> None:
    for at in HOURS:
        for listing in catalogue(world, at):
            lines = [line for line in listing.market.rules.splitlines() if line.startswith("-")]
            said = [LINE.fullmatch(line) for line in lines]
            assert said
            dates = [date.fromisoformat(match[1]) for match in said if match]
            assert len(dates) == len(lines)
            assert dates == sorted(set(dates))
            assert dates[-1] <= at.date()


def test_evidence_is_only_ever_added_and_volume_only_grows(world: Simulator) -> None:
    pages: dict[MarketId, str] = {}
    volumes: dict[MarketId, int] = {}
    for at in HOURS:
        for listing in catalogue(world, at):
            assert listing.market.rules.startswith(pages.get(listing.market.id, ""))
            pages[listing.market.id] = listing.market.rules
            volume = (listing.quote and listing.quote.volume) or 0
            assert volume >= volumes.get(listing.market.id, 0)
            volumes[listing.market.id] = volume
    assert sum(page.count("\n- ") for page in pages.values()) / len(pages) > 4


DAYS = [1, 60, *(pytest.param(day, marks=pytest.mark.thorough) for day in (0, 17, 118))]


@pytest.mark.parametrize("days", DAYS)
def test_nothing_that_is_shown_depends_on_a_later_day(days: int) -> None:
    """Two worlds that draw alike up to a day, and each on its own from then on, look alike till then."""
    last = START.date() + timedelta(days)

    def forked(purpose: str, day: date) -> Random:
        return seeded_chance(1 if day <= last else 2)(purpose, day)

    one = season(1)
    other = Simulator(Settings(), forked)
    ids = [x.market.id for x in everything(one)]
    for at in (START, START + timedelta(days=days // 2, hours=15), START + timedelta(days=days, hours=23.9)):
        assert catalogue(one, at) == catalogue(other, at)
        assert asyncio.run(one.listings(at, ids)) == asyncio.run(other.listings(at, ids))
        assert ends(one, at) == ends(other, at)
    assert catalogue(one, at + timedelta(days=2)) != catalogue(other, at + timedelta(days=2))


def test_outcomes_follow_the_last_true_probability() -> None:
    gap, spread = 0.0, 0.0
    for seed in range(1, 6):
        world = season(seed)
        for end in ends(world):
            if end.outcome is not None:
                p = world.truth(end.market_id, END) / ONE
                gap += end.outcome - p
                spread += p * (1 - p)
    assert abs(gap) < 3 * spread**0.5
