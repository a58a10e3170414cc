"""Statements that are made once, with names for what is put in later, and go to the driver as they are.

A small record is verified by many small questions: to make each anew takes longer than to answer it.
"""

from collections.abc import Iterable
from itertools import pairwise
from typing import Any

from sqlalchemy import Dialect, Select, Table, select

from arena.store.verify.parts import Part, whole

Made = tuple[str, tuple[str, ...] | None, dict[str, Any]]
"""A statement's text, the order of its values where they go by place, and those that are always the same."""


class Query:
    """A statement without columns, and what it reads: a row of `own`, and of the others those that are there.

    Where all that is read is read elsewhere too, `again`, what is unreadable is told there.
    """

    def __init__(self, statement: Select[Any], own: Part, *others: Part, again: bool = False):
        parts = own, *others
        self.own, self.again = own, again
        self.statement = statement.add_columns(*(c.label(None) for part in parts for c in part.columns))
        ends = [sum(len(part.names) for part in parts[:count]) for count in range(len(parts) + 1)]
        self.places = [slice(*pair) for pair in pairwise(ends)]
        self.others = list(zip(others, self.places[1:], strict=True))
        self._made = dict[str, Made]()

    def made(self, dialect: Dialect) -> Made:
        """The statement as a driver takes it."""
        if dialect.name not in self._made:
            compiled: Any = self.statement.compile(dialect=dialect)
            order = tuple(compiled.positiontup) if compiled.positional else None
            self._made[dialect.name] = str(compiled), order, dict(compiled.params)
        return self._made[dialect.name]


def rows_of(table: Table, *where: Any, order: Iterable[Any] = ()) -> Query:
    """The rows of a table, or those for which something holds, in the order of its key or another one."""
    statement = select().where(*where).order_by(*(tuple(order) or table.primary_key.columns))
    return Query(statement, whole(table))
