"""Cohorts that are started, paused and stopped by hand, beside those of the weekly schedule."""

import asyncio
from collections.abc import Callable
from datetime import datetime, timedelta

import pytest

from agents.model import Agent
from arena.cohorts.schedule import Plan
from arena.errors import ArenaError
from arena.rounds.season import (
    begin_cohort,
    check_manual_start,
    cohort_overviews,
    next_decision_time,
    plan_as_begun,
    play_season,
    play_time,
)
from arena.rounds.world import World
from tests.builders import NOW, RAIN, a_resolution
from tests.opened_record import OpenedRecord
from tests.records.little_world import WEEK, LittleModel, LittleVenue, a_plan, a_world, asks, says

DAY = timedelta(days=1)
AGENTS: dict[str, Agent] = {"ann": says("0.7", ("500", RAIN))}


def play(at: datetime, plan: Plan, world: World, record: OpenedRecord) -> None:
    asyncio.run(play_time(at, plan, world, record))


def play_next(plan: Plan, world: World, record: OpenedRecord, times: int = 1) -> list[datetime]:
    """Play this many decision times, one after another, as `arena run --round` finds them."""
    played = []
    for _ in range(times):
        played.append(next_decision_time(plan, record, live=False, now=NOW))
        play(played[-1], plan, world, record)
    return played


def by_hand(at: datetime, plan: Plan, record: OpenedRecord) -> int:
    """Begin a cohort at a time, and return its number."""
    return begin_cohort(at, plan_as_begun(plan, record), record).number


def decided(record: OpenedRecord) -> dict[int, list[datetime]]:
    """Return the times at which each cohort has decided."""
    return {
        x.cohort.number: [stored_round.at for stored_round in record.rounds(x.id)] for x in record.cohorts()
    }


def doing(record: OpenedRecord, keep: int = 5) -> list[str]:
    """Return the state of each cohort."""
    with record.reading() as connection:
        return [each.state for each in cohort_overviews(connection, keep, NOW)]


def ended(record: OpenedRecord) -> list[datetime | None]:
    return [each.ended_at for each in record.cohorts()]


# Started


def test_a_cohort_started_by_hand_decides_at_times_of_its_own_and_the_schedule_goes_on(
    record: OpenedRecord,
) -> None:
    venue = LittleVenue()
    plan = a_plan()
    world = a_world(venue, AGENTS)
    play_next(plan, world, record)
    assert by_hand(NOW + 3 * DAY, plan, record) == 2
    assert play_next(plan, world, record, 4) == [NOW + n * DAY for n in (3, 7, 10, 14)]
    assert decided(record) == {
        1: [NOW, NOW + WEEK],
        2: [NOW + 3 * DAY, NOW + 10 * DAY],
        3: [NOW + WEEK, NOW + 2 * WEEK],
    }
    assert [(each.cohort.number, each.cohort.by_hand) for each in record.cohorts()] == [
        (1, False), (2, True), (3, False),
    ]  # fmt: skip
    venue.endings.append(a_resolution("1", at=NOW + 3 * WEEK))
    assert play_next(plan, world, record) == [NOW + 3 * WEEK]
    assert ended(record) == [NOW + 3 * WEEK] * 3
    with pytest.raises(ArenaError, match="every round has been played"):
        next_decision_time(plan, record, live=False, now=NOW)


def test_a_whole_season_plays_it_too(record: OpenedRecord) -> None:
    plan = a_plan()
    by_hand(NOW + 10 * DAY, plan, record)
    world = a_world(LittleVenue(endings=[a_resolution("1", at=NOW + 3 * WEEK)]), AGENTS)
    asyncio.run(play_season(plan, world, record, played=lambda done, of: None))
    assert decided(record) == {
        1: [NOW + 10 * DAY, NOW + 17 * DAY],
        2: [NOW, NOW + WEEK],
        3: [NOW + WEEK, NOW + 2 * WEEK],
    }
    assert None not in ended(record)


def test_where_the_schedule_starts_one_it_is_that_one(record: OpenedRecord) -> None:
    plan = a_plan(count=None)
    world = a_world(LittleVenue(), AGENTS)
    play_next(plan, world, record)
    assert not record.cohort(by_hand(NOW + WEEK, plan, record)).cohort.by_hand
    assert play_next(plan, world, record, 2) == [NOW + WEEK, NOW + 2 * WEEK]
    assert [each.cohort.starts_at for each in record.cohorts()] == [NOW, NOW + WEEK, NOW + 2 * WEEK]


def test_one_more_cohort_is_among_the_newest(record: OpenedRecord) -> None:
    plan = a_plan(rounds=5, count=1, keep=1)
    world = a_world(LittleVenue(), AGENTS)
    play_next(plan, world, record)
    by_hand(NOW + DAY, plan, record)
    assert doing(record, keep=1) == ["playing", "playing"]  # the day has not come yet
    play_next(plan, world, record, 3)
    assert doing(record, keep=1) == ["tracked", "playing"]
    assert decided(record)[1] == [NOW]


def test_a_cohort_decides_when_it_froze_it_whatever_the_config_says_by_now(record: OpenedRecord) -> None:
    world = a_world(LittleVenue(), AGENTS)
    before = a_plan(3, 1, every=2 * DAY)
    after = a_plan(3, 1)
    play_next(before, world, record)
    assert play_next(after, world, record, 2) == [NOW + 2 * DAY, NOW + 4 * DAY]
    assert plan_as_begun(after, record).next_after(NOW + 4 * DAY) is None


@pytest.mark.parametrize(
    ("at", "live", "words"),
    [
        (NOW, False, "cohort 1 starts on 2026-01-04T12:00Z already"),
        (NOW, True, "cohort 1 starts on"),
        (NOW - DAY, False, "the season has been played until 2026-01-04T12:00Z"),
        (NOW + timedelta(hours=1), True, "is past: its prices are no longer available"),
    ],
)
def test_a_start_that_makes_no_sense_is_refused(
    at: datetime, live: bool, words: str, record: OpenedRecord
) -> None:
    play_next(a_plan(), a_world(LittleVenue(), AGENTS), record)
    with pytest.raises(ArenaError, match=words):
        check_manual_start(at, record.cohorts(), NOW, live, now=NOW + timedelta(hours=2))


# Paused


def test_a_paused_cohort_misses_its_rounds_and_decides_again_once_it_is_resumed(record: OpenedRecord) -> None:
    plan = a_plan(rounds=4, count=1)
    world = a_world(LittleVenue(), AGENTS)
    play_next(plan, world, record)
    record.pause(record.cohort(1).id, NOW)
    assert doing(record) == ["paused"]
    assert play_next(plan, world, record) == [NOW + WEEK]
    record.pause(record.cohort(1).id, None)
    assert doing(record) == ["playing"]
    play(NOW + WEEK, plan, world, record)  # it was looked at then, so it is too late to decide
    assert play_next(plan, world, record) == [NOW + 2 * WEEK]
    assert decided(record) == {1: [NOW, NOW + 2 * WEEK]}


def test_a_paused_cohort_does_not_end_while_rounds_are_to_come(record: OpenedRecord) -> None:
    plan = a_plan(rounds=4, count=1)
    world = a_world(LittleVenue(endings=[a_resolution("1", at=NOW + DAY)]), AGENTS)
    play_next(plan, world, record)
    record.pause(record.cohort(1).id, NOW)
    play_next(plan, world, record, 2)
    assert ended(record) == [None]
    play_next(plan, world, record)
    assert ended(record) == [NOW + 3 * WEEK]


@pytest.mark.parametrize("halt", [OpenedRecord.pause, OpenedRecord.stop])
def test_a_round_that_was_broken_off_keeps_nobody_waiting_once_its_cohort_is_halted(
    halt: Callable[[OpenedRecord, int, datetime], None], record: OpenedRecord
) -> None:
    plan = a_plan(rounds=2, count=1)

    def interrupted(record: OpenedRecord) -> None:
        raise KeyboardInterrupt

    world = a_world(LittleVenue(), {"ann": asks}, LittleModel())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("arena.rounds.round.finish_round", lambda *_: interrupted(record))
        with pytest.raises(KeyboardInterrupt):
            play(NOW, plan, world, record)
    assert next_decision_time(plan, record, live=False, now=NOW) == NOW
    halt(record, record.cohort(1).id, NOW)
    play(NOW, plan, world, record)
    assert not record.has_marks(record.cohort(1).id, NOW), "its fills would come after its marks"
    assert play_next(plan, world, record) == [NOW + WEEK]
    (stored_round,) = record.rounds(record.cohort(1).id)
    assert set(record.turn_statuses(stored_round.id).values()) == {"late"}
    assert stored_round.done


# Stopped


def test_a_stopped_cohort_is_tracked_until_its_last_position_settles(record: OpenedRecord) -> None:
    venue = LittleVenue()
    plan = a_plan(rounds=4, count=1)
    world = a_world(venue, AGENTS)
    play_next(plan, world, record)
    record.stop(record.cohort(1).id, NOW)
    play_next(plan, world, record)
    assert (doing(record), ended(record), decided(record)) == (["stopped"], [None], {1: [NOW]})
    venue.endings.append(a_resolution("1", at=NOW + 2 * WEEK))
    play_next(plan, world, record)
    assert (doing(record), ended(record)) == (["ended"], [NOW + 2 * WEEK])
    assert record.holdings(1)["ann"].cash > record.cohort(1).cohort.bankroll


def test_one_that_is_stopped_before_its_first_round_ends_when_that_would_have_been(
    record: OpenedRecord,
) -> None:
    plan = a_plan(count=1)
    by_hand(NOW + DAY, plan, record)
    record.stop(record.cohort(1).id, NOW)
    play_next(plan, a_world(LittleVenue(), AGENTS), record, 2)
    assert ended(record)[0] == NOW + DAY


def test_a_stopped_cohort_makes_no_room_for_one_that_was_overtaken(record: OpenedRecord) -> None:
    plan = a_plan(rounds=9, count=2, keep=1)
    world = a_world(LittleVenue(), AGENTS)
    play_next(plan, world, record, 2)
    record.stop(record.cohort(2).id, NOW)
    play_next(plan, world, record)
    assert decided(record) == {1: [NOW], 2: [NOW + WEEK]}
    assert doing(record, keep=1) == ["tracked", "stopped"]
