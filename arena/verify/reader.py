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
CACHED_ROWS = 20_000
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
        own_name = NAMES.get(self.table, "").format_map(self)
        parent_table = _parent_of(self.table)
        if parent_table is None:
            return own_name

        parent = self.facts.find(parent_table, self[f"{parent_table}_id"])
        names = [f"no {parent_table}" if parent is None else parent.key]
        if parent_table == "round" and "entrant_id" in self:
            entrant = self.facts.find("entrant", self["entrant_id"])
            names.append(entrant["name"] if entrant else "nobody")
        if own_name:
            names.append(own_name)
        return ", ".join(names)

    def differs(self, column: str, expected: Any, why: str) -> Difference:
        """Return a difference in one column of the row."""
        return Difference(self.table, self.key, column, self[column], expected, why)

    def compare(self, expected: Mapping[str, Any], why: str) -> Found:
        """Yield the columns that differ from those expected; seals only if nothing else differs."""
        wrong = [column for column, value in expected.items() if self[column] != value]

        # A wrong value makes the seals over it wrong too: they are no finding of their own.
        wrong_values = [column for column in wrong if column not in SEALS]
        for column in wrong_values or wrong:
            yield self.differs(column, expected[column], why)

    def without(self, *names: str) -> dict[str, Any]:
        """Return the columns of the row's table, except for some."""
        return {name: self[name] for name in columns_of(self.table) if name not in names}


def compare_in_order(
    rows: Iterable[Row],
    expected: Iterable[Mapping[str, Any]],
    table: str,
    name: str,
    column: str,
    why: str,
) -> Found:
    """Yield the differences between rows and the rows expected, compared one by one in order.

    A missing row of the `table` is called by `name` and its number; `column` stands for a whole row.
    """
    for index, (row, expected_values) in enumerate(zip_longest(rows, expected)):
        if row is None:
            number = expected_values.get("number", index)
            yield Difference(table, f"{name} {number}", column, None, expected_values[column], why)
        elif expected_values is None:
            yield row.differs(column, None, why)
        else:
            yield from row.compare(expected_values, why)


def compare_by(
    key_columns: Sequence[str],
    rows: Iterable[Row],
    expected: Iterable[Mapping[str, Any]],
    table: str,
    parent: str,
    column: str,
    why: str,
) -> Found:
    """Yield the differences between rows and the rows expected, matched by the `key_columns`.

    A missing row of the `table` is called by its `parent` and its key; `column` stands for a whole row.
    """
    key_of = itemgetter(*key_columns)
    missing = {key_of(expected_values): expected_values for expected_values in expected}
    for row in rows:
        expected_values = missing.pop(key_of(row), None)
        if expected_values is None:
            yield row.differs(key_columns[0], None, why)
        else:
            yield from row.compare(expected_values, why)
    for expected_values in missing.values():
        own_name = ", ".join(str(expected_values[column_name]) for column_name in key_columns)
        yield Difference(table, f"{parent} {own_name}", column, None, expected_values[column], why)


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
        self._find_cached = lru_cache(maxsize=CACHED_ROWS)(self._find)

    def rows(self, table: str, query: str | ClauseElement, **values: Any) -> Iterator[Row]:
        """Yield the rows of a table that a query selects."""
        for names, batch in self._batches(table, query, values):
            for line in batch:
                yield Row(self, table, zip(names, line, strict=True))

    def column(self, name: str, table: str, query: str, **values: Any) -> list[Any]:
        """Return one column of the rows that a query selects."""
        return [row[name] for row in self.rows(table, query, **values)]

    def rows_by(self, name: str, table: str, query: str, **values: Any) -> dict[Any, Row]:
        """Return the rows that a query selects, keyed by one of their columns."""
        return {row[name]: row for row in self.rows(table, query, **values)}

    def rows_to_check(self, table: str) -> Iterator[Row]:
        """Yield the rows of a table that this run checks; all rows if the table is not numbered."""
        if table in ("article", "prompt"):
            return self.rows(table, f"SELECT * FROM {table}")

        after = self.last_verified_id(table)
        newer = f"SELECT * FROM {table} WHERE id > :after"
        if self.part is None:
            return self.rows(table, f"{newer} ORDER BY id", after=after)

        newer_or_in_part = f"{newer} OR id % {PARTS} = :part ORDER BY id"
        return self.rows(table, newer_or_in_part, after=after, part=self.part)

    def must_check(self, row: Row) -> bool:
        """Tell whether this run checks a numbered row: it is new, or in the part that is read again."""
        return row["id"] > self.last_verified_id(row.table) or self.checks_part_of(row["id"])

    def checks_part_of(self, number: int) -> bool:
        """Tell whether this run checks the part that a number falls in; the first run checks every part."""
        return not self.verified.number or number % PARTS == self.part

    def last_verified_id(self, table: str) -> int:
        """Return the id of the last row of a table that was verified before; 0 if none was."""
        return self.verified.ids.get(table, 0)

    def find(self, table: str, key: Any) -> Row | None:
        """Return a row that others refer to, by its primary key; None if it is missing."""
        return self._find_cached(table, key)

    def _find(self, table: str, key: Any) -> Row | None:
        (column,) = METADATA.tables[table].primary_key.columns.keys()
        matching = self.rows(table, f"SELECT * FROM {table} WHERE {column} = :key", key=key)
        return next(matching, None)

    def natural_key(self, row: Row) -> dict[str, Any]:
        """Return the cohort, round and agent of a row as hashes contain them; None for what is missing."""
        cohort_id = self.value_of("round", row["round_id"], "cohort_id")
        return {
            "cohort": self.value_of("cohort", cohort_id, "number"),
            "round": self.value_of("round", row["round_id"], "number"),
            "entrant": self.value_of("entrant", row.get("entrant_id"), "name"),
        }

    def value_of(self, table: str, key: Any, column: str) -> Any:
        """Return a column of a row that others refer to; None if the row is missing."""
        row = self.find(table, key)
        return None if row is None else row[column]

    def _batches(
        self, table: str, query: str | ClauseElement, values: Mapping[str, Any]
    ) -> Iterator[tuple[Sequence[str], Sequence[Sequence[Any]]]]:
        """Yield the names of a query's columns with batches of its lines, instants as text."""
        statement, parameter_order, own_values = _compiled(query, self.connection.dialect)
        parameters = {**own_values, **values}
        bound: Any = parameters
        if parameter_order:  # the driver takes parameters by position, not by name
            bound = tuple(parameters[name] for name in parameter_order)
        streaming = {"yield_per": BATCH}
        try:
            with self.connection.exec_driver_sql(statement, bound, execution_options=streaming) as result:
                names = list(result.keys())
                for lines in result.partitions():
                    yield names, [list(map(_with_text_instant, line)) for line in lines]
        except DBAPIError as error:
            self.tell(Difference(table, "all rows", "text", str(error.orig), "rows", UNREADABLE))


@lru_cache(maxsize=512)
def _compiled(query: str | ClauseElement, dialect: Dialect) -> tuple[str, Sequence[str], Mapping[str, Any]]:
    """Return a query in the database's SQL, the order of its parameters, and its own bound values."""
    clause = text(query) if isinstance(query, str) else query
    compiled: Any = clause.compile(dialect=dialect)
    return str(compiled), compiled.positiontup or (), dict(compiled.params)


def _with_text_instant(value: Any) -> Any:
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
