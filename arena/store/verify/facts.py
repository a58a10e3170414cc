"""Reading a record that may be damaged, a part at a time: rows stream past, and none is kept for the next."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, lru_cache
from itertools import groupby
from operator import itemgetter
from typing import Any

from sqlalchemy import Connection, Table, bindparam, select
from sqlalchemy.exc import DBAPIError

from arena.store.tables import COHORT, ENTRANT, ROUND
from arena.store.verify.difference import Difference
from arena.store.verify.parts import Part, Row
from arena.store.verify.query import Query

BATCH = 500
KNOWN = 20_000
"""So many rows that others refer to are remembered."""
LONG = frozenset({"frozen", "settings", "wishes", "note", "text", "reason", "dropped"})
"""Columns with long texts, which are left out of rows that are remembered."""


class Facts:
    """The tables of a record. What can't be read is left out, and told as a difference."""

    def __init__(self, connection: Connection, tell: Callable[[Difference], None]):
        self.connection = connection
        self.tell = tell
        self._known = lru_cache(maxsize=KNOWN)(self._find)

    def rows(self, query: Query, **values: Any) -> Iterator[Row]:
        """The rows that a query reads of its first table."""
        return (row for row, *_ in self.read(query, **values))

    def read(self, query: Query, **values: Any) -> Iterator[tuple[Any, ...]]:
        """What a query reads: a row of its own, and of the others those that are there."""
        own, place, others = query.own, query.places[0], query.others
        for line in self._lines(query, values):
            row = own.row(line[place])
            if row is not None:
                yield row, *(part.row(line[there]) for part, there in others)
            elif not query.again:
                for difference in own.mistyped(line[place]):
                    self.tell(difference)

    def _lines(self, query: Query, values: Mapping[str, Any]) -> Iterator[Any]:
        """The lines of a query, from the database in batches."""
        text, order, fixed = query.made(self.connection.dialect)
        bound = {**fixed, **values}
        given: Any = bound if order is None else tuple(bound[name] for name in order)
        options = {"yield_per": BATCH}
        try:
            with self.connection.exec_driver_sql(text, given, execution_options=options) as lines:
                for batch in lines.partitions(BATCH):
                    yield from batch
        except DBAPIError as error:
            name, why = query.own.table.name, "it can't be read"
            self.tell(Difference(name, "all rows", "text", str(error.orig), "rows", why))

    def find(self, table: Table, key: Any) -> Row | None:
        """A row that others refer to, without its long texts; None where it is missing or unreadable."""
        return self._known(table, key)

    def _find(self, table: Table, key: Any) -> Row | None:
        return next(self.rows(_by_key(table), key=key), None)

    def place(self, row: Row) -> tuple[int, int, str] | None:
        """Cohort, round and name behind a turn or a call; None when one of them is missing."""
        round, entrant = self.find(ROUND, row["round_id"]), self.find(ENTRANT, row["entrant_id"])
        cohort = self.find(COHORT, round["cohort_id"]) if round else None
        if round is None or entrant is None or cohort is None:
            return None
        return cohort["number"], round["number"], entrant["name"]


@cache
def _by_key(table: Table) -> Query:
    (column,) = table.primary_key.columns
    short = Part(table, *(column.name for column in table.c if column.name not in LONG))
    return Query(select().where(column == bindparam("key")), short, again=True)


class Following:
    """Rows that belong to others, taken in the order of those: both streams are sorted by the same key."""

    def __init__(self, keyed: Iterable[tuple[Any, Any]]):
        self._groups = groupby(keyed, key=itemgetter(0))
        self._next = next(self._groups, None)

    def of(self, key: Any) -> list[Any]:
        """What has this key; whatever has a smaller one belongs to nobody who asks."""
        while self._next is not None and self._next[0] < key:
            self._next = next(self._groups, None)
        if self._next is None or self._next[0] != key:
            return []
        found = [value for _, value in self._next[1]]
        self._next = next(self._groups, None)
        return found


class InTime:
    """Rows that are sorted by time, taken as time goes on."""

    def __init__(self, rows: Iterator[Row]):
        self._rows = rows
        self._next = next(rows, None)

    def until(self, at: str | None) -> Iterator[Row]:
        """All that come until an instant and were not taken yet; without one, all that are left."""
        while self._next is not None and (at is None or self._next["at"] <= at):
            taken, self._next = self._next, next(self._rows, None)
            yield taken
