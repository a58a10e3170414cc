"""What an operator should hear of, noted once each: rounds, agents, budgets, venues, checks, ends.

Each function may be called as often as one likes. What lasts, such as an outage, ends when it is over, and
the next one is told again. `docs/watching.md` has every kind with an example.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal, Protocol

from markets.canonical import digest, stamp

if TYPE_CHECKING:
    from arena.store.record import Record
    from arena.store.verify import Difference

Kind = Literal[
    "round_failed", "all_agents_failed", "budget_reached", "venue_down", "verify_failed", "cohort_finished"
]
LASTING: frozenset[Kind] = frozenset({"all_agents_failed", "venue_down", "verify_failed"})
"""Kinds that go on until they end; the others are over as they happen."""
SHOWN = 10
"""So many differences of a record are named, and so many agents."""


@dataclass(frozen=True, slots=True)
class Incident:
    """Something to be told: of one kind, about one subject, in a sentence of ours and as data."""

    kind: Kind
    subject: str
    at: datetime
    text: str
    data: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Told:
    """An incident in the record: when it ended, when it was told, or how often that was tried in vain."""

    id: int
    incident: Incident
    ended_at: datetime | None
    told_at: datetime | None
    tries: int
    next_try_at: datetime | None


@dataclass(frozen=True, slots=True)
class RoundEnd:
    """A round as incidents see it: its entrants' verdicts (None: no turn yet), and who asks a model.

    `refused` has what a budget said to those of its entrants whose last call it refused.
    """

    cohort: int
    number: int
    at: datetime
    done: bool
    verdicts: Mapping[str, str | None]
    models: frozenset[str]
    refused: Mapping[str, str]

    @property
    def name(self) -> str:
        """Which round, for keys."""
        return f"{self.cohort}/{self.number}"

    @property
    def failed(self) -> tuple[str, ...]:
        """Who has failed, so far."""
        return tuple(name for name, verdict in self.verdicts.items() if verdict == "failed")

    @property
    def stopped(self) -> dict[str, str]:
        """Who has failed since a budget refused a call, and what it said."""
        return {name: self.refused[name] for name in self.failed if name in self.refused}

    @property
    def all_failed(self) -> bool:
        """Whether everyone that asks a model has failed; where nobody does, whether everyone has."""
        asked = self.models or self.verdicts.keys()
        return bool(asked) and asked <= set(self.failed)


class Trouble(Protocol):
    """Why a venue gives no answer."""

    code: str
    message: str


def note_rounds(record: "Record", at: datetime) -> None:
    """Note what the newest rounds in the record tell: who failed, and whom a budget stopped."""
    from arena.store import incidents

    ends = incidents.newest_rounds(record.engine)
    newest = max((one.at for one in ends), default=None)
    found = [incident for one in ends for incident in of_round(one, at, one.at == newest)]
    incidents.note(record.engine, found)
    silent = [incident.subject for incident in found if incident.kind == "all_agents_failed"]
    incidents.end(record.engine, "all_agents_failed", at, but=silent)


def of_round(one: RoundEnd, at: datetime, newest: bool) -> list[Incident]:
    """What a round tells. That all have failed lasts until a newer one is played."""
    place = {"cohort": one.cohort, "round": one.number, "due": stamp(one.at)}
    which, found = f"round {one.number} of cohort {one.cohort}", []
    if one.failed and one.done:
        data = place | {"reason": "turns_failed", "agents": list(one.failed[:SHOWN])}
        words = f"{which} ended without {_listed(one.failed)}, who failed"
        found.append(Incident("round_failed", one.name, at, words, data))
    if one.all_failed and newest:
        words = f"every model in {which} has failed: {_listed(one.failed)}"
        data = place | {"agents": list(one.failed[:SHOWN])}
        found.append(Incident("all_agents_failed", one.name, at, words, data))
    if one.stopped:
        reason = next(iter(one.stopped.values()))
        data = place | {"agents": list(one.stopped)[:SHOWN], "message": reason}
        words = f"a budget stopped {_listed(tuple(one.stopped))} in {which}"
        found.append(Incident("budget_reached", stamp(one.at), at, words, data))
    return found


def note_missed(record: "Record", cohort: int, number: int, due: datetime, at: datetime) -> None:
    """Note that a round was not played in its time."""
    from arena.store import incidents

    data = {"cohort": cohort, "round": number, "due": stamp(due), "reason": "missed"}
    words = f"round {number} of cohort {cohort} was not played in its time"
    incidents.note(record.engine, [Incident("round_failed", f"{cohort}/{number}", at, words, data)])


def note_error(record: "Record", due: datetime, at: datetime, error: Trouble) -> None:
    """Note that the rounds of a decision time were broken off by an error."""
    from arena.store import incidents

    data = {"due": stamp(due), "reason": error.code, "message": error.message}
    words = f"the rounds of {due:%Y-%m-%d %H:%M} UTC were broken off: {error.code}"
    incidents.note(record.engine, [Incident("round_failed", f"{stamp(due)}/{error.code}", at, words, data)])


def note_venue(record: "Record", venue: str, at: datetime, trouble: Trouble | None) -> None:
    """Note that a venue gives no answer; without trouble, that it does, which ends an outage."""
    from arena.store import incidents

    if trouble is None:
        incidents.end(record.engine, "venue_down", at, about=f"{venue}@")
        return
    data = {"venue": venue, "code": trouble.code, "message": trouble.message, "since": stamp(at)}
    words = f"{venue} gives no answer: {trouble.code}"
    incident = Incident("venue_down", f"{venue}@{stamp(at)}", at, words, data)
    incidents.note(record.engine, [incident], unless=f"{venue}@")


def note_verify(record: "Record", at: datetime, differences: Sequence["Difference"]) -> None:
    """Note that the record does not agree with itself, once for the same differences; or that it does."""
    from arena.store import incidents

    places = [[x.table, x.key, x.field] for x in differences]
    subject = digest(places)[:16]
    incidents.end(record.engine, "verify_failed", at, but=[subject] if places else [])
    if places:
        names = ("table", "row", "field")
        shown = [dict(zip(names, place, strict=True)) for place in places[:SHOWN]]
        words = f"the record does not agree with itself: {len(places)} differences"
        data = {"differences": len(places), "first": shown}
        incidents.note(record.engine, [Incident("verify_failed", subject, at, words, data)])


def finished(cohort: int, at: datetime, rounds: int, agents: int) -> Incident:
    """What to tell when a cohort has ended."""
    words = f"cohort {cohort} has finished: {rounds} rounds are played and nothing is held any more"
    data = {"cohort": cohort, "rounds": rounds, "agents": agents}
    return Incident("cohort_finished", str(cohort), at, words, data)


def _listed(names: Sequence[str]) -> str:
    """Some names, and how many more there are.

    >>> _listed(("ann", "bob")), _listed(tuple("abcdefghijkl"))
    ('ann, bob', 'a, b, c, d, e, f, g, h, i, j and 2 more')
    """
    more = len(names) - SHOWN
    return ", ".join(names[:SHOWN]) + (f" and {more} more" if more > 0 else "")
