"""A record made of an export: all of it, checked, or nothing.

The rows of an export put back where they were: the same tables, the same checks and the same triggers.
"""

import operator
import os
import sqlite3
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import islice
from pathlib import Path

from sqlalchemy import Column, Connection, MetaData, Table, and_, delete, event, func, inspect, literal_column
from sqlalchemy.exc import DBAPIError

from agents.secrets import HIDDEN
from arena.errors import ArenaError
from arena.exports.fact_tables import FACT, FACTS
from arena.exports.forms import FileForm, form_of
from arena.exports.forms.cells import HINT, bad_file
from arena.exports.manifest import ExportManifest, folder_next_to, open_export
from arena.exports.table import ExportTable, FactTable, ParentKey, Row
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
from arena.record.schema.statements import insert_lines
from arena.record.schema.tables import METADATA
from arena.record.schema.typed import col, select
from arena.record.write.heads import begin_chain
from arena.verify import find

BATCH, MOST_KNOWN = 2_000, 10_000
"""So many rows at once, and so many ids of what they belong to are remembered."""
RESTS = {each.rest_in for each in FACTS}
UNWRITABLE = "name a file in a folder that exists, is writable and has room"


def load(
    connection: Connection,
    folder: Path,
    form: FileForm,
    manifest: ExportManifest,
    progress: Callable[[int], None],
) -> None:
    """All facts of an export into an empty record, in the caller's transaction; `moved` hears how many."""
    for name, each in put_back(manifest).items():
        table, start = _TableLoader(connection, each, name), 1
        rows = _rows(folder, form, each)
        while batch := list(islice(rows, BATCH)):
            table.put(batch, start)
            start += len(batch)
            progress(len(batch))
        if start - 1 != manifest.files[name].rows:
            raise bad_file(name, f"it has {start - 1:,} rows, but the manifest says otherwise")


def put_back(manifest: ExportManifest) -> dict[str, FactTable]:
    """The tables read one after another, by file; what has the rest of their rows comes with them."""
    ending = form_of(manifest.form).ending
    files = {f"{each.sheet.name}{ending}": each for each in FACTS if each.sheet.name not in RESTS}
    return {name: each for name, each in files.items() if name in manifest.files or not each.is_new}


def _rows(folder: Path, form: FileForm, each: FactTable) -> Iterator[Row]:
    """The rows of a table, with the columns that another table has of them."""
    rows = form.read(folder / f"{each.sheet.name}{form.ending}", each.sheet.columns)
    if not each.rest_in:
        yield from rows
        return
    other, name = FACT[each.rest_in].sheet, f"{each.rest_in}{form.ending}"
    others = iter(form.read(folder / name, other.columns))
    own_key, other_key = (
        _getter(_columns(each.sheet), each.sheet.key),
        _getter(_columns(other), each.sheet.key),
    )
    for number, row in enumerate(rows, 1):
        rest = next(others, None)
        if rest is None or other_key(rest) != own_key(row):
            raise bad_file(name, f"row {number} is not that of {_key(each, row)}")
        yield row + rest
    if next(others, None) is not None:
        raise bad_file(name, f"it has more rows than {each.sheet.name}{form.ending}")


def _columns(*sheets: ExportTable) -> dict[str, int]:
    """Where the columns of a table's rows stand, followed by those of another's that has the rest."""
    return {column.name: place for place, column in enumerate(c for x in sheets for c in x.columns)}


def _getter(places: Mapping[str, int], names: Sequence[str]) -> Callable[[Row], Row]:
    """What takes these columns out of a row."""
    if len(names) == 1:
        (place,) = (places[name] for name in names)
        return lambda row: (row[place],)
    return operator.itemgetter(*(places[name] for name in names))


def _key(each: FactTable, row: Row) -> str:
    places = _columns(each.sheet)
    return ", ".join(f"{name} {row[places[name]]}" for name in each.sheet.key)


class _ParentIds:
    """The ids of what rows belong to, found by its names in a table of their own: a join goes by the index,
    where a list of names would be held against every row.
    """

    def __init__(self, connection: Connection, each: FactTable, parent: ParentKey):
        self.connection = connection
        columns = [Column(f"key_{place}", named.type) for place, named in enumerate(parent.named)]
        name = f"wanted_{each.table.name}_{parent.column}"
        self.wanted = Table(name, MetaData(), *columns, prefixes=["TEMPORARY"])
        self.wanted.create(connection)
        self.query = parent.ids.join(self.wanted, and_(*map(operator.eq, parent.named, columns)))
        if connection.dialect.name == "sqlite":  # it has to know that these rows are few, and begin with them
            few = func.likelihood(columns[0].is_not(None), literal_column("0.0001"))
            self.query = self.query.where(few)
        self.known = dict[Row, int]()

    def of(self, names: Iterable[Row]) -> dict[Row, int]:
        """The ids of these, those that are there, and of some that were asked for before."""
        if fresh := [name for name in names if name not in self.known]:
            if len(self.known) > MOST_KNOWN:
                self.known.clear()
                fresh = list(names)
            self.connection.execute(delete(self.wanted))
            insert_lines(self.connection, self.wanted, [each.name for each in self.wanted.c], fresh)
            self.known |= {tuple(name): parent_id for parent_id, *name in self.connection.execute(self.query)}
        return self.known


class _TableLoader:
    """A table that rows are put into, found by the names of what they belong to."""

    def __init__(self, connection: Connection, each: FactTable, file: str):
        self.connection, self.each, self.file = connection, each, file
        fields = (*each.fields, *(FACT[each.rest_in].fields if each.rest_in else ()))
        own = {f.column.name: f.source.name for f in fields if f.source.table is each.table}
        places = _columns(each.sheet, *([FACT[each.rest_in].sheet] if each.rest_in else ()))
        self.own = _getter(places, list(own))
        self.names_of = [_getter(places, parent.keys) for parent in each.parents]
        self.names = (*own.values(), *(parent.column for parent in each.parents))
        self.ids = {parent.column: _ParentIds(connection, each, parent) for parent in each.parents}

    def put(self, rows: Sequence[Row], start: int) -> None:
        """Put in these rows, the first of which has this number in its file."""
        wanted = [list(map(names_of, rows)) for names_of in self.names_of]
        ids = [self._ids(*each, start) for each in zip(self.each.parents, wanted, strict=True)]
        own = map(self.own, rows)
        lines = (
            [values + parents for values, parents in zip(own, zip(*ids, strict=True), strict=True)]
            if ids
            else list(own)
        )
        refused = self._insert(lines)
        if refused is None:
            return
        for place, line in enumerate(lines):
            if why := self._insert([line]):
                key = _key(self.each, rows[place])
                raise bad_file(self.file, f"row {start + place} ({key}) can't be in a record: {why}")
        raise bad_file(self.file, f"rows from {start} on can't be in a record: {refused}")

    def _insert(self, lines: Iterable[Row]) -> str | None:
        """Lines in the table, all or none; what the database has against them."""
        try:
            with self.connection.begin_nested():
                insert_lines(self.connection, self.each.table, self.names, lines)
        except (DBAPIError, ArenaError) as error:
            if isinstance(error, ArenaError) and error.code != "raced":
                raise
            cause = error.__cause__ or error
            return str(cause).partition("\n")[0]
        return None

    def _ids(self, parent: ParentKey, wanted: Sequence[Row], start: int) -> list[int | None]:
        """The id of what each row belongs to, by its name; None where it belongs to nothing."""
        ids = self.ids[parent.column].of({name for name in wanted if None not in name})
        for number, name in enumerate(wanted, start):
            if None not in name and name not in ids:
                key = ", ".join(f"{key} {value}" for key, value in zip(parent.keys, name, strict=True))
                what = parent.column.removesuffix("_id")
                raise bad_file(self.file, f"row {number} refers to a missing {what}: {key}")
        return [ids.get(name) for name in wanted]


Progress = Callable[[int, int], None]


def restore(place: Path, database: str, progress: Progress = lambda _done, _of: None) -> ExportManifest:
    """Make a record of an export where there is none, or an empty one; what the export was."""
    file = record_file(database)
    if file is None:
        with tempfile.TemporaryDirectory(prefix="arena-import-") as folder:
            return _restore_into(place, Path(folder), database, progress)
    _must_be_free(file, database)
    with folder_next_to(file, UNWRITABLE) as folder:
        (spare := folder / "unpacked").mkdir()
        if file.exists() and file.stat().st_size:
            return _restore_into(place, spare, database, progress)
        made = folder / file.name
        manifest = _restore_into(place, spare, str(made), progress, is_ours=True)
        if file.exists() and file.stat().st_size:
            raise _not_empty(str(file), "was meanwhile created by another process")
        with made.open("rb") as whole:
            os.fsync(whole.fileno())
        made.rename(file)
        return manifest


def _must_be_free(file: Path, database: str) -> None:
    """That there is no record yet, or an empty one; it is only looked at."""
    if not file.exists() or (file.is_file() and not file.stat().st_size):
        return
    try:
        with open_read_only(database) as engine, reading(engine) as connection:
            _must_be_empty(connection, str(file))
    except NoRecord as error:
        raise _not_empty(str(file), "holds something other than a record") from error


def _restore_into(
    place: Path, spare: Path, database: str, progress: Progress, is_ours: bool = False
) -> ExportManifest:
    with open_export(place, spare, whole=True) as (folder, manifest):
        engine = connect(database)
        if is_ours:  # nobody else sees the file until it is whole and on the disk
            event.listen(engine, "connect", _write_once)
        try:
            with engine.begin() as connection:
                _fill(connection, record_name(engine.url), folder, manifest, progress)
        finally:
            engine.dispose()
    return manifest


def _write_once(driver: sqlite3.Connection, _: object) -> None:
    """Write each page once, into the file itself, not into a log first."""
    driver.execute("PRAGMA journal_mode = MEMORY")
    driver.execute("PRAGMA synchronous = OFF")


def _fill(
    connection: Connection, name: str, folder: Path, manifest: ExportManifest, progress: Progress
) -> None:
    if schema_version(connection) is None and inspect(connection).get_table_names():
        raise _not_empty(name, "holds something other than a record")
    upgrade_connection(connection)
    _must_be_empty(connection, name)
    form, done, whole = form_of(manifest.form), 0, restore_rows(manifest)

    def counted(rows: int) -> None:
        nonlocal done
        done += rows
        progress(done, whole)

    load(connection, folder, form, manifest, counted)
    if not any(name.startswith("heads.") for name in manifest.files):  # no arena of then wrote any
        begin_chain(connection, datetime.fromisoformat(manifest.made_at))
    _must_agree(connection, manifest)


def restore_rows(manifest: ExportManifest) -> int:
    """How many rows an import makes of an export."""
    return sum(manifest.files[name].rows for name in put_back(manifest))


def _must_be_empty(connection: Connection, name: str) -> None:
    there = set(inspect(connection).get_table_names())
    for table in METADATA.sorted_tables:
        if table.name in there and connection.scalar(select(func.count()).select_from(table)):
            raise _not_empty(name, f"holds a record: its table {table.name} is not empty")


def _not_empty(name: str, why: str) -> ArenaError:
    hint = "an import creates a new record: give --database a new name"
    return ArenaError("not_empty", f"{name} {why}", hint)


def _must_agree(connection: Connection, manifest: ExportManifest) -> None:
    """That what is in the record is what was exported, and agrees with itself."""
    restored_hash = state_hash(connection)
    if restored_hash != manifest.state_hash:
        _refuse_hidden(connection)
        message = (
            f"the record would have the state hash {restored_hash}, but the export says {manifest.state_hash}"
        )
        raise ArenaError("other_hash", message, HINT)
    for first in find(connection, most=1, unpaid=False).listed:
        where = f"{first.table}, {first.key}, {first.field}: {first.found!r}, not {first.expected!r}"
        message = f"the record would be inconsistent: {where} ({first.why})"
        hint = "run arena admin verify on the exported record; nothing was changed here"
        raise ArenaError("differs", message, hint)


def _refuse_hidden(connection: Connection) -> None:
    """Say so where an export hides a part of settings that turns are sealed with: no hash can be right."""
    hidden = select(ReplacementRow.id).where(col(ReplacementRow.settings).contains(HIDDEN))
    if connection.scalar(hidden) is not None:
        message = "settings that an agent took later are sealed with a credential, which the export hides"
        hint = "move the record itself, by `arena admin backup`; nothing was changed here"
        raise ArenaError("hidden_credential", message, hint)
