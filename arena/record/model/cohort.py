"""The core values of the arena: cohorts, entrants, rounds and turns."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

from agents.guard import Guard
from agents.model import Decision
from arena.errors import first_names
from arena.record.model.calendar import Cadence, Calendar
from markets.hashes import canonical, digest
from markets.model import Snapshot
from markets.universe import Universe
from portfolio.model import Entry, Fill, Rejection
from portfolio.rules import Rules

NO_EVIDENCE = "none"
"""The source of articles that has none."""
UNLOADED = "unloaded"
"""The only key of the settings of an extension that was not loaded when they were frozen to be compared."""
BENCHMARK = "benchmark"
"""The stamp of a cohort that answers the questions of a benchmark: nothing of it is traded."""
MOST_NAMED = 10
"""So many agents with the same error are named; the others are counted."""
MIN_COVERAGE = 800_000
"""The part of what it was shown that an agent must have forecast to be ranked, in millionths."""


@dataclass(frozen=True, slots=True)
class Entrant:
    """An agent in a cohort: its place in the line-up and its settings, whole and frozen.

    Settings that replaced the frozen ones count from round `since` on, and have `prompts` of their own. The
    address of a server is no setting: they say `server 1` in its place, and `address` is where it was then.
    """

    position: int
    name: str
    kind: str
    settings: Mapping[str, Any]
    since: int = 0
    prompts: Mapping[str, str] = field(default_factory=dict)
    address: str = field(default="", compare=False)

    @property
    def replaced_hash(self) -> str:
        """Return the hash of its settings if they replaced the frozen ones, else an empty text."""
        return digest(canonical(self.settings)) if self.since else ""


@dataclass(frozen=True, slots=True)
class Replacement:
    """An agent with settings in place of those it had `before`, and the texts of its prompts by hash."""

    entrant: Entrant
    before: Mapping[str, Any]
    texts: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Cohort:
    """One start with fresh bankrolls: everything that must not change while it plays.

    `prompts` maps the names that entrants use to the hash of each text. `stamp` is where the
    markets come from: `live`, `simulated` or `replay`; a `benchmark` is not traded. `evidence`
    is the source of articles, `guard` the rule over which of them are shown. `config_hash` is the SHA-256 of
    the config file that it was started by, nothing where that isn't known; `by_hand` are those that the
    schedule did not start. `every` and `offset` say when it decides after its first round, as in `Cadence`.
    `min_coverage` is the part of what they are shown, in millionths, that agents must forecast to be ranked.
    In the first `hidden` rounds nobody sees prices or what others forecast, and nothing is traded.
    """

    number: int
    starts_at: datetime
    rounds: int
    every: timedelta
    bankroll: int
    rules: Rules
    universe: Universe
    seed: int
    venue: str
    venue_settings: Mapping[str, Any]
    stamp: str
    prompts: Mapping[str, str]
    entrants: tuple[Entrant, ...]
    evidence: str = NO_EVIDENCE
    evidence_settings: Mapping[str, Any] = field(default_factory=dict)
    guard: Guard = field(default_factory=Guard)
    config_hash: str = ""
    by_hand: bool = False
    offset: timedelta | None = None
    min_coverage: int = MIN_COVERAGE
    hidden: int = 0

    def hides(self, number: int) -> bool:
        """Tell whether prices and others' forecasts are hidden in the round of this number."""
        return number <= self.hidden

    @property
    def cadence(self) -> Cadence:
        """Return how often it decides, in the form of a config."""
        return Cadence(self.every, self.offset)

    @property
    def calendar(self) -> Calendar:
        """Return the calendar of its decisions."""
        return self.cadence.calendar(self.starts_at, self.rounds)

    @property
    def later_models(self) -> dict[str, date | None]:
        """Return the models of a replay that may know how it ended, with their release; None if unknown.

        That is one released after the cohort's first decision, or of no known day.
        """
        if self.stamp != "replay":
            return {}

        releases: dict[str, date | None] = {}
        for entrant in self.entrants:
            model = entrant.settings.get("model")
            if model:
                day = entrant.settings.get("released")
                releases[str(model)] = date.fromisoformat(day) if day else None

        first_day = self.starts_at.date()
        return {model: day for model, day in releases.items() if day is None or day > first_day}


def later_models_words(models: Mapping[str, date | None]) -> str:
    """Say which models of replays were released after the decisions, or on no known day; empty without any.

    >>> later_models_words({"some/new": date(2026, 5, 1), "own/tuned": None})
    'released after the first decision: some/new (2026-05-01); release not known: own/tuned'
    """
    known_releases = ", ".join(f"{model} ({day})" for model, day in sorted(models.items()) if day)
    unknown_releases = ", ".join(sorted(model for model, day in models.items() if day is None))
    parts = {"released after the first decision": known_releases, "release not known": unknown_releases}
    return "; ".join(f"{words}: {models_text}" for words, models_text in parts.items() if models_text)


@dataclass(frozen=True, slots=True)
class Turn:
    """One entrant's part of one round, as it is written down. `cash` is the cash before it.

    It is filled and scored at the prices of its `second` look, if there was one, else at the snapshot's.
    Where its entrant's frozen settings were replaced, `settings` is the hash of those that it was played by.
    `reader` is the version of the code that made its decision of what was answered; 0 where it isn't known.
    """

    entrant: str
    cash: int
    decision: Decision
    fills: tuple[Fill, ...] = ()
    rejections: tuple[Rejection, ...] = ()
    entries: tuple[Entry, ...] = ()
    second: Snapshot | None = None
    settings: str = ""
    reader: int = 0


ACCOUNT_CODES = frozenset({"no_key", "auth", "quota", "payment"})
"""Errors that a person puts right outside of the config: by a key, or at the provider."""
REFUSED_CODES = ACCOUNT_CODES | {"refused"}
"""Errors of calls that stay until a person puts something right: the same question would fail again."""


@dataclass(frozen=True, slots=True)
class UnansweredTurn:
    """An agent whose turn failed because its model gave no answer: why, and since when.

    What is `passing` may be over by itself: a server that is away, an overload, a rate limit. The rest a
    person has to put right: a wrong key, an unknown model, an empty account. `server` is who was asked.
    """

    agent: str
    code: str
    message: str
    passing: bool
    since: datetime
    server: str = ""

    @property
    def awaited(self) -> bool:
        """Return whether its round waits for an answer: no settings of the agent have to change for one."""
        return self.passing or self.code in ACCOUNT_CODES


def unanswered_text(turns: Sequence[UnansweredTurn]) -> str:
    """Return which agents' models gave no answer, since when and why, grouped by error."""
    turns_by_error: dict[tuple[str, str], list[UnansweredTurn]] = {}
    for turn in turns:
        turns_by_error.setdefault((turn.code, turn.message), []).append(turn)

    texts = []
    for (code, message), same_error in turns_by_error.items():
        agents = first_names([turn.agent for turn in same_error], MOST_NAMED)
        since = min(turn.since for turn in same_error)
        texts.append(f"no answer for {agents} since {since:%Y-%m-%d %H:%M} UTC ({code}: {message})")
    return "; ".join(texts)


def server_of(model: object, address: str | None) -> str:
    """Return the host of a model's own server, else its provider.

    >>> server_of("openai/m", "http://ann:pass@127.0.0.1:8000/v1"), server_of("anthropic/claude", None)
    ('127.0.0.1:8000', 'anthropic')
    """
    if address:
        return urlsplit(address).netloc.rpartition("@")[2]

    provider, slash, _ = str(model or "").partition("/")
    return provider if slash else ""


@dataclass(frozen=True, slots=True)
class RoundReport:
    """What playing a round did: the turns now played, and who failed or is `waiting` for another process.

    `stopped` are those of the failed whose last call a budget refused, `unproven` those without a turn who
    may still take another block of the config, `kept` those of the failed who may not and whose model
    is not merely away. `trouble` is what was missing now that the round did without, and `replaced` who
    plays by new settings from this round on, in words. `codes` are the files or programs of agents that
    decide by one. `unanswered` are those of the failed whose model gave no answer, where no
    time passes, so that the round can wait for them.
    """

    cohort: int
    number: int
    at: datetime
    turns: tuple[Turn, ...] = ()
    failed: tuple[str, ...] = ()
    stopped: tuple[str, ...] = ()
    waiting: tuple[str, ...] = ()
    trouble: tuple[str, ...] = ()
    unproven: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    replaced: tuple[str, ...] = ()
    unanswered: tuple[UnansweredTurn, ...] = ()
    codes: Mapping[str, str] = field(default_factory=dict)

    @property
    def done(self) -> bool:
        """Tell whether every turn is in."""
        return not self.waiting


REHEARSAL = "rehearsal"
"""In place of a job's name: that, and since when, a record is played on a rehearsal clock."""


@dataclass(frozen=True, slots=True)
class JobState:
    """How a job of `arena run` went last: the time it was done for, when that began and ended.

    `failures` are those in a row, and `note` says how it went. One without an end was broken off.
    """

    name: str
    due_at: datetime
    started_at: datetime
    ended_at: datetime | None = None
    failures: int = 0
    note: str = ""
