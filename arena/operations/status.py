"""The status of an arena, read from its record at one instant, and whether all is well.

The command line, the health endpoint and the pages all show this status; programs get it as JSON, with
amounts in dollars.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Literal

from arena.calls.wait_reports import wait_text
from arena.cohorts.replacements import unproven_hint, without_followers
from arena.cohorts.schedule import (
    JOB_NAMES,
    KEEP_DECIDING,
    PLAY_WINDOW,
    Expected,
    expected_rounds,
    next_cohort_start,
    next_job_time,
    next_round_time,
)
from arena.errors import count_text
from arena.operations import status_queries
from arena.record.model.cohort import REHEARSAL, JobState, UnansweredTurn, unanswered_text
from arena.record.model.incident import RecordedIncident
from arena.record.model.lease import is_gone
from arena.record.model.reservation import PausedCalls, midnight
from arena.record.model.status import (
    CallsUnderWay,
    CatalogueRead,
    LeaderStatus,
    OpenPositions,
    PublishedHeads,
    QuarantineCount,
    RoundState,
)
from arena.record.queries import calls, operations
from arena.record.queries.cohorts import (
    StoredCohort,
    read_cohorts,
    read_unanswered_turns,
    read_unproven,
)
from arena.record.schema.statements import attributes_of
from arena.record.write.heads import read_published_heads
from arena.record.write.operations import read_jobs, read_recent_incidents
from arena.record.write.reservations import read_pauses
from markets.millionths import ONE

if TYPE_CHECKING:
    from arena.config import Config
    from arena.record.record import Record
    from arena.record.schema.database import Connection

GRACE = timedelta(minutes=15)
"""How long after its time a round may begin."""
PATIENCE = timedelta(hours=1)
"""How long a round may take."""
FAILURES = 3
"""After so many in a row a job is not expected to recover by itself."""
DAY = timedelta(days=1)
NEWEST_INCIDENTS = 5
"""How many of the newest incidents are shown."""
ONGOING_INCIDENTS = 50
"""How many of the ongoing incidents are shown."""
PRICE_JOBS = ("quotes", "catalogue")
"""The jobs that read prices."""
LATE_CODES = ("due", "late", "playing", "unfinished")
"""The reasons for which a round that should have been played counts as late."""

AGENT_TROUBLES = ("all_agents_failed", "agent_failing", "no_good_turn")
"""Troubles of agents, which end with a turn that is played well."""
RETRYING_JOBS: Mapping[str, tuple[str, ...]] = {
    "venue_down": PRICE_JOBS,
    "catalogue_incomplete": ("catalogue",),
    "records_rejected": ("catalogue",),
    "site_unpublished": ("publish",),
    "verify_failed": ("verify", "backup"),
}
"""The jobs that try again what failed, by the code of the trouble."""

HealthWord = Literal["ok", "waiting", "late", "trouble"]
HEALTH_WORDS: tuple[HealthWord, ...] = ("ok", "waiting", "late", "trouble")
"""Health in one word, the best first: all is as it should be; something is still to come by itself; a round
is over its time; something does not pass by itself."""


@dataclass(frozen=True, slots=True)
class HealthReason:
    """Why health is no better than a word; `code` is for programs, `about` names the agent, job or market.

    `where`, a round or a cohort, is written behind the text. `cause` is the last error behind it, if one is
    known, `since` when it began, and `next_try` when it may be over by itself.
    """

    word: HealthWord
    code: str
    text: str
    about: str = ""
    where: str = ""
    cause: str = ""
    since: datetime | None = None
    next_try: datetime | None = None


@dataclass(frozen=True, slots=True)
class BudgetUse:
    """A budget: its scope, whose it is where there are several, and what was spent of it. In millionths."""

    scope: str
    whose: str
    spent: int
    limit: int

    @property
    def used(self) -> float:
        """Return the share of it that is spent, at most 1."""
        return min(self.spent / self.limit, 1.0) if self.limit else 1.0


@dataclass(frozen=True, slots=True)
class Spending:
    """What calls cost today and this month (UTC), at their worst where it is unknown; and all budgets."""

    today: int = 0
    month: int = 0
    limits: tuple[BudgetUse, ...] = ()


@dataclass(frozen=True, slots=True)
class RoundCalendar:
    """How many cohorts there are, how many rounds were due and are done, and what comes next if known.

    What comes next is by the clock where the world is `live`, else by the time of that world.
    """

    cohorts: int = 0
    due: int = 0
    done: int = 0
    next_round: datetime | None = None
    next_cohort: datetime | None = None
    live: bool = True


@dataclass(frozen=True, slots=True)
class Status:
    """The status of an arena at an instant.

    `rounds` are those of open cohorts, and of the newest decision time; `unproven` has, by the number of its
    cohort, who has not had one good turn yet. `looked_at` is when prices were last read; `lag` by how much
    the latest round is late that should have been played. `pauses` are models and providers that are left
    alone now, while turns are missing. `next_jobs` says when jobs of the config are due next. `clock` is
    whose time it is: the real one, the pretended one of a rehearsal, or the real one over a rehearsal's
    record. `unanswered` has, by the id of a round, the turns whose models gave no answer.
    """

    at: datetime
    leader: LeaderStatus | None = None
    calendar: RoundCalendar = RoundCalendar()
    playing: tuple[StoredCohort, ...] = ()
    unproven: Mapping[int, Sequence[str]] = field(default_factory=dict)
    rounds: tuple[RoundState, ...] = ()
    lag: timedelta = timedelta()
    turns: Mapping[str, int] = field(default_factory=dict)
    spend: Spending = Spending()
    under_way: CallsUnderWay = field(default_factory=CallsUnderWay)
    pauses: tuple[PausedCalls, ...] = ()
    held: OpenPositions = field(default_factory=OpenPositions)
    heads: PublishedHeads = field(default_factory=PublishedHeads)
    looked_at: datetime | None = None
    quarantined: tuple[QuarantineCount, ...] = ()
    catalogues: tuple[CatalogueRead, ...] = ()
    jobs: tuple[JobState, ...] = ()
    next_jobs: Mapping[str, datetime] = field(default_factory=dict)
    incidents: tuple[RecordedIncident, ...] = ()
    reasons: tuple[HealthReason, ...] = ()
    clock: Literal["real", "pretended", "mixed"] = "real"
    unanswered: Mapping[int, Sequence[UnansweredTurn]] = field(default_factory=dict)

    @property
    def last(self) -> tuple[RoundState, ...]:
        """Return the rounds of the newest decision time."""
        newest = max((state.at for state in self.rounds), default=None)
        return tuple(state for state in self.rounds if state.at == newest)

    @property
    def word(self) -> HealthWord:
        """Return health in one word: the worst of its reasons."""
        return max((reason.word for reason in self.reasons), key=HEALTH_WORDS.index, default="ok")

    @property
    def running(self) -> bool:
        """Tell whether some `arena run` leads, and is alive."""
        return self.leader is not None and self.leader.alive

    @property
    def backup(self) -> JobState | None:
        """Return how the backup of `arena run` went last, if one was made."""
        return next((job for job in self.jobs if job.name == "backup"), None)


DueRounds = Mapping[int, tuple[int, datetime]]
"""The last round whose time has come, number and time, by the number of its cohort."""


def judge_health(status: Status, due: DueRounds) -> Status:
    """Return the status with the reasons of its health, the worst first, and with its lag."""
    begun = {(state.cohort, state.number): state for state in status.rounds}
    reasons = list(_troubles(status))
    lag = timedelta()

    for stored in status.playing:
        cohort = stored.cohort
        if cohort.number not in due or stored.paused_at is not None:
            continue

        number, at = due[cohort.number]
        reason = _round_reason(stored, number, at, begun.get((cohort.number, number)), status)
        if reason is not None:
            reasons.append(reason)
            if reason.code in LATE_CODES and cohort.stamp == "live":
                lag = max(lag, status.at - at)

    reasons += [*_waits(status), *_unproven(status)]
    reasons = merged_reasons(reasons)
    reasons.sort(key=lambda reason: HEALTH_WORDS.index(reason.word), reverse=True)
    return replace(status, reasons=tuple(reasons), lag=lag)


def merged_reasons(reasons: Sequence[HealthReason]) -> list[HealthReason]:
    """Return the reasons, with the same reason of several rounds or cohorts as one that names them all.

    >>> late = [HealthReason("late", "late", "not finished", where=f"round {n}") for n in (1, 2)]
    >>> merged_reasons(late)[0].text
    'not finished (round 1, round 2)'
    """
    alike: dict[HealthReason, list[HealthReason]] = {}
    for reason in reasons:
        alike.setdefault(replace(reason, where="", since=None), []).append(reason)

    merged = []
    for reason, group in alike.items():
        text = reason.text
        if any(one.where for one in group):
            text += f" ({', '.join(one.where for one in group)})"
        since = min((one.since for one in group if one.since is not None), default=None)
        merged.append(replace(reason, text=text, since=since))

    return merged


def _round_reason(
    stored: StoredCohort, number: int, at: datetime, state: RoundState | None, status: Status
) -> HealthReason | None:
    """Return the reason that the last round of a cohort whose time has come gives, None if it is done."""
    which = f"round {number} of cohort {stored.cohort.number}"
    if state is not None and state.done:
        return None

    if stored.cohort.stamp != "live":
        if state is None or state.missing:
            return HealthReason("waiting", "unfinished", "not finished yet", where=which)
        message = f"arena run --round --at {at:%Y-%m-%dT%H:%MZ} tries the failed turns again"
        unanswered = status.unanswered.get(state.id, ())
        if unanswered:
            message = f"{unanswered_text(unanswered)}; {message}"
        return HealthReason("waiting", "failed_turns", message, where=which)

    if state is not None:
        return _begun_round_reason(which, state, status.at)

    since = status.at - at
    if since <= GRACE:
        return HealthReason("waiting", "due", f"{which} is due")
    if since <= PLAY_WINDOW or not status.running:
        return HealthReason("late", "late", f"{which} was due at {at:%Y-%m-%d %H:%M} UTC and has not begun")
    # The running process has passed over the round: nothing is to be done but to wait for the next one.
    return HealthReason("waiting", "missed", f"{which} was missed: {at:%Y-%m-%d %H:%M} UTC")


def _begun_round_reason(which: str, state: RoundState, now: datetime) -> HealthReason:
    """Return the reason that a live round gives which has begun and isn't done."""
    since = now - state.taken_at
    if since > PLAY_WINDOW + GRACE:
        return HealthReason("late", "unfinished", "not finished yet", where=which)

    if not state.missing:
        failed = count_text(state.turns.get("failed", 0), "turn")
        return HealthReason("waiting", "failed_turns", f"{failed} in {which} failed and will be tried again")

    message = f"{count_text(state.missing, 'turn')} still to come in {which}"
    if since > PATIENCE:
        return HealthReason("late", "unfinished", message)
    return HealthReason("waiting", "playing", message)


def _troubles(status: Status) -> Iterator[HealthReason]:
    """Yield ongoing incidents and failing jobs, which do not pass by themselves.

    Calls at an unknown price are no trouble, and an agent without a key only waits.
    """
    for recorded in status.incidents:
        incident = recorded.incident
        if recorded.ended_at is not None or incident.kind == "cost_unknown":
            continue

        word: HealthWord = "waiting" if incident.kind == "agent_waiting" else "trouble"
        text = incident.text
        where = ""
        if incident.kind == "all_agents_failed":  # its text names one round, a merged line names all
            where = f"round {incident.data['round']} of cohort {incident.data['cohort']}"
            text = text.removesuffix(f" ({where})")
        about = str(incident.data.get("agent") or incident.data.get("market") or "")
        cause = str(incident.data.get("message") or "")
        if incident.kind in AGENT_TROUBLES:
            agents = [about] if about else incident.data.get("agents", ())
            cause = _cause_of(agents, status)
        # What the sentence says already is no further cause.
        if cause in text:
            cause = ""
        next_try = _next_try(incident.kind, status)
        yield HealthReason(word, incident.kind, text, about, where, cause, incident.at, next_try)

    for job in status.jobs:
        if job.failures >= FAILURES:
            message = f"the job {job.name} has failed {job.failures} times in a row"
            yield HealthReason(
                word="trouble",
                code="job_failing",
                text=message,
                about=job.name,
                cause=job.note,
                since=job.ended_at,
                next_try=status.next_jobs.get(job.name),
            )


def _cause_of(agents: Iterable[str], status: Status) -> str:
    """Return the errors of agents' failed turns, and of how many turns each was the error."""
    counts = Counter(
        f"{turn.code}: {turn.message}"
        for turns in status.unanswered.values()
        for turn in turns
        if turn.agent in agents
    )
    return "; ".join(f"{error} ({count_text(count, 'turn')})" for error, count in counts.most_common(2))


def _next_try(code: str, status: Status) -> datetime | None:
    """Return when what has failed is tried again by itself; None where it isn't, or nothing runs."""
    if code in AGENT_TROUBLES:
        return status.calendar.next_round

    jobs = RETRYING_JOBS.get(code, ())
    return min((status.next_jobs[name] for name in jobs if name in status.next_jobs), default=None)


def _unproven(status: Status) -> Iterator[HealthReason]:
    """Yield agents without a good turn, which may still change; after `FAILURES` rounds that is trouble."""
    rounds = Counter(state.cohort for state in status.rounds if state.turns)
    cohorts: dict[tuple[str, ...], list[int]] = {}
    for number, names in status.unproven.items():
        if names:
            cohorts.setdefault(tuple(names), []).append(number)

    for agents, numbers in cohorts.items():
        word: HealthWord = "waiting"
        if any(rounds[number] >= FAILURES for number in numbers):
            word = "trouble"
        yield HealthReason(
            word=word,
            code="no_good_turn",
            text=unproven_hint(agents),
            about=min(agents),
            where=f"cohort {', '.join(map(str, numbers))}",
            cause=_cause_of(agents, status),
            next_try=_next_try("no_good_turn", status),
        )


def _waits(status: Status) -> Iterator[HealthReason]:
    """Yield what is still to come, or is left to the operator."""
    if not status.calendar.cohorts:
        yield HealthReason("waiting", "nothing_begun", "no cohort has started yet")

    if not status.running and any(stored.cohort.stamp == "live" for stored in status.playing):
        yield HealthReason("waiting", "not_running", "`arena run` is not running, so no rounds start")

    for stored in status.playing:
        if stored.paused_at is not None:
            yield HealthReason("waiting", "paused", f"cohort {stored.cohort.number} is paused")

    for paused in status.pauses:
        message = wait_text(paused.name, status.at + timedelta(seconds=paused.seconds))
        yield HealthReason("waiting", "rate_limit", message, paused.name)

    yield from _spent_budgets(status)


def _spent_budgets(status: Status) -> Iterator[HealthReason]:
    """Yield the budgets that are spent. That of the day is new at midnight; others have to be raised."""
    for budget in status.spend.limits:
        if budget.spent < budget.limit:
            continue

        whose = f" of {budget.whose}" if budget.whose else ""
        text = f"the budget per {budget.scope}{whose} is spent"
        if budget.scope == "day":
            tomorrow = midnight(status.at) + DAY
            yield HealthReason("waiting", "budget_spent_today", text, next_try=tomorrow)
        else:
            text += f": raise budget.{budget.scope} in the config"
            yield HealthReason("waiting", "budget_spent", text)


def status_source(
    record: "Record", config: "Config", now: Callable[[], datetime], me: str = ""
) -> Callable[[], Status]:
    """Return a function that reads the current status by a config, and may be called from any thread."""

    def source() -> Status:
        return record.read(read_status_by_config, now(), config, me)

    return source


def read_status_by_config(
    connection: "Connection", now: datetime, config: "Config | None", me: str = "", pretended: bool = False
) -> Status:
    """Return the status of an arena at a time by its config; by its record alone, where there is none."""
    if config is None:
        return read_status(connection, now, Expected(), pretended)

    from arena.cohorts.freeze import expected_of  # loads all that cohorts are made of

    begun = [stored.cohort for stored in read_cohorts(connection)]
    return read_status(connection, now, expected_of(config, now, begun, me), pretended)


def read_status(
    connection: "Connection", now: datetime, expected: Expected, pretended: bool = False
) -> Status:
    """Return the status of an arena at a time, which may be only `pretended`."""
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
    waits = not pretended and any(state.missing and not state.done for state in rounds)
    pauses = read_pauses(connection) if waits else []

    ongoing = read_recent_incidents(connection, ONGOING_INCIDENTS, only_open=True)
    newest = read_recent_incidents(connection, NEWEST_INCIDENTS)
    incidents = {recorded.id: recorded for recorded in ongoing + newest}

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
        incidents=tuple(incidents.values()),
        unanswered=_read_unanswered(connection, playing, rounds),
    )
    return judge_health(status, due)


def _read_unproven(connection: "Connection", playing: Sequence[StoredCohort]) -> dict[int, list[str]]:
    """Return who has not had one good turn yet, by the numbers of the cohorts that were not stopped."""
    unproven = {}
    for stored in playing:
        if stored.stopped_at is None:
            names = read_unproven(connection, stored.id, waiting=False)
            unproven[stored.cohort.number] = without_followers(stored.cohort, names)

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
        live = stamps.get(state.cohort) == "live"
        is_wanted = state.at == newest if live else (state.cohort in stamps and not state.done)
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
    """Return what was due and what is to come, and the last round of each cohort whose time has come."""
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
        due = 0
        for number, at in expected_rounds(stored, starts, keep):
            times.append(at)
            if at <= until:
                due += 1
                last_due[cohort] = (number, at)

        due_count += max(due, done[cohort])
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
    """Return what was spent, in all and of each budget.

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
    """Return the whole status as data for JSON."""
    held = status.held
    under_way = status.under_way
    heads = status.heads

    return health_data(status) | {
        "clock": status.clock,
        "cohorts": {
            "started": status.calendar.cohorts,
            "playing": [stored.cohort.number for stored in status.playing],
            "next": status.calendar.next_cohort,
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
        },
        "prices": {"read_at": status.looked_at, "oldest_held": held.oldest},
        "catalogues": [asdict(read) for read in status.catalogues],
        "quarantined": [asdict(count) for count in status.quarantined],
        "jobs": [_job_data(job, status) for job in status.jobs],
        "incidents": [incident_data(recorded) for recorded in status.incidents],
        "backup": status.backup and status.backup.ended_at,
    }


def _job_data(job: JobState, status: Status) -> dict[str, Any]:
    """Return how a job went last, and when it is next due, as data."""
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
    """Return what a health check asks for: the word and why, which process leads, and how the rounds go."""
    calendar = status.calendar
    reasons = [
        {
            "health": reason.word,
            "code": reason.code,
            "text": reason.text,
            "cause": reason.cause or None,
            "since": reason.since,
            "next_try": reason.next_try,
        }
        for reason in status.reasons
    ]

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
    """Return an incident as data, and whether its message has been delivered."""
    return asdict(recorded.incident) | {
        "ended_at": recorded.ended_at,
        "told_at": recorded.told_at,
        "tries": recorded.tries,
        "next_try_at": recorded.next_try_at,
    }
