"""`arena run`: one process that does what is due, when it is due, until all is over or it is told to stop.

What is due is read from the record before each step, so starting, going on and recovering are the same.
"""

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial

from arena.clock import Clock, PretendedClock, sleep_unless_stopped
from arena.cohorts.freeze import plan_of, stamp_of
from arena.cohorts.schedule import (
    MOST_TRIES,
    Job,
    configured_jobs,
    job_due_at,
    job_rests,
    job_schedule,
    next_job_time,
    next_of,
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
from arena.operations.incidents import monitoring, note_job, note_missed, note_played
from arena.operations.jobs import (
    JOB_FUNCTIONS,
    JobContext,
    LastLook,
    StepOutcome,
    Stopped,
    do_step,
    end_cohorts,
)
from arena.operations.leader import LOOK, take_lead, wait_to_lead, work_as_leader
from arena.operations.progress import OnRunEvent, RunEvent, RunProgress, StopRequest, work_until_stopped
from arena.operations.wake import SchedulerWake, SimulatedWake, Wake
from arena.record.model.cohort import REHEARSAL, JobState, UnansweredTurn, unanswered_text
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

BUSY, TROUBLED = timedelta(seconds=5), timedelta(seconds=10)
"""How long to leave alone what another process has in hand, and a record that can't be used."""
VENUE_JOBS = {"quotes", "resolutions", "marks", "catalogue"}
"""What looks at a venue for cohorts that go on."""
SEASON_JOBS = VENUE_JOBS | {"retention"}
"""What keeps in the record how a season stands at the job's time, or forgets what is older.

In a made-up or recorded world none is done before an earlier round: it would read that round's future.
"""
NO_WORKERS = "no worker is running: turns are played here until one starts (`arena worker`)"
MINUTE_FORMAT = "%Y-%m-%d %H:%M"


@dataclass
class Run:
    """What a run is given, and what it remembers of itself; all else the record knows.

    `unwritten_states` could not be kept, `trouble` is what was told of the record since it last took a note,
    `busy_until` is how long what another process has in hand is left alone, `passed` are missed rounds and
    `waits_for` the next round that were reported, `last_looks` those after which a cohort was not over. With
    `leaves_failed` a season does not wait for models that give no answer.
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
    trouble: str = ""
    busy_until: dict[str, float] = field(default_factory=dict)
    passed: set[MissedRound] = field(default_factory=set)
    waits_for: datetime | None = None
    last_looks: dict[int, LastLook] = field(default_factory=dict)
    good_step: asyncio.Event = field(default_factory=asyncio.Event)


@dataclass(frozen=True, slots=True)
class LeaderRun:
    """A run that leads: its clock, what wakes it, and where things are done."""

    run: Run
    clock: Clock
    wake: Wake
    context: JobContext


@dataclass(frozen=True, slots=True)
class DueTask:
    """One thing to be done, in a `live` world or not: what is due of a cohort, or a job at its time."""

    name: str
    at: datetime
    place: int
    live: bool
    due: Due | None = None


async def run(run: Run) -> None:
    """Stand by until this process leads, then do what is due; again where it has lost the lead."""
    me, before = holder_name(), run.record.read(count_turns)
    try:
        await _lead_until_stopped(run, me)
    finally:  # those of a round that was broken off too
        turns = sum(run.record.read(count_turns).values()) - sum(before.values())
        run.progress.turns = max(run.progress.turns, turns)


async def _lead_until_stopped(run: Run, me: str) -> None:
    while not run.stop.asked.is_set():
        token = await _take(run, me)
        if token is None or await work_as_leader(run.record, token, lambda record: _work(run, record, me)):
            return
        _emit(run, "superseded", "another arena run has taken over")


IN_USE = "another arena run is using this record"


async def _take(run: Run, me: str) -> int | None:
    """Take the lead, or wait for it; return the token, or None when told to stop before."""
    if run.once:
        return await _take_once(run, me)
    on_standby = partial(_emit, run, "standby", f"{IN_USE}; standing by")
    on_error = partial(_emit_trouble, run, anew=True)
    return await wait_to_lead(run.record, me, run.stop.asked, on_standby, on_error)


async def _take_once(run: Run, me: str) -> int | None:
    """Take the lead, which is waited for only where its holder may have died on another machine."""
    token = take_lead(run.record, me)
    if token is None and run.record.watch.is_in_doubt():
        words = f"{IN_USE}, or has died on another machine; waiting up to a minute for a sign of it"
        _emit(run, "standby", words)
    while token is None and run.record.watch.is_in_doubt():
        await sleep_unless_stopped(LOOK, run.stop.asked)
        if run.stop.asked.is_set():
            return None
        token = take_lead(run.record, me)

    if token is None:
        hint = "it does what is due; without --once, this one would stand by"
        raise ArenaError("busy", IN_USE, hint, status=2)
    return token


async def _work(run: Run, record: Record, me: str) -> None:
    """Open the doors and do what is due, until told to stop."""
    clock = run.open_clock()
    run.progress.now = clock.now()
    wake = run.open_wake()
    if isinstance(clock, PretendedClock):
        record.write(put_job, JobState(REHEARSAL, clock.at, clock.at, clock.at, note="on a rehearsal clock"))
        wake = SimulatedWake(clock)
    async with AsyncExitStack() as stack:
        stack.callback(wake.close)
        report_wait = partial(_emit, run, "rate_limit")
        world = await stack.enter_async_context(open_world(run.config, record, clock, report_wait))
        world = replace(world, leaves_failed=run.leaves_failed)
        if run.config.run.workers:
            dispatch = run.open_dispatch(run.config, partial(_emit_workers, run))
            world = replace(world, dispatch=await stack.enter_async_context(dispatch))
        quarantined: list[QuarantinedRecord] = []
        timed = not isinstance(clock, PretendedClock)
        venue = open_venue(run.config, report=quarantined.append, timed=timed)
        stack.push_async_callback(venue.close)
        source = VenueSource(run.config.markets.venue, stamp_of(run.config))
        lead_run = LeaderRun(
            run,
            clock,
            wake,
            JobContext(run.config, world, record, source, venue, quarantined, baselines=run.baselines),
        )
        emit = partial(_emit, run, "untold")
        monitors = monitoring(run.config, run.record, clock.now, me, emit, run.good_step)
        await stack.enter_async_context(monitors)
        _emit(run, "started", f"leading; it is {clock.now():{MINUTE_FORMAT}} UTC")
        await work_until_stopped(_step_until_over(lead_run), run.stop, world.under_way, run.config.run.grace)


async def _step_until_over(lead_run: LeaderRun) -> None:
    """Step after step, until nothing is to come. A record that can't be used is tried again."""
    run = lead_run.run
    while not run.stop.asked.is_set():
        try:
            failed = run.progress.failed
            if not await run_step(lead_run) or run.progress.gave_up:
                return
            if run.progress.failed == failed:
                run.good_step.set()
        except (LeaseLost, RecordReplaced):
            raise
        except Exception as error:  # noqa: BLE001 - whatever it is, the next step may find it well again
            _emit_trouble(run, error)
            if run.once:
                return
            await sleep_unless_stopped(TROUBLED, run.stop.asked)


async def run_step(lead_run: LeaderRun) -> bool:
    """Do the first of what is due, or sleep until something is. False when nothing will be any more."""
    run, now = lead_run.run, lead_run.clock.now()
    states = {**lead_run.context.record.read(read_jobs), **run.unwritten_states}
    todo = due_work(_situation(lead_run, states, now))
    known = configured_jobs(run.config.run, run.config.watch)
    jobs = [job for job in known if not todo.idle or job.name not in VENUE_JOBS]
    live, moment = lead_run.context.source.stamp == "live", asyncio.get_running_loop().time()
    waiting = due_tasks(todo, jobs, states, now, live)
    _show(run, todo, states, now)
    resting = {task.name for task in waiting if moment < run.busy_until.get(task.name, 0.0)}
    ready = ready_tasks(waiting, resting)
    if ready:
        # A catalogue is the witness of its instant, so all other looks at it come before.
        first = min(ready, key=lambda task: (task.name == "catalogue", task.at, task.place))
        await _do(first, todo, states, lead_run)
        return True
    if run.once and not (waiting and lead_run.context.record.watch.is_in_doubt()):
        left = dict.fromkeys((*(one.name for one in todo.due), *(task.name for task in waiting)))
        run.progress.left = tuple(left)
        return False
    if waiting:
        await sleep_unless_stopped(BUSY, run.stop.asked)
        return True
    return await _sleep(todo, states, now, lead_run)


def _situation(lead_run: LeaderRun, states: Mapping[str, JobState], now: datetime) -> DueSituation:
    """All that decides on what is due of the cohorts. Those that are over end first."""
    run, record = lead_run.run, lead_run.context.record
    config, progress = run.config, record.read(read_progress, record.line_ups)
    if ended := end_cohorts(progress, run.last_looks, config.cohorts.keep_deciding, record):
        progress = record.read(read_progress, record.line_ups)
    for number in ended:
        _emit(run, "ended", f"cohort {number} has ended", cohort=number)
    cohorts = [one.stored for one in progress]
    plan = plan_of(config, now, tuple(x.cohort for x in cohorts))
    live = lead_run.context.source.stamp == "live"
    look = next_look(record, cohorts, live, lead_run.context.world.corrected_within)
    catch_up = config.cohorts.catch_up
    return DueSituation(plan, progress, states, live, catch_up, now, look, run.leaves_failed)


def due_tasks(
    todo: DueWork, known: list[Job], states: Mapping[str, JobState], now: datetime, live: bool
) -> list[DueTask]:
    """All that may be done now. At the same time cohorts come first, then jobs in their order.

    In a made-up or recorded world, all waits for an earlier start or cohort that rests: it would be too late.
    So do `SEASON_JOBS`, also for marks that failed and rest: these settle by what was known at their time.
    """
    ready = [one for one in todo.due if one.after is None or one.after <= now]
    rest = [one for one in todo.due if one not in ready and not (one.stored and one.stored.paused_at)]
    resting = min((one.at for one in rest), default=None)
    found = [
        DueTask(one.name, one.at, place, one.stored.cohort.stamp == "live" if one.stored else live, one)
        for place, one in enumerate(ready)
    ]
    found = [task for task in found if task.live or resting is None or task.at < resting]

    marks = [job.latest(now) for job in known if job.name == "marks" and job_rests(states.get("marks"), now)]
    first_left = min([*marks, *(one.at for one in rest)], default=LATEST)
    for place, job in enumerate(known, len(ready)):
        at = job_due_at(job, states.get(job.name), now)
        if at is None:
            continue
        waits = not live and job.name in SEASON_JOBS and at >= first_left
        if not waits:
            found.append(DueTask(job.name, at, place, live))
    return found


def ready_tasks(waiting: Sequence[DueTask], resting: Collection[str]) -> list[DueTask]:
    """Those that may be done now, without what rests, since another process has it in hand.

    In a made-up or recorded world nothing later is done meanwhile: by it the other's round would be past.
    """
    held = [task.at for task in waiting if task.name in resting and not task.live]
    first = min(held, default=None)
    return [
        task
        for task in waiting
        if task.name not in resting and (task.live or first is None or task.at <= first)
    ]


async def _sleep(todo: DueWork, states: Mapping[str, JobState], now: datetime, lead_run: LeaderRun) -> bool:
    """Until the next thing is due; False when none will be."""
    run = lead_run.run
    if todo.over:
        _emit(run, "over", "every round has been played and everything is settled")
        return False
    jobs = {
        job.name: job_schedule(job, states.get(job.name))
        for job in configured_jobs(run.config.run, run.config.watch)
    }
    if todo.idle and lead_run.context.world.pretended:
        jobs = {}  # the hours between two looks bring nothing
    quiet = not todo.due and not any(state.failures for state in states.values())
    if quiet and todo.next_round is not None and not lead_run.context.world.pretended:
        _emit_wait(run, todo.next_round, lead_run.context.source.stamp == "live")
    schedules = {**todo.schedules, **jobs}
    if next_of(schedules, now) is None:
        _emit(run, "over", "nothing more is due: `run.marks` is off and no rounds are left")
        return False
    await lead_run.wake.wait(schedules, now, run.stop.asked)
    return True


async def _do(task: DueTask, todo: DueWork, states: Mapping[str, JobState], lead_run: LeaderRun) -> None:
    """Do one thing, and note how it went. What goes wrong is told, and tried again after a pause."""
    run, last = lead_run.run, states.get(task.name)
    failures = last.failures if last is not None else 0
    state = JobState(task.name, task.at, lead_run.clock.now(), failures=failures)
    _keep_state(state, lead_run)
    run.progress.doing, fault = task.name, None
    try:
        done = await _done(task, todo, lead_run)
    except LeaseLost:
        raise
    except Stopped as error:
        _emit(run, "stopped", str(error), name=task.name)
        return
    except (Exception, SystemExit) as error:  # noqa: BLE001 - one thing that fails must not stop the others
        done, fault = StepOutcome(error_text(error), failed=True), error
    finally:
        run.progress.doing = ""
    if done.busy:
        run.busy_until[task.name] = asyncio.get_running_loop().time() + BUSY.total_seconds()
    failures = failures + 1 if done.failed else 0
    unanswered = () if run.leaves_failed or done.report is None else done.report.unanswered
    gives_up = failures >= MOST_TRIES or not all(turn.passing for turn in unanswered)
    if unanswered and gives_up:
        failures = 0  # the next start tries at once, and as often
    state = replace(state, ended_at=lead_run.clock.now(), failures=failures, note=done.note)
    _keep_state(state, lead_run)
    _emit_outcome(run, task, done)
    if unanswered and gives_up:
        _give_up(run, task, unanswered)
    elif unanswered:
        words = f"{unanswered_text(unanswered)}; next try at {retry_at(state):{MINUTE_FORMAT}} UTC"
        _emit(run, "unanswered", words, agents=[turn.agent for turn in unanswered])
    _record_fault(task, fault, lead_run)


def _give_up(run: Run, task: DueTask, unanswered: Sequence[UnansweredTurn]) -> None:
    """Say that the season stops with a round that is not over, why, and how it goes on."""
    run.progress.gave_up = True
    run.progress.left = (task.name,)
    error = unanswered_error(task.at, unanswered)
    agents = [turn.agent for turn in unanswered]
    _emit(run, "gave_up", f"{error.message}; {error.hint}", name=task.name, agents=agents)


def _record_fault(task: DueTask, fault: BaseException | None, lead_run: LeaderRun) -> None:
    """Note what the operator should hear of."""
    run, due, now = lead_run.run, task.due, lead_run.clock.now()
    if due is None:
        _note_or_tell(
            run, partial(note_job, run.record, task.name, lead_run.context.source.venue, now, fault)
        )
    elif due.stored is not None and due.step in ROUND_STEPS:
        _note_or_tell(run, partial(note_played, run.record, due.stored.cohort.venue, due.at, now, fault))


def _note_or_tell(run: Run, note: Callable[[], None]) -> None:
    try:
        note()
    except Exception as error:  # noqa: BLE001 - a full disk, say: it must not stop what it is about
        _emit_trouble(run, error)


async def _done(task: DueTask, todo: DueWork, lead_run: LeaderRun) -> StepOutcome:
    if task.due is not None:
        return await do_step(task.due, lead_run.run.config, lead_run.context)
    context = replace(lead_run.context, blocked=blocked_cohorts(todo.due, task.at))
    return StepOutcome(await JOB_FUNCTIONS[task.name](context, task.at))


def _keep_state(state: JobState, lead_run: LeaderRun) -> None:
    """Keep how a job goes; where the record takes no note it is remembered, so that nothing is hurried."""
    try:
        lead_run.context.record.write(put_job, state)
        lead_run.run.unwritten_states.pop(state.name, None)
        lead_run.run.trouble = ""
    except LeaseLost:
        raise
    except Exception as error:  # noqa: BLE001 - a full disk, say: what was done was told by itself
        lead_run.run.unwritten_states[state.name] = state
        _emit_trouble(lead_run.run, error)


def _show(run: Run, todo: DueWork, states: Mapping[str, JobState], now: datetime) -> None:
    """Keep the progress up to date, and report once what is passed over."""
    coming = [
        (next_job_time(job, states.get(job.name), now), job.name)
        for job in configured_jobs(run.config.run, run.config.watch)
    ]
    at, name = min(coming, default=(None, ""))
    run.progress.now, run.progress.next_round = now, todo.next_round
    run.progress.next_job = None if at is None else (name, at)
    if fresh := [one for one in todo.missed if one not in run.passed]:
        run.passed.update(fresh)
        _note_or_tell(run, partial(note_missed, run.record, fresh, now))
    for one in fresh:
        what = "a start" if one.cohort is None else f"cohort {one.cohort}, round {one.number}"
        words = f"{what} of {one.at:{MINUTE_FORMAT}} UTC was missed and is skipped (cohorts.catch_up)"
        _emit(run, "missed", words, due=one.at.isoformat(), cohort=one.cohort, round=one.number)


def _emit_outcome(run: Run, task: DueTask, done: StepOutcome) -> None:
    """What was done, for those who watch."""
    progress, report = run.progress, done.report
    words = f"{task.name}, {task.at:{MINUTE_FORMAT}}: {done.note}"
    if done.busy and run.record.watch.is_in_doubt():
        words += f", or has died; waiting up to {LEASE_LENGTH.total_seconds():g} s for a sign of it"
    if report is not None and not done.busy:
        progress.last_round = words
        progress.rounds += bool(report.turns)
        progress.turns += len(report.turns)
    elif task.due is None:
        progress.jobs += not done.failed
    if done.failed:
        progress.trouble(words)
    kind = "failed" if done.failed else "busy" if done.busy else task.due.step if task.due else "job"
    data = {"name": task.name, "due": task.at.isoformat(), "note": done.note}
    news = task.name == "backup" or (task.name == "resolutions" and not done.note.startswith("0 "))
    routine = kind == "track" or (kind == "job" and not news)
    _emit(run, kind, words, routine, **data, **done.data)


def _emit_workers(run: Run, alone: bool) -> None:
    """Say who plays the turns from now on."""
    run.progress.alone = alone
    kind, words = ("alone", NO_WORKERS) if alone else ("workers", "workers are running: they play the turns")
    _emit(run, kind, words)


def _emit_wait(run: Run, at: datetime, live: bool) -> None:
    """Say once what is waited for."""
    if run.waits_for != at:
        run.waits_for = at
        at_once = "" if live else "; `arena round` plays it at once"
        _emit(run, "waiting", f"waiting for the next round, {at:{MINUTE_FORMAT}} UTC{at_once}")


def _emit_trouble(run: Run, error: BaseException, anew: bool = False) -> None:
    """What is wrong with the record: told once until it takes a note again, or else where it is `anew`."""
    words = f"the record: {error_text(error)}"
    run.progress.trouble(words)
    if anew or words != run.trouble:
        _emit(run, "failed", words)
    run.trouble = words


def _emit(run: Run, kind: str, words: str, routine: bool = False, **data: object) -> None:
    run.tell(RunEvent(run.progress.now or run.open_clock().now(), kind, words, data, routine))
