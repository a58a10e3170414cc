"""Check a record against itself: recompute everything that can be derived, and compare it.

Verification is a replay. Inputs from outside are taken as stored: snapshots with their pages and prices,
models' answers, resolutions, articles, and what each cohort froze when it began. From these, the functions
that played the season derive everything else again: decisions, forecasts and rejections from the answers;
fills with their levels from the orders; entries from fills and resolutions; marks from entries and prices.
Every derived row is compared with the stored one, column by column (`checks/replay.py`, `turns.py`,
`answers.py`).

The inputs themselves are checked in three other ways:

- Plain rules for the columns of single rows: ranges, order, references (`checks/rows.toml`).
- Hashes: each row from outside carries its own hash, which is computed again (`checks/seals.py`), and each
  addition to the record is covered by a head of the chain (`checks/heads.py`).
- Rules for evidence, tools, benchmarks, syncs and times, each in a file of its own; and the database's own
  keys and guards (`checks/schema.py`).

A bug in the functions that play the season would go unnoticed here, because the replay uses them too. Three
independent checks cover that: golden cases, worked out by hand and by other programs, which the tests compare
these functions with; the referee (`arena.exports.referee`), which recomputes all money, scores and the
leaderboard from an export with code of its own; and published heads, which a rewritten record contradicts.

Turns whose answers were parsed by an earlier version of the reader are not decided again: their hash is
checked, their orders are executed like all others, and they are counted.

Rows are streamed. Memory holds one cohort's line-up with its accounts, one instant of it, one round, and the
price of every market of a venue, so it grows with those and not with the length of the season. Later runs
continue from the note of the last one (`verified.py`).
"""

from collections.abc import Callable, Iterable

from sqlalchemy import Connection

from arena.verify.checks.heads import check_published
from arena.verify.differences import Difference, Differences
from arena.verify.parts import PartCheck, find_by_processes, parts_of, process_count
from arena.verify.reader import NOTHING_VERIFIED, RecordReader, VerifiedHead

__all__ = ["Difference", "Differences", "find", "verify"]


def verify(connection: Connection) -> list[Difference]:
    """Return every contradiction in the record; an empty list if there is none."""
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
    """Return the contradictions in a record, listing at most `most` of them and counting the rest.

    Rows that were `verified` before are skipped, except those of one `part`. Without `unpaid`, corrections
    that are yet to be paid are skipped: records of earlier versions have some, and they are no damage.
    `published` are heads that left the machine, one JSON line each; all of them must be in the chain.

    Given its `address`, a large record is checked by several processes, one for each core by default. The
    findings do not depend on their number.
    """
    differences = Differences(most, tell)
    parts = parts_of(connection, verified, part)
    check = PartCheck(verified, most, unpaid, part)
    workers = 1
    if address:
        workers = processes or process_count(connection, verified)

    if workers > 1:
        results = find_by_processes(connection, address, parts, check, workers)
    else:
        results = (check.find(connection, part_name, differences.add) for part_name in parts)

    for done, result in enumerate(results, 1):
        if workers > 1:  # in this process each difference was added as soon as it was found
            for difference in result.listed:
                differences.add(difference)
        differences.left_out += result.left_out
        differences.unproved += result.unproved
        progress(done, len(parts))

    if published is not None:
        facts = RecordReader(connection, differences.add, verified)
        for difference in check_published(facts, published):
            differences.add(difference)
        differences.unproved += facts.unproved
    return differences
