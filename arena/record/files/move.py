"""A record moved to another database: whole, verified there, and of the same state hash, or not at all."""

from pathlib import Path

from sqlalchemy import Engine

from arena.errors import ArenaError
from arena.record.files.copy import (
    ProgressCallback,
    atomic_file,
    copy_rows,
    copy_to_file,
    is_empty,
    no_progress,
)
from arena.record.files.integrity import ContentCheck, RecordContent, examine_file
from arena.record.hashes import state_hash
from arena.record.schema.database import connect, reading, upgrade, url_of
from arena.record.schema.database_errors import record_name


def move_record(
    source: Engine, to: str, check: ContentCheck, progress: ProgressCallback = no_progress
) -> RecordContent:
    """A copy of a record in a new file, or in a server's empty database; the record stays as it is."""
    url = url_of(to)
    if url.get_backend_name() == "sqlite":
        return _to_file(source, Path(url.database or ""), check, progress)
    target = connect(to)
    try:
        return _to_server(source, target, check, progress)
    finally:
        target.dispose()


def _to_file(source: Engine, path: Path, check: ContentCheck, progress: ProgressCallback) -> RecordContent:
    if path.exists():
        raise ArenaError("exists", f"{path} already exists", "name another file, or move it")
    with atomic_file(path) as part:
        with reading(source) as here:
            copy_to_file(here, part, progress)
            before = state_hash(here)
        return _check_same_hash(before, examine_file(part, check, progress), str(path))


def _to_server(
    source: Engine, target: Engine, check: ContentCheck, progress: ProgressCallback
) -> RecordContent:
    name = record_name(target.url)
    with target.connect() as connection:
        if not is_empty(connection):
            raise ArenaError("not_empty", f"{name} already holds a record", "name an empty database")
    upgrade(target)
    with reading(source) as here, target.begin() as there:
        copy_rows(here, there, progress)
        return _check_same_hash(state_hash(here), check(there, name, progress), name)


def _check_same_hash(before: str, after: RecordContent, name: str) -> RecordContent:
    if before != after.state_hash:
        message = f"the copy at {name} has the state hash {after.state_hash}, not {before}"
        raise ArenaError("differs", message, "the copy was deleted; please report this")
    return after
