"""One thing that is due, done: a cohort's start, round or look, or a job."""

from collections.abc import Mapping
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
from arena.store.read import StoredCohort


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
        done = await _play(due, due.stored, site)
    except ArenaError as error:
        if error.code != "busy":
            raise
        return Done(error.message, busy=True)
    known = site.record.cohorts()
    among = newest(known, due.at, config.cohorts.keep_deciding)
    stored = next(one for one in known if one.id == due.stored.id)
    end_if_over(stored, due.at, stored.cohort.number in among, site.record)
    return done


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
    words = [f"{len(report.turns)} turns"]
    if report.stopped:
        words.append(f"{', '.join(report.stopped)} stopped by the budget")
    if others := [name for name in report.failed if name not in report.stopped]:
        words.append(f"{', '.join(others)} failed")
    return "; ".join([*words, *report.trouble])
