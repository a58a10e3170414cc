"""What an export is made of: tables for people and programs, in which every column says what it means."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from sqlalchemy import BigInteger, ColumnElement, FromClause, Integer, Select, Table, Text, select
from sqlalchemy import Column as Stored

from arena.store.types import UtcTime

Kind = Literal["text", "whole", "number", "time"]
Row = tuple[Any, ...]

DOLLARS = "millionths of a dollar"
SHARES = "millionths of a share"
PRICE = "millionths of a dollar a share"
CHANCE = "millionths: 1,000,000 is certain"
SHARE = "millionths: 1,000,000 is the whole"
SECONDS = "seconds"
COUNT = "so many"
FLAG = "1 is yes, 0 is no"
JSON = "JSON"


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table: what it holds, in which unit, and what it means where it is empty.

    Without such a meaning it never is.
    """

    name: str
    kind: Kind
    meaning: str
    unit: str = ""
    empty: str = ""


@dataclass(frozen=True, slots=True)
class Sheet:
    """A table of an export: one file. `key` are the columns that tell its rows apart."""

    name: str
    meaning: str
    columns: tuple[Column, ...]
    key: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Field:
    """A column, and the column of the record that it is read from."""

    source: Stored[Any]
    column: Column


def field(source: Any, meaning: str, unit: str = "", empty: str = "", name: str = "") -> Field:
    """A column of the record as a column of an export: its type is known, and mostly its name."""
    return Field(source, Column(name or source.name, kind_of(source), meaning, unit, empty))


def kind_of(source: Stored[Any]) -> Kind:
    """What a column of the record holds."""
    if isinstance(source.type, UtcTime):
        return "time"
    return "whole" if isinstance(source.type, BigInteger | Integer) else "text"


@dataclass(frozen=True, slots=True)
class Parent:
    """The row that a row belongs to: the column that refers to it by id, and those that name it.

    `ids` finds ids by `named`, the columns of the record that the `keys` of the export hold.
    """

    column: str
    keys: tuple[str, ...]
    named: tuple[Stored[Any], ...]
    ids: Select[Any]


Some = Callable[[Sequence[int]], ColumnElement[bool]]
"""Which rows belong to some cohorts, by their numbers."""


@dataclass(frozen=True, slots=True)
class Facts:
    """A table of facts: from which tables its columns are read, in which order, and how it is put back.

    `some` is None for what belongs to no cohort. `bulk` is how many rows are read at once. `wordy` is what
    is left out without prompts, and `rest` the table that has the other columns of the same rows.
    """

    sheet: Sheet
    table: Table
    fields: tuple[Field, ...]
    path: FromClause
    order: tuple[Stored[Any], ...]
    parents: tuple[Parent, ...] = ()
    some: Some | None = None
    bulk: int = 1_000
    wordy: bool = False
    rest: str = ""

    def query(self, dialect: str, cohorts: Sequence[int] | None = None) -> Select[Any]:
        """All rows, or those of some cohorts, in an order that is the same on every database."""
        found = select(*(each.source for each in self.fields)).select_from(self.path)
        if cohorts is not None and self.some is not None:
            found = found.where(self.some(cohorts))
        return found.order_by(*(_by_bytes(column, dialect) for column in self.order))


def _by_bytes(column: Stored[Any], dialect: str) -> ColumnElement[Any]:
    """Texts in the order of their bytes, whatever language a server sorts in; times are no texts there."""
    is_text = dialect == "postgresql" and isinstance(column.type, Text)
    return column.collate("C") if is_text else column


def facts(
    name: str, meaning: str, table: Table, fields: Sequence[Field], key: Sequence[str], **more: Any
) -> Facts:
    """A table of facts with the columns of these fields."""
    columns = tuple(each.column for each in fields)
    sheet = Sheet(name, meaning, columns, tuple(key))
    return Facts(sheet, table, tuple(fields), **{"path": table, **more})
