"""Events whose markets belong together: exclusive outcomes add up, ladders fall, and so do their ends."""

import asyncio
import os
from collections import defaultdict
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from markets.ladders import event_key
from markets.millionths import ONE
from markets.model import Listing, Resolution
from markets.simulation.settings import LARGEST_EVENT
from markets.venues.simulator import Settings, Simulator, venue
from tests.builders import listed

START = datetime(2026, 1, 4, tzinfo=UTC)
END = START + timedelta(weeks=30)
THOROUGH = os.environ.get("THOROUGH") == "1"
SUNDAYS = [START + timedelta(weeks=n) for n in range(20)]
TIMES = [START + timedelta(hours=53 * n) for n in range(0, 66, 1 if THOROUGH else 3)]
WHOLE: dict[str, Any] = {"refund_share": 0, "half_share": 0}
EXCLUSIVE = Settings(markets=120, events=36, exclusive_share=1, jump_rate=0.05, **WHOLE)
LADDERS = Settings(markets=120, events=36, ladder_share=1, jump_rate=0.05, **WHOLE)
Event = list[Listing]


@cache
def world(chosen: Settings) -> Simulator:
    return venue(chosen)


def open_events(chosen: Settings, at: datetime) -> list[Event]:
    """Return the markets on offer by event, for events with several."""
    events: dict[str, Event] = defaultdict(list)
    for listing in asyncio.run(listed(world(chosen), at)):
        events[listing.market.event_id].append(listing)
    return [event for event in events.values() if len(event) > 1]


@cache
def all_events(chosen: Settings) -> list[Event]:
    """Return every event with several markets that there ever is."""
    found = {event[0].market.event_id: event for at in SUNDAYS for event in open_events(chosen, at)}
    return list(found.values())


def truths(chosen: Settings, event: Event, at: datetime) -> list[int]:
    return [world(chosen).truth(listing.market.id, at) for listing in event]


def ends(chosen: Settings, event: Event, at: datetime = END) -> list[Resolution]:
    return asyncio.run(world(chosen).resolutions(at, [listing.market.id for listing in event]))


def payouts(chosen: Settings, event: Event) -> list[int | None]:
    """Return what each pays in the end."""
    last = {end.market_id: end.payout for end in ends(chosen, event)}
    assert len(last) == len(event)
    return [last[listing.market.id] for listing in event]


def falls(values: Iterable[int | float | None]) -> bool:
    return all(
        before is not None and after is not None and before >= after for before, after in pairwise(values)
    )


def test_there_is_something_to_test() -> None:
    assert len(all_events(EXCLUSIVE)) > 25
    assert len(all_events(LADDERS)) > 25


def test_prices_of_exclusive_outcomes_sum_to_about_one() -> None:
    """Each is at most three ticks off: rounded down to one, half a spread away, or kept off the edge."""
    for at in TIMES:
        for event in open_events(EXCLUSIVE, at):
            total = sum(listing.mid or 0 for listing in event)
            assert abs(total - ONE) <= len(event) * 30_000


def test_prices_of_a_ladder_fall_but_for_ticks_and_spreads() -> None:
    for at in TIMES:
        for event in open_events(LADDERS, at):
            mids = [listing.mid or 0 for listing in event]
            assert all(after - before <= 30_000 for before, after in pairwise(mids))


def test_a_ladder_moves() -> None:
    moved = 0
    for event in all_events(LADDERS):
        market = event[0].market
        first, last = (world(LADDERS).truth(market.id, at) for at in (market.opens_at, market.closes_at))
        moved += abs(first - last) > 50_000
    assert moved > len(all_events(LADDERS)) / 3


def test_the_questions_of_a_ladder_are_known_for_one_and_those_of_a_contest_are_not() -> None:
    for event in all_events(LADDERS):
        assert len({event_key(listing.market.question) for listing in event}) == 1
    for event in all_events(EXCLUSIVE):
        assert len({event_key(listing.market.question) for listing in event}) == len(event)


def test_questions_differ_within_an_event_whatever_it_asks() -> None:
    seen = set()
    for chosen in (EXCLUSIVE, LADDERS):
        for event in all_events(chosen):
            seen.add(event[0].market.category)
            assert len({listing.market.question for listing in event}) == len(event)
            assert not any("{" in listing.market.question for listing in event)
    assert len(seen) == 6


def test_odd_ends_of_a_contest_are_shared_or_voided_as_one() -> None:
    chosen = EXCLUSIVE.model_copy(update={"refund_share": 0.3, "half_share": 0.3, "fraction_share": 0.3})
    kinds = set()
    for event in all_events(chosen):
        found = [paid for paid in payouts(chosen, event) if paid is not None]
        assert len(found) in (0, len(event))
        assert sum(found) == (ONE if found else 0)
        kinds.add(
            "void" if not found else "whole" if ONE in found else "half" if 500_000 in found else "part"
        )
    assert kinds == {"void", "whole", "half", "part"}


def test_odd_ends_of_a_ladder_are_the_same_for_all_its_rungs() -> None:
    chosen = LADDERS.model_copy(update={"half_share": 0.4, "fraction_share": 0.6})
    found = [payouts(chosen, event) for event in all_events(chosen)]
    assert all(len(set(paid)) == 1 for paid in found)
    assert {paid[0] == ONE // 2 for paid in found} == {True, False}
    assert all(paid[0] is not None and paid[0] % 10_000 == 0 and 0 < paid[0] < ONE for paid in found)


def test_shares_of_families_are_about_those_asked_for() -> None:
    chosen = Settings(markets=300, events=100, weeks=4, exclusive_share=0.5, ladder_share=0.3)
    events = all_events(chosen)
    contests = sum("exactly one comes true" in event[0].market.rules for event in events)
    ladders = sum(len({event_key(x.market.question) for x in event}) == 1 for event in events)
    for count, share in ((contests, 0.5), (ladders, 0.3)):
        assert abs(count - share * len(events)) < 4 * (len(events) * share * (1 - share)) ** 0.5


def test_an_event_of_one_market_is_a_family_of_none() -> None:
    alone = Settings(markets=20, events=20)
    for family in ("exclusive_share", "ladder_share"):
        chosen = alone.model_copy(update={family: 1.0})
        for one, other in zip(
            asyncio.run(listed(world(alone), START)),
            asyncio.run(listed(world(chosen), START)),
            strict=True,
        ):
            assert (one.market.question, one.mid) == (other.market.question, other.mid)


@cache
def last_truths(chosen: Settings) -> list[list[tuple[float, int]]]:
    """Return, event by event, the last true probability of each market and how it ended."""
    return [
        [
            (world(chosen).truth(listing.market.id, END) / ONE, 1 if paid == ONE else 0)
            for listing, paid in zip(event, payouts(chosen, event), strict=True)
        ]
        for event in all_events(chosen)
    ]


@pytest.mark.parametrize("more", [{"exclusive_share": 1}, {"ladder_share": 1}, {"jump_rate": 0.05}], ids=str)
def test_outcomes_come_true_as_often_as_the_truth_says(more: dict[str, Any]) -> None:
    """In bands of the truth, give or take four standard deviations; one market an event, so all are apart."""
    size = 400 if THOROUGH else 150
    chosen = Settings(markets=3 * size, events=size, weeks=6, own_step=0.2, **WHOLE | more)
    alone = [event[number % len(event)] for number, event in enumerate(last_truths(chosen))]
    assert len(alone) > 0.7 * size
    for low, high in ((0, 0.2), (0.2, 0.4), (0.4, 0.7), (0.7, 1)):
        band = [(p, outcome) for p, outcome in alone if low <= p < high]
        gap = sum(outcome - p for p, outcome in band)
        assert abs(gap) < 4 * sum(p * (1 - p) for p, _ in band) ** 0.5
        assert len(band) > size / 40


SHARES = st.sampled_from([0.0, 0.2, 0.5])


@settings(max_examples=25)
@given(
    st.integers(0, 2**40),
    st.integers(1, 6),
    st.floats(0, 1),
    SHARES,
    SHARES,
    SHARES,
    st.floats(0, 30),
    st.data(),
)
def test_every_season_is_coherent(
    seed: int,
    events: int,
    exclusive: float,
    refund: float,
    half: float,
    corrected: float,
    wild: float,
    data: st.DataObject,
) -> None:
    """Whatever is set: truths are probabilities that add up or fall, and so do the last versions of ends."""
    chosen = Settings(
        seed=seed, events=events, markets=data.draw(st.integers(events, LARGEST_EVENT * events)), weeks=3,
        exclusive_share=exclusive, ladder_share=1 - exclusive, refund_share=refund, half_share=half,
        corrected_share=corrected, own_step=wild, jump_rate=0.2, jump_size=wild, price_noise=wild,
    )  # fmt: skip
    for at in (START, START + timedelta(days=9), START + timedelta(days=15)):
        for event in open_events(chosen, at):
            found = truths(chosen, event, at)
            paid = payouts(chosen, event)
            assert all(0 < p < ONE for p in found)
            ladder = len({event_key(listing.market.question) for listing in event}) == 1
            assert falls(found) if ladder else sum(found) == ONE
            assert set(paid) == {None} or (falls(paid) if ladder else sum(x or 0 for x in paid) == ONE)
    world.cache_clear()
