"""The status of an arena, and the reasons for its health: what is wrong, why, since when, and what helps.

A reason is the same wherever it is shown: by `arena status`, as JSON, at `/health`, in a message to the
webhook, and on the page of operations.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import chain
from typing import Literal

from arena.errors import count_text, far_text
from arena.record.model.cohort import JobState, UnansweredTurn
from arena.record.model.incident import RecordedIncident
from arena.record.model.reservation import PausedCalls
from arena.record.model.status import (
    CallsUnderWay,
    CatalogueRead,
    LeaderStatus,
    OpenPositions,
    PublishedHeads,
    QuarantineCount,
    RoundState,
    WorkerSigns,
)
from arena.record.queries.cohorts import StoredCohort

HealthWord = Literal["ok", "waiting", "late", "trouble"]
HEALTH_WORDS: tuple[HealthWord, ...] = ("ok", "waiting", "late", "trouble")
"""Health in one word, the best first: all is as it should be; something is still to come by itself; a round
is over its time; something does not pass by itself."""
GOOD_WORDS: frozenset[HealthWord] = frozenset({"ok", "waiting"})
"""Those with which nobody need be woken."""

PRUNE = "admin prune --older-than 90d"
"""The command that makes room in a record: new rows use it, but the file keeps its size."""
COMMANDS: Mapping[str, str] = {
    "late": "run",
    "not_running": "run",
    "nothing_begun": "run",
    "unfinished": "run --round",
    "budget_spent": "check",
    "key_refused": "check --live --model {}",
    "no_credit": "check --live --model {}",
    "quota_spent": "check --live --model {}",
    "rate_limited": "check --live --model {}",
    "request_refused": "check --live --model {}",
    "server_gone": "check --live --model {}",
    "server_failing": "check --live --model {}",
    "all_agents_failed": "check --live",
    "agent_failing": "show turn {} --play",
    "cost_unknown": "show agent {}",
    "no_good_turn": "show turn {} --play",
    "workers_gone": "run --worker",
    "lead_taken": "status --incidents",
    "venue_down": "run --sync",
    "catalogue_incomplete": "run --sync",
    "records_rejected": "run --sync",
    "market_unsettled": "admin settle {} --payout … --because …",
    "verify_failed": "admin backup",
    "record_unusable": "admin verify --all",
    "damaged": "admin restore … --force",
    "disk_full": PRUNE,
    "disk": PRUNE,
    "clock": "check --live",
    "clock_stepped": "check --live",
    "backup": "admin backup",
    "heads_unpublished": "run --once",
    "site_unpublished": "share site",
    "ping_failed": "run",
    "job_failing": "run --once",
}
"""The command that helps against a reason, or shows more of it, by its code; `{}` is what it is about."""


def second_step(code: str) -> str:
    """Return the command that ends a trouble once its first one has reached the model; empty without one.

    >>> second_step("key_refused"), second_step("venue_down")
    ('run --round', '')
    """
    return "run --round" if COMMANDS.get(code) == "check --live --model {}" else ""


@dataclass(frozen=True, slots=True)
class HealthReason:
    """Why health is no better than a word: what is wrong, with all that an operator needs to act on it.

    `code` is for programs, `about` names the agent, job or market, and `where` a round or a cohort, which is
    written behind the text. `cause` is the last error behind it, in its own words. `since` is
    when it began, `next_try` when it may be over by itself, and `waits` what waits for it. `instead` is the
    command where it isn't that of the code. `incidents` are the ids of those that it stands for.
    """

    word: HealthWord
    code: str
    text: str
    about: str = ""
    where: str = ""
    cause: str = ""
    since: datetime | None = None
    next_try: datetime | None = None
    waits: str = ""
    instead: str = ""
    incidents: tuple[int, ...] = ()

    @property
    def command(self) -> str:
        """Return the command that helps or shows more, as it is typed after `arena`; empty without one.

        >>> HealthReason("trouble", "server_gone", "127.0.0.1:8000 can't be reached: eve", "eve").command
        'check --live --model eve'
        """
        return self.instead or COMMANDS.get(self.code, "").format(self.about)

    @property
    def typed(self) -> str | None:
        """Return the command as a whole; None without one."""
        return f"arena {self.command}" if self.command else None

    def details(self, now: datetime) -> list[str]:
        """Return its cause, since when it is so, when it is tried again, and what waits for it.

        >>> noon = datetime(2026, 1, 4, 12)
        >>> reason = HealthReason("trouble", "venue_down", "sky does not answer", since=noon, waits="round 1")
        >>> reason.details(noon + timedelta(hours=3))
        ['since 2026-01-04 12:00 UTC (3.0 h ago)', 'no next try is planned', 'waiting: round 1']
        """
        texts = []
        if self.cause:
            texts.append(self.cause)
        if self.since is not None:
            texts.append(f"since {past_text(self.since, now)}")
        if self.next_try is not None:
            texts.append(f"next try {coming_text(self.next_try, now)}")
        elif self.since is not None:
            texts.append("no next try is planned")
        if self.waits:
            texts.append(f"waiting: {self.waits}")
        return texts


def past_text(at: datetime, now: datetime) -> str:
    """Return a past instant to the minute, and how long ago it was.

    The length is left out if it was noted by another clock, by which it is yet to come.
    """
    text = f"{at:%Y-%m-%d %H:%M} UTC"
    return text if at > now else f"{text} ({far_text(at, now)})"


def coming_text(at: datetime, now: datetime) -> str:
    """Return an instant to come, and in how long it comes; "now" if it has come."""
    return "now" if at <= now else f"{at:%Y-%m-%d %H:%M} UTC ({far_text(at, now)})"


def merged_reasons(reasons: Sequence[HealthReason]) -> list[HealthReason]:
    """Return the reasons, merging the same reason of several rounds or cohorts into one that names them all.

    >>> late = [HealthReason("late", "late", "not finished", where=f"round {n}") for n in (1, 2)]
    >>> merged_reasons(late)[0].text
    'not finished (round 1, round 2)'
    """
    alike: dict[HealthReason, list[HealthReason]] = {}
    for reason in reasons:
        key = replace(reason, where="", since=None, incidents=())
        alike.setdefault(key, []).append(reason)

    merged = []
    for reason, group in alike.items():
        places = [member.where for member in group]
        text = reason.text
        if any(places):
            text += f" ({', '.join(places)})"
        since = min((member.since for member in group if member.since is not None), default=None)
        incidents = tuple(chain.from_iterable(member.incidents for member in group))
        merged.append(replace(reason, text=text, since=since, incidents=incidents))

    return merged


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What is not in the record: its size and the room on its disk in bytes, and the config's part.

    `missing_keys` has, by agent, the environment variable that is not set. With `expects_backups` the config
    has the backup turned on, and `backup_at` is when the newest file in its folder was made. `damage` is what
    a look at the pages of the file found to be wrong, `backup_file` is the newest backup, and `servers`
    are who is asked for an agent's model by the config of now. `key_places` say where an agent's key is read
    from. `clock_file` has a rehearsal's time. With `looked_for_backups` the folder of backups is known.
    """

    missing_keys: Mapping[str, str] = field(default_factory=dict)
    size: int = 0
    free: int | None = None
    expects_backups: bool = False
    looked_for_backups: bool = False
    backup_at: datetime | None = None
    damage: str = ""
    backup_file: str = ""
    servers: Mapping[str, str] = field(default_factory=dict)
    key_places: Mapping[str, str] = field(default_factory=dict)
    clock_file: str = ""


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


def awaited_text(markets: int) -> str:
    """Return what a season without an open cohort waits for.

    >>> awaited_text(1), awaited_text(5)
    ('1 market has yet to resolve', '5 markets have yet to resolve')
    """
    return f"{count_text(markets, 'market')} {'has' if markets == 1 else 'have'} yet to resolve"


@dataclass(frozen=True, slots=True)
class Status:
    """The status of an arena at an instant.

    `rounds` are those of open cohorts, and of the newest decision time; `unproven` has, by the number of its
    cohort, who has not had one good turn yet. `looked_at` is when prices were last read; `lag` by how much
    the latest round is late that should have been played. `pauses` are models and providers that are left
    alone now, while turns are missing. `next_jobs` says when jobs of the config are due next. `clock` is
    whose time it is: the real one, the pretended one of a rehearsal, or the real one over a rehearsal's
    record. `unanswered` has, by the id of a round, the turns whose models gave no answer. `steps` are how
    starts and rounds of cohorts went last, by the name of the step. `workers` are those that take turns from
    a queue, if there are any. `awaited` counts the markets that have yet to resolve once all cohorts have
    ended.
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
    steps: Mapping[str, JobState] = field(default_factory=dict)
    workers: WorkerSigns | None = None
    awaited: int = 0
    around: Surroundings = Surroundings()

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
        """Return the state of the backup job of `arena run`, if it has run."""
        return next((job for job in self.jobs if job.name == "backup"), None)

    @property
    def backup_is_away(self) -> bool:
        """Tell whether the file of the last backup by `arena run` is not in the folder of backups."""
        if self.backup is None or self.backup.failures or not self.around.looked_for_backups:
            return False
        newest = self.around.backup_at  # from the file's name, which has whole seconds
        return newest is None or newest < self.backup.due_at.replace(microsecond=0)

    @property
    def backup_at(self) -> datetime | None:
        """Return when the record was last backed up: by `arena run`, or into a file by hand."""
        job_at = None
        # A failed job made no backup; the file shows when the one before was made.
        if self.backup is not None and not self.backup.failures:
            job_at = self.backup.ended_at
        return max(filter(None, (job_at, self.around.backup_at)), default=None)
