"""Noting what an operator should hear of: each function may be called as often as one likes.

What is noted already is not noted again. What lasts, such as an outage, ends when it is over, and the next
one is told again.
"""

from collections.abc import Sequence
from datetime import datetime

from arena.incidents import Trouble, broken_off, disagreement, missed, of_round, outage
from arena.store.incidents import end, newest_rounds, note
from arena.store.record import Record
from arena.store.verify import Difference


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


def note_missed(record: Record, cohort: int, number: int, due: datetime, at: datetime) -> None:
    """Note that a round was not played in its time."""
    note(record.engine, [missed(cohort, number, due, at)])


def note_error(record: Record, due: datetime, at: datetime, error: Trouble) -> None:
    """Note that the rounds of a decision time were broken off by an error."""
    note(record.engine, [broken_off(due, at, error)])


def note_venue(record: Record, venue: str, at: datetime, trouble: Trouble | None) -> None:
    """Note that a venue gives no answer; without trouble, that it does, which ends an outage."""
    if trouble is None:
        end(record.engine, "venue_down", at, about=f"{venue}@")
    else:
        note(record.engine, [outage(venue, at, trouble)], unless=f"{venue}@")


def note_verify(record: Record, at: datetime, differences: Sequence[Difference]) -> None:
    """Note that the record does not agree with itself, once for the same differences; or that it does."""
    found = disagreement(at, [[x.table, x.key, x.field] for x in differences]) if differences else None
    end(record.engine, "verify_failed", at, but=[found.subject] if found else [])
    note(record.engine, [found] if found else [])
