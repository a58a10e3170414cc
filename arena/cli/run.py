"""`arena run` and `arena run --worker`: what is due, when it is due, on one machine or many."""

import asyncio
import json
import os
import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext, suppress
from dataclasses import asdict, dataclass, field
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TextIO

import typer
from rich.console import Console, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from arena.cli.options import BASELINES, LEAVE_FAILED, Options, clock_of, command, flag, option
from arena.cli.output import attributes, interruptible, minute, plain, print_json, prints_aside, typed
from arena.cli.page import print_table
from arena.clock import Clock
from arena.cohorts.freeze import check_keys, plan_of, stamp_of
from arena.cohorts.schedule import JOB_NAMES, Job, job_due_at, next_job_time
from arena.config import Config, environment
from arena.errors import ArenaError, count_text
from arena.operations.due import DueSituation, upcoming_work
from arena.operations.progress import RunEvent, RunProgress
from arena.operations.run import Run
from arena.operations.service import service_notices, wait_to_open
from arena.record.model.cohort import JobState
from arena.record.model.reservation import midnight
from arena.record.queries.operations import RunFigures
from arena.record.queries.progress import read_progress
from arena.record.record import Record
from arena.record.schema.database import NoRecord, connect
from arena.record.write.operations import read_jobs
from markets.garbage_collection import gc_seldom
from markets.millionths import ONE

if TYPE_CHECKING:
    from arena.rounds.worker import JobOutcome, OnJob

DECISIONS = 5


@command(plays=True)
def run(
    chosen: Options,
    once: bool = flag("Do what is due and exit; for cron."),
    listing: bool = flag("Show the schedule only.", "--list"),
    log: Literal["auto", "text", "json"] = option(
        "Lines as text or JSON; auto: in a terminal a live status, else text.", default="auto"
    ),
    quiet: bool = flag("Report only problems."),
    verbose: bool = flag("Report routine work too.", "--verbose", "-v"),
    clock: Path | None = option(
        "Rehearse on a simulated clock: it starts at the time in this file, such as "
        "2026-01-04T00:00Z, and is saved there. Needs its own --database.",
        "FILE",
    ),
    baselines: bool = BASELINES,
    leave_failed: bool = LEAVE_FAILED,
) -> None:
    """Run the arena until stopped: start cohorts, play rounds, read prices, settle and mark, on schedule.

    You can stop, kill or restart it at any time; restart it after changing the config. A second `arena run`
    on the same record takes over when the first is gone. Anything that is down is retried and delays nothing
    else.

    A simulated or recorded season waits for a model that gives no answer: after 12 tries in six hours, or at
    once for a wrong key, an unknown model or a spent quota, it stops with exit status 2. The next start tries
    these turns again; with --leave-failed it goes on without them.

    On Ctrl-C or SIGTERM, calls in progress get `run.grace` seconds to finish; a second Ctrl-C stops at once.
    With --once, the exit status is 2 if something failed or is still due, or if another process is running.

    Example: arena run

    Next: arena board
    """
    open_clock = clock_of(clock)
    settings = chosen.load() if listing else chosen.load_to_play(os.environ)
    if listing:
        found = upcoming(settings, open_clock())
        decisions = [{"at": at, "what": what} for at, what in found.decisions]
        chosen.answer(attributes(found, "now", "jobs") | {"decisions": decisions}, _say_upcoming, found)
        return
    if clock is not None and chosen.database is None:
        words = "a rehearsal would write to this arena's own record"
        raise ArenaError("no_database", words, "give it its own record: --database rehearsal.db")
    with logger(log, quiet, chosen.json, verbose) as tell, prints_aside():
        done = play(settings, once, open_clock, tell, baselines, leave_failed)
    progress = done.progress
    if chosen.json:
        print_json(attributes(progress, "rounds", "turns", "jobs", "failed", "left"))
    elif not quiet:
        print(f"Stopped: {progress.summary()}.\nNext: {typed('board')}")
    if done.stop.hurry.is_set():
        raise typer.Exit(130)
    broken_off = once and (progress.failed or progress.left or done.stop.asked.is_set())
    if broken_off or progress.gave_up:
        raise typer.Exit(2)


def play(
    config: Config,
    once: bool,
    open_clock: Callable[[], Clock],
    tell: "RunLog",
    baselines: bool = False,
    leave_failed: bool = False,
) -> Run:
    """Run the arena until it is over or stopped; how it went."""

    from arena.operations.run import Run, run

    async def season() -> None:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, _signalled, running, loop)
        async with service_notices(os.environ):
            await run(running)

    waits = () if once else ("unreachable",)

    def say(words: str) -> None:
        print(words, file=sys.stderr, flush=True)

    with (
        closing(wait_to_open(partial(Record.open, config.database), say, *waits)) as record,
        interruptible("stopped at once; finished work is kept", "the next start continues"),
        gc_seldom(),
    ):
        running = Run(config, record, open_clock, tell.told, once, baselines, leave_failed)
        tell.watch(running.progress, record)
        if not baselines and not wait_to_open(record.cohorts, say, *waits):
            check_keys(config, environment(config.folder, os.environ))
        asyncio.run(season())
    return running


def _signalled(running: Run, loop: asyncio.AbstractEventLoop) -> None:
    """Told to stop: the first time in good order, the second time at once, the third time as any program."""
    running.stop.signal()
    if not running.stop.hurry.is_set():
        grace = f"calls in progress have {running.config.run.grace:g} seconds"
        words = f"stopping: {grace}; press Ctrl-C again to stop at once"
        running.tell(RunEvent(running.progress.now or running.open_clock().now(), "stopping", words))
    else:
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)


@dataclass(frozen=True, slots=True)
class JobTimes:
    """A job: how often it is done, for which time it last was and how that went, and when it is due next."""

    job: str
    cadence: str
    last: datetime | None = None
    note: str = ""
    failures: int = 0
    next: datetime | None = None


@dataclass(frozen=True, slots=True)
class UpcomingWork:
    """The jobs, and the next times at which cohorts start or decide."""

    now: datetime
    jobs: tuple[JobTimes, ...]
    decisions: tuple[tuple[datetime, str], ...]


def upcoming(config: Config, clock: Clock) -> UpcomingWork:
    """What the config and the record say is to come. Nothing is written, and a record need not be there."""
    now, live = clock.now(), stamp_of(config) == "live"
    try:
        with closing(Record(connect(config.database, read_only=True))) as record:
            began, states = record.begun(), record.read(read_jobs)
            courses = record.read(read_progress, record.line_ups)
    except NoRecord:
        began, courses, states = (), [], {}
    plan = plan_of(config, now, began)
    whole = DueSituation(plan, courses, states, live, config.cohorts.catch_up, now)
    return UpcomingWork(now, tuple(job_times(config, states, now)), tuple(upcoming_work(whole, DECISIONS)))


def job_times(config: Config, states: Mapping[str, JobState], now: datetime) -> list[JobTimes]:
    """The jobs, those that are turned off too."""
    found = []
    for name in JOB_NAMES:
        cadence, last = getattr(config.run, name), states.get(name)
        job = Job(name, cadence)
        ahead = (job_due_at(job, last, now) or next_job_time(job, last, now)) if cadence else None
        if last is None:
            found.append(JobTimes(name, str(cadence), next=ahead))
        else:
            note = last.note if last.ended_at else "broken off"
            found.append(JobTimes(name, str(cadence), last.due_at, note, last.failures, ahead))
    return found


def _say_upcoming(found: UpcomingWork) -> None:
    def coming(job: JobTimes) -> str | None:
        return "now" if job.next is not None and job.next <= found.now else _time(job.next)

    rows = [(job.job, job.cadence, _time(job.last), plain(_went(job)), coming(job)) for job in found.jobs]
    print_table(("job", "how often", "last (UTC)", "result", "next (UTC)"), rows)
    if found.decisions:
        print_table(("decision (UTC)", "what"), [(_time(at), what) for at, what in found.decisions])
    print(f"Next: {typed('run')}")


def _time(at: datetime | None) -> str | None:
    return None if at is None else minute(at)


def _went(job: JobTimes) -> str:
    if not job.failures:
        return job.note
    return f"failed {'once' if job.failures == 1 else f'{job.failures} times'}: {job.note}"


@command(plays=True)
def worker(
    chosen: Options,
    at_once: int | None = option("Turns at a time; default: calls.at_once.", min=1, max=1000),
    grace: float = option("Seconds to finish turns when stopped.", default=30.0, min=0),
) -> None:
    """Play turns that `arena run` hands out; run any number, on any machine that reaches the record.

    Needs a record on PostgreSQL, `run.workers: true`, the same config folder and the models' keys. Call
    limits and budgets hold across all. If one is killed, another takes over its turns.

    Example: arena run --worker --database postgresql+psycopg://arena@db/arena --at-once 50

    Next: arena run
    """
    settings = chosen.load_to_play(os.environ)
    try:
        import procrastinate  # noqa: F401
    except ModuleNotFoundError as error:
        hint = 'pip install "paper-arena[postgres]"'
        raise ArenaError("no_driver", f"{error.name} is not installed", hint) from error

    def tell(what: "JobOutcome | str") -> None:
        if isinstance(what, str):
            told, words = {"told": what}, what
        else:
            told, job = asdict(what.job) | {"outcome": what.outcome}, what.job
            words = f"cohort {job.cohort}, round {job.round}, {job.agent}: {what.outcome}"
        print(json.dumps(told, ensure_ascii=False) if chosen.json else plain(words), flush=True)

    from arena.record.write.turn_queue import queue_address

    queue_address(settings.database)  # first, for a record that is a file has no workers
    with closing(
        wait_to_open(partial(Record.join, settings.database), tell, "unreachable", "no_record")
    ) as record:
        asyncio.run(_serve(settings, record, at_once or settings.calls.at_once, grace, tell))


async def _serve(config: Config, record: Record, at_once: int, grace: float, told: "OnJob") -> None:
    from arena.rounds.worker import serve_turns

    def stopping() -> None:
        if stop.is_set():
            raise KeyboardInterrupt
        told(f"stopping: turns in progress have {grace:g} seconds; press Ctrl-C again to stop at once")
        stop.set()

    stop, loop = asyncio.Event(), asyncio.get_running_loop()
    for name in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(name, stopping)
    async with service_notices(os.environ):
        await serve_turns(config, record, at_once, grace, stop, told)
    told("stopped")


LOUD = ("failed", "missed", "superseded", "untold", "alone", "unanswered", "gave_up")
"""What is told of though it be quiet: what went wrong."""
PRICES = ("quotes", "catalogue", "backup", "retention")
"""What changes nothing in the figures."""
SHORT = "%Y-%m-%d %H:%M"


@dataclass
class LineLog:
    """One line for each event, on a stream."""

    stream: TextIO
    as_json: bool
    quiet: bool
    verbose: bool = False

    def watch(self, progress: RunProgress, record: Record) -> None:
        """Lines speak for themselves."""

    def told(self, event: RunEvent) -> None:
        """Write a line; what others wrote is in it without anything that a terminal would obey."""
        shown = self.verbose or self.as_json or not event.routine
        if event.kind not in LOUD and (self.quiet or not shown):
            return
        line = _line(event)
        if self.as_json:
            shape = {"at": event.at.isoformat(), "event": event.kind, "message": event.words, **event.data}
            line = json.dumps(shape, ensure_ascii=True)
        print(line, file=self.stream, flush=True)


@dataclass
class LiveStatus:
    """Lines of what was done, and below them how things stand; and what that is made from."""

    screen: Live
    verbose: bool = False
    progress: RunProgress = field(default_factory=RunProgress)
    record: Record | None = None
    figures: RunFigures = field(default_factory=RunFigures)

    def watch(self, progress: RunProgress, record: Record) -> None:
        """Show how this run stands."""
        self.progress, self.record = progress, record

    def told(self, event: RunEvent) -> None:
        """A line above the status, and the status anew."""
        if self.verbose or not event.routine:
            self.screen.console.print(Text(_line(event)))
        if self.record is not None and event.data.get("name") not in PRICES:
            with suppress(ArenaError):  # the record is away, which is told of: the last figures stand
                self.figures = self.record.figures(midnight(event.at))

    def __rich__(self) -> RenderableType:
        """The status."""
        return status_table(self.progress, self.figures)


RunLog = LineLog | LiveStatus


def _line(event: RunEvent) -> str:
    return f"{event.at:%Y-%m-%d %H:%M:%S} {plain(event.words)}"


def status_table(progress: RunProgress, found: RunFigures) -> Table:
    """How a run stands, as a table of two columns."""
    table = Table.grid(padding=(0, 2))
    job, none = progress.next_job, "none to come" if progress.now else "–"
    rows = [
        ("now", f"{progress.now:{SHORT}} UTC, {progress.doing or 'waiting'}" if progress.now else "starting"),
        ("next round", f"{progress.next_round:{SHORT}} UTC" if progress.next_round else none),
        ("next job", f"{job[0]} at {job[1]:{SHORT}} UTC" if job else none),
        ("last round", plain(progress.last_round) or "none yet"),
        ("spent today", f"${found.spent / ONE:,.2f}"),
        ("held", f"{count_text(found.positions, 'position')}, {found.stale:,} of them at stale prices"),
        *([("workers", "none running: turns are played here")] if progress.alone else []),
        ("done", progress.summary()),
        *(("went wrong", plain(words)) for words in progress.errors),
    ]
    for name, words in rows:
        table.add_row(Text(name, style="bold"), Text(words))
    return table


def logger(
    how: Literal["auto", "text", "json"], quiet: bool, answers: bool, verbose: bool
) -> AbstractContextManager[RunLog]:
    """Where to tell. Lines go to standard output, unless that is kept for the answer in JSON."""
    if how == "auto" and not quiet and not answers and sys.stdout.isatty():
        return _live(verbose)
    return nullcontext(LineLog(sys.stderr if answers else sys.stdout, how == "json", quiet, verbose))


@contextmanager
def _live(verbose: bool) -> Iterator[LiveStatus]:
    """The status for as long as the block lasts; a key press of Ctrl-C is left to the run."""
    with Live(console=Console(), refresh_per_second=2, redirect_stdout=False, redirect_stderr=True) as screen:
        status = LiveStatus(screen, verbose)
        screen.update(status)
        yield status
