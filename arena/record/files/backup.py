"""Backups: a record as of one instant in a verified SQLite file.

SQLite's own backup copies the pages in one read, so writers go on meanwhile and progress can be
shown; `VACUUM INTO` would write a smaller file where much was pruned, at several times the work and in
silence. From PostgreSQL the rows are copied, in one read too.
"""

import sqlite3
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from glob import escape
from pathlib import Path

from sqlalchemy import Engine
from sqlalchemy.engine import URL

from arena.errors import ArenaError
from arena.record.files.copy import ProgressCallback, atomic_file, copy_to_file, no_progress
from arena.record.files.integrity import ContentCheck, RecordContent, examine_file, naming_errors
from arena.record.schema.database import reading
from arena.record.schema.database_errors import record_name, sqlite_path, translated_file_errors

APPLICATION_ID = int.from_bytes(b"PArB", "big")
"""What SQLite's header calls the application of a file that is a backup of ours."""
APPLICATION_ID_BYTES = slice(68, 72)
NAME_TIME = "%Y%m%dT%H%M%SZ"
NAME_PATTERN = "[0-9]" * 8 + "T" + "[0-9]" * 6 + "Z.db"
"""How the names of backups end: with the time, in UTC."""


@dataclass(frozen=True, slots=True)
class Backup:
    """A backup, its size in bytes and what is in it, and the older ones that went for it."""

    path: Path
    size: int
    content: RecordContent
    gone: tuple[Path, ...] = ()


def backup(
    record: Engine,
    folder: Path,
    keep: int,
    at: datetime,
    check: ContentCheck,
    progress: ProgressCallback = no_progress,
) -> Backup:
    """Make a backup in a folder, named by the time, and keep only the newest `keep` of this record.

    It is there only once it was opened again, every page checked and the whole verified.
    """
    stem = stem_of(record.url)
    path = folder / f"{stem}-{at:{NAME_TIME}}.db"
    if path.exists() and not is_backup(path):
        raise _file_exists(path)
    made = _make_backup(record, path, stem, check, progress)
    deleted = _delete_old_backups(folder, stem, keep, path)
    return Backup(path, made.size, made.content, deleted)


def backup_to(
    record: Engine, path: Path, check: ContentCheck, progress: ProgressCallback = no_progress
) -> Backup:
    """Make a backup in a new file."""
    if path.exists():
        raise _file_exists(path)
    return _make_backup(record, path, None, check, progress)


def stem_of(url: URL) -> str:
    """Return the start of the names of a record's backups: the name of its file or database.

    >>> stem_of(URL.create("sqlite", database="a/my arena.db"))
    'my arena'
    """
    if url.get_backend_name() == "sqlite":
        return Path(sqlite_path(url)).stem
    return (url.database or "arena").replace("/", "_")


def newest_backup_file(url: URL, folder: Path) -> tuple[datetime, Path] | None:
    """Return the newest backup of a record in a folder, with its time from the file's name."""
    stem = stem_of(url)
    backups = []
    for path in folder.glob(f"{escape(stem)}-{NAME_PATTERN}"):
        if is_backup(path):
            time_text = path.name.removeprefix(f"{stem}-").removesuffix(".db")
            backups.append((datetime.strptime(time_text, NAME_TIME).replace(tzinfo=UTC), path))

    return max(backups, default=None)


def is_backup(path: Path) -> bool:
    """Tell whether a file is a backup that the arena made."""
    with translated_file_errors(path), path.open("rb") as file:
        header = file.read(APPLICATION_ID_BYTES.stop)
    return int.from_bytes(header[APPLICATION_ID_BYTES], "big") == APPLICATION_ID


def set_application_id(path: Path, value: int) -> None:
    """Mark a SQLite file as a backup, or as none."""
    with translated_file_errors(path), closing(sqlite3.connect(path, isolation_level=None)) as file:
        file.execute(f"PRAGMA application_id = {value}")


def _make_backup(
    record: Engine, path: Path, lock_key: str | None, check: ContentCheck, progress: ProgressCallback
) -> Backup:
    leftover_pattern = None if lock_key is None else f"{escape(lock_key)}-{NAME_PATTERN}"
    with (
        atomic_file(path, lock_key, leftover_pattern) as temporary,
        naming_errors(temporary, record_name(record.url)),
    ):
        with reading(record) as connection:
            copy_to_file(connection, temporary, progress)
        set_application_id(temporary, APPLICATION_ID)
        content = examine_file(temporary, check, progress)
        size = temporary.stat().st_size
    return Backup(path, size, content)


def _delete_old_backups(folder: Path, stem: str, keep_count: int, new_backup: Path) -> tuple[Path, ...]:
    """Delete the oldest backups of a record; files that the arena did not make stay, whatever their names."""
    backups = sorted(path for path in folder.glob(f"{escape(stem)}-{NAME_PATTERN}") if is_backup(path))
    deleted = tuple(path for path in backups[:-keep_count] if path != new_backup)
    with translated_file_errors(folder):
        for path in deleted:
            path.unlink()
    return deleted


def _file_exists(path: Path) -> ArenaError:
    return ArenaError("exists", f"{path} already exists", "name another file, or move it")
