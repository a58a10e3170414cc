"""What an arena is expected to do, by its cohorts' schedules and, where there is one, its config."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import takewhile

from arena.schedule import Job
from arena.status import Playing
from arena.timetable import Plan, next_start

KEEP_DECIDING = 5
"""So many of the newest cohorts decide, where no config says otherwise."""


@dataclass(frozen=True, slots=True)
class Expected:
    """What the config adds: when cohorts start, budgets in millionths, and when jobs are due.

    `live` is whether its world goes on by the clock; where it is None, the cohorts that play say so. `jobs`
    are what is done between rounds, and `me` is the name of the process that asks, where it is on duty.
    """

    plan: Plan | None = None
    live: bool | None = None
    limits: Mapping[str, int] = field(default_factory=dict)
    jobs: Sequence[Job] = ()
    me: str = ""


Starts = Sequence[tuple[int, datetime]]
"""The number and the start of every cohort, oldest first."""


def rounds_of(one: Playing, starts: Starts, keep: int) -> list[tuple[int, datetime]]:
    """The rounds that a cohort is to decide as things are: number and time, until newer cohorts take over."""
    newer = sorted(at for number, at in starts if number > one.number)
    times = [(number + 1, one.starts_at + number * one.every) for number in range(one.rounds)]
    ends = [at for at in (one.paused_at, one.stopped_at) if at is not None]
    if len(newer) >= keep:
        ends.append(newer[keep - 1])
    return list(takewhile(lambda round: all(round[1] < end for end in ends), times))


def next_round(rounds: Collection[datetime], expected: Expected, now: datetime) -> datetime | None:
    """The first decision time after an instant: of a cohort that plays, or of one that is to start."""
    following = expected.plan.next_after(now) if expected.plan else None
    times = [at for at in rounds if at > now]
    return min([*times, *([following] if following else [])], default=None)


def next_cohort(
    starts: Starts, newest: datetime | None, expected: Expected, now: datetime
) -> datetime | None:
    """When the config starts its next cohort, if it does."""
    if expected.plan is None:
        return None
    return next_start(expected.plan, {at for _, at in starts}, newest, expected.live is not False, now)
