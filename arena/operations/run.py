"""`arena run`: one process that does what is due, when it is due, until all is over or it is told to stop.

What is due is read from the record before each step, so starting, going on and recovering are the same.
"""

import asyncio
import signal
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial

from arena.calls.faults import is_unavailable
from arena.clock import Clock, PretendedClock, SystemClock, sleep_unless_stopped
from arena.cohorts.freeze import plan_of, stamp_of
from arena.cohorts.schedule import (
    LONGEST_PAUSE,
    MOST_TRIES,
    Job,
    configured_jobs,
    job_due_at,
    job_rests,
    job_schedule,
    next_job_time,
    next_time_of_any,
    retry_at,
)
from arena.config import Config
from arena.errors import ArenaError
from arena.operations.due import (
    ROUND_STEPS,
    Due,
    DueSituation,
    DueWork,
    MissedRound,
    blocked_cohorts,
    due_work,
)
from arena.operations.incidents import (
    monitoring,
    note_clock,
    note_job,
    note_missed,
    note_played,
    note_takeover,
    note_unusable,
    note_usable,
    note_workers,
    venue_error_text,
)
from arena.operations.jobs import (
    JOB_FUNCTIONS,
    JobContext,
    LookState,
    StepOutcome,
    Stopped,
    do_step,
    end_cohorts,
)
from arena.operations.judge import CLOCK_TOLERANCE
from arena.operations.leader import (
    LOOK,
    FormerLead,
    read_held_lead,
    take_lead,
    wait_to_lead,
    work_as_leader,
)
from arena.operations.progress import OnRunEvent, RunEvent, RunProgress, StopRequest, work_until_stopped
from arena.operations.service import service_notices
from arena.operations.wake import SchedulerWake, SimulatedWake, Wake
from arena.operations.webhook import RecordTrouble
from arena.record.model.cohort import REHEARSAL, JobState, UnansweredTurn, unanswered_text
from arena.record.model.incident import clock_behind, clock_stepped
from arena.record.model.lease import LEASE_LENGTH, holder_name
from arena.record.queries.operations import count_turns
from arena.record.queries.progress import read_progress
from arena.record.record import Record
from arena.record.schema.database import RecordReplaced
from arena.record.write.operations import LeaseLost, put_job, read_jobs
from arena.record.write.sync import VenueSource
from arena.rounds.adapters import open_venue
from arena.rounds.error_text import error_text
from arena.rounds.open_world import OpenDispatch, open_dispatch, open_world
from arena.rounds.season import unanswered_error
from arena.rounds.settlement import LATEST, next_look
from markets.venue import QuarantinedRecord

STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM)
BUSY = timedelta(seconds=5)
"""How long to leave alone what another process has in hand."""
TROUBLED = timedelta(seconds=10)
"""How long to leave a record alone that can't be used."""
COHORT_JOBS = {"quotes", "resolutions", "marks", "catalogue"}
"""Jobs that are done only while a cohort is open, or is to start."""
SEASON_JOBS = COHORT_JOBS | {"retention"}
"""Jobs that record the state of a season at the job's time, or delete what is older.

In a simulated or recorded world none is done before an earlier round: it would read that round's future.
"""
IN_USE = "another arena run is using this record"
NO_WORKERS = "no worker is running: turns are played here until one starts (`arena run --worker`)"
MINUTE_FORMAT = "%Y-%m-%d %H:%M"


@dataclass(frozen=True, slots=True)
class ClockReading:
    """The clock's time when a step began, and the seconds of a monotonic timer."""

    at: datetime
    seconds: float


@dataclass
class Run:
    """The inputs and the state of a run; everything else is in the record.

    `unwritten_states` are states of jobs that could not be written, `record_trouble` is what was last
    reported of a record that can't be used. `busy_until` says until when to leave alone what another process
    has in hand. The missed rounds in `reported_misses` and the wait for `reported_round` were reported
    already. `last_looks` are those after which a cohort was not over. With `leaves_failed` a season does not
    wait for models that give no answer. `tried` are the steps and jobs that this run has taken on.
    """

    config: Config
    record: Record
    open_clock: Callable[[], Clock]
    tell: OnRunEvent
    once: bool = False
    baselines: bool = False
    leaves_failed: bool = False
    open_wake: Callable[[], Wake] = SchedulerWake
    open_dispatch: OpenDispatch = open_dispatch
    stop: StopRequest = field(default_factory=StopRequest)
    progress: RunProgress = field(default_factory=RunProgress)
    unwritten_states: dict[str, JobState] = field(default_factory=dict)
    tried: set[str] = field(default_factory=set)
    record_trouble: str = ""
    busy_until: dict[str, float] = field(default_factory=dict)
    reported_misses: set[MissedRound] = field(default_factory=set)
    reported_round: datetime | None = None
    last_looks: dict[int, LookState] = field(default_factory=dict)
    unusable: RecordTrouble = field(default_factory=RecordTrouble)
    last_step: ClockReading | None = None
    good_step: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def jobs(self) -> list[Job]:
        """Return the jobs that the config has turned on."""
        return configured_jobs(self.config.run, self.config.watch)

    def report(self, kind: str, message: str, routine: bool = False, **data: object) -> None:
        """Report an event to the log."""
        at = self.progress.now or self.open_clock().now()
        self.tell(RunEvent(at, kind, message, data, routine))

    def ask_to_stop(self) -> None:
        """Stop in good order at the first call, which is reported, and at once at the second."""
        self.stop.signal()
        if not self.stop.hurry.is_set():
            grace = f"calls in progress have {self.config.run.grace:g} seconds"
            self.report("stopping", f"stopping: {grace}; press Ctrl-C again to stop at once")

    def report_trouble(self, error: BaseException, always: bool = False) -> None:
        """Report that the record can't be used: unless `always`, once until it can be written again."""
        message = f"the record: {error_text(error)}"
        self.progress.trouble(message)
        if always or message != self.record_trouble:
            self.report("failed", message)
        self.record_trouble = message
        note_unusable(self.record, self.progress.now or self.open_clock().now(), error, self.unusable)


@dataclass(frozen=True, slots=True)
class Leader:
    """A run that leads: its clock, what wakes it, and what jobs and rounds need."""

    running: Run
    clock: Clock
    wake: Wake
    context: JobContext

    @property
    def live(self) -> bool:
        """Tell whether the config's own venue is live."""
        return self.context.source.stamp == "live"


@dataclass(frozen=True, slots=True)
class DueTask:
    """Something that may be done now: a step of a cohort, or a job; `live` says in which kind of world.

    Of the tasks that are due at the same time, the one with the lowest `order` comes first.
    """

    name: str
    at: datetime
    order: int
    live: bool
    due: Due | None = None


async def run_as_process(running: Run, environ: Mapping[str, str]) -> None:
    """Run the arena until it is over or stopped by a signal."""
    loop = asyncio.get_running_loop()
    for number in STOP_SIGNALS:
        loop.add_signal_handler(number, _stop, running, loop)

    async with service_notices(environ):
        await run(running)


def _stop(running: Run, loop: asyncio.AbstractEventLoop) -> None:
    """Stop in good order at the first signal, at once at the second, and like any program at the third."""
    running.ask_to_stop()
    if running.stop.hurry.is_set():
        for number in STOP_SIGNALS:
            loop.remove_signal_handler(number)


async def run(running: Run) -> None:
    """Wait until this process leads, then do what is due, until all is over or the run is stopped.

    Wait again if it loses the lead. A record or a queue that is away as the work begins or ends is tried
    again; with `once` it is an error.
    """
    me = holder_name()

    while not running.stop.asked.is_set():
        if running.once:
            token = await _take_once(running, me)
        else:
            on_standby = partial(running.report, "standby", f"{IN_USE}; standing by")
            on_error = partial(running.report_trouble, always=True)
            on_takeover = partial(_note_takeover, running, me)
            token = await wait_to_lead(
                running.record, me, running.stop.asked, on_standby, on_error, on_takeover
            )

        try:
            if token is None or await work_as_leader(running.record, token, partial(_work, running, me)):
                return
        except ArenaError as error:
            if running.once or not is_unavailable(error):
                raise
            running.report_trouble(error, always=True)
            await sleep_unless_stopped(TROUBLED, running.stop.asked)
        else:
            running.report("superseded", "another arena run has taken over")


async def _take_once(running: Run, me: str) -> int | None:
    """Take the lead and return its token, or None when told to stop before.

    Raise `ArenaError` if another process leads. Where its holder may have died on another machine, wait
    first.
    """
    record = running.record
    former = read_held_lead(record, me)
    token = take_lead(record, me)
    if token is None and record.watch.is_in_doubt():
        message = f"{IN_USE}, or has died on another machine; waiting up to a minute for a sign of it"
        running.report("standby", message)

    while token is None and record.watch.is_in_doubt():
        await sleep_unless_stopped(LOOK, running.stop.asked)
        if running.stop.asked.is_set():
            return None
        former = read_held_lead(record, me)
        token = take_lead(record, me)

    if token is None:
        hint = "it does what is due; without --once, this one would stand by"
        raise ArenaError("busy", IN_USE, hint, status=2)
    if former is not None:
        _note_takeover(running, me, former)
    return token


def _note_takeover(running: Run, me: str, former: FormerLead) -> None:
    """Note that this process leads in place of one that had not released its lead."""
    now = running.open_clock().now()
    _note_or_report(running, partial(note_takeover, running.record, now, me, former))


async def _work(running: Run, me: str, record: Record) -> None:
    """Open the world and do what is due in it, until told to stop."""
    config = running.config
    clock = running.open_clock()
    running.progress.now = clock.now()
    turns_before = sum(record.read(count_turns).values())

    if isinstance(clock, PretendedClock):
        at = clock.at
        record.write(put_job, JobState(REHEARSAL, at, at, at, note="on a rehearsal clock"))
        wake: Wake = SimulatedWake(clock)
    else:
        wake = running.open_wake()

    async with AsyncExitStack() as stack:
        stack.callback(wake.close)

        report_wait = partial(running.report, "rate_limit")
        world = await stack.enter_async_context(open_world(config, record, clock, report_wait))
        world = replace(world, leaves_failed=running.leaves_failed)
        if config.run.workers:
            dispatch = running.open_dispatch(config, partial(_report_workers, running))
            world = replace(world, dispatch=await stack.enter_async_context(dispatch))

        quarantined: list[QuarantinedRecord] = []
        venue = open_venue(config, report=quarantined.append, timed=not world.pretended)
        stack.push_async_callback(venue.close)

        context = JobContext(
            config,
            world,
            record,
            VenueSource(config.markets.venue, stamp_of(config)),
            venue,
            quarantined,
            baselines=running.baselines,
        )
        report_untold = partial(running.report, "untold")
        monitors = monitoring(
            config, running.record, clock.now, me, report_untold, running.good_step, running.unusable
        )
        await stack.enter_async_context(monitors)

        running.report("started", f"leading; it is {clock.now():{MINUTE_FORMAT}} UTC")
        try:
            steps = _step_until_over(Leader(running, clock, wake, context))
            await work_until_stopped(steps, running.stop, world.under_way, config.run.grace)
        finally:
            # The progress lacks the turns of a round that was broken off.
            with suppress(ArenaError):
                turns = sum(record.read(count_turns).values())
                running.progress.turns = max(running.progress.turns, turns - turns_before)


async def _step_until_over(leader: Leader) -> None:
    """Take one step after another, until nothing is to come. A record that can't be used is tried again."""
    running = leader.running

    while not running.stop.asked.is_set():
        try:
            failed_before = running.progress.failed
            if not await run_step(leader) or running.progress.gave_up:
                return
            if running.progress.failed == failed_before:
                running.good_step.set()
        except (LeaseLost, RecordReplaced):
            raise
        except Exception as error:  # noqa: BLE001 - whatever it is, the next step may find it well again
            running.report_trouble(error)
            if running.once:
                return
            await sleep_unless_stopped(TROUBLED, running.stop.asked)


async def run_step(leader: Leader) -> bool:
    """Do the first thing that is due, or sleep until something is; return False when nothing will be."""
    running = leader.running
    record = leader.context.record
    now = leader.clock.now()
    states = {**record.read(read_jobs), **running.unwritten_states}
    if running.once and leader.context.world.pretended:
        states = without_pauses(states, running.tried)
    _watch_clock(leader, states, now)

    work = due_work(_read_situation(leader, states, now))
    jobs = [job for job in running.jobs if not work.idle or job.name not in COHORT_JOBS]
    waiting = due_tasks(work, jobs, states, now, leader.live)
    _show_progress(running, work, states, now)

    moment = asyncio.get_running_loop().time()
    resting = {task.name for task in waiting if moment < running.busy_until.get(task.name, 0.0)}
    ready = ready_tasks(waiting, resting)
    if ready:
        # A catalogue is the witness of its instant, so all other looks at it come before.
        first = min(ready, key=lambda task: (task.name == "catalogue", task.at, task.order))
        await _do(first, work, states, leader)
        return True

    if running.once and not (waiting and record.watch.is_in_doubt()):
        names = [_left_step_text(step, states) for step in work.due] + [task.name for task in waiting]
        running.progress.left = tuple(dict.fromkeys(names))
        return False

    if waiting:
        await sleep_unless_stopped(BUSY, running.stop.asked)
        return True

    return await _sleep(work, states, now, leader)


def without_pauses(states: Mapping[str, JobState], tried: Collection[str]) -> dict[str, JobState]:
    """Return the states as if failures of earlier runs were long past: no pretended time passes in between.

    What was `tried` in this run waits for another.
    """
    ready = dict(states)
    for name, state in states.items():
        if state.failures and state.ended_at is not None and name not in tried:
            ready[name] = replace(state, ended_at=state.ended_at - LONGEST_PAUSE)
    return ready


def _left_step_text(step: Due, states: Mapping[str, JobState]) -> str:
    """Return the name of a step that is left to a later start, when it may be tried again, and why."""
    if step.after is None:
        return step.name

    text = f"{step.name} (next try {step.after:{MINUTE_FORMAT}} UTC, arena run --round tries at once"
    last = states.get(step.name)
    if last is not None and last.failures and last.note:
        text += f"; it failed: {last.note}"
    return f"{text})"


def _watch_clock(leader: Leader, states: Mapping[str, JobState], now: datetime) -> None:
    """Note that the clock has stepped since the last step; at the first, that it is behind."""
    running = leader.running
    last = running.last_step
    reading = ClockReading(now, asyncio.get_running_loop().time())
    running.last_step = reading
    if last is None:
        newest = max((state.started_at for state in states.values()), default=now)
        file = leader.clock.file if isinstance(leader.clock, PretendedClock) else None
        if newest - now > CLOCK_TOLERANCE:
            _note_or_report(running, partial(note_clock, running.record, clock_behind(now, newest, file)))
        return
    if not isinstance(leader.clock, SystemClock):
        return

    # The clock has stepped by what it went on more, or less, than the monotonic timer.
    clock_seconds = (reading.at - last.at).total_seconds()
    timer_seconds = reading.seconds - last.seconds
    stepped_by = clock_seconds - timer_seconds
    if abs(stepped_by) > CLOCK_TOLERANCE.total_seconds():
        _note_or_report(running, partial(note_clock, running.record, clock_stepped(now, stepped_by)))


def _read_situation(leader: Leader, states: Mapping[str, JobState], now: datetime) -> DueSituation:
    """Return the situation that decides what is due, after ending cohorts that are over."""
    running = leader.running
    record = leader.context.record
    config = running.config

    progress = record.read(read_progress, record.line_ups)
    ended = end_cohorts(progress, running.last_looks, config.cohorts.keep_deciding, record)
    if ended:
        progress = record.read(read_progress, record.line_ups)
    for number in ended:
        running.report("ended", f"cohort {number} has ended", cohort=number)

    stored_cohorts = [cohort.stored for cohort in progress]
    plan = plan_of(config, now, tuple(stored.cohort for stored in stored_cohorts))
    world = leader.context.world
    look = next_look(record, stored_cohorts, leader.live, world.corrected_within, world.pretended)
    return DueSituation(
        plan=plan,
        progress=progress,
        jobs=states,
        live=leader.live,
        catch_up=config.cohorts.catch_up,
        now=now,
        look=look,
        leaves_failed=running.leaves_failed,
    )


def due_tasks(
    work: DueWork, jobs: Sequence[Job], states: Mapping[str, JobState], now: datetime, live: bool
) -> list[DueTask]:
    """Return all that may be done now. At the same time cohorts come first, then jobs in their order.

    In a simulated or recorded world, everything waits for an earlier start or cohort that is tried again
    later: it would be too late. `SEASON_JOBS` wait for failed marks too, which settle by what was known at
    their time.
    """
    ready = [due for due in work.due if not due.rests(now)]
    resting_times = [due.at for due in work.due if due.rests(now) and not due.is_paused]
    first_resting = min(resting_times, default=LATEST)

    tasks = []
    for order, due in enumerate(ready):
        cohort_live = live if due.stored is None else due.stored.cohort.stamp == "live"
        if cohort_live or due.at < first_resting:
            tasks.append(DueTask(due.name, due.at, order, cohort_live, due))

    for job in jobs:
        if job.name == "marks" and job_rests(states.get("marks"), now):
            first_resting = min(first_resting, job.latest(now))

    for order, job in enumerate(jobs, len(ready)):
        at = job_due_at(job, states.get(job.name), now)
        may_wait = job.name in SEASON_JOBS and not live
        if at is not None and (at < first_resting or not may_wait):
            tasks.append(DueTask(job.name, at, order, live))

    return tasks


def ready_tasks(waiting: Sequence[DueTask], resting: Collection[str]) -> list[DueTask]:
    """Return the tasks that may be done now, without those at rest because another process has them in hand.

    In a simulated or recorded world nothing later is done meanwhile: the other's round would be past.
    """
    held_times = [task.at for task in waiting if task.name in resting and not task.live]
    first_held = min(held_times, default=LATEST)
    ready = [task for task in waiting if task.name not in resting]
    return [task for task in ready if task.live or task.at <= first_held]


async def _sleep(work: DueWork, states: Mapping[str, JobState], now: datetime, leader: Leader) -> bool:
    """Sleep until the next thing is due; return False when none will be."""
    running = leader.running
    pretended = leader.context.world.pretended
    if work.over:
        running.report("over", "every round has been played and everything is settled")
        return False

    schedules = dict(work.schedules)
    # Where time is pretended, the hours between two looks for corrections bring nothing.
    if not (work.idle and pretended):
        for job in running.jobs:
            schedules[job.name] = job_schedule(job, states.get(job.name))

    nothing_failed = not any(state.failures for state in states.values())
    only_waits = nothing_failed and not work.due
    if only_waits and work.next_round is not None and not pretended:
        _report_wait(running, work.next_round, leader.live)

    if next_time_of_any(schedules, now) is None:
        running.report("over", "nothing more is due: `run.marks` is off and no rounds are left")
        return False

    await leader.wake.wait(schedules, now, running.stop.asked)
    return True


async def _do(task: DueTask, work: DueWork, states: Mapping[str, JobState], leader: Leader) -> None:
    """Do a task and store its outcome; report a failure, to be retried after a pause."""
    running = leader.running
    running.tried.add(task.name)
    last = states.get(task.name)
    failures = last.failures if last is not None else 0
    state = JobState(task.name, task.at, leader.clock.now(), failures=failures)
    _keep_state(state, leader)

    fault = None
    running.progress.doing = task.name
    try:
        outcome = await _perform(task, work, leader)
    except LeaseLost:
        raise
    except Stopped as error:
        running.report("stopped", str(error), name=task.name)
        return
    except (Exception, SystemExit) as error:  # noqa: BLE001 - one thing that fails must not stop the others
        fault = error
        outcome = StepOutcome(venue_error_text(error), failed=True)
    finally:
        running.progress.doing = ""

    if outcome.busy:
        running.busy_until[task.name] = asyncio.get_running_loop().time() + BUSY.total_seconds()

    failures = failures + 1 if outcome.failed else 0
    unanswered: tuple[UnansweredTurn, ...] = ()
    if outcome.report is not None and not running.leaves_failed:
        unanswered = outcome.report.unanswered
    gives_up = failures >= MOST_TRIES or not all(turn.passing for turn in unanswered)
    if unanswered and gives_up:
        failures = 0  # the next start tries at once, and as often
    state = replace(state, ended_at=leader.clock.now(), failures=failures, note=outcome.note)
    _keep_state(state, leader)

    _report_outcome(running, task, outcome)
    if unanswered:
        _report_unanswered(running, task, unanswered, None if gives_up else retry_at(state))
    _record_fault(task, fault, leader)


async def _perform(task: DueTask, work: DueWork, leader: Leader) -> StepOutcome:
    """Take the step of a cohort, or do the job, and return its outcome."""
    if task.due is not None:
        return await do_step(task.due, leader.context)

    context = replace(leader.context, blocked=blocked_cohorts(work.due, task.at))
    return StepOutcome(await JOB_FUNCTIONS[task.name](context, task.at))


def _report_unanswered(
    running: Run, task: DueTask, unanswered: Sequence[UnansweredTurn], again_at: datetime | None
) -> None:
    """Report which models gave no answer, and when they are asked again; None gives the season up."""
    agents = [turn.agent for turn in unanswered]
    if again_at is not None:
        message = f"{unanswered_text(unanswered)}; next try at {again_at:{MINUTE_FORMAT}} UTC"
        running.report("unanswered", message, agents=agents)
        return

    running.progress.gave_up = True
    running.progress.left = (task.name,)
    error = unanswered_error(task.at, unanswered)
    running.report("gave_up", f"{error.message}; {error.hint}", name=task.name, agents=agents)


def _record_fault(task: DueTask, fault: BaseException | None, leader: Leader) -> None:
    """Record the incident of a fault, or that it is over."""
    record = leader.running.record
    now = leader.clock.now()
    due = task.due
    if due is None:
        note = partial(note_job, record, task.name, leader.context.source.venue, now, fault)
    elif due.stored is not None and due.step in ROUND_STEPS:
        note = partial(note_played, record, due.stored.cohort.venue, due.at, now, fault)
    else:
        return
    _note_or_report(leader.running, note)


def _note_or_report(running: Run, note: Callable[[], None]) -> None:
    """Write a note to the record, or report that this failed."""
    try:
        note()
    except Exception as error:  # noqa: BLE001 - a full disk, say: it must not stop what it is about
        running.report_trouble(error)


def _keep_state(state: JobState, leader: Leader) -> None:
    """Write how a job goes to the record; keep it in memory where that fails, so that nothing is hurried."""
    running = leader.running
    try:
        leader.context.record.write(put_job, state)
        running.unwritten_states.pop(state.name, None)
        running.record_trouble = ""
        note_usable(running.record, state.ended_at or state.started_at, running.unusable)
    except LeaseLost:
        raise
    except Exception as error:  # noqa: BLE001 - a full disk, say: what was done was recorded by itself
        running.unwritten_states[state.name] = state
        running.report_trouble(error)


def _show_progress(running: Run, work: DueWork, states: Mapping[str, JobState], now: datetime) -> None:
    """Bring the progress up to date, and report once what was missed and is skipped."""
    progress = running.progress
    progress.now = now
    progress.next_round = work.next_round

    job_times = [(next_job_time(job, states.get(job.name), now), job.name) for job in running.jobs]
    at, name = min(job_times, default=(None, ""))
    progress.next_job = None if at is None else (name, at)

    missed = [skipped for skipped in work.missed if skipped not in running.reported_misses]
    if not missed:
        return

    running.reported_misses.update(missed)
    _note_or_report(running, partial(note_missed, running.record, missed, now))
    for skipped in missed:
        what = "a start"
        if skipped.cohort is not None:
            what = f"cohort {skipped.cohort}, round {skipped.number}"
        message = f"{what} of {skipped.at:{MINUTE_FORMAT}} UTC was missed and is skipped (cohorts.catch_up)"
        due = skipped.at.isoformat()
        running.report("missed", message, due=due, cohort=skipped.cohort, round=skipped.number)


def _report_outcome(running: Run, task: DueTask, outcome: StepOutcome) -> None:
    """Count what was done or has failed, and report it."""
    progress = running.progress
    message = f"{task.name}, {task.at:{MINUTE_FORMAT}}: {outcome.note}"
    if outcome.busy and running.record.watch.is_in_doubt():
        message += f", or has died; waiting up to {LEASE_LENGTH.total_seconds():g} s for a sign of it"

    if outcome.report is not None and not outcome.busy:
        progress.last_round = message
        progress.rounds += bool(outcome.report.turns)
        progress.turns += len(outcome.report.turns)
    elif task.due is None:
        progress.jobs += not outcome.failed

    kind: str = "job" if task.due is None else task.due.step
    if outcome.failed:
        kind = "failed"
        progress.trouble(message)
    elif outcome.busy:
        kind = "busy"

    learnt_ends = task.name == "resolutions" and not outcome.note.startswith("0 ")
    is_news = task.name == "backup" or learnt_ends
    is_routine = kind == "track" or (kind == "job" and not is_news)
    data = {"name": task.name, "due": task.at.isoformat(), "note": outcome.note, **outcome.data}
    running.report(kind, message, is_routine, **data)


def _report_workers(running: Run, alone: bool) -> None:
    """Report who plays the turns from now on."""
    running.progress.alone = alone
    now = running.progress.now or running.open_clock().now()
    _note_or_report(running, partial(note_workers, running.record, now, alone))
    if alone:
        running.report("alone", NO_WORKERS)
    else:
        running.report("workers", "workers are running: they play the turns")


def _report_wait(running: Run, at: datetime, live: bool) -> None:
    """Report once which round is waited for."""
    if running.reported_round != at:
        running.reported_round = at
        at_once = "" if live else "; `arena run --round` plays it at once"
        running.report("waiting", f"waiting for the next round, {at:{MINUTE_FORMAT}} UTC{at_once}")
