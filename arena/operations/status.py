"""Reads the status of an arena from its record at one instant, and returns it as data for programs."""

import os
import shutil
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from agents.model import model_settings
from arena.cohorts.replacements import agents_to_correct_first
from arena.cohorts.schedule import (
    JOB_NAMES,
    KEEP_DECIDING,
    Expected,
    expected_rounds,
    next_cohort_start,
    next_job_time,
    next_round_time,
)
from arena.errors import ArenaError
from arena.operations import status_queries
from arena.operations.health import (
    BudgetUse,
    HealthReason,
    RoundCalendar,
    Spending,
    Status,
    Surroundings,
)
from arena.operations.judge import PRICE_JOBS, DueRounds, judge_health
from arena.record.files.backup import newest_backup_file
from arena.record.model.cohort import REHEARSAL, JobState, UnansweredTurn, server_of
from arena.record.model.incident import RecordedIncident
from arena.record.model.lease import is_gone
from arena.record.model.reservation import midnight
from arena.record.model.status import RoundState
from arena.record.queries import calls, operations
from arena.record.queries.cohorts import (
    ASKED_WITHIN,
    StoredCohort,
    count_awaited_ends,
    read_cohorts,
    read_unanswered_turns,
    read_unproven,
)
from arena.record.schema.database_errors import sqlite_path
from arena.record.schema.statements import attributes_of
from arena.record.write.heads import read_published_heads
from arena.record.write.operations import read_jobs, read_recent_incidents
from arena.record.write.reservations import read_pauses
from markets.millionths import ONE

if TYPE_CHECKING:
    from arena.config import Config
    from arena.config.model import AgentConfig
    from arena.record.record import Record
    from arena.record.schema.database import Connection

DAY = timedelta(days=1)
NO_SURROUNDINGS = Surroundings()
NEWEST_INCIDENTS = 5
"""How many of the newest incidents are shown."""
ONGOING_INCIDENTS = 500
"""How many of the ongoing incidents are looked at."""


def status_source(
    record: "Record", config: "Config", now: Callable[[], datetime], me: str = ""
) -> Callable[[], Status]:
    """Return a function that reads the current status by a config, and may be called from any thread."""

    def source() -> Status:
        return record.read(read_status_by_config, now(), config, me)

    return source


def read_status_by_config(
    connection: "Connection",
    now: datetime,
    config: "Config | None",
    me: str = "",
    clock_file: str = "",
    damage: str = "",
) -> Status:
    """Return the status of an arena at a time by its config; by its record alone, where there is none.

    `clock_file` has the time if that is only pretended, and `damage` is what a look at the pages of the
    record's file found to be wrong.
    """
    around = replace(read_surroundings(connection, config, damage), clock_file=clock_file)
    if config is None:
        return read_status(connection, now, Expected(), around)

    from arena.cohorts.freeze import expected_of  # loads all that cohorts are made of

    begun = [stored.cohort for stored in read_cohorts(connection)]
    return read_status(connection, now, expected_of(config, now, begun, me), around)


def read_surroundings(connection: "Connection", config: "Config | None", damage: str) -> Surroundings:
    """Return the size of the record, the room on its disk (SQLite only), and what the config adds."""
    path = sqlite_path(connection.engine.url)
    free = shutil.disk_usage(Path(path).parent).free if path else None
    size = calls.record_size(connection)
    if config is None:
        return Surroundings(size=size, free=free, damage=damage)

    from arena.config.environment import environment, key_places, missing_keys

    missing = missing_keys(config.agents, environment(config.folder, os.environ))
    backup = None
    looked_for_backups = True
    try:
        backup = newest_backup_file(connection.engine.url, config.backups)
    except ArenaError:  # one of the files can't be read
        looked_for_backups = False
    return Surroundings(
        missing_keys=missing,
        size=size,
        free=free,
        expects_backups=bool(config.run.backup),
        looked_for_backups=looked_for_backups,
        backup_at=None if backup is None else backup[0],
        damage=damage,
        backup_file="" if backup is None else str(backup[1]),
        servers={agent.name: _server_of(agent) for agent in config.agents},
        key_places=key_places(config.agents, config.folder, os.environ),
    )


def _server_of(agent: "AgentConfig") -> str:
    """Return the server that is asked for an agent's model; empty without a model."""
    settings = model_settings(agent.settings)
    return "" if settings is None else server_of(settings.model, settings.base_url)


def read_status(
    connection: "Connection",
    now: datetime,
    expected: Expected,
    around: Surroundings = NO_SURROUNDINGS,
) -> Status:
    """Return the status of an arena at a time, which is only pretended if it is that of a clock's file."""
    pretended = bool(around.clock_file)
    playing = read_cohorts(connection, only_open=True)
    rounds = status_queries.read_round_states(connection)
    calendar, due = _read_calendar(connection, playing, rounds, now, expected)

    states = read_jobs(connection)
    jobs = tuple(state for state in states.values() if state.name in JOB_NAMES)
    next_jobs = {
        job.name: next_job_time(job, states[job.name], now) for job in expected.jobs if job.name in states
    }

    ages = {stored.id: stored.cohort.rules.quote_age for stored in playing}
    held, cohorts_looked_at = status_queries.read_open_positions(connection, ages)
    synced_at = status_queries.read_last_sync(connection, {stored.cohort.venue for stored in playing})
    price_times = [synced_at, cohorts_looked_at]
    price_times += [job.ended_at for job in jobs if job.name in PRICE_JOBS and not job.failures]

    # On a pretended clock no pause takes time, and once all turns are in nobody waits.
    turns_are_missing = any(state.missing and not state.done for state in rounds)
    pauses = read_pauses(connection) if turns_are_missing and not pretended else []

    clock: Literal["real", "pretended", "mixed"] = "mixed" if REHEARSAL in states else "real"
    status = Status(
        at=now,
        clock="pretended" if pretended else clock,
        leader=status_queries.read_leader(
            connection, lambda holder: holder == expected.me or not is_gone(holder)
        ),
        calendar=calendar,
        playing=tuple(playing),
        unproven=_read_unproven(connection, playing),
        rounds=tuple(rounds),
        turns=operations.count_turns(connection),
        spend=_read_spending(connection, now, expected, rounds),
        under_way=status_queries.read_calls_under_way(connection, is_gone),
        pauses=tuple(pauses),
        held=held,
        heads=read_published_heads(connection),
        looked_at=max(filter(None, price_times), default=None),
        quarantined=tuple(status_queries.read_quarantine_counts(connection, now - DAY)),
        catalogues=tuple(status_queries.read_last_catalogues(connection)),
        jobs=jobs,
        next_jobs=next_jobs,
        incidents=_read_incidents(connection),
        unanswered=_read_unanswered(connection, playing, rounds),
        steps={name: state for name, state in states.items() if name not in JOB_NAMES},
        workers=operations.read_worker_signs(connection),
        awaited=0 if playing else count_awaited_ends(connection, now - ASKED_WITHIN),
        around=around,
    )
    return judge_health(status, due)


def _read_incidents(connection: "Connection") -> tuple[RecordedIncident, ...]:
    """Return the ongoing incidents and the newest ones, without duplicates."""
    ongoing = read_recent_incidents(connection, ONGOING_INCIDENTS, only_open=True)
    newest = read_recent_incidents(connection, NEWEST_INCIDENTS)
    incidents = {recorded.id: recorded for recorded in ongoing + newest}
    return tuple(incidents.values())


def _read_unproven(connection: "Connection", playing: Sequence[StoredCohort]) -> dict[int, list[str]]:
    """Return the agents without a good turn, by the numbers of the cohorts that were not stopped."""
    unproven = {}
    for stored in playing:
        if stored.stopped_at is None:
            names = read_unproven(connection, stored.id, include_waiting=False)
            unproven[stored.cohort.number] = agents_to_correct_first(stored.cohort, names)

    return unproven


def _read_unanswered(
    connection: "Connection", playing: Sequence[StoredCohort], rounds: Sequence[RoundState]
) -> dict[int, list[UnansweredTurn]]:
    """Return the turns without an answer of their model, by the id of the round.

    These are of simulated and recorded rounds that wait for them, and of the newest live rounds.
    """
    stamps = {stored.cohort.number: stored.cohort.stamp for stored in playing}
    newest = max((state.at for state in rounds), default=None)
    unanswered = {}
    for state in rounds:
        if stamps.get(state.cohort) == "live":
            is_wanted = state.at == newest
        else:
            is_wanted = state.cohort in stamps and not state.done
        if is_wanted and state.turns.get("failed"):
            unanswered[state.id] = read_unanswered_turns(connection, state.id)

    return unanswered


def _read_calendar(
    connection: "Connection",
    playing: Sequence[StoredCohort],
    rounds: Sequence[RoundState],
    now: datetime,
    expected: Expected,
) -> tuple[RoundCalendar, DueRounds]:
    """Return the calendar of what was and will be due, and each cohort's last due round."""
    starts = status_queries.read_cohort_starts(connection)
    newest = max((state.at for state in rounds), default=None)
    live = expected.live
    if live is None:
        live = any(stored.cohort.stamp == "live" for stored in playing)

    # The time of a simulated or recorded world is that of its newest round.
    until = now if live or newest is None else newest
    keep = expected.plan.keep_deciding if expected.plan else KEEP_DECIDING

    due_count, done_count = status_queries.count_ended_rounds(connection)
    done = Counter(state.cohort for state in rounds if state.done)
    times = []
    last_due = {}
    for stored in playing:
        cohort = stored.cohort.number
        due_rounds = 0
        for round_number, at in expected_rounds(stored, starts, keep):
            times.append(at)
            if at <= until:
                due_rounds += 1
                last_due[cohort] = (round_number, at)

        # A round played ahead of its time was due too.
        due_count += max(due_rounds, done[cohort])
        done_count += done[cohort]

    calendar = RoundCalendar(
        cohorts=len(starts),
        due=due_count,
        done=done_count,
        next_round=next_round_time(times, expected, until),
        next_cohort=next_cohort_start(starts, newest, expected, now),
        live=live,
    )
    return calendar, last_due


def _read_spending(
    connection: "Connection", now: datetime, expected: Expected, rounds: Sequence[RoundState]
) -> Spending:
    """Return the money spent, in total and of each budget.

    Of the budgets per round and per agent, only the one that is nearest to its limit is returned.
    """
    day = midnight(now)
    today = calls.read_spent_since(connection, day)
    limits = []
    for scope, limit in expected.limits.items():
        whose = ""
        if scope == "day":
            spent = today
        elif scope == "round":
            whose, spent = status_queries.read_dearest_round(connection, [state.id for state in rounds])
        elif scope == "agent":
            whose, spent = status_queries.read_dearest_agent(connection)
        elif scope == "arena":
            spent = status_queries.read_spent_total(connection)
        else:
            continue
        limits.append(BudgetUse(scope, whose, spent, limit))

    month = calls.read_spent_since(connection, day.replace(day=1))
    return Spending(today, month, tuple(limits))


def status_data(status: Status) -> dict[str, Any]:
    """Return the whole status for JSON."""
    held = status.held
    under_way = status.under_way
    heads = status.heads

    return health_data(status) | {
        "clock": status.clock,
        "cohorts": {
            "started": status.calendar.cohorts,
            "playing": [stored.cohort.number for stored in status.playing],
            "next": status.calendar.next_cohort,
            "awaited_markets": status.awaited,
        },
        "turns": dict(status.turns),
        "spend": _spending_data(status.spend),
        "calls": {
            "under_way": under_way.calls,
            "worst_usd": under_way.worst / ONE,
            "lost": under_way.lost,
            "lost_worst_usd": under_way.lost_worst / ONE,
        },
        "positions": {"open": held.positions, "markets": held.markets, "stale_markets": held.stale},
        "heads": {
            "newest": heads.newest,
            "published": heads.published,
            "published_at": heads.at,
            "failing_since": heads.failing_since,
            "error": heads.error or None,
            "next_try": heads.next_try_at,
        },
        "prices": {"read_at": status.looked_at, "oldest_held": held.oldest},
        "catalogues": [asdict(read) for read in status.catalogues],
        "quarantined": [asdict(count) for count in status.quarantined],
        "jobs": [_job_data(job, status) for job in status.jobs],
        "incidents": [incident_data(recorded) for recorded in status.incidents],
        "backup": status.backup_at,
    }


def _job_data(job: JobState, status: Status) -> dict[str, Any]:
    """Return the last result of a job and its next time, for JSON."""
    names = ("name", "failures", "note", "due_at", "started_at", "ended_at")
    return attributes_of(job, *names) | {"next_at": status.next_jobs.get(job.name)}


def _spending_data(spend: Spending) -> dict[str, Any]:
    """Return what was spent, in all and of each budget, as data in dollars."""
    budgets = [
        {
            "per": budget.scope,
            "of": budget.whose,
            "spent_usd": budget.spent / ONE,
            "limit_usd": budget.limit / ONE,
        }
        for budget in spend.limits
    ]
    return {"today_usd": spend.today / ONE, "month_usd": spend.month / ONE, "budgets": budgets}


def health_data(status: Status) -> dict[str, Any]:
    """Return the data of a health check: the word and its reasons, the leader, and the rounds."""
    calendar = status.calendar
    reasons = [reason_data(reason) for reason in status.reasons]

    return {
        "health": status.word,
        "reasons": reasons,
        "at": status.at,
        "leader": status.leader and asdict(status.leader),
        "rounds": {
            "due": calendar.due,
            "done": calendar.done,
            "lag_seconds": status.lag.total_seconds(),
            "next": calendar.next_round,
            "last": [_round_data(state) for state in status.last],
        },
    }


def reason_data(reason: HealthReason) -> dict[str, Any]:
    """Return a reason for JSON, with its cause, start, next try and command."""
    return {
        "health": reason.word,
        "code": reason.code,
        "text": reason.text,
        "cause": reason.cause or None,
        "since": reason.since,
        "next_try": reason.next_try,
        "waits": reason.waits or None,
        "command": reason.typed,
    }


def _round_data(state: RoundState) -> dict[str, Any]:
    """Return a round as data; its turns have a count of those that are missing, if any are."""
    turns = dict(state.turns)
    if state.missing:
        turns["missing"] = state.missing

    return {
        "cohort": state.cohort,
        "round": state.number,
        "at": state.at,
        "done": state.done,
        "turns": turns,
    }


def incident_data(recorded: RecordedIncident) -> dict[str, Any]:
    """Return an incident for JSON, with whether its message was delivered."""
    return asdict(recorded.incident) | {
        "ended_at": recorded.ended_at,
        "told_at": recorded.told_at,
        "tries": recorded.tries,
        "next_try_at": recorded.next_try_at,
    }
