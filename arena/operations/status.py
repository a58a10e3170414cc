"""The status of an arena, read from its record at one instant, and whether all is well.

It is the one definition for the command line, the health endpoint and the pages; programs have it as JSON,
with amounts in dollars.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Literal

from arena.calls.wait_reports import wait_text
from arena.cohorts.replacements import unproven_hint, without_followers
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
from arena.record.schema.database import reading
from arena.record.write.heads import read_published_heads
from arena.record.write.operations import read_jobs, read_recent_incidents
from arena.record.write.reservations import read_pauses
from markets.garbage_collection import gc_paused
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
"""After so many in a row a job is not taken to recover by itself."""
DAY = timedelta(days=1)
NEWEST_INCIDENTS, ONGOING_INCIDENTS = 5, 50
"""So many of the newest incidents are shown, and so many of those that go on."""
PRICE_JOBS = ("quotes", "catalogue")
"""The jobs that read prices."""

HealthWord = Literal["ok", "waiting", "late", "trouble"]
HEALTH_WORDS: tuple[HealthWord, ...] = ("ok", "waiting", "late", "trouble")
"""Health in one word, the best first: all is as it should be; something is still to come by itself; a round
is over its time; something does not pass by itself."""


@dataclass(frozen=True, slots=True)
class HealthReason:
    """Why health is no better than a word; `code` is for programs, `about` names the agent, job or market.

    `where`, a round or a cohort, is written behind the text.
    """

    word: HealthWord
    code: str
    text: str
    about: str = ""
    where: str = ""


@dataclass(frozen=True, slots=True)
class BudgetUse:
    """A budget: what it is for, whose it is where there are several, what was spent of it. In millionths."""

    scope: str
    whose: str
    spent: int
    limit: int

    @property
    def used(self) -> float:
        """The share of it that is spent, all of it at most."""
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
    """How an arena stands at an instant.

    `rounds` are those of open cohorts, and of the newest decision time; `unproven` has, by the number of its
    cohort, who has not had one good turn yet. `looked_at` is when prices were last read; `lag` by how much
    the latest round is late that should have been played. `pauses` are models and providers that are left
    alone now, while turns are missing. `next_jobs` says when jobs of the config are due next. `clock` is
    whose time it is: the real one, the pretended one of a rehearsal, or the real one over a rehearsal's
    record. `unanswered` has, by the id of a simulated or recorded round, the turns whose models it waits for.
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
        """The rounds of the newest decision time."""
        newest = max((round.at for round in self.rounds), default=None)
        return tuple(round for round in self.rounds if round.at == newest)

    @property
    def word(self) -> HealthWord:
        """Health in one word: the worst of its reasons."""
        return max((reason.word for reason in self.reasons), key=HEALTH_WORDS.index, default="ok")

    @property
    def running(self) -> bool:
        """Whether some `arena run` leads, and is alive."""
        return self.leader is not None and self.leader.alive

    @property
    def backup(self) -> JobState | None:
        """When a backup was last made."""
        return next((job for job in self.jobs if job.name == "backup"), None)


DueRounds = Mapping[int, tuple[int, datetime]]
"""The last round whose time has come, number and time, by the number of its cohort."""


def judge_health(status: Status, due: DueRounds) -> Status:
    """The status with its health, and by how much the latest round is late that should have been played."""
    begun = {(round.cohort, round.number): round for round in status.rounds}
    reasons, lag = list(_troubles(status)), timedelta()
    for stored in status.playing:
        if stored.cohort.number in due and stored.paused_at is None:
            number, at = due[stored.cohort.number]
            reason = _round_reason(stored, number, at, begun.get((stored.cohort.number, number)), status)
            reasons += [reason] if reason else []
            late = reason is not None and reason.code in ("due", "late", "playing", "unfinished")
            if late and stored.cohort.stamp == "live":
                lag = max(lag, status.at - at)
    reasons += [*_waits(status), *_unproven(status)]
    reasons = merged_reasons(reasons)
    worst_first = sorted(reasons, key=lambda reason: HEALTH_WORDS.index(reason.word), reverse=True)
    return replace(status, reasons=tuple(worst_first), lag=lag)


def merged_reasons(reasons: Sequence[HealthReason]) -> list[HealthReason]:
    """The same reason of several rounds or cohorts in one line.

    >>> late = [HealthReason("late", "late", "not finished", where=f"round {n}") for n in (1, 2)]
    >>> merged_reasons(late)[0].text
    'not finished (round 1, round 2)'
    """
    found: dict[HealthReason, list[str]] = {}
    for reason in reasons:
        found.setdefault(replace(reason, where=""), []).append(reason.where)
    return [
        replace(reason, text=f"{reason.text} ({', '.join(where)})" if any(where) else reason.text)
        for reason, where in found.items()
    ]


def _round_reason(
    stored: StoredCohort, number: int, at: datetime, state: RoundState | None, status: Status
) -> HealthReason | None:
    """What there is to say of the last round of a cohort whose time has come."""
    which, since = f"round {number} of cohort {stored.cohort.number}", status.at - at
    if state is not None and state.done:
        return None
    if stored.cohort.stamp != "live":
        if state is None or state.missing:
            return HealthReason("waiting", "unfinished", "not finished yet", where=which)
        words = f"arena round --at {at:%Y-%m-%dT%H:%MZ} tries the failed turns again"
        unanswered = status.unanswered.get(state.id, ())
        if unanswered:
            words = f"{unanswered_text(unanswered)}; {words}"
        return HealthReason("waiting", "failed_turns", words, where=which)
    if state is not None:
        return _begun_round_reason(which, state, status.at)
    if since <= GRACE:
        return HealthReason("waiting", "due", f"{which} is due")
    if since <= PLAY_WINDOW or not status.running:
        return HealthReason("late", "late", f"{which} was due at {at:%Y-%m-%d %H:%M} UTC and has not begun")
    return HealthReason("waiting", "missed", f"{which} was missed: {at:%Y-%m-%d %H:%M} UTC")


def _begun_round_reason(which: str, state: RoundState, now: datetime) -> HealthReason:
    """What there is to say of a live round that has begun and isn't done."""
    since = now - state.taken_at
    if since > PLAY_WINDOW + GRACE:
        return HealthReason("late", "unfinished", "not finished yet", where=which)
    if not state.missing:
        failed = count_text(state.turns.get("failed", 0), "turn")
        return HealthReason("waiting", "failed_turns", f"{failed} in {which} failed and will be tried again")
    words = f"{count_text(state.missing, 'turn')} still to come in {which}"
    if since > PATIENCE:
        return HealthReason("late", "unfinished", words)
    return HealthReason("waiting", "playing", words)


def _troubles(status: Status) -> Iterator[HealthReason]:
    """What does not pass by itself: an agent only waits for its key, all else is trouble but for a price."""
    for told in status.incidents:
        incident = told.incident
        if told.ended_at is None and incident.kind != "cost_unknown":
            word: HealthWord = "waiting" if incident.kind == "agent_waiting" else "trouble"
            text, data, where = incident.text, incident.data, ""
            if incident.kind == "all_agents_failed":  # its text names one round, a merged line names all
                where = f"round {data['round']} of cohort {data['cohort']}"
                text = text.removesuffix(f" ({where})")
            about = str(data.get("agent") or data.get("market") or "")
            yield HealthReason(word, incident.kind, text, about, where)
    for job in status.jobs:
        if job.failures >= FAILURES:
            words = f"the job {job.name} has failed {job.failures} times in a row"
            yield HealthReason("trouble", "job_failing", words, job.name)


def _unproven(status: Status) -> Iterator[HealthReason]:
    """Who may still take another block of the config; after so many rounds in vain that is trouble."""
    rounds = Counter(one.cohort for one in status.rounds if one.turns)
    places: dict[tuple[str, ...], list[int]] = {}
    for number, names in status.unproven.items():
        if names:
            places.setdefault(tuple(names), []).append(number)
    for whole, numbers in places.items():
        word: HealthWord = "trouble" if any(rounds[x] >= FAILURES for x in numbers) else "waiting"
        where = f"cohort {', '.join(map(str, numbers))}"
        yield HealthReason(word, "no_good_turn", unproven_hint(whole), min(whole), where)


def _waits(status: Status) -> Iterator[HealthReason]:
    """What is still to come, or is left to the operator."""
    if not status.calendar.cohorts:
        yield HealthReason("waiting", "nothing_begun", "no cohort has started yet")
    if not status.running and any(stored.cohort.stamp == "live" for stored in status.playing):
        yield HealthReason("waiting", "not_running", "`arena run` is not running, so no rounds start")
    for stored in status.playing:
        if stored.paused_at is not None:
            yield HealthReason("waiting", "paused", f"cohort {stored.cohort.number} is paused")
    for paused in status.pauses:
        words = wait_text(paused.name, status.at + timedelta(seconds=paused.seconds))
        yield HealthReason("waiting", "rate_limit", words, paused.name)
    for limit in status.spend.limits:
        if limit.spent >= limit.limit:
            whose = f" of {limit.whose}" if limit.whose else ""
            yield HealthReason("waiting", "budget_spent", f"the budget per {limit.scope}{whose} is spent")


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

    begun = [stored.cohort for stored in read_cohorts(connection)]
    return read_status(connection, now, expected_of(config, now, begun, me), pretended)


@gc_paused()
def read_status(
    connection: "Connection", now: datetime, expected: Expected, pretended: bool = False
) -> Status:
    """How an arena stands at a time, which may be only `pretended`."""
    playing, rounds = read_cohorts(connection, only_open=True), operations.read_round_states(connection)
    calendar, due = _read_calendar(connection, playing, rounds, now, expected)
    ages = {stored.id: stored.cohort.rules.quote_age for stored in playing}
    held, looked_at = operations.read_open_positions(connection, ages)
    states = read_jobs(connection)
    jobs = tuple(state for name, state in states.items() if name in JOB_NAMES)
    prices_read = (
        operations.read_last_sync(connection, {stored.cohort.venue for stored in playing}),
        looked_at,
        *(job.ended_at for job in jobs if job.name in PRICE_JOBS and not job.failures),
    )
    incidents = [
        *read_recent_incidents(connection, ONGOING_INCIDENTS, only_open=True),
        *read_recent_incidents(connection, NEWEST_INCIDENTS),
    ]
    stamps = {stored.cohort.number: stored.cohort.stamp for stored in playing}
    may_wait = [
        round
        for round in rounds
        if not round.done and round.turns.get("failed") and stamps.get(round.cohort, "live") != "live"
    ]
    # On a pretended clock no pause takes time, and once all turns are in nobody waits.
    waits = not pretended and any(round.missing and not round.done for round in rounds)
    status = Status(
        at=now,
        clock="pretended" if pretended else "mixed" if REHEARSAL in states else "real",
        leader=operations.read_leader(
            connection, lambda holder: holder == expected.me or not is_gone(holder)
        ),
        calendar=calendar,
        playing=tuple(playing),
        unproven={
            x.cohort.number: without_followers(x.cohort, read_unproven(connection, x.id, waiting=False))
            for x in playing
            if x.stopped_at is None
        },
        rounds=tuple(rounds),
        turns=operations.count_turns(connection),
        spend=_read_spend(connection, now, expected, rounds),
        under_way=calls.read_calls_under_way(connection, is_gone),
        pauses=tuple(read_pauses(connection)) if waits else (),
        held=held,
        heads=read_published_heads(connection),
        looked_at=max((at for at in prices_read if at is not None), default=None),
        quarantined=tuple(operations.read_quarantine_counts(connection, now - DAY)),
        catalogues=tuple(operations.read_last_catalogues(connection)),
        jobs=jobs,
        next_jobs={
            job.name: next_job_time(job, states[job.name], now) for job in expected.jobs if job.name in states
        },
        incidents=tuple({told.id: told for told in incidents}.values()),
        unanswered={round.id: read_unanswered_turns(connection, round.id) for round in may_wait},
    )
    return judge_health(status, due)


def _read_calendar(
    connection: "Connection",
    playing: Sequence[StoredCohort],
    rounds: Sequence[RoundState],
    now: datetime,
    expected: Expected,
) -> tuple[RoundCalendar, DueRounds]:
    """What was due and what is to come, and the last round of each cohort whose time has come.

    A world that is made up or recorded has come as far as it was played.
    """
    starts: CohortStarts = operations.read_cohort_starts(connection)
    newest = max((round.at for round in rounds), default=None)
    live = (
        any(stored.cohort.stamp == "live" for stored in playing) if expected.live is None else expected.live
    )
    until = now if live or newest is None else newest
    keep = expected.plan.keep_deciding if expected.plan else KEEP_DECIDING
    to_play = {stored.cohort.number: expected_rounds(stored, starts, keep) for stored in playing}
    due = {cohort: [round for round in found if round[1] <= until] for cohort, found in to_play.items()}
    begun, done = operations.count_ended_rounds(connection)
    played = Counter(round.cohort for round in rounds if round.done and round.cohort in to_play)
    calendar = RoundCalendar(
        cohorts=len(starts),
        due=begun + sum(max(len(found), played[cohort]) for cohort, found in due.items()),
        done=done + played.total(),
        next_round=next_round_time([at for found in to_play.values() for _, at in found], expected, until),
        next_cohort=next_cohort_start(starts, newest, expected, now),
        live=live,
    )
    return calendar, {cohort: found[-1] for cohort, found in due.items() if found}


def _read_spend(
    connection: "Connection", now: datetime, expected: Expected, rounds: Sequence[RoundState]
) -> Spending:
    """What was spent, also of each budget; of those that there are several of, of the one that is nearest."""
    day = midnight(now)
    today = calls.read_spent_since(connection, day)
    spent: dict[str, Callable[[], tuple[str, int]]] = {
        "day": lambda: ("", today),
        "round": lambda: calls.read_dearest_round(connection, [round.id for round in rounds]),
        "agent": lambda: calls.read_dearest_agent(connection),
        "arena": lambda: ("", calls.read_spent_total(connection)),
    }
    limits = tuple(
        BudgetUse(scope, *spent[scope](), limit) for scope, limit in expected.limits.items() if scope in spent
    )
    return Spending(today, calls.read_spent_since(connection, day.replace(day=1)), limits)


def status_data(status: Status) -> dict[str, Any]:
    """All of it."""
    spend, held, under_way, heads = status.spend, status.held, status.under_way, status.heads
    return health_data(status) | {
        "clock": status.clock,
        "cohorts": {
            "started": status.calendar.cohorts,
            "playing": [stored.cohort.number for stored in status.playing],
            "next": status.calendar.next_cohort,
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
        "catalogues": [asdict(x) for x in status.catalogues],
        "quarantined": [asdict(x) for x in status.quarantined],
        "jobs": [
            {"name": job.name, "failures": job.failures, "note": job.note, "due_at": job.due_at}
            | {"started_at": job.started_at, "ended_at": job.ended_at}
            | {"next_at": status.next_jobs.get(job.name)}
            for job in status.jobs
        ],
        "incidents": [incident_data(told) for told in status.incidents],
        "backup": status.backup and status.backup.ended_at,
    }


def health_data(status: Status) -> dict[str, Any]:
    """What a health check asks for: the word and why, which process leads, and how the rounds go."""
    calendar = status.calendar
    last = [
        {"cohort": round.cohort, "round": round.number}
        | {"at": round.at, "done": round.done}
        | {"turns": dict(round.turns) | ({"missing": round.missing} if round.missing else {})}
        for round in status.last
    ]
    return {
        "health": status.word,
        "reasons": [{"health": x.word, "code": x.code, "text": x.text} for x in status.reasons],
        "at": status.at,
        "leader": status.leader and asdict(status.leader),
        "rounds": {
            "due": calendar.due,
            "done": calendar.done,
            "lag_seconds": status.lag.total_seconds(),
            "next": calendar.next_round,
            "last": last,
        },
    }


def incident_data(told: RecordedIncident) -> dict[str, Any]:
    """Something that happened, and whether anyone was told."""
    return asdict(told.incident) | {
        "ended_at": told.ended_at,
        "told_at": told.told_at,
        "tries": told.tries,
        "next_try_at": told.next_try_at,
    }
