"""When a season decides, and which time is played: what was broken off, what comes next, what is due."""

import asyncio
from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from agents.model import Ask, Decision, View
from arena.cohorts.schedule import Plan
from arena.errors import ArenaError
from arena.rounds import season
from arena.rounds.season import (
    begin_due_cohort,
    check_decision_time,
    next_decision_time,
    play_time,
    season_times,
)
from arena.rounds.settlement import learn_resolutions
from arena.rounds.world import World
from tests.builders import NOW, RAIN, a_bet, a_resolution
from tests.opened_record import OpenedRecord
from tests.records.little_world import WEEK, LittleVenue, a_plan, a_world, says

AGENTS = {"ann": says("0.7", ("500", RAIN))}


def play(at: datetime, plan: Plan, world: World, record: OpenedRecord) -> None:
    asyncio.run(play_time(at, plan, world, record))


def following(plan: Plan, record: OpenedRecord) -> datetime:
    return next_decision_time(plan, record, live=False, now=NOW)


def test_times_come_one_after_another_until_all_is_settled(record: OpenedRecord) -> None:
    venue = LittleVenue()
    plan = a_plan()
    world = a_world(venue, AGENTS)
    for week in range(3):
        assert following(plan, record) == NOW + week * WEEK
        play(NOW + week * WEEK, plan, world, record)
    venue.endings.append(a_resolution("1", at=NOW + 3 * WEEK))
    assert following(plan, record) == NOW + 3 * WEEK
    play(NOW + 3 * WEEK, plan, world, record)
    with pytest.raises(ArenaError, match="every round has been played"):
        following(plan, record)


def test_a_time_broken_off_between_two_cohorts_is_played_to_its_end_first(record: OpenedRecord) -> None:
    plan = a_plan()
    world = a_world(LittleVenue(), AGENTS)
    play(NOW, plan, world, record)
    second = a_plan(count=1)  # only the first cohort's round, as if killed before the second's
    play(NOW + WEEK, second, world, record)
    begin_due_cohort(NOW + WEEK, plan, record)
    assert following(plan, record) == NOW + WEEK
    check_decision_time(NOW + WEEK, plan, record, live=False, now=NOW)
    play(NOW + WEEK, plan, world, record)
    assert following(plan, record) == NOW + 2 * WEEK


def test_a_live_round_is_due_for_six_hours(record: OpenedRecord) -> None:
    plan = a_plan(count=None)
    at = NOW + 5 * WEEK
    assert next_decision_time(plan, record, live=True, now=at + timedelta(hours=5)) == at
    with pytest.raises(ArenaError, match="no decision is due"):
        next_decision_time(plan, record, live=True, now=at + timedelta(hours=7))


def test_positions_marked_between_two_weeks_are_settled_at_the_next_weekly_time(record: OpenedRecord) -> None:
    plan = a_plan(rounds=1, count=1)
    world = a_world(LittleVenue(), AGENTS)
    play(NOW, plan, world, record)
    play(NOW + timedelta(days=5), plan, world, record)
    at = following(plan, record)
    assert at == NOW + WEEK
    check_decision_time(at, plan, record, live=False, now=NOW)


def test_after_the_last_live_round_the_season_is_said_to_be_over(record: OpenedRecord) -> None:
    plan = a_plan(rounds=1, count=1)
    with pytest.raises(ArenaError, match="every round is over") as nothing_begun:
        next_decision_time(plan, record, live=True, now=NOW + WEEK)
    assert (nothing_begun.value.code, nothing_begun.value.hint) == ("over", "arena board shows the results")

    play(NOW, plan, a_world(LittleVenue(), AGENTS), record)
    with pytest.raises(ArenaError, match="every round is over") as positions_open:
        next_decision_time(plan, record, live=True, now=NOW + WEEK)
    assert positions_open.value.hint == "arena run settles what is open"


def test_a_live_round_is_not_played_before_its_time_nor_long_after(record: OpenedRecord) -> None:
    plan = a_plan(count=None)
    for now, words in ((NOW - WEEK, "in the future"), (NOW + timedelta(hours=7), "prices are gone")):
        with pytest.raises(ArenaError, match=words):
            check_decision_time(NOW, plan, record, live=True, now=now)
    check_decision_time(NOW, plan, record, live=True, now=NOW + timedelta(hours=1))


def test_numbers_come_from_the_record_though_weeks_were_missed(record: OpenedRecord) -> None:
    plan = a_plan(count=None)
    world = a_world(LittleVenue(), AGENTS)
    play(NOW, plan, world, record)
    play(NOW + 3 * WEEK, plan, world, record)
    assert [stored.cohort.number for stored in record.cohorts()] == [1, 2]


def test_a_cohort_whose_last_round_was_missed_ends_all_the_same(record: OpenedRecord) -> None:
    plan = a_plan(rounds=2, count=1)
    venue = LittleVenue(endings=[a_resolution("0", at=NOW + timedelta(days=1))])
    world = a_world(venue, AGENTS)
    play(NOW, plan, world, record)
    play(NOW + 2 * WEEK, plan, world, record)
    assert record.cohorts()[0].ended_at == NOW + 2 * WEEK


def test_a_cohort_broken_off_just_before_its_end_ends_at_its_last_look(
    record: OpenedRecord, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = a_plan(rounds=1, count=2)
    world = a_world(LittleVenue(), {"ann": says("0.7")})
    with monkeypatch.context() as broken_off:
        broken_off.setattr(season, "end_cohort", None)
        with pytest.raises(TypeError):
            play(NOW, plan, world, record)
    assert record.cohorts()[0].ended_at is None

    play(NOW + WEEK, plan, world, record)
    assert [stored.ended_at for stored in record.cohorts()] == [NOW, NOW + WEEK]


def test_a_cohort_that_was_stopped_has_no_decision_to_come_once_it_has_ended(record: OpenedRecord) -> None:
    plan = a_plan(rounds=2, count=2)
    world = a_world(LittleVenue(), {"ann": says("0.7")})
    for week in (0, 1):
        play(NOW + week * WEEK, plan, world, record)
    first, second = record.cohorts()
    assert first.ended_at is not None
    assert following(plan, record) == NOW + 2 * WEEK

    record.stop(second.id, NOW + 8 * WEEK)
    season.end_cohorts_over(plan, record)
    assert record.cohorts()[1].ended_at == NOW + WEEK
    with pytest.raises(ArenaError, match="every round has been played"):
        following(plan, record)


def test_a_correction_paid_between_two_times_is_no_time_broken_off(record: OpenedRecord) -> None:
    async def buys(view: View, _ask: Ask) -> Decision:
        """Buy rain in the first cohort's first round, snow in the second's."""
        market = RAIN if view.snapshot.at < NOW + WEEK else "sim:snow"
        return Decision((), (a_bet("500", "YES", market),) if view.round == 1 else ())

    venue = LittleVenue(endings=[a_resolution("1", at=NOW + timedelta(days=1))])
    plan = a_plan()
    world = a_world(venue, {"ann": buys})
    for week in range(3):
        play(NOW + week * WEEK, plan, world, record)
    assert [stored.ended_at is None for stored in record.cohorts()] == [False, True]
    due = NOW
    for version, days, payout in ((2, 15, "0"), (3, 22, None)):
        at = NOW + timedelta(days=days, hours=11)
        record.write(learn_resolutions, [a_resolution(payout, version=version, at=at)], at)
        assert record.cohorts()[0].corrected_at == at
        due = following(plan, record)
        assert due == NOW + (days // 7 + 1) * WEEK
        check_decision_time(due, plan, record, live=False, now=NOW)
    play(due, plan, world, record)
    assert following(plan, record) == due + WEEK


def test_a_plan_has_the_times_of_its_cohorts_and_finds_the_next_from_any_instant() -> None:
    plan = a_plan(5, 3)
    endless = a_plan(5, None)
    assert plan.decision_times() == [NOW + week * WEEK for week in range(7)]
    twice_a_week = replace(a_plan(2, 2, every=timedelta(days=3)), freeze=plan.freeze)
    assert [(at - NOW).days for at in twice_a_week.decision_times()] == [0, 3, 7, 10]
    assert (len(season_times(plan, 2)), len(season_times(endless, 30))) == (2, 30)
    assert season_times(plan, 100) == plan.decision_times()
    with pytest.raises(ValueError, match="has no end"):
        endless.decision_times()
    found = [plan.next_after(NOW + days * WEEK) for days in (-50, 0, 6)]
    assert found == [NOW, NOW + WEEK, None]
    assert endless.next_after(NOW + 300 * WEEK) == NOW + 301 * WEEK
