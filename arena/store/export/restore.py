"""A record made of an export: all of it, checked, or nothing."""

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import Connection, func, inspect, select

from arena.errors import ArenaError
from arena.store.database import NoRecord, connect, looking, reading, upgrade_here, url_of, version_of
from arena.store.export.forms import form_of
from arena.store.export.forms.faults import MEND
from arena.store.export.load import load
from arena.store.export.manifest import Manifest
from arena.store.export.tables import PUT_BACK
from arena.store.export.unpack import opened
from arena.store.statehash import state_hash
from arena.store.tables import METADATA
from arena.store.troubles import name_of
from arena.store.verify import find

Moved = Callable[[int, int], None]


def restore(place: Path, database: str, moved: Moved = lambda _done, _of: None) -> Manifest:
    """Make a record of an export where there is none, or an empty one; what the export was."""
    url = url_of(database)
    file = Path(url.database or "") if url.get_backend_name() == "sqlite" else None
    if file is None:
        with tempfile.TemporaryDirectory(prefix="arena-import-") as folder:
            return _restored(place, Path(folder), database, moved)
    _must_be_free(file, database)
    with _beside(file) as beside:
        (spare := beside / "unpacked").mkdir()
        if file.exists() and file.stat().st_size:
            return _restored(place, spare, database, moved)
        made = beside / file.name
        manifest = _restored(place, spare, str(made), moved)
        _put(made, file)
        return manifest


def _must_be_free(file: Path, database: str) -> None:
    """That there is no record yet, or an empty one; it is only looked at."""
    if not file.exists() or (file.is_file() and not file.stat().st_size):
        return
    try:
        with looking(database) as engine, reading(engine) as connection:
            _must_be_empty(connection, str(file))
    except NoRecord as error:
        raise _not_empty(str(file), "holds something that is no record") from error


@contextmanager
def _beside(file: Path) -> Iterator[Path]:
    try:
        with tempfile.TemporaryDirectory(dir=file.absolute().parent, prefix=f".{file.name}.") as folder:
            yield Path(folder)
    except OSError as error:
        mend = "name a file in a folder that is there, with room, and in which you may write"
        raise ArenaError("not_writable", f"{file} can't be written: {error.strerror}", mend) from error


def _put(made: Path, file: Path) -> None:
    """The new record to its place, if nobody else has put one there meanwhile."""
    if file.exists() and file.stat().st_size:
        raise _not_empty(str(file), "was made by another process meanwhile")
    with made.open("rb") as whole:
        os.fsync(whole.fileno())
    made.rename(file)


def _restored(place: Path, spare: Path, database: str, moved: Moved) -> Manifest:
    with opened(place, spare) as (folder, manifest):
        engine = connect(database)
        try:
            with engine.begin() as connection:
                _fill(connection, name_of(engine.url), folder, manifest, moved)
        finally:
            engine.dispose()
    return manifest


def _fill(connection: Connection, name: str, folder: Path, manifest: Manifest, moved: Moved) -> None:
    if version_of(connection) is None and inspect(connection).get_table_names():
        raise _not_empty(name, "holds something that is no record")
    upgrade_here(connection)
    _must_be_empty(connection, name)
    form, done, whole = form_of(manifest.form), 0, put_back(manifest)

    def counted(rows: int) -> None:
        nonlocal done
        done += rows
        moved(done, whole)

    load(connection, folder, form, manifest, counted)
    _must_agree(connection, manifest)


def put_back(manifest: Manifest) -> int:
    """How many rows an import makes of an export."""
    ending = form_of(manifest.form).ending
    return sum(manifest.files[f"{each.sheet.name}{ending}"].rows for each in PUT_BACK)


def _must_be_empty(connection: Connection, name: str) -> None:
    there = set(inspect(connection).get_table_names())
    for table in METADATA.sorted_tables:
        if table.name in there and connection.scalar(select(func.count()).select_from(table)):
            raise _not_empty(name, f"holds a record: its table {table.name} is not empty")


def _not_empty(name: str, why: str) -> ArenaError:
    mend = "an import makes a new record: name one that is not there yet with --database"
    return ArenaError("not_empty", f"{name} {why}", mend)


def _must_agree(connection: Connection, manifest: Manifest) -> None:
    """That what is in the record is what was exported, and agrees with itself."""
    found = state_hash(connection)
    if found != manifest.state_hash:
        message = f"the record would have the state hash {found}, and the export says {manifest.state_hash}"
        raise ArenaError("other_hash", message, MEND)
    for first in find(connection, most=1).listed:
        where = f"{first.table}, {first.key}, {first.field}: {first.found!r}, not {first.expected!r}"
        message = f"the record would not agree with itself: {where} ({first.why})"
        mend = "arena verify on the record that was exported says more; nothing was changed here"
        raise ArenaError("differs", message, mend)
