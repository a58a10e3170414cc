"""The record checked against itself, by code that shares nothing with the code that wrote it.

Each part reads the tables and nothing else of the arena: hashes are taken again, ledgers added up
again, marks worked out again, and whatever one fact says of another is compared.

Rows stream past. What is held at a time is one cohort's line-up and lots, one ledger, one turn, what one
snapshot lists, and the price of every market of a venue; so what it takes grows with those, not with how
long the arena has played.
"""

from collections.abc import Callable, Iterator

from sqlalchemy import Connection

from arena.store.tables import COHORT
from arena.store.verify.by_itself import check_by_itself
from arena.store.verify.calls import check_calls
from arena.store.verify.difference import Difference
from arena.store.verify.evidence import check_dates
from arena.store.verify.facts import Facts
from arena.store.verify.found import Found
from arena.store.verify.housekeeping import check_asides, check_prunes
from arena.store.verify.markets import check_markets
from arena.store.verify.parents import check_parents
from arena.store.verify.prices import check_prices
from arena.store.verify.query import rows_of
from arena.store.verify.resolutions import check_resolutions
from arena.store.verify.syncs import check_syncs
from arena.store.verify.whole_cohort import check_whole_cohort

__all__ = ["Difference", "Found", "find", "verify"]

CHECKS: tuple[Callable[[Facts], Iterator[Difference]], ...] = (
    check_parents,
    check_by_itself,
    check_prices,
    check_markets,
    check_dates,
    check_syncs,
    check_prunes,
    check_asides,
    check_resolutions,
    check_calls,
)

COHORTS = rows_of(COHORT)


def verify(connection: Connection) -> list[Difference]:
    """Everything in the record that contradicts something else in it; nothing when all is well."""
    return find(connection, most=None).listed


def find(connection: Connection, most: int | None, tell: Callable[[Difference], None] | None = None) -> Found:
    """The same for records that may be far off: so many are told as they are found, the rest is counted."""
    found = Found(most, tell)
    facts = Facts(connection, found.add)
    for check in CHECKS:
        for difference in check(facts):
            found.add(difference)
    for row in facts.rows(COHORTS):
        for difference in check_whole_cohort(facts, row):
            found.add(difference)
    return found
