"""Rows as plain values, nothing taken on trust: what is of another type than its column can't be read.

Statements that are made once, with names for what is put in later, and go to the driver as they are.

A small record is verified by many small questions: to make each anew takes longer than to answer it.

Reading a record that may be damaged, a part at a time: rows stream past, and none is kept for the next.
"""

import re
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache, lru_cache
from itertools import groupby, pairwise
from operator import itemgetter
from typing import Any, NamedTuple, cast

from sqlalchemy import Connection, Dialect, Integer, Table, bindparam, type_coerce
from sqlalchemy.exc import DBAPIError
from sqlalchemy.types import NULLTYPE

from arena.record.schema.cohort import CohortRow, EntrantRow, RoundRow
from arena.record.schema.dialects import UtcTime
from arena.record.schema.typed import AnySelect, select
from arena.verify.differences import Difference, Row

EPOCH = "1970-01-01T00:00:00.000000Z"
INSTANT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z")


Source = Any
"""A table, or the class of its rows."""


class RowPart:
    """Some columns of a table, or all of them."""

    def __init__(self, source: Source, *names: str):
        table = self.table = _table_of(source)
        self.names = names or tuple(column.name for column in table.c)
        self.columns = [table.c[name] for name in self.names]
        self._kind = type(table.name, (Row,), {"table": table, "__slots__": ()})

    def row(self, values: Sequence[Any]) -> Row:
        """The row of these values."""
        row: Row = self._kind(zip(self.names, values, strict=True))
        return row

    def mistyped(self, values: Sequence[Any]) -> Iterator[Difference]:
        """What of these values can't be read."""
        row = self.row(values)
        key = ", ".join(f"{c.name} {row[c.name]}" for c in self.table.primary_key.columns if c.name in row)
        for column in self.columns:
            if not _fits(column, row[column.name]):
                kind = "an instant in UTC" if isinstance(column.type, UtcTime) else "a value of its type"
                yield Difference(
                    self.table.name, key, column.name, row[column.name], kind, "it can't be read"
                )


def _table_of(source: Source) -> Table:
    table: Any = getattr(source, "__table__", source)
    return cast("Table", table)


@cache
def all_columns(source: Source) -> RowPart:
    """All columns of a table."""
    return RowPart(source)


def _fits(column: Any, value: Any) -> bool:
    if value is None:
        return bool(column.nullable)
    if isinstance(column.type, UtcTime):
        return isinstance(value, datetime) or (isinstance(value, str) and moment(value) is not None)
    return type(value) is (int if isinstance(column.type, Integer) else str)


@lru_cache(maxsize=1024)
def moment(text: str) -> datetime | None:
    """The instant behind its text; None when it is none.

    >>> moment("2026-01-04T00:00:00.000000Z").day, moment("2026-13-04T00:00:00.000000Z"), moment("soon")
    (4, None, None)
    """
    if not INSTANT.fullmatch(text):
        return None
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None


@lru_cache(maxsize=1024)
def written(at: datetime) -> str:
    """An instant as it is written in a record."""
    at = at.astimezone(UTC)
    return f"{at.year:04}-{at:%m-%dT%H:%M:%S}.{at.microsecond:06}Z"


Made = tuple[str, tuple[str, ...] | None, dict[str, Any]]
"""A statement's text, the order of its values where they go by place, and those that are always the same."""


class LineForm(NamedTuple):
    """Lines with values of some types: where instants are, as text and not, and which parts can't be read."""

    texts: tuple[int, ...]
    dates: tuple[int, ...]
    unreadable: tuple[slice, ...]


class RowsQuery:
    """A statement without columns, and what it reads: a row of `own`, and of the others those that are there.

    Where all that is read is read elsewhere too, `again`, what is unreadable is told there.
    """

    def __init__(self, statement: AnySelect, own: RowPart, *others: RowPart, again: bool = False):
        parts = own, *others
        self.own, self.again = own, again
        self.columns = [column for part in parts for column in part.columns]
        plain = (type_coerce(column, NULLTYPE).label(None) for column in self.columns)
        self.statement = statement.add_columns(*plain)
        ends = [sum(len(part.names) for part in parts[:count]) for count in range(len(parts) + 1)]
        self.places = [slice(*pair) for pair in pairwise(ends)]
        filled = (
            next(n for n in range(*place.indices(ends[-1])) if not self.columns[n].nullable)
            for place in self.places[1:]
        )
        self.others = list(zip(others, self.places[1:], filled, strict=True))
        self._kinds = [
            frozenset({int if isinstance(column.type, Integer) else str})
            | ({type(None)} if column.nullable else frozenset())
            for column in self.columns
        ]
        self._timely = [
            place for place, column in enumerate(self.columns) if isinstance(column.type, UtcTime)
        ]
        self._forms = dict[tuple[type, ...], LineForm]()
        self._made = dict[str, Made]()

    def made(self, dialect: Dialect) -> Made:
        """The statement as a driver takes it."""
        if dialect.name not in self._made:
            compiled: Any = self.statement.compile(dialect=dialect)
            order = tuple(compiled.positiontup) if compiled.positional else None
            self._made[dialect.name] = str(compiled), order, dict(compiled.params)
        return self._made[dialect.name]

    def is_readable(self, lines: Sequence[Any]) -> bool:
        """Whether all values of these lines are as they must be, every row there, and instants as text."""
        columns = list(zip(*lines, strict=True))
        return all(
            kinds.issuperset(map(type, column)) for kinds, column in zip(self._kinds, columns, strict=True)
        ) and all(moment(text) for place in self._timely for text in {*columns[place]} - {None})

    def readable(self, line: Sequence[Any]) -> Sequence[Any] | None:
        """A line with instants as text, and with nothing in place of others' rows that can't be read.

        None where the row of its own can't be.
        """
        kinds = tuple(map(type, line))
        form = self._forms.get(kinds)
        if form is None:
            form = self._forms[kinds] = self._form_of(kinds, line)
        texts, dates, unreadable = form
        if dates:
            line = [written(value) if type(value) is datetime else value for value in line]
        for place in texts:
            if moment(line[place]) is None:
                unreadable = (*unreadable, next(part for part in self.places if place < part.stop))
        for part in unreadable:
            if part.start == 0:
                return None
            line = [*line[: part.start], *(None for _ in line[part]), *line[part.stop :]]
        return line

    def _form_of(self, kinds: tuple[type, ...], line: Sequence[Any]) -> LineForm:
        """The form of lines with such values, whatever time is said: a text may be any."""
        texts, dates = (tuple(n for n in self._timely if kinds[n] is kind) for kind in (str, datetime))
        timely = [EPOCH if n in texts else value for n, value in enumerate(line)]
        wrong = (
            part
            for part in self.places
            if (part.start == 0 or line[part].count(None) < part.stop - part.start)
            and not all(map(_fits, self.columns[part], timely[part]))
        )
        return LineForm(texts, dates, tuple(wrong))


def rows_of(source: Source, *where: Any, order: Iterable[Any] = ()) -> RowsQuery:
    """The rows of a table, or those for which something holds, in the order of its key or another one."""
    key = _table_of(source).primary_key.columns
    return RowsQuery(select().where(*where).order_by(*(tuple(order) or key)), all_columns(source))


def rows_query(
    source: Source,
    own: Source,
    *others: RowPart,
    where: Any = None,
    order: Iterable[Any] = (),
    again: bool = False,
    limit: int | None = None,
) -> RowsQuery:
    """Rows of a table with those of others that it is joined with; see `RowsQuery`."""
    part = own if isinstance(own, RowPart) else all_columns(own)
    statement = select().select_from(_table_of(source)).order_by(*order).limit(limit)
    return RowsQuery(statement if where is None else statement.where(where), part, *others, again=again)


BATCH = 500
KNOWN = 20_000
"""So many rows that others refer to are remembered."""
LONG = frozenset({"frozen", "settings", "orders", "note", "text", "reason", "dropped"})
"""Columns with long texts, which are left out of rows that are remembered."""


@dataclass(frozen=True, slots=True)
class VerifiedHead:
    """The head up to which a record was verified, in which file, and by table the last row until then.

    `caches` are the hashes of what was cached. Of what the chain covers: the `last` rows, how many there were
    until then, and the `sums` of what the heads have listed. `rows` is how many there were of all that is
    passed over the next time, and `whole_at` when all of them were last read; None where that isn't known.
    """

    number: int = 0
    hash: str = ""
    file: str = ""
    ids: Mapping[str, int] = field(default_factory=dict)
    caches: Mapping[str, str] = field(default_factory=dict)
    last: Mapping[str, int] = field(default_factory=dict)
    counts: Mapping[str, int] = field(default_factory=dict)
    sums: Mapping[str, int] = field(default_factory=dict)
    rows: int | None = None
    whole_at: str | None = None


NOTHING_VERIFIED = VerifiedHead()


class RecordReader:
    """The tables of a record. What can't be read is left out, and told as a difference.

    `unproved` counts what was only looked at, by what it is. What was verified before is passed over as far
    as `verified` says.
    """

    def __init__(
        self,
        connection: Connection,
        tell: Callable[[Difference], None],
        verified: VerifiedHead = NOTHING_VERIFIED,
    ):
        self.connection = connection
        self.tell = tell
        self.unproved = Counter[str]()
        self.verified = verified
        self._known = lru_cache(maxsize=KNOWN)(self._find)

    def rows(self, query: RowsQuery, **values: Any) -> Iterator[Row]:
        """The rows that a query reads of its first table."""
        return (row for row, *_ in self.read(query, **values))

    def new(self, table: Source) -> Iterator[Row]:
        """The rows of a table that were not verified before; all of one that is not numbered."""
        return self.rows(_newer(table), after=self.after(table))

    def after(self, table: Source) -> int:
        """The id of the last row of a table that was verified before."""
        return self.verified.ids.get(_table_of(table).name, 0)

    def read(self, query: RowsQuery, **values: Any) -> Iterator[tuple[Any, ...]]:
        """What a query reads: a row of its own, and of the others those that are there."""
        own, place, others = query.own.row, query.places[0], query.others
        if not others:
            for line in self.lines(query, **values):
                yield (own(line),)
            return
        for line in self.lines(query, **values):
            yield (
                own(line[place]),
                *(part.row(line[there]) if line[full] is not None else None for part, there, full in others),
            )

    def lines(self, query: RowsQuery, **values: Any) -> Iterator[Sequence[Any]]:
        """The same as bare values, in the order of columns."""
        readable = query.readable
        for batch in self._batches(query, values):
            if query.is_readable(batch):
                yield from batch
                continue
            for line in batch:
                found = readable(line)
                if found is not None:
                    yield found
                elif not query.again:
                    for difference in query.own.mistyped(line[query.places[0]]):
                        self.tell(difference)

    def _batches(self, query: RowsQuery, values: Mapping[str, Any]) -> Iterator[Sequence[Any]]:
        """The lines of a query, as they come from the database."""
        text, order, fixed = query.made(self.connection.dialect)
        bound = {**fixed, **values}
        given: Any = bound if order is None else tuple(bound[name] for name in order)
        try:
            if self.connection.dialect.name == "sqlite":
                yield from self._batches_of_sqlite(text, given)
                return
            with self.connection.exec_driver_sql(
                text, given, execution_options={"yield_per": BATCH}
            ) as lines:
                yield from lines.partitions(BATCH)
        except (DBAPIError, sqlite3.Error) as error:
            name, why = query.own.table.name, "it can't be read"
            said = str(error.orig if isinstance(error, DBAPIError) else error)
            self.tell(Difference(name, "all rows", "text", said, "rows", why))

    def _batches_of_sqlite(self, text: str, given: Any) -> Iterator[Sequence[Any]]:
        """By the driver alone: what SQLAlchemy learns of columns costs more than a small result."""
        driver = self.connection.connection.driver_connection
        assert isinstance(driver, sqlite3.Connection)
        with closing(driver.execute(text, given)) as cursor:
            while batch := cursor.fetchmany(BATCH):
                yield batch

    def find(self, table: Source, key: Any) -> Row | None:
        """A row that others refer to, without its long texts; None where it is missing or unreadable."""
        return self._known(table, key)

    def _find(self, table: Source, key: Any) -> Row | None:
        return next(self.rows(_by_key(table), key=key), None)

    def place(self, row: Row) -> tuple[int, int, str] | None:
        """Cohort, round and name behind a turn or a call; None when one of them is missing."""
        round_row, entrant = (self.find(RoundRow, row["round_id"]), self.find(EntrantRow, row["entrant_id"]))
        cohort = self.find(CohortRow, round_row["cohort_id"]) if round_row else None
        if round_row is None or entrant is None or cohort is None:
            return None
        return cohort["number"], round_row["number"], entrant["name"]


@cache
def _newer(source: Source) -> RowsQuery:
    table = _table_of(source)
    numbered = "id" in table.c and isinstance(table.c.id.type, Integer)
    return rows_of(table, table.c.id > bindparam("after")) if numbered else rows_of(table)


@cache
def _by_key(source: Source) -> RowsQuery:
    table = _table_of(source)
    (column,) = table.primary_key.columns
    short = RowPart(table, *(column.name for column in table.c if column.name not in LONG))
    return RowsQuery(select().where(column == bindparam("key")), short, again=True)


class RowsByParent:
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


class LinesByTime:
    """Lines that are sorted by time, taken as time goes on."""

    def __init__(self, lines: Iterator[Any]):
        self._lines = lines
        self._next = next(lines, None)

    def until(self, at: str | None) -> Iterator[Any]:
        """All that come until an instant and were not taken yet; without one, all that are left."""
        while self._next is not None and (at is None or self._next.at <= at):
            taken, self._next = self._next, next(self._lines, None)
            yield taken
