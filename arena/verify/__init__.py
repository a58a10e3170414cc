"""The record checked against itself, by code that shares nothing with the code that wrote it.

Each part reads the tables and nothing else of the arena: hashes are taken again, ledgers added up
again, marks worked out again, and whatever one fact says of another is compared.

Rows stream past. What is held at a time is one cohort's line-up and lots, one ledger, one turn, what one
snapshot lists, and the price of every market of a venue; so what it takes grows with those, not with how
long the arena has played.
"""

from collections.abc import Callable, Iterable, Iterator

from sqlalchemy import Connection, bindparam, exists

from arena.record.schema.cohort import CohortRow, EntrantRow, RoundRow, SnapshotRow
from arena.record.schema.ledger import EntryRow
from arena.record.schema.typed import select
from arena.record.schema.world import ResolutionRow
from arena.verify.checks.answers import check_readers
from arena.verify.checks.caches import check_caches
from arena.verify.checks.cohorts import check_numbered, check_whole_cohort
from arena.verify.checks.evidence import check_dates
from arena.verify.checks.heads import check_chain, check_published
from arena.verify.checks.markets import check_markets, check_prices, check_resolutions
from arena.verify.checks.marks import UNPAID
from arena.verify.checks.rows import check_own_hashes, check_parents
from arena.verify.checks.syncs import check_prunes, check_rejected, check_syncs
from arena.verify.checks.turns import check_attempts, check_calls
from arena.verify.differences import Difference, Differences
from arena.verify.reader import RecordReader, rows_of
from arena.verify.verified import NOTHING_VERIFIED, VerifiedHead

__all__ = ["Difference", "Differences", "find", "verify"]

WHOLE: tuple[Callable[[RecordReader], Iterator[Difference]], ...] = (
    check_parents,
    check_markets,
    check_dates,
    check_syncs,
)
"""Checks of how a whole record hangs together: left out where only what is new is verified."""
CHECKS: tuple[Callable[[RecordReader], Iterator[Difference]], ...] = (
    check_own_hashes,
    check_prices,
    check_prunes,
    check_rejected,
    check_resolutions,
    check_calls,
    check_attempts,
    check_readers,
    check_numbered,
    check_caches,
    check_chain,
)

COHORTS = rows_of(
    CohortRow.__table__,
    exists(select(1).where(SnapshotRow.cohort_id == CohortRow.id, SnapshotRow.id > bindparam("snapshot")))
    | exists(select(1).where(RoundRow.cohort_id == CohortRow.id, RoundRow.id > bindparam("round")))
    | exists(
        select(1).where(
            EntrantRow.cohort_id == CohortRow.id,
            EntryRow.entrant_id == EntrantRow.id,
            EntryRow.id > bindparam("entry"),
        )
    )
    | exists(
        select(1).where(
            EntrantRow.cohort_id == CohortRow.id,
            EntryRow.entrant_id == EntrantRow.id,
            EntryRow.market_id == ResolutionRow.market_id,
            ResolutionRow.id > bindparam("resolution"),
        )
    )
    | (bindparam("whole") == 1),
)
"""Cohorts of which something is new, or all."""


def verify(connection: Connection) -> list[Difference]:
    """Everything in the record that contradicts something else in it; nothing when all is well."""
    return find(connection, most=None).listed


def find(
    connection: Connection,
    most: int | None,
    tell: Callable[[Difference], None] | None = None,
    verified: VerifiedHead = NOTHING_VERIFIED,
    unpaid: bool = True,
    published: Iterable[str] = (),
) -> Differences:
    """The same for records that may be far off: so many are told as they are found, the rest is counted.

    What was `verified` before is passed over. Corrections that are yet to be paid, as in records of earlier
    versions, are no damage: without `unpaid` they are passed over.

    `published` are heads, a line of JSON each, that left the machine and must be in the chain.
    """
    found = Differences(most, tell)
    facts = RecordReader(connection, found.add, verified)
    for check in CHECKS if verified.number else (*WHOLE, *CHECKS):
        for difference in check(facts):
            found.add(difference)
    growing = (SnapshotRow, RoundRow, EntryRow, ResolutionRow)
    after = {row.__tablename__: facts.after(row.__table__) for row in growing}
    for row in facts.rows(COHORTS, **after, whole=int(not verified.number)):
        for difference in check_whole_cohort(facts, row):
            if unpaid or difference.why != UNPAID:
                found.add(difference)
    for difference in check_published(facts, published):
        found.add(difference)
    found.unproved = facts.unproved
    return found
