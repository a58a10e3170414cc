"""One thing that is due, done: a cohort's start, round or look, or a job."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from arena.agenda import Due
from arena.cohort import newest
from arena.config import Config
from arena.errors import ArenaError
from arena.jobs import DO, Site
from arena.model import RoundReport
from arena.plan import plan_of
from arena.round import close_round, play_round, track
from arena.season import end_if_over, start_due
from arena.store.courses import Course
from arena.store.read import StoredCohort
from arena.store.record import Record
from arena.wording import counted

Seen = tuple[datetime | None, datetime | None]
"""When a cohort was last looked at, and since when it is stopped."""


@dataclass(frozen=True, slots=True)
class Done:
    """How it went, in words and as data. What has `failed` is tried again; `busy` is in another's hands."""

    note: str
    failed: bool = False
    busy: bool = False
    report: RoundReport | None = None
    data: Mapping[str, Any] = field(default_factory=dict)


async def do_job(name: str, at: datetime, site: Site) -> Done:
    """A job at its scheduled time."""
    return Done(await DO[name](site, at))


async def do_due(due: Due, config: Config, site: Site) -> Done:
    """What is due of the cohorts."""
    if due.stored is None:
        return _start(due.at, config, site)
    try:
        return await _play(due, due.stored, site)
    except ArenaError as error:
        if error.code != "busy":
            raise
        return Done(error.message, busy=True)


def end_cohorts(courses: Sequence[Course], known: dict[int, Seen], keep: int, record: Record) -> list[int]:
    """End the cohorts that are over, at the time of their last look; their numbers.

    `known` are looks after which a cohort was not over: only a later one, or a stop, can make it so.
    """
    everyone, ended = [course.stored for course in courses], list[int]()
    for stored, looked in ((course.stored, course.looked) for course in courses if _may_be_over(course)):
        seen = looked, stored.stopped_at
        if looked is None or known.get(stored.id) == seen:
            continue
        among = newest(everyone, looked, keep)
        if end_if_over(stored, looked, stored.cohort.number in among, record):
            ended.append(stored.cohort.number)
        known[stored.id] = seen
    return ended


def _may_be_over(course: Course) -> bool:
    return course.stored.ended_at is None and course.marked and all(round.done for round in course.rounds)


def _start(at: datetime, config: Config, site: Site) -> Done:
    """Start the cohort of a time."""
    start_due(at, plan_of(config, site.world.now(), site.record.began()), site.record)
    number = site.record.cohorts()[-1].cohort.number
    return Done(f"cohort {number} has started", data={"cohort": number})


async def _play(due: Due, stored: StoredCohort, site: Site) -> Done:
    number, cohort = due.number, stored.cohort.number
    if number is None:
        await track(stored, due.at, site.world, site.record)
        return Done("settled and marked", data={"cohort": cohort})
    play = close_round if due.step == "close" else play_round
    report = await play(stored, number, site.world, site.record)
    again = bool(report.failed) and due.step == "play"
    note = f"round {number}: {_turns(report)}"
    data = {"cohort": cohort, "round": number, "turns": len(report.turns), "failed": list(report.failed)}
    return Done(note, again, bool(report.waiting), report, data)


def _turns(report: RoundReport) -> str:
    """A round's turns in words."""
    if report.waiting:
        return f"another process plays {', '.join(report.waiting)}"
    words = [counted(len(report.turns), "turn")]
    if report.stopped:
        words.append(f"{', '.join(report.stopped)} stopped by the budget")
    if others := [name for name in report.failed if name not in report.stopped]:
        words.append(f"{', '.join(others)} failed")
    return "; ".join([*words, *report.trouble])
