"""The heads of a cohort: the head of a round, or the round of a head."""

import re
from dataclasses import dataclass

from arena.errors import ArenaError
from arena.record.hashes import round_heads
from arena.record.queries.cohorts import StoredCohort, read_cohorts
from arena.record.schema.database import Connection

HEAD = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class CohortHead:
    """The hash of all that a cohort froze, saw and decided up to the end of a round."""

    cohort: int
    round: int
    head: str


def read_head(
    connection: Connection, stored: StoredCohort, round_number: int | None = None, check: str | None = None
) -> CohortHead:
    """Return the head of a cohort up to a round, by default the last that is over.

    With `check` it is that of the round that has this head; raise `ArenaError` if none has it.
    """
    if check is not None:
        return _find_head(connection, stored, check)

    cohort = stored.cohort.number
    heads = round_heads(connection, stored.id)
    if round_number is None:
        round_number = max(heads)
    if round_number not in heads:
        message = f"cohort {cohort} has no finished round {round_number}"
        raise ArenaError("not_over", message, f"rounds with a head: {', '.join(map(str, heads))}")
    return CohortHead(cohort, round_number, heads[round_number])


def _find_head(connection: Connection, stored: StoredCohort, typed_head: str) -> CohortHead:
    """Return the round of a cohort with this head; raise `ArenaError` if there is none."""
    head = typed_head.strip().lower()
    if not HEAD.fullmatch(head):
        raise ArenaError("bad_hash", f"{typed_head!r} is not a head", "a head is 64 hexadecimal digits")

    cohort = stored.cohort.number
    heads = round_heads(connection, stored.id)
    for round_number, head_of_round in heads.items():
        if head_of_round == head:
            return CohortHead(cohort, round_number, head)

    hint = "another record's, or this one was changed: run arena admin verify"
    for other_cohort in read_cohorts(connection):
        if head in round_heads(connection, other_cohort.id).values():
            hint = f"it is one of cohort {other_cohort.cohort.number}"
            break
    listed = ", ".join(map(str, heads))
    message = f"no round of cohort {cohort} has this head; rounds with a head: {listed}"
    raise ArenaError("no_such_head", message, hint)
