"""What an export is made of: tables for people and programs, in which every column says what it means.

A long look at a record: all of it at one instant, row by row, whatever is written meanwhile.

How rows are named without ids: by the numbers of cohort and round, agents' names, markets' ids.
"""

import inspect
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Connection,
    Engine,
    FromClause,
    Integer,
    Table,
    Text,
    func,
)
from sqlalchemy import Column as Stored

from arena.record.schema.cohort import (
    CohortRow,
    EntrantRow,
    GatheringRow,
    RoundRow,
    SnapshotItemRow,
    SnapshotRow,
)
from arena.record.schema.database import reading
from arena.record.schema.dialects import UtcTime
from arena.record.schema.fields import TableRow, meaning_of
from arena.record.schema.turn import FillRow, TurnRow
from arena.record.schema.typed import AnySelect, clause, col, column_of, select
from arena.record.schema.world import MarketVersionRow, QuoteRow, SyncRow

Kind = Literal["text", "whole", "number", "time"]
Row = tuple[Any, ...]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ExportColumn:
    """A column of a table: what it holds, in which unit, and what it means where it is empty.

    Without such a meaning it never is.
    """

    name: str
    kind: Kind
    meaning: str
    unit: str = ""
    empty: str = ""


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
    """A column of the record as a column of an export: as it was declared, but for what is said here."""
    stored = column_of(source)
    said, name = meaning_of(stored), name or stored.name
    column = ExportColumn(name, kind_of(stored), meaning or said.meaning, said.unit, empty or said.empty)
    return ExportField(stored, column)


def fields_of(row: type[TableRow], *names: str, **renamed: str) -> tuple[ExportField, ...]:
    """These columns of a table, without names all that hold no id, some under other names."""
    columns = row.__table__.c
    chosen = names or [each.name for each in columns if not _is_id(each)]
    return tuple(field(columns[name], name=renamed.get(name, name)) for name in chosen)


def _is_id(column: Stored[Any]) -> bool:
    """Whether a column holds numbers of rows, which mean nothing outside of their database."""
    return kind_of(column) == "whole" and (column.name == "id" or bool(column.foreign_keys))


def kind_of(source: Stored[Any]) -> Kind:
    """What a column of the record holds."""
    if isinstance(source.type, UtcTime):
        return "time"
    return "whole" if isinstance(source.type, BigInteger | Integer) else "text"


@dataclass(frozen=True, slots=True)
class ParentKey:
    """The row that a row belongs to: the column that refers to it by id, and those that name it.

    `ids` finds ids by `named`, the columns of the record that the `keys` of the export hold.
    """

    column: str
    keys: tuple[str, ...]
    named: tuple[Stored[Any], ...]
    ids: AnySelect


OfCohorts = Callable[[Sequence[int]], ColumnElement[bool]]
"""Which rows belong to some cohorts, by their numbers."""


@dataclass(frozen=True, slots=True)
class FactTable:
    """A table of facts: from which tables its columns are read, in which order, and how it is put back.

    `some` is None for what belongs to no cohort. `bulk` is how many rows are read at once. `wordy` is what
    is left out without prompts, and `rest` the table that has the other columns of the same rows.
    """

    sheet: ExportTable
    table: Table
    fields: tuple[ExportField, ...]
    path: FromClause
    order: tuple[Stored[Any], ...]
    parents: tuple[ParentKey, ...] = ()
    some: OfCohorts | None = None
    bulk: int = 1_000
    wordy: bool = False
    rest: str = ""

    def query(self, dialect: str, cohorts: Sequence[int] | None = None) -> AnySelect:
        """All rows, or those of some cohorts, in an order that is the same on every database."""
        found = select(*(each.source for each in self.fields)).select_from(self.path)
        if cohorts is not None and self.some is not None:
            found = found.where(self.some(cohorts))
        return found.order_by(*(_by_bytes(column, dialect) for column in self.order))


def _by_bytes(column: Stored[Any], dialect: str) -> ColumnElement[Any]:
    """Texts in the order of their bytes, whatever language a server sorts in; times are no texts there."""
    is_text = dialect == "postgresql" and isinstance(column.type, Text)
    return column.collate("C") if is_text else column


def fact_table(
    name: str,
    row: type[TableRow],
    fields: Sequence[ExportField],
    key: Sequence[str],
    *,
    order: Sequence[Any],
    meaning: str = "",
    **more: Any,
) -> FactTable:
    """A table of facts with the columns of these fields; what it means is said where it is declared."""
    columns = tuple(each.column for each in fields)
    sheet = ExportTable(name, meaning or rows_meaning(row), columns, tuple(key))
    path = more.pop("path", row.__table__)
    return FactTable(sheet, row.__table__, tuple(fields), path, tuple(map(column_of, order)), **more)


def rows_meaning(row: type[TableRow]) -> str:
    """What the rows of a table are: the first paragraph of what it says of itself."""
    return " ".join(inspect.cleandoc(row.__doc__ or "").partition("\n\n")[0].split())


@contextmanager
def one_snapshot(engine: Engine) -> Iterator[Connection]:
    """All of the record as it is now, however long it is read."""
    if engine.dialect.name == "sqlite":
        with reading(engine) as connection:
            yield connection
        return
    with engine.connect().execution_options(isolation_level="REPEATABLE READ") as connection:
        yield connection


def rows_of(connection: Connection, each: FactTable, cohorts: Sequence[int] | None = None) -> Iterator[Row]:
    """The rows of a table, of all cohorts or of some, without holding more than a few."""
    query = each.query(connection.dialect.name, cohorts)
    for row in connection.execute(query, execution_options={"yield_per": each.bulk}):
        yield tuple(row)


def count_of(connection: Connection, each: FactTable, cohorts: Sequence[int] | None = None) -> int:
    """How many rows that are."""
    query = each.query(connection.dialect.name, cohorts).order_by(None)
    return connection.execute(select(func.count()).select_from(query.subquery())).scalar_one()


COHORT_NUMBER = field(CohortRow.number, name="cohort")
ROUND_NUMBER = field(RoundRow.number, name="round")
AGENT = field(EntrantRow.name, name="agent")

PLACE: tuple[ExportField, ...] = (COHORT_NUMBER, ROUND_NUMBER, AGENT)
"""What a turn is named by."""
PLACES = ("cohort", "round", "agent")
PLACE_ORDER = (CohortRow.number, RoundRow.number, EntrantRow.position)


def of_cohort(row: type[TableRow]) -> FromClause:
    """Rows of a cohort, with it."""
    table = row.__table__
    return table.join(CohortRow, table.c.cohort_id == CohortRow.id)


def of_round(row: type[TableRow]) -> FromClause:
    """Rows of a round, with it and its cohort."""
    table = row.__table__
    joined = table.join(RoundRow, table.c.round_id == RoundRow.id)
    return joined.join(CohortRow, clause(RoundRow.cohort_id == CohortRow.id))


def of_entrant(row: type[TableRow]) -> FromClause:
    """Rows of an entrant, with it and its cohort."""
    table = row.__table__
    joined = table.join(EntrantRow, table.c.entrant_id == EntrantRow.id)
    return joined.join(CohortRow, clause(EntrantRow.cohort_id == CohortRow.id))


def of_place(row: type[TableRow]) -> FromClause:
    """Rows of a round and an entrant, with both and the cohort."""
    return of_round(row).join(EntrantRow, row.__table__.c.entrant_id == EntrantRow.id)


def of_turn(row: type[TableRow]) -> FromClause:
    """Rows of a turn, with it and all that names it."""
    return of_place(TurnRow).join(row, row.__table__.c.turn_id == TurnRow.id)


def in_cohorts(numbers: Sequence[int]) -> ColumnElement[bool]:
    """Rows that are read together with their cohort."""
    return col(CohortRow.number).in_(numbers)


def in_snapshots(column: T, listed: T | None) -> OfCohorts:
    """Rows whose column is one of those that the snapshots of some cohorts list."""
    known = select(column_of(listed)).join(SnapshotRow, SnapshotItemRow.snapshot_id == SnapshotRow.id)
    known = known.join(CohortRow, SnapshotRow.cohort_id == CohortRow.id)
    return lambda numbers: col(column).in_(known.where(in_cohorts(numbers)))


def parent(column: str, id: int, path: type[TableRow] | FromClause, **names: Any) -> ParentKey:
    """The row behind a column, by the columns of the record that name it: `cohort=CohortRow.number`."""
    named = tuple(map(column_of, names.values()))
    return ParentKey(column, tuple(names), named, select(column_of(id), *named).select_from(path))


TURN_NAMES: dict[str, Any] = {"cohort": CohortRow.number, "round": RoundRow.number, "agent": EntrantRow.name}
ITS_COHORT = parent("cohort_id", CohortRow.id, CohortRow, cohort=CohortRow.number)
ITS_ENTRANT = parent(
    "entrant_id", EntrantRow.id, of_cohort(EntrantRow), cohort=CohortRow.number, agent=EntrantRow.name
)
ITS_ROUND = parent(
    "round_id", RoundRow.id, of_cohort(RoundRow), cohort=CohortRow.number, round=RoundRow.number
)
ITS_SNAPSHOT = parent(
    "snapshot_id", SnapshotRow.id, of_cohort(SnapshotRow), cohort=CohortRow.number, at=SnapshotRow.at
)
ITS_PAGE = parent(
    "version_id",
    MarketVersionRow.id,
    MarketVersionRow,
    market_id=MarketVersionRow.market_id,
    page=MarketVersionRow.version,
)
ITS_QUOTE = parent(
    "quote_id",
    QuoteRow.id,
    QuoteRow,
    market_id=QuoteRow.market_id,
    quote_at=QuoteRow.at,
    quote_hash=QuoteRow.hash,
)
ITS_TURN = parent("turn_id", TurnRow.id, of_place(TurnRow), **TURN_NAMES)
ITS_FILL = parent("fill_id", FillRow.id, of_turn(FillRow), **TURN_NAMES, fill=FillRow.position)
ITS_GATHERING = parent(
    "gathering_id", GatheringRow.id, of_round(GatheringRow), cohort=CohortRow.number, round=RoundRow.number
)
ITS_SYNC = parent("sync_id", SyncRow.id, SyncRow, venue=SyncRow.venue, sync=SyncRow.number)
