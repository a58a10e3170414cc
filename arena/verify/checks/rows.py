"""Plain rules for single rows: what a column may hold, and which rows must exist for it.

The database searches for the rows that break a rule. What follows from other rows by the rules of the game is
replayed instead (`replay`), and hashes are in `seals`.
"""

import tomllib
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from sqlalchemy import Connection, Integer, text
from sqlalchemy.exc import DBAPIError

from arena.record.schema.dialects import UtcTime
from arena.record.schema.tables import METADATA
from arena.verify.differences import Found
from arena.verify.reader import UNREADABLE, RecordReader

RULES_FILE = Path(__file__).with_name("rows.toml")
LAST_ID = 2**53
"""Beyond the last possible number a database picks ids at random, so that new rows can't be told apart."""
NEW = {
    "market_version": ("id", "market_version"), "snapshot": ("id", "snapshot"), "call": ("id", "call"),
    "snapshot_item": ("snapshot_id", "snapshot"), "turn": ("round_id", "round"),
    "evidence": ("gathering_id", "gathering"),
}  # fmt: skip
"""By table the column that tells which rows are new, and the table it numbers; others are checked in turn."""
REFERS = """{column} IS NULL OR {column} NOT IN (SELECT value FROM (
    SELECT DISTINCT {column} AS value FROM {table} WHERE {column} IS NOT NULL AND {where}
    ) AS named WHERE NOT EXISTS (SELECT 1 FROM {parent} AS parent WHERE parent.{name} = named.value))"""
"""The condition that the row referred to exists."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A condition in SQL on the rows of a table, and the column that is wrong where it doesn't hold."""

    table: str
    column: str
    holds: str
    expected: str | None
    why: str

    among: str = "true"
    """The condition of the rows that are looked at."""

    @property
    def condition(self) -> str:
        """Return the condition in SQL of the rows that break the rule."""
        return f"{self.among} AND ({self.holds}) IS NOT TRUE"

    def rows_breaking(self, facts: RecordReader) -> Found:
        """Yield the rows that break the rule."""
        for row in facts.rows(self.table, f"SELECT * FROM {self.table} WHERE {self.condition}"):
            yield row.differs(self.column, self.expected, self.why)


@cache
def written_rules() -> tuple[Rule, ...]:
    """Return the rules of `rows.toml`, in its order."""
    written = tomllib.loads(RULES_FILE.read_text(encoding="utf-8"))
    rules = []
    for rule in written["rules"]:
        expected = rule.get("expected")
        why = rule["why"]
        for table in rule["tables"]:
            for column in rule["columns"]:
                holds = rule["holds"].format(table=table, column=column)
                rules.append(Rule(table, column, holds, expected, why))
    return tuple(rules)


def _rules_of_tables() -> Iterator[Rule]:
    """Yield the rules that ids count from 1, and that every row referred to exists."""
    for table in METADATA.sorted_tables:
        if "id" in table.c and isinstance(table.c.id.type, Integer):
            holds = f"id BETWEEN 1 AND {LAST_ID}"
            yield Rule(table.name, "id", holds, f"1 to {LAST_ID}", "rows are counted from 1")
        for key in sorted(table.foreign_keys, key=lambda key: str(key.parent.name)):
            yield _reference_rule(table.name, key.parent.name, key.column.table.name, key.column.name)
    yield _reference_rule("entry", "market_id", "market", "id", "entry.market_id <> ''")


def _reference_rule(table: str, column: str, parent: str, parent_column: str, where: str = "true") -> Rule:
    """Return the rule that the row referred to exists.

    Values are looked up once each, because thousands of rows refer to one market.
    """
    holds = REFERS.format(table=table, column=column, parent=parent, name=parent_column, where=where)
    return Rule(table, column, holds, f"the {parent_column} of a {parent}", "it refers to one")


RULES_OF_TABLES = list(_rules_of_tables())


def _rules_of_instants() -> Iterator[Rule]:
    """Yield the rules that instants are well-formed; PostgreSQL checks that by itself."""
    form = "????-??-??T??:??:??.??????Z"
    for table in METADATA.sorted_tables:
        for column in table.c:
            if isinstance(column.type, UtcTime):
                name = column.name
                holds = f"{name} IS NULL OR ({name} GLOB '{form}' AND julianday({name}) NOTNULL)"
                yield Rule(table.name, name, holds, "an instant in UTC", UNREADABLE)


RULES_OF_INSTANTS = list(_rules_of_instants())


def check_rows(facts: RecordReader) -> Found:
    """Yield the rows that break a rule: among all rows in the rule's turn, else among the new ones."""
    rules = []
    for index, rule in enumerate(written_rules()):
        if facts.checks_part_of(index):
            rules.append(rule)
        elif rule.table in NEW:
            id_column, numbered_table = NEW[rule.table]
            is_new = f"{rule.table}.{id_column} > {facts.last_verified_id(numbered_table)}"
            rules.append(replace(rule, among=is_new))
    yield from _rows_breaking_any(facts, [*rules, *_rules_in_turn(facts, RULES_OF_TABLES)])


def _rules_in_turn(facts: RecordReader, rules: Sequence[Rule]) -> list[Rule]:
    """Return the rules whose turn it is."""
    return [rule for index, rule in enumerate(rules) if facts.checks_part_of(index)]


def _rows_breaking_any(facts: RecordReader, rules: Sequence[Rule]) -> Found:
    """Yield the rows that break one of these rules."""
    suspect_tables = _suspect_tables(facts.connection, rules)
    for rule in rules:
        if rule.table in suspect_tables:
            yield from rule.rows_breaking(facts)


def _suspect_tables(connection: Connection, rules: Sequence[Rule]) -> Collection[str]:
    """Return the tables with a row that breaks one of these rules, or all if the database can't tell.

    One query looks at all of them, because a small record answers faster than it is asked.
    """
    violations: dict[str, list[str]] = {}
    for rule in rules:
        violations.setdefault(rule.table, []).append(f"({rule.condition})")
    if not violations:
        return ()

    queries = []
    for table, of_table in violations.items():
        queries.append(f"SELECT '{table}' WHERE EXISTS (SELECT 1 FROM {table} WHERE {' OR '.join(of_table)})")
    try:
        with connection.begin_nested():
            return set(connection.execute(text(" UNION ALL ".join(queries))).scalars())
    except DBAPIError:
        return violations


def check_texts(facts: RecordReader) -> Found:
    """Yield the instants that are malformed, on SQLite."""
    if facts.connection.dialect.name == "sqlite":
        yield from _rows_breaking_any(facts, _rules_in_turn(facts, RULES_OF_INSTANTS))
