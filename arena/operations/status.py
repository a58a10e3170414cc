"""The status of an arena, read from its record at one instant, and whether that is well.

It is the one definition for the command line, the health endpoint and the pages; programs have it as JSON,
with amounts in dollars.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from arena.cohorts.schedule import (
    JOB_NAMES,
    KEEP_DECIDING,
    PLAY_WINDOW,
    CohortStarts,
    Expected,
    expected_rounds,
    next_cohort_start,
    next_job_time,
    next_round_time,
)
from arena.errors import count_text
from arena.record.model.cohort import REHEARSAL, JobState
from arena.record.model.incident import RecordedIncident
from arena.record.model.lease import is_gone
from arena.record.model.reservation import midnight
from arena.record.model.status import (
    HEALTH_WORDS,
    BudgetUse,
    HealthReason,
    JobStatus,
    OpenCohort,
    RoundCalendar,
    RoundState,
    Spending,
    Status,
)
from arena.record.queries import calls, operations
from arena.record.queries.operations import read_open_positions
from arena.record.schema.database import reading
from arena.record.write.operations import read_jobs, read_recent_incidents
from markets.millionths import ONE

GRACE = timedelta(minutes=15)
"""How long after its time a round may begin."""
PATIENCE = timedelta(hours=1)
"""How long a round may take."""
FAILURES = 3
"""After so many in a row a job is not taken to mend itself."""

DueRounds = dict[int, tuple[int, datetime]]
"""The last round whose time has come, number and time, by the number of its cohort."""


def judge_health(status: Status, due: DueRounds) -> Status:
    """The status with its health, and by how much the latest round is late that should have been played."""
    on_duty = status.leader is not None and status.leader.alive
    known = {(round.cohort, round.number): round for round in status.rounds}
    found, lag = list(_troubles(status)), timedelta()
    for one in status.playing:
        if one.number in due and one.paused_at is None:
            number, at = due[one.number]
            state = known.get((one.number, number))
            reason = _of_round(one, number, at, state, status.at, on_duty)
            found += [reason] if reason else []
            if one.live and reason is not None and reason.code in ("due", "late", "playing", "unfinished"):
                lag = max(lag, status.at - at)
    found += _waits(status, on_duty)
    worst_first = sorted(found, key=lambda reason: HEALTH_WORDS.index(reason.word), reverse=True)
    return replace(status, reasons=tuple(worst_first), lag=lag)


def _of_round(
    one: OpenCohort, number: int, at: datetime, state: RoundState | None, now: datetime, on_duty: bool
) -> HealthReason | None:
    """What there is to say of the last round of a cohort whose time has come."""
    which, since = f"round {number} of cohort {one.number}", now - at
    if state is not None and state.done:
        return None
    if not one.live:
        return HealthReason("waiting", "unfinished", f"{which} is not finished")
    if state is not None:
        return _of_begun(which, state, now)
    if since <= GRACE:
        return HealthReason("waiting", "due", f"{which} is due")
    if since <= PLAY_WINDOW or not on_duty:
        return HealthReason("late", "late", f"{which} was due at {at:%Y-%m-%d %H:%M} UTC and has not begun")
    return HealthReason("waiting", "missed", f"{which} was not played in its time, {at:%Y-%m-%d %H:%M} UTC")


def _of_begun(which: str, state: RoundState, now: datetime) -> HealthReason | None:
    """What there is to say of a round that has begun and isn't done."""
    since, failed = now - state.taken_at, state.turns.get("failed", 0)
    if since > PLAY_WINDOW + GRACE:
        return HealthReason("late", "unfinished", f"{which} is not finished")
    if not state.missing:
        words = f"{count_text(failed, 'turn')} in {which} failed and will be tried again"
        return HealthReason("waiting", "failed_turns", words)
    words = f"{count_text(state.missing, 'turn')} still to come in {which}"
    return (
        HealthReason("late", "unfinished", words)
        if since > PATIENCE
        else HealthReason("waiting", "playing", words)
    )


def _troubles(status: Status) -> Iterator[HealthReason]:
    """What does not mend itself."""
    for told in status.incidents:
        if told.ended_at is None:
            yield HealthReason("trouble", told.incident.kind, told.incident.text)
    for job in status.jobs:
        if job.failures >= FAILURES:
            words = f"the job {job.name} has failed {job.failures} times in a row"
            yield HealthReason("trouble", "job_failing", words)


def _waits(status: Status, on_duty: bool) -> Iterator[HealthReason]:
    """What is still to come, or is left to the operator."""
    if not status.calendar.cohorts:
        yield HealthReason("waiting", "nothing_begun", "no cohort has started yet")
    if not on_duty and any(one.live for one in status.playing):
        yield HealthReason("waiting", "nobody_on_duty", "nobody is on duty: `arena run` is not running")
    for one in status.playing:
        if one.paused_at is not None:
            yield HealthReason("waiting", "paused", f"cohort {one.number} is paused")
    for limit in status.spend.limits:
        if limit.spent >= limit.limit:
            whose = f" of {limit.whose}" if limit.whose else ""
            yield HealthReason("waiting", "budget_spent", f"the budget per {limit.scope}{whose} is spent")


if TYPE_CHECKING:
    from arena.config import Config
    from arena.record.record import Record
    from arena.record.schema.database import Connection

DAY = timedelta(days=1)
NEWEST_INCIDENTS = 5
"""So many of the newest incidents are shown, and so many of those that go on."""
PRICE_JOBS = ("quotes", "catalogue")
"""The jobs that read prices."""


def status_source(
    record: "Record", config: "Config", now: Callable[[], datetime], me: str = ""
) -> Callable[[], Status]:
    """What looks up the status of a config's record each time it is called, from any thread."""

    def source() -> Status:
        at = now()
        with reading(record.engine) as connection:
            return read_status_by_config(connection, at, config, me)

    return source


def read_status_by_config(
    connection: "Connection", now: datetime, config: "Config | None", me: str = "", pretended: bool = False
) -> Status:
    """How an arena stands at a time by its config; by its record alone, where there is none."""
    if config is None:
        return read_status(connection, now, Expected(), pretended)
    from arena.cohorts.freeze import expected_of  # loads all that cohorts are made of

    began = next((starts_at for _, starts_at in operations.read_cohort_starts(connection)), None)
    return read_status(connection, now, expected_of(config, now, began, me), pretended)


def read_status(
    connection: "Connection", now: datetime, expected: Expected, pretended: bool = False
) -> Status:
    """How an arena stands at a time, which may be only `pretended`."""
    playing, rounds = operations.read_open_cohorts(connection), operations.read_round_states(connection)
    calendar, due = _read_calendar(connection, playing, rounds, now, expected)
    held, looked_at = read_open_positions(connection, {one.id: one.quote_age for one in playing})
    states = read_jobs(connection)
    jobs = _job_lines(states, now, expected)
    read = (
        operations.read_last_sync(connection, {one.venue for one in playing}),
        looked_at,
        *_prices_read_at(jobs),
    )
    found = Status(
        at=now,
        clock="pretended" if pretended else "mixed" if REHEARSAL in states else "real",
        leader=operations.read_leader(
            connection, lambda holder: holder == expected.me or not is_gone(holder)
        ),
        calendar=calendar,
        playing=tuple(playing),
        rounds=tuple(rounds),
        turns=operations.count_turns(connection),
        spend=_read_spend(connection, now, expected, rounds),
        under_way=calls.read_calls_under_way(connection),
        held=held,
        looked_at=max((at for at in read if at is not None), default=None),
        quarantined=tuple(operations.read_quarantine_counts(connection, now - DAY)),
        jobs=tuple(jobs),
        incidents=_read_incidents(connection),
    )
    return judge_health(found, due)


def _read_calendar(
    connection: "Connection",
    playing: Sequence[OpenCohort],
    rounds: Sequence[RoundState],
    now: datetime,
    expected: Expected,
) -> tuple[RoundCalendar, DueRounds]:
    """What was due and what is to come, and the last round of each cohort whose time has come.

    A world that is made up or recorded has come as far as it was played.
    """
    starts: CohortStarts = operations.read_cohort_starts(connection)
    newest = max((round.at for round in rounds), default=None)
    live = any(one.live for one in playing) if expected.live is None else expected.live
    until = now if live or newest is None else newest
    keep = expected.plan.keep_deciding if expected.plan else KEEP_DECIDING
    to_play = {one.number: expected_rounds(one, starts, keep) for one in playing}
    due = {cohort: [round for round in found if round[1] <= until] for cohort, found in to_play.items()}
    begun, done = operations.count_ended_rounds(connection)
    calendar = RoundCalendar(
        cohorts=len(starts),
        due=begun + sum(map(len, due.values())),
        done=done + sum(round.done and round.cohort in to_play for round in rounds),
        next_round=next_round_time([at for found in to_play.values() for _, at in found], expected, until),
        next_cohort=next_cohort_start(starts, newest, expected, now),
    )
    return calendar, {cohort: found[-1] for cohort, found in due.items() if found}


def _read_spend(
    connection: "Connection", now: datetime, expected: Expected, rounds: Sequence[RoundState]
) -> Spending:
    """What was spent, also of each budget; of those that there are several of, of the one that is nearest."""
    day = midnight(now)
    today = calls.read_spent_since(connection, day)
    limits = list[BudgetUse]()
    for scope, limit in expected.limits.items():
        if scope == "day":
            limits.append(BudgetUse(scope, "", today, limit))
        elif scope == "round":
            limits.append(
                BudgetUse(scope, *calls.read_dearest_round(connection, [x.id for x in rounds]), limit)
            )
        elif scope == "agent":
            limits.append(BudgetUse(scope, *calls.read_dearest_agent(connection), limit))
        elif scope == "arena":
            limits.append(BudgetUse(scope, "", calls.read_spent_total(connection), limit))
    return Spending(today, calls.read_spent_since(connection, day.replace(day=1)), tuple(limits))


def _job_lines(states: Mapping[str, JobState], now: datetime, expected: Expected) -> list[JobStatus]:
    """How each job went last, and when the config's are due next."""
    known = {job.name: job for job in expected.jobs}
    return [
        JobStatus(**asdict(state), next_at=next_job_time(known[name], state, now) if name in known else None)
        for name, state in states.items()
        if name in JOB_NAMES
    ]


def _prices_read_at(jobs: Sequence[JobStatus]) -> Iterator[datetime | None]:
    """When jobs last read prices."""
    return (job.ended_at for job in jobs if job.name in PRICE_JOBS and not job.failures)


def _read_incidents(connection: "Connection") -> tuple[RecordedIncident, ...]:
    """The newest incidents, and before them those that go on."""
    found = [
        *read_recent_incidents(connection, NEWEST_INCIDENTS, only_open=True),
        *read_recent_incidents(connection, NEWEST_INCIDENTS),
    ]
    return tuple({told.id: told for told in found}.values())


def status_data(status: Status) -> dict[str, Any]:
    """All of it."""
    spend, held = status.spend, status.held
    return health_data(status) | {
        "clock": status.clock,
        "cohorts": {
            "started": status.calendar.cohorts,
            "playing": [one.number for one in status.playing],
            "next": _time(status.calendar.next_cohort),
        },
        "turns": dict(status.turns),
        "spend": {
            "today_usd": spend.today / ONE,
            "month_usd": spend.month / ONE,
            "budgets": [
                {"per": x.scope, "of": x.whose, "spent_usd": x.spent / ONE, "limit_usd": x.limit / ONE}
                for x in spend.limits
            ],
        },
        "calls": {
            "under_way": status.under_way.calls,
            "worst_usd": status.under_way.worst / ONE,
            "lost": status.under_way.lost,
            "lost_worst_usd": status.under_way.lost_worst / ONE,
        },
        "positions": {"open": held.positions, "markets": held.markets, "stale_markets": held.stale},
        "prices": {"read_at": _time(status.looked_at), "oldest_held": _time(held.oldest)},
        "set_aside": [
            {"venue": x.venue, "kind": x.kind, "code": x.code, "records": x.records}
            for x in status.quarantined
        ],
        "jobs": [_job_data(job) for job in status.jobs],
        "incidents": [incident_data(told) for told in status.incidents],
        "backup": None if status.backup is None else _time(status.backup.ended_at),
    }


def health_data(status: Status) -> dict[str, Any]:
    """What a health check asks for: the word and why, who is on duty, and how the rounds go."""
    leader, calendar = status.leader, status.calendar
    return {
        "health": status.word,
        "reasons": [{"health": x.word, "code": x.code, "text": x.text} for x in status.reasons],
        "at": _time(status.at),
        "duty": leader
        and {
            "host": leader.host,
            "process": leader.process,
            "alive": leader.alive,
            "until": _time(leader.until),
        },
        "rounds": {
            "due": calendar.due,
            "done": calendar.done,
            "lag_seconds": status.lag.total_seconds(),
            "next": _time(calendar.next_round),
            "last": [_round_data(one) for one in status.last],
        },
    }


def incident_data(told: RecordedIncident) -> dict[str, Any]:
    """Something that happened, and whether anyone was told."""
    return {
        "kind": told.incident.kind,
        "subject": told.incident.subject,
        "at": _time(told.incident.at),
        "text": told.incident.text,
        "data": dict(told.incident.data),
        "ended_at": _time(told.ended_at),
        "told_at": _time(told.told_at),
        "tries": told.tries,
        "next_try_at": _time(told.next_try_at),
    }


def _round_data(one: RoundState) -> dict[str, Any]:
    turns = dict(one.turns) | ({"missing": one.missing} if one.missing else {})
    place = {"cohort": one.cohort, "round": one.number, "at": _time(one.at)}
    return place | {"done": one.done, "turns": turns}


def _job_data(job: JobStatus) -> dict[str, Any]:
    times = ("due_at", "started_at", "ended_at", "next_at")
    found = {name: _time(getattr(job, name)) for name in times}
    return {"name": job.name, "failures": job.failures, "note": job.note} | found


def _time(at: datetime | None) -> str | None:
    return None if at is None else at.isoformat()
