"""The database itself: the keys and constraints of its tables, and the triggers that protect its facts.

Changing a fact takes removing its trigger first, and a table recreated without its keys may hold a row twice.
"""

import re
from collections import defaultdict
from collections.abc import Mapping

from sqlalchemy import Connection, PrimaryKeyConstraint, Table, UniqueConstraint

from arena.record.schema.database import VERSION_TABLE
from arena.record.schema.tables import METADATA
from arena.verify.differences import Difference, Found
from arena.verify.reader import RecordReader
from markets.hashes import digest

GUARD = re.compile(r"\w+_no_(update|delete|replace)")
"""The name of a trigger by which the arena keeps facts unchanged."""
WRITES = re.compile(r"\bBEGIN\b.*\b(RAISE|INSERT|UPDATE|DELETE|REPLACE)\b", re.DOTALL | re.IGNORECASE)
GUARDS = {
    "sqlite": "8ea3a51cc5b3abe052e70df67aa5178ca125e71843124caa92d1a880cbe9417e",
    "postgresql": "d22566fe19f5a3ffffebc348c809aee4005e6d6d7d663ba0cd184b03139aec3a",
}
"""The hash of all guards, over the name, table and SQL of each."""
TABLES = {
    "sqlite": "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND strict",
    "postgresql": "SELECT relname FROM pg_class WHERE relkind = 'r' AND pg_table_is_visible(oid)",
}
UNIQUE = {
    "sqlite": """
    SELECT t.name, 'primary', c.name FROM pragma_table_list AS t JOIN pragma_table_info(t.name) AS c
    WHERE t.schema = 'main' AND t.type = 'table' AND c.pk
    UNION ALL
    SELECT t.name, i.name, c.name FROM pragma_table_list AS t JOIN pragma_index_list(t.name) AS i
    JOIN pragma_index_info(i.name) AS c
    WHERE t.schema = 'main' AND t.type = 'table' AND i."unique" AND NOT i.partial""",
    "postgresql": """
    SELECT t.relname, i.indexrelid::text, a.attname FROM pg_index AS i
    JOIN pg_class AS t ON t.oid = i.indrelid
    JOIN pg_attribute AS a ON a.attrelid = t.oid AND a.attnum = ANY (i.indkey)
    WHERE i.indisunique AND i.indisvalid AND i.indpred IS NULL AND pg_table_is_visible(t.oid)
    ORDER BY array_position(i.indkey::int2[], a.attnum)""",
}
TRIGGERS = {
    "sqlite": "SELECT name, tbl_name, sql FROM sqlite_master WHERE type = 'trigger'",
    "postgresql": """
    SELECT g.tgname, t.relname, concat_ws(' ', g.tgtype, g.tgenabled, p.prosrc) FROM pg_trigger AS g
    JOIN pg_class AS t ON t.oid = g.tgrelid JOIN pg_proc AS p ON p.oid = g.tgfoid
    WHERE NOT g.tgisinternal AND pg_table_is_visible(t.oid)""",
}
OTHERWISE = {
    "sqlite": r"""
    SELECT tbl_name, name, sql FROM sqlite_master
    WHERE type IN ('table', 'index') AND sql NOT NULL""",
    "postgresql": """
    SELECT t.relname, a.attname, concat_ws(' ', 'generated as', a.attname) FROM pg_attribute AS a
    JOIN pg_class AS t ON t.oid = a.attrelid
    WHERE a.attgenerated <> '' AND pg_table_is_visible(t.oid)""",
}
READS_OTHERWISE = re.compile(r"\b(COLLATE|GENERATED|ON\s+CONFLICT|AS\s*\()", re.IGNORECASE)
"""Generated columns, collations, rows that replace others: no table of ours declares any of these."""
BESIDE = {
    "sqlite": """
    SELECT name, CASE type WHEN 'table' THEN 'a table' WHEN 'virtual' THEN 'a virtual table' ELSE 'a view' END
    FROM pragma_table_list
    WHERE schema = 'main' AND type <> 'shadow' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name""",
    "postgresql": r"""
    SELECT c.relname, CASE c.relkind WHEN 'v' THEN 'a view' WHEN 'm' THEN 'a materialized view'
    WHEN 'f' THEN 'a foreign table' ELSE 'a table' END FROM pg_class AS c
    JOIN pg_namespace AS n ON n.oid = c.relnamespace
    WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND pg_table_is_visible(c.oid)
    AND n.nspname NOT LIKE 'pg\_%%' AND n.nspname <> 'information_schema'
    AND NOT EXISTS (SELECT 1 FROM pg_depend AS d WHERE d.objid = c.oid
    AND d.classid = 'pg_class'::regclass AND d.deptype = 'e') ORDER BY c.relname""",
}
"""All tables and views, without those of SQLite itself, of a server, and of its extensions."""
QUEUE_PREFIX = "procrastinate_"
"""The prefix of the tables of the workers' queue, which only a server has."""
INDEXED = """
    SELECT i.tbl_name, c.integrity_check FROM (
        SELECT DISTINCT tbl_name FROM sqlite_master WHERE type = 'index'
        AND (tbl_name <> 'quote' OR sql NOT NULL AND name <> 'ix_quote_volume_unknown')
    ) AS i JOIN pragma_integrity_check(i.tbl_name) AS c"""


def _keys_of(table: Table) -> set[tuple[str, ...]]:
    keys = [key for key in table.constraints if isinstance(key, PrimaryKeyConstraint | UniqueConstraint)]
    return {tuple(key.columns.keys()) for key in keys}


KEYS = {table.name: _keys_of(table) for table in METADATA.sorted_tables}
"""The unique keys of each table, with their columns in the order of the index."""


def check_schema(facts: RecordReader) -> Found:
    """Yield differences in keys, guards and triggers, and tables and views that don't belong to a record."""
    connection = facts.connection
    tables = {name for (name,) in _query_rows(connection, TABLES)}
    key_columns = defaultdict[tuple[str, str], list[str]](list)
    for table, key, column in _query_rows(connection, UNIQUE):
        key_columns[table, key].append(column)

    existing_keys = {(table, tuple(columns)) for (table, _), columns in key_columns.items()}
    for name, expected_keys in KEYS.items():
        if name not in tables:
            yield Difference("schema", name, "table", None, "a strict table", "so it was made")
        missing_keys = [key for key in expected_keys if (name, key) not in existing_keys]
        for columns in sorted(missing_keys):
            expected = f"unique by {', '.join(columns)}"
            yield Difference("schema", name, "key", None, expected, "no row is there twice")

    for table, name, definition in _query_rows(connection, OTHERWISE):
        if table in KEYS and READS_OTHERWISE.search(definition):
            yield Difference("schema", table, "columns", name, None, "values are kept as they are")
    yield from _check_triggers(connection)
    yield from _check_foreign_tables(connection)


def check_indexes(facts: RecordReader) -> Found:
    """Yield indexes of SQLite that differ from their table: a query that uses one would see other values.

    The table `quote`, by far the largest, is skipped unless somebody has added an index to it.
    """
    if facts.connection.dialect.name != "sqlite" or not facts.checks_part_of(0):
        return

    faults: dict[str, str] = {}
    for table, line in facts.connection.exec_driver_sql(INDEXED).all():
        if "index" in line:
            faults.setdefault(table, line)
    for table in sorted(faults.keys() & KEYS.keys()):
        yield Difference("schema", table, "index", faults[table], "ok", "it holds what the table does")


def _query_rows(connection: Connection, sql_by_dialect: Mapping[str, str]) -> list[tuple[str, ...]]:
    rows = connection.exec_driver_sql(sql_by_dialect[connection.dialect.name]).all()
    return list(map(tuple, rows))


def _check_foreign_tables(connection: Connection) -> Found:
    """Yield the tables and views that don't belong to a record."""
    own_tables = {*KEYS, VERSION_TABLE}
    for name, object_kind in _query_rows(connection, BESIDE):
        is_queue = connection.dialect.name == "postgresql" and name.startswith(QUEUE_PREFIX)
        if name not in own_tables and not is_queue:
            yield Difference("schema", name, "table", object_kind, None, "no part of a record")


def _check_triggers(connection: Connection) -> Found:
    """Yield guards that differ from the arena's, and other triggers that change facts."""
    all_triggers = _query_rows(connection, TRIGGERS)
    guards = sorted(trigger for trigger in all_triggers if GUARD.fullmatch(trigger[0]))
    if digest(guards) != GUARDS[connection.dialect.name]:
        guard_count = f"{len(guards)} guards"
        expected = "those of the arena"
        yield Difference("schema", "triggers", "guards", guard_count, expected, "they keep facts as they are")
    for name, table, sql in all_triggers:
        if not GUARD.fullmatch(name) and table in KEYS and WRITES.search(sql):
            yield Difference("schema", table, "trigger", name, None, "it changes what is kept")
