"""Noting what an operator should hear of: each function may be called as often as one likes.

What is noted already is not noted again. What lasts, such as an outage, ends when it is over, and the next
one is told again.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Protocol

from arena.answers import NoAnswer
from arena.errors import ArenaError
from arena.fault import in_words, without_keys
from arena.incidents import Trouble, broken_off, disagreement, missed, of_round, outage, unfit
from arena.jobs import Unanswered
from arena.store.incidents import end, newest_rounds, note
from arena.store.record import Record
from arena.store.verify import Difference
from markets.venue import VenueError

ASK = ("catalogue", "quotes", "resolutions")
"""Jobs that ask a venue."""
DIFFERS = ("differs", "damaged")
"""What a backup says of a record that does not agree with itself."""


class Passed(Protocol):
    """A round of a cohort that was passed over; without a cohort, a start."""

    @property
    def at(self) -> datetime: ...

    @property
    def cohort(self) -> int | None: ...

    @property
    def number(self) -> int | None: ...


def note_rounds(record: Record, at: datetime) -> None:
    """Note what the newest rounds in the record tell: who failed, and whom a budget stopped.

    To be called after each decision time, and as one starts: then what was played just before is noted too.
    """
    ends = newest_rounds(record.engine)
    newest = max((one.at for one in ends), default=None)
    found = [incident for one in ends for incident in of_round(one, at, one.at == newest)]
    note(record.engine, found)
    silent = [incident.subject for incident in found if incident.kind == "all_agents_failed"]
    end(record.engine, "all_agents_failed", at, but=silent)


def note_played(record: Record, venue: str, due: datetime, at: datetime, fault: BaseException | None) -> None:
    """Note how the round of a cohort went at a decision time: played, without its venue, or broken off."""
    trouble = venue_trouble(fault)
    if fault is None or trouble is not None:
        note_venue(record, venue, at, trouble)
    else:
        note(record.engine, [broken_off(due, at, _as_trouble(fault))])
    note_rounds(record, at)


def note_job(record: Record, name: str, venue: str, at: datetime, fault: BaseException | None) -> None:
    """Note how a job went: whether its venue gave an answer, or the record was found to agree with itself."""
    faults = fault.faults if isinstance(fault, Unanswered) else [(venue, fault)]
    for where, why in faults if name in ASK else ():
        trouble = venue_trouble(why)
        if why is None or trouble is not None:
            note_venue(record, where, at, trouble)
    if name == "backup":
        if fault is None:
            end(record.engine, "verify_failed", at)
        elif isinstance(fault, ArenaError) and fault.code in DIFFERS:
            note(record.engine, [unfit(at, fault)], unless="backup@")


def venue_trouble(fault: BaseException | None) -> Trouble | None:
    """What a venue said in place of an answer, where that is what went wrong."""
    cause = None if fault is None else fault.__cause__
    found = next((x for x in (cause, fault) if isinstance(x, VenueError)), None)
    return found or (fault if isinstance(fault, NoAnswer) else None)


def _as_trouble(fault: BaseException) -> Trouble:
    """Anything that went wrong, without words that may be anyone's."""
    if isinstance(fault, ArenaError):
        return ArenaError(fault.code, in_words(fault))
    return ArenaError("broken", type(fault).__name__)


def note_missed(record: Record, rounds: Iterable[Passed], at: datetime) -> None:
    """Note rounds that were not played in their time, and starts: of each cohort the newest."""
    newest = {one.cohort: one for one in sorted(rounds, key=lambda one: one.at)}
    note(record.engine, [missed(one.cohort, one.number, one.at, at) for one in newest.values()])


def note_venue(record: Record, venue: str, at: datetime, trouble: Trouble | None) -> None:
    """Note that a venue gives no answer; without trouble, that it does, which ends an outage."""
    if trouble is None:
        end(record.engine, "venue_down", at, about=f"{venue}@")
    else:
        told = ArenaError(trouble.code, without_keys(trouble.message))
        note(record.engine, [outage(venue, at, told)], unless=f"{venue}@")


def note_verify(record: Record, at: datetime, differences: Sequence[Difference]) -> None:
    """Note that the record does not agree with itself, once for the same differences; or that it does."""
    found = disagreement(at, [[x.table, x.key, x.field] for x in differences]) if differences else None
    end(record.engine, "verify_failed", at, but=[found.subject] if found else [])
    note(record.engine, [found] if found else [])
