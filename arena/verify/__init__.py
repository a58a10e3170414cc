"""A record checked against itself: what can be derived is derived again, and all of it is compared.

Verifying replays. What came from outside is taken as it is stored: snapshots with their pages and prices,
answers of models, ends of markets, articles, and what each cohort froze when it began. From these the very
functions that play derive everything else again: decisions, forecasts and rejections from the answers; fills
with their levels from the orders; entries from fills and ends; marks from entries and prices. Every derived
row is compared with the stored one, column by column (`checks/replay.py`, `turns.py`, `answers.py`).

What is derived from nothing is held in three other ways:

- Plain rules for the columns of single rows: ranges, order, references (`checks/rows.toml`).
- Hashes: each row that came from outside is sealed by its own, taken again (`checks/seals.py`), and each
  addition to the record by a head of the chain, over all that it covers (`checks/heads.py`).
- The rules for evidence, tools, benchmarks, syncs and times, each in a file of its own; and the database's
  own keys and guards (`checks/schema.py`).

A bug in the functions that play would be found neither by them nor here. Three things stand apart: golden
cases, worked out by hand and by other programs, to which these functions are held in tests; the referee
(`arena.exports.referee`), which works out all money, scores and the leaderboard from an export by code of its
own; and heads that left the machine, which a rewritten record contradicts.

Turns whose answers an earlier version of the reader read are decided by nobody again: their hash is checked,
their orders are executed as all others are, and they are counted.

Rows stream past. What is held at a time is one cohort's line-up with its accounts, what one time brought it,
one round, and the price of every market of a venue; so what it takes grows with those, not with how long the
arena has played. Later runs go on from the note of the last one (`verified.py`).
"""

from collections.abc import Callable, Iterable

from sqlalchemy import Connection

from arena.verify.checks.heads import check_published
from arena.verify.differences import Difference, Differences
from arena.verify.parts import PartCheck, find_by_processes, parts_of, process_count
from arena.verify.reader import NOTHING_VERIFIED, RecordReader, VerifiedHead

__all__ = ["Difference", "Differences", "find", "verify"]


def verify(connection: Connection) -> list[Difference]:
    """Return everything in the record that contradicts something else in it; nothing when all is well."""
    return find(connection, most=None).listed


def find(
    connection: Connection,
    most: int | None,
    tell: Callable[[Difference], None] | None = None,
    verified: VerifiedHead = NOTHING_VERIFIED,
    unpaid: bool = True,
    published: Iterable[str] | None = None,
    part: int | None = None,
    address: str = "",
    processes: int | None = None,
    progress: Callable[[int, int | None], None] = lambda _done, _of: None,
) -> Differences:
    """Return the same of records that may be far off: so many are told as they are found, others counted.

    What was `verified` before is passed over, but for one `part` of it. Corrections that are yet to be paid,
    as in records of earlier versions, are no damage: without `unpaid` they are passed over.

    With its `address` a large record is opened by several processes, by as many as there are cores if nothing
    else is said; what is found does not depend on it.

    `published` are heads, a line of JSON each, that left the machine and must be in the chain.
    """
    found = Differences(most, tell)
    parts = parts_of(connection, verified, part)
    check = PartCheck(verified, most, unpaid, part)
    several = (processes or process_count(connection, verified)) if address else 1
    if several > 1:
        results = find_by_processes(connection, address, parts, check, several)
    else:
        results = (check.find(connection, name, found.add) for name in parts)

    for done, result in enumerate(results, 1):
        for difference in result.listed if several > 1 else ():
            found.add(difference)
        found.left_out += result.left_out
        found.unproved += result.unproved
        progress(done, len(parts))

    if published is not None:
        facts = RecordReader(connection, found.add, verified)
        for difference in check_published(facts, published):
            found.add(difference)
        found.unproved += facts.unproved
    return found
