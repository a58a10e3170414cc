"""Plays a single decision time, and notes its incidents as `arena run` does."""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta

from arena.cohorts.freeze import stamp_of
from arena.cohorts.schedule import Plan
from arena.config import Config
from arena.operations.incidents import report_decision_time
from arena.record.model.cohort import RoundReport
from arena.record.record import Record
from arena.rounds.open_world import open_world
from arena.rounds.season import (
    check_decision_time,
    end_cohorts_over,
    next_decision_time,
    play_time_when_free,
)
from arena.rounds.settlement import next_look


def time_to_play(
    config: Config, record: Record, plan: Plan, wanted: datetime | None, leave_failed: bool, now: datetime
) -> datetime:
    """Return the decision time that is wanted, or the next one; raise `ArenaError` if it can't be played."""
    is_live = stamp_of(config) == "live"
    corrected_within = timedelta(seconds=config.cohorts.corrected_within)
    end_cohorts_over(plan, record)
    corrections_at = next_look(record, record.cohorts(), is_live, corrected_within)
    at = wanted or next_decision_time(plan, record, is_live, now, corrections_at, leave_failed)
    check_decision_time(at, plan, record, is_live, now, corrections_at)
    return at


async def play_decision_time(
    config: Config,
    record: Record,
    plan: Plan,
    at: datetime,
    leave_failed: bool,
    report: Callable[[str], None],
) -> list[RoundReport]:
    """Play a decision time, or what is missing of it, and return what was played.

    `report` is called with a line on what calls wait for, and on incidents that could not be noted.
    """
    async with open_world(config, record, report_wait=report) as opened:
        world = replace(opened, leaves_failed=leave_failed)
        try:
            reports = await play_time_when_free(at, plan, world, record)
        except Exception as error:
            await report_decision_time(config, record, at, error, report)
            raise
        await report_decision_time(config, record, at, None, report)
        return reports
