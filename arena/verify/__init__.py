"""The record checked against itself, by code that shares nothing with the code that wrote it.

Each part reads the tables and nothing else of the arena: hashes are taken again, ledgers added up
again, marks worked out again, and whatever one fact says of another is compared.

Rows stream past. What is held at a time is one cohort's line-up and lots, one ledger, one turn, what one
snapshot lists, and the price of every market of a venue; so what it takes grows with those, not with how
long the arena has played.
"""

from collections.abc import Callable, Iterable

from sqlalchemy import Connection

from arena.verify.checks.heads import check_published
from arena.verify.differences import Difference, Differences
from arena.verify.parts import PartCheck, find_by_processes, parts_of, process_count
from arena.verify.reader import NOTHING_VERIFIED, RecordReader, VerifiedHead
from arena.verify.row_names import named

__all__ = ["Difference", "Differences", "find", "verify"]


def verify(connection: Connection) -> list[Difference]:
    """Everything in the record that contradicts something else in it; nothing when all is well."""
    return find(connection, most=None).listed


def find(
    connection: Connection,
    most: int | None,
    tell: Callable[[Difference], None] | None = None,
    verified: VerifiedHead = NOTHING_VERIFIED,
    unpaid: bool = True,
    published: Iterable[str] | None = None,
    address: str = "",
    processes: int | None = None,
    progress: Callable[[int, int | None], None] = lambda _done, _of: None,
) -> Differences:
    """The same for records that may be far off: so many are told as they are found, the rest is counted.

    What was `verified` before is passed over. Corrections that are yet to be paid, as in records of earlier
    versions, are no damage: without `unpaid` they are passed over.

    With its `address` a large record is opened by several processes, by as many as there are cores if nothing
    else is said; what is found does not depend on it.

    `published` are heads, a line of JSON each, that left the machine and must be in the chain.
    """
    found = Differences(most, tell)
    parts, check = parts_of(connection, verified), PartCheck(verified, most, unpaid)
    several = (processes or process_count(connection, verified)) if address else 1
    if several > 1:
        results = find_by_processes(connection, address, parts, check, several)
    else:
        results = (check.find(connection, part, found.add) for part in parts)
    for done, part in enumerate(results, 1):
        for difference in part.listed if several > 1 else ():
            found.add(difference)
        found.left_out += part.left_out
        found.unproved += part.unproved
        progress(done, len(parts))
    facts = RecordReader(connection, found.add, verified)
    for each in () if published is None else check_published(facts, published):
        found.add(named(facts, each))
    found.unproved += facts.unproved
    return found
