"""Whether every row that a row refers to is there. The database sees to it; a damaged one may not.

Rows that are sealed by themselves: the hash stands beside all that it is taken over.
"""

from typing import Any

from sqlalchemy import Integer, Table, exists

from arena.record.schema.cohort import CohortRow, PromptRow
from arena.record.schema.ledger import EntryRow
from arena.record.schema.tables import METADATA
from arena.record.schema.typed import select
from arena.record.schema.work import ClaimRow, ReservationRow
from arena.record.schema.world import (
    ArticleRow,
    BenchmarkFileRow,
    MarketRow,
    MarketVersionRow,
    PruneRow,
    ResolutionRow,
)
from arena.verify.differences import Found, Row
from arena.verify.hashes import check_hash, without
from arena.verify.reader import RecordReader, RowsQuery, rows_of


def check_parents(facts: RecordReader) -> Found:
    """Rows that refer to one that is not there; the database looks for them."""
    for column, parent, query in ORPHANS:
        expected = f"the {parent.name} of a {parent.table.name}"
        for row in facts.rows(query):
            yield row.differs(column, expected, "it refers to one")
    for query in UNCOUNTED:
        for row in facts.rows(query):
            yield row.differs("id", "1 or more", "rows are counted from 1")
    for query in READ_ONLY_HERE:
        for _ in facts.rows(query):
            pass


def _orphans(column: Any, parent: Any, refers: Any) -> tuple[str, Any, RowsQuery]:
    is_there = exists(select(1).where(parent == column))
    return column.name, parent, rows_of(column.table, refers, ~is_there)


ORPHANS = [
    *(
        _orphans(key.parent, key.column, key.parent.is_not(None))
        for table in METADATA.sorted_tables
        for key in sorted(table.foreign_keys, key=lambda key: str(key.parent.name))
    ),
    _orphans(EntryRow.market_id, MarketRow.id, EntryRow.market_id != ""),
]
"""A column, the one that it refers to, and a query for the rows where that is missing."""
UNCOUNTED = [
    rows_of(table, table.c.id < 1)
    for table in METADATA.sorted_tables
    if "id" in table.c and isinstance(table.c.id.type, Integer)
]
"""Rows that those who read on from the last one that they know would pass over."""
READ_ONLY_HERE = [rows_of(table) for table in (ClaimRow.__table__, ReservationRow.__table__)]
"""Of tables that refer to others and that no other check reads: there is no more to say of them."""


SEALED_ALONE = [
    row.__table__
    for row in (
        PromptRow,
        CohortRow,
        MarketVersionRow,
        ResolutionRow,
        ArticleRow,
        PruneRow,
        BenchmarkFileRow,
    )
]
WHY = "it seals what the row says"


def check_own_hashes(facts: RecordReader) -> Found:
    """Hashes that are not those of what their rows say; of prices, see `prices`."""
    for table in SEALED_ALONE:
        for row in facts.new(table):
            yield from check_hash(row, _content(table, row), WHY)


ADDED = ("story", "slug", "event_slug", "tags")


def _content(table: Table, row: Row) -> Any:
    if table is PromptRow.__table__:
        return row["text"]
    if table is CohortRow.__table__:
        return row["frozen"]
    if table is MarketVersionRow.__table__:
        silent = [name for name in ADDED if not row[name]]  # pages of earlier versions have none
        return without(row, "market_id", "version", "at", "hash", *silent) | {"id": row["market_id"]}
    return without(row, "id", "hash")
