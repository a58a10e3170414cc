"""Rows that are sealed by themselves: the hash stands beside all that it is taken over."""

from collections.abc import Iterator
from typing import Any

from sqlalchemy import Table

from arena.store.tables import ARTICLE, COHORT, PROMPT, PRUNE, RESOLUTION, VERSION
from arena.store.verify.difference import Difference
from arena.store.verify.facts import Facts
from arena.store.verify.parts import Row
from arena.store.verify.query import rows_of
from arena.store.verify.seals import sealed, without

QUERIES = [rows_of(table) for table in (PROMPT, COHORT, VERSION, RESOLUTION, ARTICLE, PRUNE)]
WHY = "it seals what the row says"


def check_by_itself(facts: Facts) -> Iterator[Difference]:
    """Hashes that are not those of what their rows say; of prices, see `prices`."""
    for query in QUERIES:
        table = query.own.table
        for row in facts.rows(query):
            yield from sealed(facts, table, row, _content(table, row), WHY)


def _content(table: Table, row: Row) -> Any:
    if table is PROMPT:
        return row["text"]
    if table is COHORT:
        return row["frozen"]
    if table is VERSION:
        return without(row, "market_id", "version", "at", "hash") | {"id": row["market_id"]}
    return without(row, "id", "hash")
