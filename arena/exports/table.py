"""What an export is made of: tables for people and programs, in which every column says what it means.

A long look at a record: all of it at one instant, row by row, whatever is written meanwhile.

How rows are named without ids: by the numbers of cohort and round, agents' names, markets' ids.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal

from sqlalchemy import (
    BigInteger,
    Column,
    ColumnElement,
    Connection,
    Engine,
    FromClause,
    Integer,
    Select,
    Table,
    Text,
    func,
    select,
)
from sqlalchemy import Column as Stored

from arena.record.schema.database import reading
from arena.record.schema.dialects import UtcTime
from arena.record.schema.tables import (
    COHORT,
    ENTRANT,
    FILL,
    GATHERING,
    ITEM,
    QUOTE,
    ROUND,
    SNAPSHOT,
    SYNC,
    TURN,
    VERSION,
)

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


def field(source: Any, meaning: str, unit: str = "", empty: str = "", name: str = "") -> ExportField:
    """A column of the record as a column of an export: its type is known, and mostly its name."""
    return ExportField(source, ExportColumn(name or source.name, kind_of(source), meaning, unit, empty))


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
    ids: Select[Any]


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


def fact_table(
    name: str, meaning: str, table: Table, fields: Sequence[ExportField], key: Sequence[str], **more: Any
) -> FactTable:
    """A table of facts with the columns of these fields."""
    columns = tuple(each.column for each in fields)
    sheet = ExportTable(name, meaning, columns, tuple(key))
    return FactTable(sheet, table, tuple(fields), **{"path": table, **more})


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


COHORT_NUMBER = field(COHORT.c.number, "the cohort's number", name="cohort")
ROUND_NUMBER = field(ROUND.c.number, "the round's number in its cohort, from 1", name="round")
AGENT = field(ENTRANT.c.name, "the agent's name in the line-up", name="agent")

PLACE: tuple[ExportField, ...] = (COHORT_NUMBER, ROUND_NUMBER, AGENT)
"""What a turn is named by."""
PLACES = ("cohort", "round", "agent")
PLACE_ORDER = (COHORT.c.number, ROUND.c.number, ENTRANT.c.position)


def of_cohort(table: Table) -> FromClause:
    """Rows of a cohort, with it."""
    return table.join(COHORT, table.c.cohort_id == COHORT.c.id)


def of_round(table: Table) -> FromClause:
    """Rows of a round, with it and its cohort."""
    joined = table.join(ROUND, table.c.round_id == ROUND.c.id)
    return joined.join(COHORT, ROUND.c.cohort_id == COHORT.c.id)


def of_entrant(table: Table) -> FromClause:
    """Rows of an entrant, with it and its cohort."""
    joined = table.join(ENTRANT, table.c.entrant_id == ENTRANT.c.id)
    return joined.join(COHORT, ENTRANT.c.cohort_id == COHORT.c.id)


def of_place(table: Table) -> FromClause:
    """Rows of a round and an entrant, with both and the cohort."""
    return of_round(table).join(ENTRANT, table.c.entrant_id == ENTRANT.c.id)


def of_turn(table: Table) -> FromClause:
    """Rows of a turn, with it and all that names it."""
    return of_place(TURN).join(table, table.c.turn_id == TURN.c.id)


def in_cohorts(numbers: Sequence[int]) -> ColumnElement[bool]:
    """Rows that are read together with their cohort."""
    return COHORT.c.number.in_(numbers)


def in_snapshots(column: Column[Any], listed: Column[Any]) -> OfCohorts:
    """Rows whose column is one of those that the snapshots of some cohorts list."""
    joined = ITEM.join(SNAPSHOT, ITEM.c.snapshot_id == SNAPSHOT.c.id)
    known = select(listed).select_from(joined.join(COHORT, SNAPSHOT.c.cohort_id == COHORT.c.id))
    return lambda numbers: column.in_(known.where(in_cohorts(numbers)))


def parent(column: str, id: Column[Any], path: FromClause, **names: Column[Any]) -> ParentKey:
    """The row behind a column, by the columns of the record that name it: `cohort=COHORT.c.number`."""
    ids = select(id, *names.values()).select_from(path)
    return ParentKey(column, tuple(names), tuple(names.values()), ids)


TURN_NAMES: dict[str, Column[Any]] = {
    "cohort": COHORT.c.number,
    "round": ROUND.c.number,
    "agent": ENTRANT.c.name,
}
ITS_COHORT = parent("cohort_id", COHORT.c.id, COHORT, cohort=COHORT.c.number)
ITS_ENTRANT = parent(
    "entrant_id", ENTRANT.c.id, of_cohort(ENTRANT), cohort=COHORT.c.number, agent=ENTRANT.c.name
)
ITS_ROUND = parent("round_id", ROUND.c.id, of_cohort(ROUND), cohort=COHORT.c.number, round=ROUND.c.number)
ITS_SNAPSHOT = parent(
    "snapshot_id", SNAPSHOT.c.id, of_cohort(SNAPSHOT), cohort=COHORT.c.number, at=SNAPSHOT.c.at
)
ITS_PAGE = parent("version_id", VERSION.c.id, VERSION, market_id=VERSION.c.market_id, page=VERSION.c.version)
ITS_QUOTE = parent(
    "quote_id", QUOTE.c.id, QUOTE, market_id=QUOTE.c.market_id, quote_at=QUOTE.c.at, quote_hash=QUOTE.c.hash
)
ITS_TURN = parent("turn_id", TURN.c.id, of_place(TURN), **TURN_NAMES)
ITS_FILL = parent("fill_id", FILL.c.id, of_turn(FILL), **TURN_NAMES, fill=FILL.c.position)
ITS_GATHERING = parent(
    "gathering_id", GATHERING.c.id, of_round(GATHERING), cohort=COHORT.c.number, round=ROUND.c.number
)
ITS_SYNC = parent("sync_id", SYNC.c.id, SYNC, venue=SYNC.c.venue, sync=SYNC.c.number)
