"""Queries of the tables that mypy understands: to it, a column of a row class is the value that it holds.

So `TurnRow.status == "played"` compares two texts, `TurnRow.statsu` and `TurnRow.note + TurnRow.cash` are
refused, and `select(TurnRow.status, TurnRow.cash)` finds pairs of a text and a number. What SQLAlchemy and
SQLModel leave open is mended here: conditions that are plain booleans to mypy, the types of more than four
columns, and `col()`, which would let a text be compared with a number.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable
from dataclasses import fields
from datetime import datetime
from functools import cache
from typing import TYPE_CHECKING, Any, Protocol, Self, TypeAlias, TypeVar, TypeVarTuple, cast, overload

import sqlalchemy
import sqlmodel
from sqlalchemy import (
    BindParameter,
    Column,
    ColumnElement,
    ColumnExpressionArgument,
    Connection,
    Join,
    Label,
    Result,
    Table,
    orm,
)
from sqlmodel.sql.expression import Select

from arena.record.schema.dialects import BigInt
from arena.record.schema.fields import TableRow

Value = str | int | float | datetime | None
Condition = ColumnExpressionArgument[bool] | bool
Ts = TypeVarTuple("Ts")
T = TypeVar("T")

and_ = sqlmodel.and_
or_ = sqlmodel.or_
case = sqlmodel.case
exists = sqlalchemy.exists
func = sqlalchemy.func
literal = sqlalchemy.literal
bindparam = sqlalchemy.bindparam
aliased = orm.aliased
Session = sqlmodel.Session
sql_cast = sqlalchemy.cast
Double = sqlalchemy.Double
Text = sqlalchemy.Text
"""What else queries are made of, for those outside of this room."""

IDS: BindParameter[Any] = bindparam("ids", expanding=True)
"""Whatever is asked for by `{"ids": [...]}`: `col(TurnRow.id).in_(IDS)`."""


class TypedSelect(Select[*Ts]):
    """A query in which columns of row classes may stand wherever SQLAlchemy takes its own."""

    inherit_cache = True

    def from_joined(self, row: type[TableRow], *others: type[TableRow]) -> Self:
        """Select from tables, each joined to those before it by its foreign key."""
        return self.select_from(joined(row, *others))

    if TYPE_CHECKING:

        def order_by(self, *columns: Any) -> Self: ...
        def group_by(self, *columns: Any) -> Self: ...
        def add_columns(self, *columns: Any) -> "AnySelect": ...
        def join_from(self, from_: Any, target: Any, onclause: Any = None, **options: Any) -> Self: ...
        def join(self, target: Any, onclause: Any = None, **options: bool) -> Self: ...
        def outerjoin(self, target: Any, onclause: Any = None, **options: bool) -> Self: ...


AnySelect = TypedSelect[*tuple[Any, ...]]
"""A query whose columns are chosen while the program runs."""


class Update(sqlalchemy.Update):
    """A change of rows, with conditions as `TypedSelect` has them."""

    inherit_cache = True

    if TYPE_CHECKING:

        def where(self, *whereclause: Condition) -> Self: ...


class Delete(sqlalchemy.Delete):
    """Rows that go, with conditions as `TypedSelect` has them."""

    inherit_cache = True

    if TYPE_CHECKING:

        def where(self, *whereclause: Condition) -> Self: ...


def update(row: type[TableRow]) -> Update:
    """Change some rows of a table."""
    return Update(row.__table__)


def delete(row: type[TableRow]) -> Delete:
    """Delete some rows of a table."""
    return Delete(row.__table__)


def clause(condition: Condition) -> ColumnElement[bool]:
    """Return a condition in the type of SQLAlchemy's own functions, such as `case`, `exists` and joins."""
    return cast("ColumnElement[bool]", condition)


def columns_of(row: type[TableRow], names: Iterable[str]) -> list[Column[Any]]:
    """Return the columns of a table that have these names, such as those of a dataclass's fields."""
    return [row.__table__.c[name] for name in names]


def column_of(column: Any) -> Column[Any]:
    """Return the table's own column, with its name and type."""
    own: Column[Any] = column if isinstance(column, Column) else column.property.columns[0]
    return own


@cache
def joined(row: type[TableRow], *others: type[TableRow]) -> Join | Table:
    """Join tables, each to those before it by its foreign key.

    To find the keys takes 150 µs: without the cache a status that is read again (`benchmarks.store`) takes
    25 ms, with it 17.
    """
    tables: Join | Table = row.__table__
    for other in others:
        tables = tables.join(other.__table__)
    return tables


def count(column: Value) -> ColumnElement[int]:
    """Return how many rows have something in a column."""
    return func.count(cast("Any", column))


def count_rows(row: type[TableRow]) -> AnySelect:
    """Return the query for how many rows a table has."""
    return select(func.count()).select_from(row)


def total(column: Any) -> ColumnElement[int]:
    """Return the sum of a column, 0 where there is nothing; as a whole number, on PostgreSQL too."""
    return sqlalchemy.cast(func.coalesce(func.sum(column), 0), BigInt)


class Operators(Protocol[T]):
    """What SQL does with a column and Python's operators don't. To compare it, take the column itself."""

    def in_(self, other: "Among[T]") -> ColumnElement[bool]: ...
    def not_in(self, other: "Among[T]") -> ColumnElement[bool]: ...
    def is_(self, other: None) -> ColumnElement[bool]: ...
    def is_not(self, other: None) -> ColumnElement[bool]: ...
    def startswith(self, other: Any, escape: str | None = None) -> ColumnElement[bool]: ...
    def contains(self, other: Any) -> ColumnElement[bool]: ...
    def collate(self, collation: str) -> ColumnElement[T]: ...
    def desc(self) -> ColumnElement[T]: ...
    def distinct(self) -> ColumnElement[T]: ...
    def label(self, name: str) -> Label[T]: ...
    def __lt__(self, other: T | ColumnElement[T]) -> ColumnElement[bool]: ...
    def __le__(self, other: T | ColumnElement[T]) -> ColumnElement[bool]: ...
    def __gt__(self, other: T | ColumnElement[T]) -> ColumnElement[bool]: ...
    def __ge__(self, other: T | ColumnElement[T]) -> ColumnElement[bool]: ...


Among = Collection[T] | sqlalchemy.Select[T] | sqlalchemy.CompoundSelect[T] | BindParameter[Any]


def col(column: T | None) -> Operators[T]:
    """Return a column with what only SQL can do: `col(TurnRow.cash).desc()`."""
    return cast("Operators[T]", column)


T1 = TypeVar("T1", bound=Value)
T2 = TypeVar("T2", bound=Value)
T3 = TypeVar("T3", bound=Value)
V = TypeVar("V", bound=Value)
Cell: TypeAlias = ColumnElement[V] | V


@overload
def select(c1: Cell[T1], /) -> TypedSelect[T1]: ...
@overload
def select(c1: Cell[T1], c2: Cell[T2], /) -> TypedSelect[T1, T2]: ...
@overload
def select(c1: Cell[T1], c2: Cell[T2], c3: Cell[T3], /) -> TypedSelect[T1, T2, T3]: ...
@overload
def select(*columns: *Ts) -> TypedSelect[*Ts]: ...
@overload
def select(*columns: Any) -> AnySelect: ...
def select(*columns: *Ts) -> Any:
    """Select columns, whose types the rows have: three of any kind, or more of row classes."""
    return TypedSelect(*cast("tuple[Any, ...]", columns))


def select_as(**columns: Any) -> AnySelect:
    """Select columns under these names: those of the fields of the dataclass that the rows become."""
    return select(*[col(column).label(name) for name, column in columns.items()])


def select_fields(dataclass: Any, *rows: type[TableRow], **columns_by_field: Any) -> AnySelect:
    """Select a column for each field of a dataclass: the one given for it, else one of that name in a table.

    Columns may be given for fields that it doesn't have.
    """
    columns: dict[str, Any] = {}
    for field in fields(dataclass):
        name = field.name
        if name in columns_by_field:
            columns[name] = columns_by_field[name]
        else:
            columns[name] = next(getattr(row, name) for row in rows if name in row.model_fields)
    return select_as(**columns)


N = TypeVar("N")


def read_objects(make: Callable[..., N], rows: Result[*tuple[Any, ...]]) -> list[N]:
    """Return each row as an object of a dataclass, whose fields have the names of the columns."""
    columns = tuple(rows.keys())
    return [make(**dict(zip(columns, row, strict=True))) for row in rows.all()]


def read_objects_by_key(make: Callable[..., N], rows: Result[*tuple[Any, ...]]) -> dict[Any, list[N]]:
    """Return rows as objects of a dataclass, grouped by their first column; an unknown key has no objects."""
    _, *columns = rows.keys()
    groups: dict[Any, list[N]] = defaultdict(list)
    for key, *values in rows.all():
        groups[key].append(make(**dict(zip(columns, values, strict=True))))
    return groups


def session_of(connection: Connection) -> Session:
    """Return a session in which the tables' rows are objects of their classes, as a connection sees them."""
    return Session(connection)
