"""The record checked against itself, by code that shares nothing with the code that wrote it.

Each part reads the tables and nothing else of the arena: hashes are taken again, ledgers added up
again, marks worked out again, and whatever one fact says of another is compared.

Rows stream past. What is held at a time is one cohort's line-up and lots, one ledger, one turn, what one
snapshot lists, and the price of every market of a venue; so what it takes grows with those, not with how
long the arena has played.
"""

from collections.abc import Callable, Iterator

from sqlalchemy import Connection

from arena.record.schema.cohort import CohortRow
from arena.verify.checks.cohorts import check_whole_cohort
from arena.verify.checks.evidence import check_dates
from arena.verify.checks.markets import check_markets, check_prices, check_resolutions
from arena.verify.checks.rows import check_own_hashes, check_parents
from arena.verify.checks.syncs import check_prunes, check_rejected, check_syncs
from arena.verify.checks.turns import check_calls
from arena.verify.differences import Difference, Differences
from arena.verify.reader import RecordReader, rows_of

__all__ = ["Difference", "Differences", "find", "verify"]

CHECKS: tuple[Callable[[RecordReader], Iterator[Difference]], ...] = (
    check_parents,
    check_own_hashes,
    check_prices,
    check_markets,
    check_dates,
    check_syncs,
    check_prunes,
    check_rejected,
    check_resolutions,
    check_calls,
)

COHORTS = rows_of(CohortRow.__table__)


def verify(connection: Connection) -> list[Difference]:
    """Everything in the record that contradicts something else in it; nothing when all is well."""
    return find(connection, most=None).listed


def find(
    connection: Connection, most: int | None, tell: Callable[[Difference], None] | None = None
) -> Differences:
    """The same for records that may be far off: so many are told as they are found, the rest is counted."""
    found = Differences(most, tell)
    facts = RecordReader(connection, found.add)
    for check in CHECKS:
        for difference in check(facts):
            found.add(difference)
    for row in facts.rows(COHORTS):
        for difference in check_whole_cohort(facts, row):
            found.add(difference)
    return found
