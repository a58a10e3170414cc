"""What an operator should hear of: rounds, agents, budgets, venues, checks, ends.

`arena/operations/incidents.py` notes them; `docs/watching.md` has every kind with an example.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from statistics import median
from typing import Any, Literal, Protocol

from arena.errors import count_text, length_text
from arena.record.model.status import CatalogueRead
from markets.hashes import timestamp_text

MOST_TRIES = 30
"""After so many tries, which take a day, nobody is told any more."""
IncidentKind = Literal[
    "round_failed",
    "all_agents_failed",
    "agent_waiting",
    "agent_entered",
    "agent_failing",
    "agent_recovered",
    "cost_unknown",
    "cost_known",
    "usage_not_believed",
    "budget_reached",
    "venue_down",
    "catalogue_incomplete",
    "records_rejected",
    "market_unsettled",
    "verify_failed",
    "heads_unpublished",
    "site_unpublished",
    "ping_failed",
    "wrong_keys",
    "job_failing",
    "record_unusable",
    "workers_gone",
    "lead_taken",
    "clock_stepped",
    "cohort_finished",
    "weekly_digest",
]
LASTING_KINDS: frozenset[IncidentKind] = frozenset(
    {
        "all_agents_failed",
        "agent_waiting",
        "venue_down",
        "catalogue_incomplete",
        "records_rejected",
        "market_unsettled",
        "verify_failed",
        "heads_unpublished",
        "site_unpublished",
        "ping_failed",
        "agent_failing",
        "cost_unknown",
        "job_failing",
        "record_unusable",
        "workers_gone",
    }
)
"""Kinds that go on until they end; the others are over as they happen."""
MOST_LISTED = 10
"""So many differences of a record are named, and so many agents."""


@dataclass(frozen=True, slots=True)
class Incident:
    """An event for the operator: its kind, its subject, a sentence and data."""

    kind: IncidentKind
    subject: str
    at: datetime
    text: str
    data: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RecordedIncident:
    """An incident in the record: when it ended, when it was told, or how often that was tried in vain."""

    id: int
    incident: Incident
    ended_at: datetime | None
    told_at: datetime | None
    tries: int
    next_try_at: datetime | None

    @property
    def delivery(self) -> str:
        """Return the state of the delivery to the webhook in words."""
        if self.told_at is not None:
            return "sent"
        if self.tries >= MOST_TRIES:  # at once, where there is no webhook
            return "could not be sent" if self.next_try_at else "no webhook"
        return f"not sent yet, {count_text(self.tries, 'attempt')}" if self.tries else "not sent"


@dataclass(frozen=True, slots=True)
class RoundEnd:
    """A round as incidents see it: how its turns ended (None: no turn yet), who asks a model.

    `refused` has what a budget said to those of its entrants whose last call it refused, and `waiting` for
    what those wait whose model has no key. Those who are `unpriced` had an answer whose cost nobody
    knows.
    """

    cohort: int
    number: int
    at: datetime
    done: bool
    statuses: Mapping[str, str | None]
    models: frozenset[str]
    refused: Mapping[str, str]
    waiting: Mapping[str, str] = field(default_factory=dict)
    unpriced: frozenset[str] = frozenset()

    @property
    def failed(self) -> tuple[str, ...]:
        """Return the entrants that have failed or were late so far."""
        return tuple(name for name, status in self.statuses.items() if status in ("failed", "late"))

    @property
    def stopped(self) -> dict[str, str]:
        """Return the entrants that failed because a budget refused a call, with its message."""
        return {name: self.refused[name] for name in self.failed if name in self.refused}

    @property
    def all_failed(self) -> bool:
        """Tell whether all entrants with a model failed; if there are none, whether all entrants did."""
        expected = (self.models or self.statuses.keys()) - self.waiting.keys()
        return bool(expected) and expected <= set(self.failed)


class CodedError(Protocol):
    """Why something could not be done: a stable code, and words."""

    code: str
    message: str


def round_incidents(end: RoundEnd, at: datetime, newest: bool) -> list[Incident]:
    """Return the incidents of a round. That all have failed lasts until a newer one is played."""
    round_text = f"round {end.number} of cohort {end.cohort}"
    subject = f"{end.cohort}/{end.number}"
    round_data = {"cohort": end.cohort, "round": end.number, "due": end.at.isoformat()}
    failed_data = round_data | {"agents": list(end.failed[:MOST_LISTED])}
    names = _name_list(end.failed)

    incidents = []
    if end.failed and end.done:
        late = " or late" if "late" in end.statuses.values() else ""
        text = f"{round_text} ended with failed{late} turns: {names}"
        incidents.append(
            Incident("round_failed", subject, at, text, failed_data | {"reason": "turns_failed"})
        )

    if end.all_failed and newest:
        text = f"every agent with a model failed: {names} ({round_text})"
        incidents.append(Incident("all_agents_failed", subject, at, text, failed_data))

    if end.stopped:
        stopped = tuple(end.stopped)
        data = round_data | {"agents": list(stopped[:MOST_LISTED]), "message": end.stopped[stopped[0]]}
        text = f"a budget stopped {_name_list(stopped)} in {round_text}"
        incidents.append(Incident("budget_reached", timestamp_text(end.at), at, text, data))
    return incidents


def _incident_since(
    kind: IncidentKind, subject: str, started_at: datetime, at: datetime, text: str, /, **data: Any
) -> Incident:
    """Return an incident whose subject is told apart by an instant."""
    return Incident(kind, f"{subject}@{timestamp_text(started_at)}", at, text, data)


def agent_incident(kind: IncidentKind, agent: str, words: str, end: RoundEnd, at: datetime) -> Incident:
    """Return a lasting incident of an agent: it waits for its key, keeps failing, or has unpriced calls."""
    due = end.at.isoformat()
    return _incident_since(
        kind, agent, end.at, at, words, agent=agent, cohort=end.cohort, round=end.number, due=due
    )


FAILING = "all its recent turns failed"
UNPRICED = "a call was answered at an unknown price"
OVER: Mapping[IncidentKind, tuple[IncidentKind, str]] = {
    "agent_waiting": ("agent_entered", "has entered"),
    "agent_failing": ("agent_recovered", "plays again"),
    "cost_unknown": ("cost_known", "has calls with a known price again"),
}
"""What is told of an agent once that is over."""


def usage_not_believed(agent: str, model: str, doubt: str, due: datetime, at: datetime) -> Incident:
    """Return the incident of an answer whose provider stated a usage that can't be true; once a round."""
    text = f"usage not believed: {agent} ({model}): {doubt}; the call counts at its worst case"
    data = {"agent": agent, "model": model, "due": due.isoformat(), "usage": doubt}
    return _incident_since("usage_not_believed", agent, due, at, text, **data)


def agent_over(was: Incident, at: datetime) -> Incident:
    """Return the incident that a lasting trouble of an agent is over."""
    kind, words = OVER[was.kind]
    agent = was.data["agent"]
    return Incident(kind, was.subject, at, f"{agent} {words}", {"agent": agent})


def missed_round(cohort: int | None, number: int | None, due: datetime, at: datetime) -> Incident:
    """Return the incident that a round was missed; without a cohort, that none has started in time."""
    subject = f"{cohort}/{number}"
    text = f"round {number} of cohort {cohort} was not played on time"
    if cohort is None:
        subject = f"start/{timestamp_text(due)}"
        text = "a cohort did not start on time"

    data = {"cohort": cohort, "round": number, "due": due.isoformat(), "reason": "missed"}
    return Incident("round_failed", subject, at, text, data)


def aborted_rounds(due: datetime, at: datetime, error: CodedError) -> Incident:
    """Return the incident that the rounds of a decision time were broken off by an error."""
    text = f"the rounds of {due:%Y-%m-%d %H:%M} UTC were interrupted: {error.code}"
    data = {"due": due.isoformat(), "reason": error.code, "message": error.message}
    return Incident("round_failed", f"{timestamp_text(due)}/{error.code}", at, text, data)


VENUE_WORDS = {
    "unreachable": "can't be reached",
    "timeout": "does not answer in time",
    "rate_limited": "limits requests",
    "server_error": "answers with errors",
    "refused": "refuses requests",
    "bad_url": "has an invalid address",
    "missing": "has no such page",
    "not_json": "sends no usable answer",
    "too_large": "sends a page that is too long",
    "bad_extension": "fails in its own code",
    "bad_file": "has a faulty file",
    "bad_folder": "has a faulty file",
    "bad_series": "has a faulty file",
    "no_folder": "has no folder",
    "no_questions": "has no questions",
}
"""What a venue does that gives no answer, by the code of its error."""


FILE_CODES = ("bad_extension", "bad_file", "bad_folder", "bad_series", "no_folder", "no_questions")
"""The codes of errors for which a person has to correct a file of the venue."""


def venue_outage(venue: str, at: datetime, trouble: CodedError) -> Incident:
    """Return the incident that a venue gives no answer since then."""
    text = f"{venue} {VENUE_WORDS.get(trouble.code, 'does not answer')}"
    since = at.isoformat()
    data = {"venue": venue, "code": trouble.code, "message": trouble.message, "since": since}
    return _incident_since("venue_down", venue, at, at, text, **data)


def catalogue_incomplete(
    venue: str, at: datetime, trouble: CodedError, held: int | None = None, known: int = 0
) -> Incident:
    """Return that a venue sends only part of its catalogue since then.

    It holds `held` of the markets `known` to be open; None where its list broke off.
    """
    text = f"{venue} sends an incomplete catalogue"
    data: dict[str, object] = {"venue": venue, "message": trouble.message, "since": at.isoformat()}
    if held is not None:
        text += f": {held:,} of {known:,} known open markets"
        data |= {"held": held, "known": known}
    return _incident_since("catalogue_incomplete", venue, at, at, text, **data)


REJECTED_SHARE = 0.02
"""From this share of a catalogue on, rejected records are told of."""
REJECTED_TIMES = 3
"""They are told of if they are so many times as many as usual."""
REJECTED_LEAST = 20
"""They are told of if they are at least so many."""


def records_rejected(reads: Sequence[CatalogueRead], at: datetime) -> Incident | None:
    """Return the incident that a catalogue had far more rejected records than the readings before it."""
    if len(reads) < 2:
        return None

    newest = reads[0]
    share = newest.rejected_share
    usual = median(read.rejected_share for read in reads[1:])
    if newest.rejected < REJECTED_LEAST or share <= max(REJECTED_SHARE, REJECTED_TIMES * usual):
        return None

    records = count_text(newest.rejected, "record")
    text = f"{newest.venue} sent {records} that could not be used, {share:.1%} of its catalogue"
    return _incident_since(
        "records_rejected",
        newest.venue,
        at,
        at,
        f"{text}; {usual:.1%} is usual",
        venue=newest.venue,
        rejected=newest.rejected,
        markets=newest.markets,
        share=round(share, 4),
        usual=round(usual, 4),
    )


def market_unsettled(market: str, closed_at: datetime, agents: Sequence[str], at: datetime) -> Incident:
    """Return that a market which agents hold has been closed for long and is not settled."""
    text = f"{market} closed on {closed_at:%Y-%m-%d} and is not settled: held by {_name_list(agents)}"
    held_by = list(agents[:MOST_LISTED])
    closed = closed_at.isoformat()
    return _incident_since(
        "market_unsettled", market, at, at, text, market=market, closed_at=closed, agents=held_by
    )


def record_inconsistent(job: str, at: datetime, trouble: CodedError) -> Incident:
    """Return the incident that a job, the backup or the daily check, found the record to be inconsistent.

    That its file is damaged may be found by any job, or by a round.
    """
    text = "the record is inconsistent"
    if trouble.code == "damaged":
        text = "the file of the record is damaged"
    if job == "backup":
        text = f"a backup was discarded: {text}"
    return _incident_since("verify_failed", job, at, at, text, reason=trouble.code, message=trouble.message)


def heads_unpublished(at: datetime, since: datetime, unpublished: int, error: str) -> Incident:
    """Return the incident that heads have not left the machine for long."""
    heads = count_text(unpublished, "head")
    text = f"{heads} of the record not published since {since:%Y-%m-%d %H:%M} UTC: {error}"
    data = {"since": since.isoformat(), "heads": unpublished, "message": error}
    return _incident_since("heads_unpublished", "heads", since, at, text, **data)


def site_unpublished(at: datetime, trouble: CodedError) -> Incident:
    """Return the incident that the web site could not be brought up to the record."""
    text = f"could not publish the web site: {trouble.message}"
    data = {"since": at.isoformat(), "reason": trouble.code, "message": trouble.message}
    return _incident_since("site_unpublished", "site", at, at, text, **data)


def ping_failed(at: datetime, address: str, why: str) -> Incident:
    """Return the incident that the address which hears of good steps does not answer."""
    text = f"{address} was not pinged: it {why}"
    return _incident_since("ping_failed", "ping", at, at, text, since=at.isoformat())


def wrong_keys(at: datetime, requests: int, address: str) -> Incident:
    """Return the incident that requests with a wrong key reach the desk, at most one an hour."""
    text = f"{count_text(requests, 'request')} with a wrong key came to the desk, the last from {address}"
    hour = at.replace(minute=0, second=0, microsecond=0)
    return _incident_since("wrong_keys", "desk", hour, at, text, requests=requests, address=address)


def job_failing(job: str, at: datetime, trouble: CodedError) -> Incident:
    """Return the incident that a job of `arena run` fails, for a cause that no other incident names."""
    text = f"the job {job} has failed"
    return _incident_since(
        "job_failing", job, at, at, text, job=job, reason=trouble.code, message=trouble.message
    )


def record_unusable(at: datetime, trouble: CodedError) -> Incident:
    """Return the incident that the record can't be used: its disk is full, or its server is away."""
    text = "the record can't be used"
    return _incident_since(
        "record_unusable", "record", at, at, text, reason=trouble.code, message=trouble.message
    )


def workers_gone(at: datetime) -> Incident:
    """Return the incident that no worker gives a sign, so that `arena run` plays the turns itself."""
    text = "no worker gives a sign: `arena run` plays their turns itself"
    return _incident_since("workers_gone", "workers", at, at, text, since=at.isoformat())


def lead_taken(at: datetime, holder: str, former: str, why: str) -> Incident:
    """Return the incident that one `arena run` has taken over from another that had not let go."""
    text = f"{_process_text(holder)} took over as `arena run` from {_process_text(former)}"
    return _incident_since("lead_taken", "lead", at, at, text, since=at.isoformat(), message=why)


def _process_text(holder: str) -> str:
    """Return the process of a holder in words.

    >>> _process_text("host/4711/abc.9.f")
    'process 4711 on host'
    """
    host, _, after_host = holder.partition("/")
    return f"process {after_host.partition('/')[0]} on {host}"


def clock_stepped(at: datetime, seconds: float) -> Incident:
    """Return the incident that the clock went further than time has passed, or went back."""
    way = "forward" if seconds > 0 else "back"
    length = length_text(timedelta(seconds=abs(seconds)))
    text = f"this machine's clock went {way} by {length}"
    why = "it was set, or the machine was suspended"
    return _incident_since("clock_stepped", "clock", at, at, text, seconds=round(seconds), message=why)


def clock_behind(at: datetime, newest: datetime, file: Path | None) -> Incident:
    """Return the incident that the record is ahead of this machine's clock, or of the one in a file."""
    clock = "this machine's clock" if file is None else f"the time in {file}"
    text = f"{clock} is behind the record by {length_text(newest - at)}"
    why = f"jobs were done at {newest:%Y-%m-%d %H:%M} UTC: the clock is wrong now, or was ahead then"
    seconds = round((at - newest).total_seconds())
    data = {"seconds": seconds, "message": why}
    if file is not None:
        data["clock"] = str(file)
    # By that instant, so that a start every ten minutes tells it once.
    return _incident_since("clock_stepped", "clock", newest, at, text, **data)


def cohort_finished(cohort: int, at: datetime, rounds: int, agents: int) -> Incident:
    """Return the incident that a cohort has ended."""
    played = "1 round was" if rounds == 1 else f"{rounds} rounds were"
    text = f"cohort {cohort} has finished: {played} played, no open positions"
    data = {"cohort": cohort, "rounds": rounds, "agents": agents}
    return Incident("cohort_finished", str(cohort), at, text, data)


def _name_list(names: Sequence[str]) -> str:
    """Return some names, and the number of the others.

    >>> _name_list(("ann", "bob")), _name_list(tuple("abcdefghijkl"))
    ('ann, bob', 'a, b, c, d, e, f, g, h, i, j and 2 more')
    """
    unnamed = len(names) - MOST_LISTED
    return ", ".join(names[:MOST_LISTED]) + (f" and {unnamed} more" if unnamed > 0 else "")
