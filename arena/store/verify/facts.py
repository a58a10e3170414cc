"""Reading a record that may be damaged: each table once, rows as plain values, nothing taken on trust."""

import re
from collections import defaultdict
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import cached_property
from typing import Any

from sqlalchemy import Connection, Integer, Table, select, type_coerce
from sqlalchemy.exc import DBAPIError
from sqlalchemy.types import NULLTYPE

from arena.store.tables import COHORT, ENTRANT, ITEM, QUOTE, ROUND, VERSION
from arena.store.types import UtcTime
from arena.store.verify.difference import Difference

Row = dict[str, Any]
Listed = tuple[Row, Row | None, Row | None]
"""A place in a snapshot: the item, the market's page and its quote."""

INSTANT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z")


class Facts:
    """The tables of a record. Instants are text, which sorts as time does.

    What can't be read is left out, and said so in `unreadable`.
    """

    def __init__(self, connection: Connection):
        self.connection = connection
        self.unreadable: dict[str, list[Difference]] = {}
        self._rows: dict[str, list[Row]] = {}
        self._by_id: dict[str, dict[int, Row]] = {}

    def rows(self, table: Table) -> list[Row]:
        """All rows of a table, kept for the next who asks."""
        if table.name not in self._rows:
            self._rows[table.name] = list(self.stream(table))
        return self._rows[table.name]

    def stream(self, table: Table) -> Iterator[Row]:
        """The rows of a table in the order of its key, one at a time: for those with long texts."""
        columns = [type_coerce(c, NULLTYPE).label(c.name) for c in table.c]
        query = select(*columns).order_by(*table.primary_key.columns)
        names = [c.name for c in table.c]
        bad = self.unreadable[table.name] = []
        try:
            for values in self.connection.execute(query, execution_options={"yield_per": 1000}):
                row = dict(zip(names, map(_plain, values), strict=True))
                wrong = list(_mistyped(table, row))
                bad += wrong
                if not wrong:
                    yield row
        except DBAPIError as error:
            bad.append(
                Difference(table.name, "all rows", "text", str(error.orig), "rows", "it can't be read")
            )

    def by_id(self, table: Table) -> dict[int, Row]:
        """The rows of a table by id."""
        if table.name not in self._by_id:
            self._by_id[table.name] = {row["id"]: row for row in self.rows(table)}
        return self._by_id[table.name]

    def grouped(self, table: Table, column: str) -> dict[int, list[Row]]:
        """The rows of a table by the row that they belong to, each group in the order of the key."""
        found: dict[int, list[Row]] = defaultdict(list)
        for row in self.rows(table):
            found[row[column]].append(row)
        return found

    @cached_property
    def listed(self) -> dict[int, list[Listed]]:
        """What each snapshot lists, in order."""
        versions, quotes = self.by_id(VERSION), self.by_id(QUOTE)
        return {
            snapshot: [
                (item, versions.get(item["version_id"]), quotes.get(item["quote_id"])) for item in items
            ]
            for snapshot, items in self.grouped(ITEM, "snapshot_id").items()
        }

    def place(self, row: Row) -> tuple[int, int, str] | None:
        """Cohort, round and name behind a turn or a call; None when one of them is missing."""
        round, entrant = self.by_id(ROUND).get(row["round_id"]), self.by_id(ENTRANT).get(row["entrant_id"])
        cohort = self.by_id(COHORT).get(round["cohort_id"]) if round else None
        if round is None or entrant is None or cohort is None:
            return None
        return cohort["number"], round["number"], entrant["name"]


def moment(text: str) -> datetime | None:
    """The instant behind its text; None when it is none.

    >>> moment("2026-01-04T00:00:00.000000Z").day, moment("2026-13-04T00:00:00.000000Z"), moment("soon")
    (4, None, None)
    """
    if not INSTANT.fullmatch(text):
        return None
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None


def written(at: datetime) -> str:
    """An instant as it is written in a record."""
    at = at.astimezone(UTC)
    return f"{at.year:04}-{at:%m-%dT%H:%M:%S}.{at.microsecond:06}Z"


def _plain(value: Any) -> Any:
    return written(value) if isinstance(value, datetime) else value


def _mistyped(table: Table, row: Row) -> Iterator[Difference]:
    for column in table.c:
        value = row[column.name]
        if _fits(column, value):
            continue
        key = ", ".join(f"{c.name} {row[c.name]}" for c in table.primary_key.columns)
        kind = "an instant in UTC" if isinstance(column.type, UtcTime) else "a value of its type"
        yield Difference(table.name, key, column.name, value, kind, "it can't be read")


def _fits(column: Any, value: Any) -> bool:
    if value is None:
        return bool(column.nullable)
    if isinstance(column.type, UtcTime):
        return isinstance(value, str) and moment(value) is not None
    return type(value) is (int if isinstance(column.type, Integer) else str)
