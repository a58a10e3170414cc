"""How a table's columns are declared: the type, what the column means, in which unit, and when it is empty.

All else that is said of a column, in an export, in docs/data.md or in a JSON schema, comes from here.
"""

import re
from dataclasses import dataclass
from typing import Any, ClassVar

from sqlalchemy import Column, Table, Text, text
from sqlalchemy.orm import declared_attr, registry
from sqlmodel import Field, SQLModel

from arena.record.schema.dialects import BigInt, UtcTime

DOLLARS = "millionths of a dollar"
SHARES = "millionths of a share"
PRICE = "millionths of a dollar a share"
CHANCE = "millionths: 1,000,000 is certain"
SHARE = "millionths: 1,000,000 is the whole"
SECONDS = "seconds"
COUNT = "so many"
FLAG = "1 is yes, 0 is no"
JSON = "JSON"

MARKET_ID = "the market: venue, a colon, and its id at the venue"
STRICT: dict[str, bool] = {"sqlite_strict": True}
"""SQLite takes only values of a column's type, as PostgreSQL does anyway."""


class TableRow(SQLModel, registry=registry()):
    """A table of the record: its columns, what each means, and in its first paragraph what its rows are.

    It is called as its class is: that of `FillLevelRow` is `fill_level`.
    """

    __table__: ClassVar[Table]
    __table_args__: ClassVar[Any] = STRICT

    @declared_attr.directive
    @classmethod
    def __tablename__(cls) -> str:
        return re.sub("(?<!^)(?=[A-Z])", "_", cls.__name__.removesuffix("Row")).lower()


METADATA = TableRow.metadata


def hashed_columns(row: type[TableRow], *except_names: str) -> list[Column[Any]]:
    """Return the columns of a table that the hashes of a record cover, in their order, but for some."""
    return [column for column in row.__table__.c if column.info["hashed"] and column.name not in except_names]


def added_columns(row: type[TableRow]) -> dict[str, Any]:
    """Return the columns that rows of earlier versions lack, with the default of each."""
    return {column.name: column.info["added"][0] for column in row.__table__.c if column.info["added"]}


@dataclass(frozen=True, slots=True)
class ColumnMeaning:
    """What a column says: in which unit, if it has one, and what it means where it is empty, if it may be."""

    meaning: str
    unit: str = ""
    empty: str = ""


def meaning_of(column: Column[Any]) -> ColumnMeaning:
    """Return the declared meaning of a table's column."""
    meaning: ColumnMeaning = column.info["meaning"]
    return meaning


def whole_field(meaning: str, unit: str = "", *, empty: str = "", **options: Any) -> Any:
    """Declare a whole number of 64 bits; `empty` says what it means that there is none, if that may be."""
    return _field(BigInt, ColumnMeaning(meaning, unit, empty), **options)


def text_field(meaning: str, unit: str = "", *, empty: str = "", **options: Any) -> Any:
    """Declare a text."""
    return _field(Text, ColumnMeaning(meaning, unit, empty), **options)


def time_field(meaning: str, *, empty: str = "", **options: Any) -> Any:
    """Declare an instant, in UTC."""
    return _field(UtcTime, ColumnMeaning(meaning, "", empty), **options)


def id_field() -> Any:
    """Declare the number of a row in this database alone, to which other rows refer."""
    return whole_field("the row's number in this database; no export has it", primary_key=True, hashed=False)


def parent_field(target: str, **options: Any) -> Any:
    """Declare the row of another table that a row belongs to: `parent_field("round.id")`."""
    kind = target.partition(".")[0].replace("_", " ")
    return whole_field(f"the {kind} that it belongs to", foreign_key=target, hashed=False, **options)


def market_field(**options: Any) -> Any:
    """Declare a market that is in the record."""
    return text_field(MARKET_ID, foreign_key="market.id", **options)


def hash_field(of: str) -> Any:
    """Declare the hash of a row."""
    return text_field(f"the SHA-256 that seals the row: {of}", hashed=False)


def _field(
    sa_type: Any,
    meaning: ColumnMeaning,
    *,
    former: str = "",
    hashed: bool = True,
    added: tuple[Any, ...] = (),
    **options: Any,
) -> Any:
    """Declare a column, and its `former` name in records and exports of earlier versions, if it had another.

    Not `hashed` is what follows from other columns or doesn't matter to what happened. `added` is the value
    that stands for a column which exports of earlier versions don't have: with it, the row's own hash is
    taken as if there were no such column.
    """
    description = f"{meaning.meaning} [{meaning.unit}]" if meaning.unit else meaning.meaning
    info = {"meaning": meaning, "former": former, "hashed": hashed, "added": added}
    column: dict[str, Any] = {"info": info}
    if added and added[0] is not None:
        column["server_default"] = added[0] if isinstance(added[0], str) else text(str(added[0]))
    nullable = bool(meaning.empty)
    return Field(
        description=description, sa_type=sa_type, sa_column_kwargs=column, nullable=nullable, **options
    )
