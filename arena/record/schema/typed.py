"""Questions to the tables that mypy understands: to it, a column of a row class is the value that it holds.

So `TurnRow.status == "played"` compares two texts, `TurnRow.statsu` and `TurnRow.note + TurnRow.cash` are
refused, and `select(TurnRow.status, TurnRow.cash)` finds pairs of a text and a number. What SQLAlchemy and
SQLModel leave open is mended here: conditions that are plain booleans to mypy, the types of more than four
columns, and `col()`, which would let a text be compared with a number.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable
from dataclasses import fields
from datetime import datetime
from functools import cache, reduce
from typing import Any, Protocol, Self, TypeAlias, TypeVar, TypeVarTuple, cast, overload

import sqlalchemy
import sqlmodel
from sqlalchemy import (
    BindParameter,
    Column,
    ColumnElement,
    ColumnExpressionArgument,
    Join,
    Label,
    Result,
    Table,
    bindparam,
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
aliased = orm.aliased
sql_cast = sqlalchemy.cast
Double = sqlalchemy.Double
Text = sqlalchemy.Text
"""What else questions are made of, for who asks them outside of this room."""

IDS: BindParameter[Any] = bindparam("ids", expanding=True)
"""Whatever is asked for by `{"ids": [...]}`: `col(TurnRow.id).in_(IDS)`."""


class TypedSelect(Select[*Ts]):
    """A question in which columns of row classes may stand wherever SQLAlchemy takes its own."""

    inherit_cache = True

    def order_by(self, *columns: Any) -> Self:
        return super().order_by(*columns)

    def group_by(self, *columns: Any) -> Self:
        return super().group_by(*columns)

    def add_columns(self, *columns: Any) -> "AnySelect":
        return cast("AnySelect", super().add_columns(*columns))

    def with_only_columns(self, *columns: Any, **more: Any) -> "AnySelect":
        return cast("AnySelect", super().with_only_columns(*columns, **more))

    def join_from(self, from_: Any, target: Any, onclause: Any = None, **more: Any) -> Self:
        return super().join_from(from_, target, onclause, **more)

    def join(self, target: Any, onclause: Any = None, *, isouter: bool = False, full: bool = False) -> Self:
        return super().join(target, onclause, isouter=isouter, full=full)

    def outerjoin(self, target: Any, onclause: Any = None, *, full: bool = False) -> Self:
        return super().outerjoin(target, onclause, full=full)


AnySelect = TypedSelect[*tuple[Any, ...]]
"""One whose columns are chosen while the program runs."""


class Update(sqlalchemy.Update):
    """A change of rows, with conditions as `TypedSelect` has them."""

    inherit_cache = True

    def where(self, *whereclause: Condition) -> Self:
        return super().where(*map(clause, whereclause))


class Delete(sqlalchemy.Delete):
    """Rows that go, with conditions as `TypedSelect` has them."""

    inherit_cache = True

    def where(self, *whereclause: Condition) -> Self:
        return super().where(*map(clause, whereclause))


def update(row: type[TableRow]) -> Update:
    """A change of some rows of a table."""
    return Update(row.__table__)


def delete(row: type[TableRow]) -> Delete:
    """That some rows of a table go."""
    return Delete(row.__table__)


def clause(condition: Condition) -> ColumnElement[bool]:
    """A condition as SQLAlchemy's own functions want it: `case`, `exists`, the join of two tables."""
    return cast("ColumnElement[bool]", condition)


def columns_of(row: type[TableRow], names: Iterable[str]) -> list[Column[Any]]:
    """The columns of a table that have these names, such as those of a noun's fields."""
    return [row.__table__.c[name] for name in names]


def column_of(column: Any) -> Column[Any]:
    """The column of the table itself, which knows its name and its type."""
    found: Column[Any] = column if isinstance(column, Column) else column.property.columns[0]
    return found


def joined(row: type[TableRow], *others: type[TableRow]) -> Join | Table:
    """Tables of which each is joined to those before it by its foreign key, that of the last before first."""
    return _joined(row, others)


@cache  # to find by which keys takes longer than the rest of most questions
def _joined(row: type[TableRow], others: tuple[type[TableRow], ...]) -> Join | Table:
    return reduce(lambda left, other: left.join(other.__table__), others, cast("Join | Table", row.__table__))


def count(column: Value) -> ColumnElement[int]:
    """How many rows have something in a column."""
    return func.count(cast("Any", column))


def total(column: Any) -> ColumnElement[int]:
    """The sum of a column, 0 where there is nothing; a whole number, as PostgreSQL says only if asked to."""
    return sqlalchemy.cast(func.coalesce(func.sum(column), 0), BigInt)


class Operators(Protocol[T]):
    """What SQL does with a column and Python's operators don't. To compare it, take the column itself."""

    def in_(self, other: "Among[T]") -> ColumnElement[bool]: ...
    def not_in(self, other: "Among[T]") -> ColumnElement[bool]: ...
    def is_(self, other: None) -> ColumnElement[bool]: ...
    def is_not(self, other: None) -> ColumnElement[bool]: ...
    def startswith(self, other: str, autoescape: bool = False) -> ColumnElement[bool]: ...
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
    """A column with what only SQL can do: `col(TurnRow.cash).desc()`."""
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
    """A question for some columns, whose types its rows have: three of any kind, or more of row classes."""
    return TypedSelect(*cast("tuple[Any, ...]", columns))


def select_as(**columns: Any) -> AnySelect:
    """A question whose columns are named: as are the fields of the noun that its rows become."""
    return select(*(col(column).label(name) for name, column in columns.items()))


def select_noun(noun: Any, *rows: type[TableRow], **named: Any) -> AnySelect:
    """A question for the fields of a noun: what is named for them, else columns so called in these tables.

    More may be named than the noun has.
    """
    columns = {name: getattr(row, name) for row in reversed(rows) for name in row.model_fields} | named
    return select_as(**{field.name: columns[field.name] for field in fields(noun)})


N = TypeVar("N")


def read_nouns(noun: Callable[..., N], rows: Result[*tuple[Any, ...]]) -> list[N]:
    """Each row as a noun, whose fields have the names of the columns."""
    names = tuple(rows.keys())
    return [noun(**dict(zip(names, row, strict=True))) for row in rows.all()]


def read_grouped_nouns(noun: Callable[..., N], rows: Result[*tuple[Any, ...]]) -> dict[Any, list[N]]:
    """The same, by what the first column says; of a key without rows there are none."""
    _, *names = rows.keys()
    groups: dict[Any, list[N]] = defaultdict(list)
    for key, *values in rows.all():
        groups[key].append(noun(**dict(zip(names, values, strict=True))))
    return groups
