"""The tables of an export, described for people and programs: every column has a meaning."""

import inspect
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal

from sqlalchemy import BigInteger, ColumnElement, Connection, Engine, FromClause, Integer, Table, Text, func
from sqlalchemy import Column as Stored

from arena.record.schema.codec import published_text
from arena.record.schema.database import reading
from arena.record.schema.dialects import UtcTime
from arena.record.schema.fields import TableRow, meaning_of
from arena.record.schema.typed import AnySelect, column_of, select
from markets.hashes import digest

Kind = Literal["text", "whole", "number", "time"]
Row = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class ExportColumn:
    """A column of a table: its type, its unit, and what an empty value means.

    Without such a meaning it is never empty. `added` holds its value for exports of earlier versions that
    lack the column, and `former` its earlier name, if it had one.
    """

    name: str
    kind: Kind
    meaning: str
    unit: str = ""
    empty: str = ""
    added: tuple[Any, ...] = ()
    former: str = ""


def column_names(columns: Iterable[ExportColumn]) -> list[str]:
    """Return the names of columns."""
    return [column.name for column in columns]


@dataclass(frozen=True, slots=True)
class ExportTable:
    """A table of an export, which is one file. `key` are the columns that identify a row."""

    name: str
    meaning: str
    columns: tuple[ExportColumn, ...]
    key: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ExportField:
    """A column of an export, and the column of the record that it is read from."""

    source: Stored[Any]
    column: ExportColumn


def field(source: Any, meaning: str = "", name: str = "", empty: str = "") -> ExportField:
    """Return a column of the record as one of an export, with its own meaning unless another is given."""
    stored = column_of(source)
    stored_meaning = meaning_of(stored)
    column = ExportColumn(
        name or stored.name,
        kind_of(stored),
        meaning or stored_meaning.meaning,
        stored_meaning.unit,
        empty or stored_meaning.empty,
        stored.info["added"],
        stored.info["former"],
    )
    return ExportField(stored, column)


def fields_of(row: type[TableRow], *names: str, **renamed: str) -> tuple[ExportField, ...]:
    """Return the named columns of a table, or all that aren't ids, some of them renamed.

    Ids are row numbers, which mean nothing outside their database.
    """
    columns = row.__table__.c
    if names:
        return tuple(field(columns[name], name=renamed.get(name, name)) for name in names)

    fields = []
    for column in columns:
        is_key = column.name == "id" or bool(column.foreign_keys)
        is_row_number = is_key and kind_of(column) == "whole"
        if not is_row_number:
            fields.append(field(column, name=renamed.get(column.name, column.name)))
    return tuple(fields)


def summary_of(described: object) -> str:
    """Return the first paragraph of a docstring as one line."""
    paragraph, _, _ = (inspect.getdoc(described) or "").partition("\n\n")
    return " ".join(paragraph.split())


def kind_of(source: Stored[Any]) -> Kind:
    """Return the kind of value in a column of the record."""
    if isinstance(source.type, UtcTime):
        return "time"
    if isinstance(source.type, BigInteger | Integer):
        return "whole"
    return "text"


OfCohorts = Callable[[Sequence[int]], ColumnElement[bool]]
"""Selects the rows that belong to some cohorts, by their numbers."""


@dataclass(frozen=True, slots=True)
class ParentKey:
    """How a parent row is found: by id in a `column`, and in an export by the columns `keys`.

    The query `ids` finds ids by `named`, the columns of the record that the `keys` hold.
    """

    column: str
    keys: tuple[str, ...]
    named: tuple[Stored[Any], ...]
    ids: AnySelect


@dataclass(frozen=True, slots=True)
class FactTable:
    """A table of facts: the source of its columns, their order, and how it is restored.

    `of_cohorts` is None for what belongs to no cohort. `batch_size` is the number of rows read at once. A
    table that `has_prompts` is left out without them. `rest_in` names the table with the other columns of the
    same rows. One that `is_new` is missing from exports of earlier versions.
    """

    sheet: ExportTable
    table: Table
    fields: tuple[ExportField, ...]
    path: FromClause
    order: tuple[Stored[Any], ...]
    parents: tuple[ParentKey, ...] = ()
    of_cohorts: OfCohorts | None = None
    batch_size: int = 1_000
    has_prompts: bool = False
    rest_in: str = ""
    is_new: bool = False

    def query(self, dialect: str, cohorts: Sequence[int] | None = None) -> AnySelect:
        """Return a query for all rows, or those of some cohorts, in the same order on every database.

        Texts are sorted by their bytes, whatever the collation of a server.
        """
        query = select(*(field.source for field in self.fields)).select_from(self.path)
        if cohorts is not None and self.of_cohorts is not None:
            query = query.where(self.of_cohorts(cohorts))

        order: list[ColumnElement[Any]] = []
        for column in self.order:
            by_bytes = dialect == "postgresql" and isinstance(column.type, Text)
            order.append(column.collate("C") if by_bytes else column)
        return query.order_by(*order)


@contextmanager
def one_snapshot(engine: Engine) -> Iterator[Connection]:
    """Open the record as of now, unaffected by writes however long it is read."""
    if engine.dialect.name == "sqlite":
        with reading(engine) as connection:
            yield connection
        return

    with engine.connect().execution_options(isolation_level="REPEATABLE READ") as connection:
        yield connection


def rows_of(connection: Connection, table: FactTable, cohorts: Sequence[int] | None = None) -> Iterator[Row]:
    """Yield the rows of a table, of all cohorts or of some, with only a few in memory at a time."""
    query = table.query(connection.dialect.name, cohorts)
    rows = map(tuple, connection.execute(query, execution_options={"yield_per": table.batch_size}))
    names = column_names(table.sheet.columns)
    if SETTINGS_COLUMNS.isdisjoint(names):
        yield from rows
        return

    for row in rows:
        yield row_without_credentials(names, row)


SETTINGS_COLUMNS = frozenset(("frozen", "settings"))
"""Columns that may hold an address with a credential."""


def row_without_credentials(names: Sequence[str], row: Row) -> Row:
    """Return a row without credentials, and with a cohort's hash adjusted to match."""
    values = dict(zip(names, row, strict=True))
    for name in SETTINGS_COLUMNS.intersection(names):
        text = published_text(values[name])
        if text == values[name]:
            continue

        values[name] = text
        if name == "frozen":
            values["hash"] = digest(text)
    return tuple(values.values())


def count_rows(connection: Connection, table: FactTable, cohorts: Sequence[int] | None = None) -> int:
    """Count the rows of a table, of all cohorts or of some."""
    query = table.query(connection.dialect.name, cohorts).order_by(None)
    return connection.execute(select(func.count()).select_from(query.subquery())).scalar_one()
