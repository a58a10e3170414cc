"""Makes a record from an export: all of it, checked, or nothing.

Rows go back into the same tables, under the same constraints and triggers.
"""

import operator
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from itertools import islice, zip_longest
from pathlib import Path

from sqlalchemy import Column, Connection, MetaData, Table, and_, delete, func, inspect, literal_column
from sqlalchemy.exc import DBAPIError

from agents.secrets import HIDDEN
from arena.errors import ArenaError
from arena.exports.fact_tables import FACT, FACTS
from arena.exports.forms import FileForm, form_of
from arena.exports.forms.cells import HINT, bad_file
from arena.exports.manifest import ExportManifest, folder_next_to, open_export
from arena.exports.table import ExportColumn, FactTable, ParentKey, Row, column_names
from arena.record.hashes import state_hash
from arena.record.schema.cohort import ReplacementRow
from arena.record.schema.database import (
    NoRecord,
    connect,
    open_read_only,
    reading,
    record_file,
    schema_version,
    upgrade_connection,
)
from arena.record.schema.database_errors import record_name
from arena.record.schema.dialects import is_postgresql
from arena.record.schema.statements import insert_lines
from arena.record.schema.tables import METADATA
from arena.record.schema.typed import col, select
from arena.record.write.heads import begin_chain
from arena.verify import find

BATCH = 2_000
"""The number of rows inserted at once."""
MOST_KNOWN = 10_000
"""The number of parents' ids kept in memory."""
RESTS = {table.rest_in for table in FACTS}
UNWRITABLE = "name a file in a folder that exists, is writable and has room"


def insert_facts(
    connection: Connection,
    folder: Path,
    form: FileForm,
    manifest: ExportManifest,
    progress: Callable[[int], None],
) -> None:
    """Insert all facts of an export into an empty record, in the caller's transaction.

    `progress` is called with the number of rows of each batch.
    """
    for name, table in tables_to_restore(manifest).items():
        loader = _TableLoader(connection, table, name)
        rows = _joined_rows(folder, form, table)
        rows_done = 0
        while True:
            batch = list(islice(rows, BATCH))
            if not batch:
                break
            loader.put(batch, rows_done + 1)
            rows_done += len(batch)
            progress(len(batch))

        if rows_done != manifest.files[name].rows:
            raise bad_file(name, f"it has {rows_done:,} rows, but the manifest says otherwise")


def tables_to_restore(manifest: ExportManifest) -> dict[str, FactTable]:
    """Return the tables by file name, in the order in which they are restored.

    A table with the rest of another's columns is read together with that one.
    """
    ending = form_of(manifest.form).ending
    tables = {}
    for table in FACTS:
        name = f"{table.sheet.name}{ending}"
        if table.sheet.name not in RESTS and (name in manifest.files or not table.is_new):
            tables[name] = table
    return tables


def _joined_rows(folder: Path, form: FileForm, table: FactTable) -> Iterator[Row]:
    """Yield the rows of a table, joined with the columns that another table has of them."""
    file = f"{table.sheet.name}{form.ending}"
    rows = form.read(folder / file, table.sheet.columns)
    if not table.rest_in:
        yield from rows
        return

    other = FACT[table.rest_in].sheet
    other_file = f"{other.name}{form.ending}"
    other_rows = form.read(folder / other_file, other.columns)
    key_of = _column_picker(table.sheet.columns, table.sheet.key)
    other_key_of = _column_picker(other.columns, table.sheet.key)

    for number, (row, other_row) in enumerate(zip_longest(rows, other_rows), 1):
        if row is None:
            raise bad_file(other_file, f"it has more rows than {file}")

        key = key_of(row)
        if other_row is None or other_key_of(other_row) != key:
            raise bad_file(other_file, f"row {number} is not that of {_key_text(table.sheet.key, key)}")
        yield row + other_row


def _column_picker(columns: Sequence[ExportColumn], names: Iterable[str]) -> Callable[[Row], Row]:
    """Return a function that takes the named columns from a row."""
    all_names = column_names(columns)
    indexes = [all_names.index(name) for name in names]
    if len(indexes) == 1:
        return lambda row: (row[indexes[0]],)
    return operator.itemgetter(*indexes)


def _key_text(names: Sequence[str], values: Row) -> str:
    """Return the key of a row as text."""
    return ", ".join(f"{name} {value}" for name, value in zip(names, values, strict=True))


class _ParentIds:
    """Finds the ids of parent rows by their names, through a temporary table of the names.

    A join with that uses the index, where a list of names would be compared with every row.
    """

    def __init__(self, connection: Connection, table: FactTable, parent: ParentKey):
        self.connection = connection
        columns = [Column(f"key_{number}", named.type) for number, named in enumerate(parent.named)]
        name = f"wanted_{table.table.name}_{parent.column}"
        self.wanted = Table(name, MetaData(), *columns, prefixes=["TEMPORARY"])
        self.wanted.create(connection)

        self.query = parent.ids.join(self.wanted, and_(*map(operator.eq, parent.named, columns)))
        if not is_postgresql(
            connection
        ):  # SQLite's planner must know that these rows are few, to start with them
            few = func.likelihood(columns[0].is_not(None), literal_column("0.0001"))
            self.query = self.query.where(few)
        self.known = dict[Row, int]()

    def of(self, names: Iterable[Row]) -> dict[Row, int]:
        """Return the ids of the names that exist, along with some that were requested before."""
        unknown = [name for name in names if name not in self.known]
        if not unknown:
            return self.known

        if len(self.known) > MOST_KNOWN:
            self.known.clear()
            unknown = list(names)
        self.connection.execute(delete(self.wanted))
        insert_lines(self.connection, self.wanted, self.wanted.c.keys(), unknown)
        for parent_id, *name in self.connection.execute(self.query):
            self.known[tuple(name)] = parent_id
        return self.known


class _TableLoader:
    """Inserts rows into a table, with the ids of their parents."""

    def __init__(self, connection: Connection, table: FactTable, file: str):
        self.connection = connection
        self.table = table
        self.file = file

        fields = table.fields
        columns = table.sheet.columns
        if table.rest_in:
            fields += FACT[table.rest_in].fields
            columns += FACT[table.rest_in].sheet.columns
        own = {field.column.name: field.source.name for field in fields if field.source.table is table.table}
        self.own = _column_picker(columns, own)
        self.key_of = _column_picker(columns, table.sheet.key)

        self.names = list(own.values())
        self.parents = []
        for parent in table.parents:
            self.names.append(parent.column)
            ids = _ParentIds(connection, table, parent)
            self.parents.append((parent, _column_picker(columns, parent.keys), ids))

    def put(self, rows: Sequence[Row], start: int) -> None:
        """Insert rows, the first of which has the number `start` in its file."""
        lines = list(map(self.own, rows))
        for parent, names_of, known_ids in self.parents:
            ids = self._ids(parent, known_ids, list(map(names_of, rows)), start)
            lines = [(*line, parent_id) for line, parent_id in zip(lines, ids, strict=True)]

        refused_because = self._insert(lines)
        if refused_because is None:
            return

        # One bad row makes the database refuse them all: inserting one at a time finds it.
        for number, (row, line) in enumerate(zip(rows, lines, strict=True), start):
            reason = self._insert([line])
            if reason is not None:
                key = _key_text(self.table.sheet.key, self.key_of(row))
                raise bad_file(self.file, f"row {number} ({key}) can't be in a record: {reason}")
        raise bad_file(self.file, f"rows from {start} on can't be in a record: {refused_because}")

    def _insert(self, lines: Iterable[Row]) -> str | None:
        """Insert all lines or none. Return why the database refused them; None if it did not."""
        try:
            with self.connection.begin_nested():
                insert_lines(self.connection, self.table.table, self.names, lines)
        except (DBAPIError, ArenaError) as error:
            if isinstance(error, ArenaError) and error.code != "raced":
                raise
            return str(error.__cause__ or error).partition("\n")[0]
        return None

    def _ids(
        self, parent: ParentKey, known_ids: _ParentIds, parent_names: Sequence[Row], start: int
    ) -> list[int | None]:
        """Return the id of each row's parent by its name; None if the row has no parent."""
        ids = known_ids.of({name for name in parent_names if None not in name})
        for number, name in enumerate(parent_names, start):
            if None not in name and name not in ids:
                kind = parent.column.removesuffix("_id")
                key = _key_text(parent.keys, name)
                raise bad_file(self.file, f"row {number} refers to a missing {kind}: {key}")
        return [ids.get(name) for name in parent_names]


Progress = Callable[[int, int], None]


def restore(place: Path, database: str, progress: Progress = lambda _done, _of: None) -> ExportManifest:
    """Make a record from an export at an address without facts, and return the export's manifest."""
    file = record_file(database)
    if file is None:  # a database server
        with tempfile.TemporaryDirectory(prefix="arena-import-") as folder:
            return _restore_into(place, Path(folder), database, progress)

    _check_free(file, database)
    with folder_next_to(file, UNWRITABLE) as folder:
        unpack_folder = folder / "unpacked"
        unpack_folder.mkdir()
        if file.exists() and file.stat().st_size:
            return _restore_into(place, unpack_folder, database, progress)

        new_file = folder / file.name
        manifest = _restore_into(place, unpack_folder, str(new_file), progress)
        if file.exists() and file.stat().st_size:
            raise _not_empty(str(file), "was meanwhile created by another process")

        with new_file.open("rb") as written:
            os.fsync(written.fileno())
        new_file.rename(file)
        return manifest


def _check_free(file: Path, database: str) -> None:
    """Raise `ArenaError` if a record there is not empty, without changing it."""
    if not file.exists() or (file.is_file() and not file.stat().st_size):
        return

    try:
        with open_read_only(database) as engine, reading(engine) as connection:
            _check_empty(connection, str(file))
    except NoRecord as error:
        raise _not_empty(str(file), "holds something other than a record") from error


def _restore_into(place: Path, spare: Path, database: str, progress: Progress) -> ExportManifest:
    """Restore an export into a database."""
    with open_export(place, spare, whole=True) as (folder, manifest):
        engine = connect(database)
        try:
            with engine.begin() as connection:
                _restore_and_check(connection, record_name(engine.url), folder, manifest, progress)
        finally:
            engine.dispose()
    return manifest


def _restore_and_check(
    connection: Connection, name: str, folder: Path, manifest: ExportManifest, progress: Progress
) -> None:
    """Restore an export into an empty database, and check the resulting record."""
    if schema_version(connection) is None and inspect(connection).get_table_names():
        raise _not_empty(name, "holds something other than a record")
    upgrade_connection(connection)
    _check_empty(connection, name)
    rows_done = 0
    rows_in_all = count_restored_rows(manifest)

    def report_rows(rows: int) -> None:
        nonlocal rows_done
        rows_done += rows
        progress(rows_done, rows_in_all)

    insert_facts(connection, folder, form_of(manifest.form), manifest, report_rows)
    if not any(name.startswith("heads.") for name in manifest.files):  # the export is of an earlier version
        begin_chain(connection, datetime.fromisoformat(manifest.made_at))
    _check_content(connection, manifest)


def count_restored_rows(manifest: ExportManifest) -> int:
    """Return the number of rows that an import inserts."""
    return sum(manifest.files[name].rows for name in tables_to_restore(manifest))


def _check_empty(connection: Connection, name: str) -> None:
    """Raise `ArenaError` if a table of the record has rows."""
    existing = set(inspect(connection).get_table_names())
    for table in METADATA.sorted_tables:
        if table.name in existing and connection.scalar(select(func.count()).select_from(table)):
            raise _not_empty(name, f"holds a record: its table {table.name} is not empty")


def _not_empty(name: str, why: str) -> ArenaError:
    """Return the error for a database that already holds something."""
    hint = "an import creates a new record: give --database a new name"
    return ArenaError("not_empty", f"{name} {why}", hint)


def _check_content(connection: Connection, manifest: ExportManifest) -> None:
    """Raise `ArenaError` if the record differs from the export or contradicts itself."""
    restored = state_hash(connection)
    exported = manifest.state_hash
    if restored != exported:
        _refuse_hidden_credential(connection)
        message = f"the record would have the state hash {restored}, but the export says {exported}"
        raise ArenaError("other_hash", message, HINT)

    for difference in find(connection, most=1, unpaid=False).listed:
        place = f"{difference.table}, {difference.key}, {difference.field}"
        values = f"{difference.found!r}, not {difference.expected!r}"
        message = f"the record would be inconsistent: {place}: {values} ({difference.why})"
        hint = "run arena admin verify on the exported record; nothing was changed here"
        raise ArenaError("differs", message, hint)


def _refuse_hidden_credential(connection: Connection) -> None:
    """Raise `ArenaError` if the export hides part of the sealed settings, so that no hash can match."""
    hidden = select(ReplacementRow.id).where(col(ReplacementRow.settings).contains(HIDDEN))
    if connection.scalar(hidden) is not None:
        message = "settings that an agent took later are sealed with a credential, which the export hides"
        hint = "move the record itself, by `arena admin backup`; nothing was changed here"
        raise ArenaError("hidden_credential", message, hint)
