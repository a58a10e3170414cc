"""Whether every row that a row refers to is there. The database sees to it; a damaged one may not."""

from collections.abc import Iterator
from typing import Any

from sqlalchemy import exists, select

from arena.store.tables import CLAIM, ENTRY, MARKET, METADATA, RESERVATION
from arena.store.verify.difference import Difference
from arena.store.verify.facts import Facts
from arena.store.verify.naming import differs
from arena.store.verify.query import Query, rows_of


def check_parents(facts: Facts) -> Iterator[Difference]:
    """Rows that refer to one that is not there; the database looks for them."""
    for column, parent, query in ORPHANS:
        expected = f"the {parent.name} of a {parent.table.name}"
        for row in facts.rows(query):
            yield differs(facts, query.own.table, row, column, expected, "it refers to one")
    for query in READ_ONLY_HERE:
        for _ in facts.rows(query):
            pass


def _orphans(column: Any, parent: Any, refers: Any) -> tuple[str, Any, Query]:
    is_there = exists(select(1).where(parent == column))
    return column.name, parent, rows_of(column.table, refers, ~is_there)


ORPHANS = [
    *(
        _orphans(key.parent, key.column, key.parent.is_not(None))
        for table in METADATA.sorted_tables
        for key in sorted(table.foreign_keys, key=lambda key: str(key.parent.name))
    ),
    _orphans(ENTRY.c.market_id, MARKET.c.id, ENTRY.c.market_id != ""),
]
"""A column, the one that it refers to, and a query for the rows where that is missing."""
READ_ONLY_HERE = [rows_of(table) for table in (CLAIM, RESERVATION)]
"""Of tables that refer to others and that no other check reads: there is no more to say of them."""
