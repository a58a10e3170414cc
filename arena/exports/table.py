"""What an export is made of: tables for people and programs, in which every column says what it means."""

from collections.abc import Callable, Iterator, Sequence
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
    """A column of a table: what it holds, in which unit, and what it means where it is empty.

    Without such a meaning it never is. `added` has the value that stands for it in exports of earlier
    versions, which don't have the column, and `former` the name that it has there, if it is another.
    """

    name: str
    kind: Kind
    meaning: str
    unit: str = ""
    empty: str = ""
    added: tuple[Any, ...] = ()
    former: str = ""


@dataclass(frozen=True, slots=True)
class ExportTable:
    """A table of an export: one file. `key` are the columns that tell its rows apart."""

    name: str
    meaning: str
    columns: tuple[ExportColumn, ...]
    key: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ExportField:
    """A column, and the column of the record that it is read from."""

    source: Stored[Any]
    column: ExportColumn


def field(source: Any, meaning: str = "", name: str = "", empty: str = "") -> ExportField:
    """A column of the record as a column of an export: as it was own, but for what is said here."""
    stored = column_of(source)
    own, name = meaning_of(stored), name or stored.name
    unit, empty, added = own.unit, empty or own.empty, stored.info["added"]
    former = stored.info["former"]
    column = ExportColumn(name, kind_of(stored), meaning or own.meaning, unit, empty, added, former)
    return ExportField(stored, column)


def fields_of(row: type[TableRow], *names: str, **renamed: str) -> tuple[ExportField, ...]:
    """These columns of a table, without names all that hold no id, some under other names.

    Ids are numbers of rows, which mean nothing outside of their database.
    """
    columns = row.__table__.c
    ids = {each.name for each in columns if each.name == "id" or each.foreign_keys}
    chosen = names or [each.name for each in columns if each.name not in ids or kind_of(each) != "whole"]
    return tuple(field(columns[name], name=renamed.get(name, name)) for name in chosen)


def kind_of(source: Stored[Any]) -> Kind:
    """What a column of the record holds."""
    if isinstance(source.type, UtcTime):
        return "time"
    return "whole" if isinstance(source.type, BigInteger | Integer) else "text"


OfCohorts = Callable[[Sequence[int]], ColumnElement[bool]]
"""Which rows belong to some cohorts, by their numbers."""


@dataclass(frozen=True, slots=True)
class ParentKey:
    """The row that a row belongs to: the column that refers to it by id, and those that name it.

    `ids` finds ids by `named`, the columns of the record that the `keys` of the export hold.
    """

    column: str
    keys: tuple[str, ...]
    named: tuple[Stored[Any], ...]
    ids: AnySelect


@dataclass(frozen=True, slots=True)
class FactTable:
    """A table of facts: from which tables its columns are read, in which order, and how it is put back.

    `of_cohorts` is None for what belongs to no cohort. `batch_size` is how many rows are read at once.
    What `has_prompts` is left out without them; `rest_in` has the other columns of the same rows. What
    `is_new` is not in exports of earlier versions.
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
        """All rows, or those of some cohorts, in an order that is the same on every database.

        Texts are in the order of their bytes, whatever language a server sorts in.
        """
        query = select(*(each.source for each in self.fields)).select_from(self.path)
        if cohorts is not None and self.of_cohorts is not None:
            query = query.where(self.of_cohorts(cohorts))
        by_bytes = dialect == "postgresql"
        return query.order_by(
            *(c.collate("C") if by_bytes and isinstance(c.type, Text) else c for c in self.order)
        )


@contextmanager
def one_snapshot(engine: Engine) -> Iterator[Connection]:
    """All of the record as it is now, however long it is read and whatever is written meanwhile."""
    if engine.dialect.name == "sqlite":
        with reading(engine) as connection:
            yield connection
        return
    with engine.connect().execution_options(isolation_level="REPEATABLE READ") as connection:
        yield connection


def rows_of(connection: Connection, each: FactTable, cohorts: Sequence[int] | None = None) -> Iterator[Row]:
    """The rows of a table, of all cohorts or of some, without holding more than a few."""
    query = each.query(connection.dialect.name, cohorts)
    names = [column.name for column in each.sheet.columns]
    for row in connection.execute(query, execution_options={"yield_per": each.batch_size}):
        yield published_row(names, tuple(row)) if WITH_SETTINGS.intersection(names) else tuple(row)


WITH_SETTINGS = frozenset(("frozen", "settings"))


def published_row(names: Sequence[str], row: Row) -> Row:
    """A row of frozen settings as it leaves the record: without credentials, the hash of a cohort with it."""
    values = dict(zip(names, row, strict=True))
    for name in WITH_SETTINGS.intersection(names):
        if (text := published_text(values[name])) != values[name]:
            values |= {name: text} | ({"hash": digest(text)} if name == "frozen" else {})
    return tuple(values.values())


def count_of(connection: Connection, each: FactTable, cohorts: Sequence[int] | None = None) -> int:
    """How many rows that are."""
    query = each.query(connection.dialect.name, cohorts).order_by(None)
    return connection.execute(select(func.count()).select_from(query.subquery())).scalar_one()
