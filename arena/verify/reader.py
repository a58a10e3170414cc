"""Rows of a record that may be damaged, streamed as plain values, with instants as text on every database.

A row has a readable name: cohort, round, agent, and what distinguishes it from its siblings.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache, lru_cache
from itertools import zip_longest
from operator import itemgetter
from typing import Any

from sqlalchemy import ClauseElement, Connection, Dialect, text
from sqlalchemy.exc import DBAPIError

from arena.record.schema.tables import METADATA
from arena.verify.differences import Difference, Found

BATCH = 500
KNOWN = 20_000
"""The number of referenced rows that are kept in memory."""
UNREADABLE = "it can't be read"
SEALS = ("hash", "previous")
"""Columns that follow from the others of a row, and from the row before it."""
PARENTS = ("fill", "turn", "gathering", "round", "entrant", "cohort", "snapshot", "sync")
"""Tables whose names prefix the names of rows that refer to them; the first that a row refers to counts."""
NAMES = {
    "prompt": "prompt {hash}", "cohort": "cohort {number}", "entrant": "{name}", "market": "{id}",
    "market_version": "{market_id}, version {version}", "quote": "{market_id} at {at}",
    "replacement": "settings from round {round} on", "snapshot": "snapshot of {at}",
    "snapshot_item": "place {position}", "resolution": "{market_id}, version {version}",
    "round": "round {number}", "article": "article {hash}", "gathering": "its evidence",
    "evidence": "piece {position}", "tool_result": "{tool} {key}",
    "call": "{stage}, sample {sample}, attempt {attempt}", "attempt": "failure {number}",
    "forecast": "{market_id}, {stage}", "rejection": "rejection {position}",
    "second_quote": "second quote of {market_id}", "fill": "fill {position}",
    "fill_level": "level {position}", "entry": "entry {number}", "mark": "{at}",
    "sync": "{venue}, sync {number}", "sighting": "{market_id}",
    "set_aside": "{venue}, {kind} {record}, {code}", "prune": "prune {number}",
    "benchmark_file": "{kind} of {name}, version {version}", "head": "head {number}",
}  # fmt: skip
"""What distinguishes a row from others with the same parent."""


class Row(dict[str, Any]):
    """A row as it was read from a table, with columns of other tables that were read along under their own
    names.
    """

    __slots__ = ("facts", "table")

    def __init__(self, facts: "RecordReader", table: str, values: Iterable[tuple[str, Any]]):
        super().__init__(values)
        self.facts = facts
        self.table = table

    @property
    def key(self) -> str:
        """Return the readable name of the row: `cohort 1, round 2, ann, fill 0`."""
        own = NAMES.get(self.table, "").format_map(self)
        parent = _parent_of(self.table)
        if parent is None:
            return own

        found = self.facts.find(parent, self[f"{parent}_id"])
        names = [f"no {parent}" if found is None else found.key]
        if parent == "round" and "entrant_id" in self:
            agent = self.facts.find("entrant", self["entrant_id"])
            names.append(agent["name"] if agent else "nobody")
        if own:
            names.append(own)
        return ", ".join(names)

    def differs(self, column: str, expected: Any, why: str) -> Difference:
        """Return a difference in one column of the row."""
        return Difference(self.table, self.key, column, self[column], expected, why)

    def compare(self, expected: Mapping[str, Any], why: str) -> Found:
        """Yield the columns that differ from those expected; seals only if nothing else differs."""
        wrong = [column for column, value in expected.items() if self[column] != value]
        for column in [column for column in wrong if column not in SEALS] or wrong:
            yield self.differs(column, expected[column], why)

    def without(self, *names: str) -> dict[str, Any]:
        """Return the columns of the row's table, except for some."""
        return {name: self[name] for name in columns_of(self.table) if name not in names}


def compare_in_order(
    rows: Iterable[Row], expected: Iterable[Mapping[str, Any]], key: str, column: str, why: str
) -> Found:
    """Yield the differences between rows and the rows expected, compared one by one in order.

    `key` is the table and the name of a missing row, to which its number is added; `column` stands for a
    whole row.
    """
    for place, (row, values) in enumerate(zip_longest(rows, expected)):
        if row is None:
            table, _, name = key.partition(": ")
            number = values.get("number", place)
            yield Difference(table, f"{name} {number}", column, None, values[column], why)
        elif values is None:
            yield row.differs(column, None, why)
        else:
            yield from row.compare(values, why)


def compare_by(
    names: Sequence[str],
    rows: Iterable[Row],
    expected: Iterable[Mapping[str, Any]],
    key: str,
    column: str,
    why: str,
) -> Found:
    """Yield the differences between rows and the rows expected, matched by the columns `names`.

    `key` is the table and the parent of a missing row; `column` stands for a whole row.
    """
    table, _, parent = key.partition(": ")
    name_of = itemgetter(*names)
    missing = {name_of(values): values for values in expected}
    for row in rows:
        values = missing.pop(name_of(row), None)
        if values is None:
            yield row.differs(names[0], None, why)
        else:
            yield from row.compare(values, why)
    for values in missing.values():
        own = ", ".join(str(values[name]) for name in names)
        yield Difference(table, f"{parent} {own}", column, None, values[column], why)


@cache
def columns_of(table: str) -> tuple[str, ...]:
    """Return the names of a table's columns."""
    return tuple(METADATA.tables[table].c.keys())


@cache
def _parent_of(table: str) -> str | None:
    """Return the table that prefixes the names of a table's rows; None if they have full names."""
    columns = columns_of(table)
    return next((parent for parent in PARENTS if f"{parent}_id" in columns), None)


PARTS = 14
"""The number of parts in which older rows are read again, one a run; a row's number decides its part."""


@dataclass(frozen=True, slots=True)
class VerifiedHead:
    """The head up to which a record was verified, the file it is in, and the last verified row of each table.

    `caches` are the hashes of cached values. `rows` counts the rows that the next run skips. `new_at` is when
    the newest rows were first read, `parts_at` when each part of the older ones was last read, and `part` the
    part that was read again last.
    """

    number: int = 0
    hash: str = ""
    file: str = ""
    ids: Mapping[str, int] = field(default_factory=dict)
    caches: Mapping[str, str] = field(default_factory=dict)
    rows: int = 0
    new_at: str = ""
    parts_at: Sequence[str] = ()
    part: int = PARTS - 1

    @property
    def all_since(self) -> str:
        """Return the time since which all rows were read; an empty text if they were not."""
        return min(self.parts_at, default="")


NOTHING_VERIFIED = VerifiedHead()


class RecordReader:
    """The tables of a record. What the database cannot read is reported as a difference.

    `unproved` counts, by kind, what was looked at but could not be recomputed. Rows that `verified` covers
    are skipped, except those of one `part`.
    """

    def __init__(
        self,
        connection: Connection,
        tell: Callable[[Difference], None],
        verified: VerifiedHead = NOTHING_VERIFIED,
        part: int | None = None,
    ):
        self.connection = connection
        self.tell = tell
        self.unproved = Counter[str]()
        self.verified = verified
        self.part = part
        self._known = lru_cache(maxsize=KNOWN)(self._find)

    def rows(self, table: str, query: str | ClauseElement, **values: Any) -> Iterator[Row]:
        """Yield the rows of a table that a query selects."""
        for names, batch in self._batches(table, query, values):
            for line in batch:
                yield Row(self, table, zip(names, line, strict=True))

    def column(self, name: str, table: str, query: str, **values: Any) -> list[Any]:
        """Return one column of the rows that a query selects."""
        return [row[name] for row in self.rows(table, query, **values)]

    def by(self, name: str, table: str, query: str, **values: Any) -> dict[Any, Row]:
        """Return the rows that a query selects, keyed by one of their columns."""
        return {row[name]: row for row in self.rows(table, query, **values)}

    def new(self, table: str) -> Iterator[Row]:
        """Yield the rows of a table that this run reads; all rows if the table is not numbered."""
        if table in ("article", "prompt"):
            return self.rows(table, f"SELECT * FROM {table}")

        after = self.after(table)
        newer = f"SELECT * FROM {table} WHERE id > :after"
        if self.part is None:
            return self.rows(table, f"{newer} ORDER BY id", after=after)
        again = f"{newer} OR id % {PARTS} = :part ORDER BY id"
        return self.rows(table, again, after=after, part=self.part)

    def is_due(self, row: Row) -> bool:
        """Tell whether this run reads a numbered row: it is new, or in the part that is read again."""
        return row["id"] > self.after(row.table) or self.is_in_part(row["id"])

    def is_in_part(self, number: int) -> bool:
        """Tell whether this run reads the part of a number; the first run reads every part."""
        return not self.verified.number or number % PARTS == self.part

    def after(self, table: str) -> int:
        """Return the id of the last row of a table that was verified before."""
        return self.verified.ids.get(table, 0)

    def find(self, table: str, key: Any) -> Row | None:
        """Return a row that others refer to, by its primary key; None if it is missing."""
        return self._known(table, key)

    def _find(self, table: str, key: Any) -> Row | None:
        (column,) = METADATA.tables[table].primary_key.columns.keys()
        found = self.rows(table, f"SELECT * FROM {table} WHERE {column} = :key", key=key)
        return next(found, None)

    def place(self, row: Row) -> dict[str, Any]:
        """Return the cohort, round and agent of a row as hashes contain them; None for what is missing."""
        number = self.value_of("round", row["round_id"], "number")
        cohort = self.value_of("round", row["round_id"], "cohort_id")
        name = self.value_of("entrant", row.get("entrant_id"), "name")
        return {"cohort": self.value_of("cohort", cohort, "number"), "round": number, "entrant": name}

    def value_of(self, table: str, key: Any, column: str) -> Any:
        """Return a column of a row that others refer to; None if the row is missing."""
        row = self.find(table, key)
        return None if row is None else row[column]

    def _batches(
        self, table: str, query: str | ClauseElement, values: Mapping[str, Any]
    ) -> Iterator[tuple[Sequence[str], Sequence[Sequence[Any]]]]:
        """Yield the names of a query's columns with batches of its lines, instants as text."""
        statement, order, fixed = _compiled(query, self.connection.dialect)
        named = {**fixed, **values}
        bound = tuple(named[name] for name in order) if order else named
        streaming = {"yield_per": BATCH}
        try:
            with self.connection.exec_driver_sql(statement, bound, execution_options=streaming) as lines:
                names = list(lines.keys())
                for some in lines.partitions():
                    yield names, [list(map(_plain, line)) for line in some]
        except DBAPIError as error:
            self.tell(Difference(table, "all rows", "text", str(error.orig), "rows", UNREADABLE))


@lru_cache(maxsize=512)
def _compiled(query: str | ClauseElement, dialect: Dialect) -> tuple[str, Sequence[str], Mapping[str, Any]]:
    """Return a query in the database's SQL, the order of its parameters, and its own bound values."""
    compiled: Any = (text(query) if isinstance(query, str) else query).compile(dialect=dialect)
    return str(compiled), compiled.positiontup or (), dict(compiled.params)


def _plain(value: Any) -> Any:
    return instant_text(value) if isinstance(value, datetime) else value


@lru_cache(maxsize=1024)
def instant_text(at: datetime) -> str:
    """Return an instant as text, padded for years before 1000."""
    at = at.astimezone(UTC)
    return f"{at.year:04}-{at:%m-%dT%H:%M:%S}.{at.microsecond:06}Z"


@lru_cache(maxsize=4096)
def instant(text: str) -> datetime:
    """Return the instant that a text stands for; cached, because all agents' rows share few instants."""
    return datetime.fromisoformat(text)
