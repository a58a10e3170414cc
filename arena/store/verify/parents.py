"""Whether every row that a row refers to is there. The database sees to it; a damaged one may not."""

from collections.abc import Iterator

from sqlmodel import SQLModel

from arena.store.tables import CALL, ENTRY, MARKET
from arena.store.verify.difference import Difference
from arena.store.verify.facts import Facts
from arena.store.verify.naming import differs


def check_parents(facts: Facts) -> Iterator[Difference]:
    """Rows that refer to one that is not there."""
    for table in SQLModel.metadata.sorted_tables:
        for column, parent in sorted((key.parent.name, key.column) for key in table.foreign_keys):
            known = {row[parent.name] for row in facts.rows(parent.table)}
            for row in facts.stream(table) if table is CALL else facts.rows(table):
                if row[column] is not None and row[column] not in known:
                    expected = f"the {parent.name} of a {parent.table.name}"
                    yield differs(facts, table, row, column, expected, "it refers to one")
    known = {"", *(row["id"] for row in facts.rows(MARKET))}
    for row in facts.rows(ENTRY):
        if row["market_id"] not in known:
            yield differs(facts, ENTRY, row, "market_id", "the id of a market", "it refers to one")
