"""Whether every row that a row refers to is there. The database sees to it; a damaged one may not.

Rows that are sealed by themselves: the hash stands beside all that it is taken over.
"""

from typing import Any

from sqlalchemy import Integer, Table, exists, func

from arena.record.schema.chain import HeadRow
from arena.record.schema.cohort import CohortRow, EvidenceRow, PromptRow, ReplacementRow
from arena.record.schema.ledger import EntryRow
from arena.record.schema.tables import METADATA
from arena.record.schema.typed import col, select
from arena.record.schema.work import ClaimRow, DeskTurnRow, PublicationRow, ReservationRow
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
    for query in READ_ONLY_HERE:
        for _ in facts.rows(query):
            pass


def check_stray_rows(facts: RecordReader) -> Found:
    """Rows that readers pass over, that nothing names, or that say what is still to come."""
    for query in UNCOUNTED:
        for row in facts.rows(query):
            yield row.differs("id", f"1 to {LAST_ID}", "rows are counted from 1")
    for table, query in UNUSED:
        for row in facts.rows(query):
            yield row.differs("hash", None, f"no {table} names it")
    for row in facts.rows(TOO_FAR):
        yield row.differs("number", "that of a head, or before", "there is no later one")


def _orphans(column: Any, parent: Any, refers: Any) -> tuple[str, Any, RowsQuery]:
    """Values are looked for once each: of a price's market there are thousands of rows."""
    values = select(column.label("named")).where(refers).distinct().subquery()
    lost = select(values.c.named).where(~exists(select(1).where(parent == values.c.named)))
    return column.name, parent, rows_of(column.table, column.in_(lost))


ORPHANS = [
    *(
        _orphans(key.parent, key.column, key.parent.is_not(None))
        for table in METADATA.sorted_tables
        for key in sorted(table.foreign_keys, key=lambda key: str(key.parent.name))
    ),
    _orphans(EntryRow.market_id, MarketRow.id, EntryRow.market_id != ""),
]
"""A column, the one that it refers to, and a query for the rows where that is missing."""
LAST_ID = 2**53
"""After the last of all numbers a database chooses any, and none is new to those who read on."""
UNCOUNTED = [
    rows_of(table, (table.c.id < 1) | (table.c.id > LAST_ID))
    for table in METADATA.sorted_tables
    if "id" in table.c and isinstance(table.c.id.type, Integer)
]
"""Rows that those who read on from the last one that they know would pass over."""
UNUSED = [
    ("evidence", rows_of(ArticleRow, col(ArticleRow.hash).not_in(select(EvidenceRow.article)))),
    (
        "cohort",
        rows_of(
            PromptRow,
            ~exists(select(1).where(col(CohortRow.frozen).contains(PromptRow.hash))),
            ~exists(select(1).where(col(ReplacementRow.prompts).contains(PromptRow.hash))),
        ),
    ),
]
"""Texts that are kept for what names them, and that nothing does."""
LAST_HEAD = select(func.coalesce(func.max(HeadRow.number), 0)).scalar_subquery()
TOO_FAR = rows_of(PublicationRow, PublicationRow.number > LAST_HEAD)
"""Whoever says that heads have left the machine which are not there yet would keep those from leaving."""
READ_ONLY_HERE = [
    rows_of(table) for table in (ClaimRow.__table__, ReservationRow.__table__, DeskTurnRow.__table__)
]
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
