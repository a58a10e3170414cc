"""The record checked against itself, by code that shares nothing with the code that wrote it.

Each part reads the tables and nothing else of the arena: hashes are taken again, ledgers added up
again, marks worked out again, and whatever one fact says of another is compared.

Rows stream past. What is held at a time is one cohort's line-up and lots, one ledger, one turn, what one
snapshot lists, and the price of every market of a venue; so what it takes grows with those, not with how
long the arena has played.
"""

from collections.abc import Callable, Iterator
from pathlib import Path

from sqlalchemy import Connection

from arena.errors import ArenaError
from arena.record.files.copy import ProgressCallback, no_progress
from arena.record.files.integrity import RETAKE_HINT, RecordContent, reporting_progress
from arena.record.hashes import state_hash
from arena.record.queries.cohorts import count_facts
from arena.record.schema.database import newest_schema_version
from arena.record.schema.tables import COHORT
from arena.verify.checks.cohorts import check_whole_cohort
from arena.verify.checks.evidence import check_dates
from arena.verify.checks.markets import check_markets, check_prices, check_resolutions
from arena.verify.checks.rows import check_own_hashes, check_parents
from arena.verify.checks.syncs import check_prunes, check_rejected, check_syncs
from arena.verify.checks.turns import check_calls
from arena.verify.differences import Difference, Differences
from arena.verify.reader import RecordReader, rows_of

__all__ = ["Difference", "Differences", "agreed", "find", "verify"]

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

COHORTS = rows_of(COHORT)


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


def agreed(connection: Connection, place: Path | str, told: ProgressCallback = no_progress) -> RecordContent:
    """What is in a record of the newest schema, once nothing in it contradicts something else."""
    with reporting_progress(connection, "verifying", told):
        found = find(connection, most=1)
    if found.count:
        count, first = "one place" if found.count == 1 else f"{found.count:,} places", found.listed[0]
        message = f"{place} does not agree with itself in {count}, first {first.table} {first.key}"
        raise ArenaError("differs", message, f"arena verify lists them; else {RETAKE_HINT}")
    with reporting_progress(connection, "hashing", told):
        return RecordContent(newest_schema_version(), state_hash(connection), count_facts(connection))
