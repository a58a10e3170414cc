"""Rows of a record that may be damaged, as plain values: they stream past, and instants are texts everywhere.

A row knows its name as people would say it: cohort, round, agent, and what tells it from its like.
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
"""So many rows that others refer to are remembered."""
UNREADABLE = "it can't be read"
SEALS = ("hash", "previous")
"""Columns that follow from the others of a row, and from the row before it."""
PARENTS = ("fill", "turn", "gathering", "round", "entrant", "cohort", "snapshot", "sync")
"""Tables whose rows others take part of their name from; the first that a row refers to counts."""
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
"""What tells a row from others with the same parent."""


class Row(dict[str, Any]):
    """A row of a table as it was read, with what was read beside it of others under names of their own."""

    __slots__ = ("facts", "table")

    def __init__(self, facts: "RecordReader", table: str, values: Iterable[tuple[str, Any]]):
        super().__init__(values)
        self.facts = facts
        self.table = table

    @property
    def key(self) -> str:
        """Return its name: `cohort 1, round 2, ann, fill 0`."""
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
        """Return the difference that it has in a column."""
        return Difference(self.table, self.key, column, self[column], expected, why)

    def compare(self, expected: Mapping[str, Any], why: str) -> Found:
        """Yield every column that does not hold what it must; seals only where nothing else is wrong."""
        wrong = [column for column, value in expected.items() if self[column] != value]
        for column in [column for column in wrong if column not in SEALS] or wrong:
            yield self.differs(column, expected[column], why)

    def without(self, *names: str) -> dict[str, Any]:
        """Return the columns of its table, but for some."""
        return {name: self[name] for name in columns_of(self.table) if name not in names}


def compare_in_order(
    rows: Iterable[Row], expected: Iterable[Mapping[str, Any]], key: str, column: str, why: str
) -> Found:
    """Yield the rows that are not those expected, one after the other.

    `key` names a row that is missing, with its table before and its number behind, and `column` stands for a
    row as a whole.
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
    """Yield the rows that are not those expected, found by the columns that name them.

    `key` names a row that is missing, with its table before, and `column` stands for a row as a whole.
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
    """Return the table that a table's rows take part of their name from; None if they have it all."""
    columns = columns_of(table)
    return next((parent for parent in PARENTS if f"{parent}_id" in columns), None)


PARTS = 14
"""In so many parts older rows are read again, one after the other; a row's number says in which it is."""


@dataclass(frozen=True, slots=True)
class VerifiedHead:
    """The head up to which a record was verified, in which file, and by table the last row until then.

    `caches` are the hashes of what was cached. `rows` is how many there were of all that is passed over the
    next time. `new_at` is when the newest of them were first read, `parts_at` when each part of the older
    ones was last read, and `part` the one that was read again last.
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
        """Return since when all rows were read; an empty text if they were not."""
        return min(self.parts_at, default="")


NOTHING_VERIFIED = VerifiedHead()


class RecordReader:
    """The tables of a record. What the database can't read is told as a difference.

    `unproved` counts what was only looked at, by what it is. What was verified before is passed over as far
    as `verified` says, but for one `part` of it.
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
        """Yield the rows of a table that a query finds."""
        for names, batch in self._batches(table, query, values):
            for line in batch:
                yield Row(self, table, zip(names, line, strict=True))

    def column(self, name: str, table: str, query: str, **values: Any) -> list[Any]:
        """Return one column of the rows that a query finds."""
        return [row[name] for row in self.rows(table, query, **values)]

    def by(self, name: str, table: str, query: str, **values: Any) -> dict[Any, Row]:
        """Return the rows that a query finds by one of their columns."""
        return {row[name]: row for row in self.rows(table, query, **values)}

    def new(self, table: str) -> Iterator[Row]:
        """Yield the rows of a table that are to be read; all of one that is not numbered."""
        if table in ("article", "prompt"):
            return self.rows(table, f"SELECT * FROM {table}")

        after = self.after(table)
        newer = f"SELECT * FROM {table} WHERE id > :after"
        if self.part is None:
            return self.rows(table, f"{newer} ORDER BY id", after=after)
        again = f"{newer} OR id % {PARTS} = :part ORDER BY id"
        return self.rows(table, again, after=after, part=self.part)

    def is_due(self, row: Row) -> bool:
        """Tell whether a row with a number is to be read: it is new, or in the part that is read again."""
        return row["id"] > self.after(row.table) or self.is_in_part(row["id"])

    def is_in_part(self, number: int) -> bool:
        """Tell whether what has a number is read by this run: everything, if nothing was verified before."""
        return not self.verified.number or number % PARTS == self.part

    def after(self, table: str) -> int:
        """Return the id of the last row of a table that was verified before."""
        return self.verified.ids.get(table, 0)

    def find(self, table: str, key: Any) -> Row | None:
        """Return the row of a table that others refer to; None where it is missing."""
        return self._known(table, key)

    def _find(self, table: str, key: Any) -> Row | None:
        (column,) = METADATA.tables[table].primary_key.columns.keys()
        found = self.rows(table, f"SELECT * FROM {table} WHERE {column} = :key", key=key)
        return next(found, None)

    def place(self, row: Row) -> dict[str, Any]:
        """Return cohort, round and agent of a row as hashes have them; None for what is missing."""
        number = self.value_of("round", row["round_id"], "number")
        cohort = self.value_of("round", row["round_id"], "cohort_id")
        name = self.value_of("entrant", row.get("entrant_id"), "name")
        return {"cohort": self.value_of("cohort", cohort, "number"), "round": number, "entrant": name}

    def value_of(self, table: str, key: Any, column: str) -> Any:
        """Return a column of a row that others refer to; None where the row is missing."""
        row = self.find(table, key)
        return None if row is None else row[column]

    def _batches(
        self, table: str, query: str | ClauseElement, values: Mapping[str, Any]
    ) -> Iterator[tuple[Sequence[str], Sequence[Sequence[Any]]]]:
        """Yield the names of a query's columns with its lines, some at a time, instants as texts."""
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
    """Return a query in the database's own SQL, the order of its values, and those that are its own."""
    compiled: Any = (text(query) if isinstance(query, str) else query).compile(dialect=dialect)
    return str(compiled), compiled.positiontup or (), dict(compiled.params)


def _plain(value: Any) -> Any:
    return instant_text(value) if isinstance(value, datetime) else value


@lru_cache(maxsize=1024)
def instant_text(at: datetime) -> str:
    """Return the text of an instant, also of one before the year 1000."""
    at = at.astimezone(UTC)
    return f"{at.year:04}-{at:%m-%dT%H:%M:%S}.{at.microsecond:06}Z"


@lru_cache(maxsize=4096)
def instant(text: str) -> datetime:
    """Return the instant behind its text: of a time there are as many rows as agents."""
    return datetime.fromisoformat(text)
