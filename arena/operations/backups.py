"""Backups by hand, and upgrades of a record after a backup."""

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from arena.operations.incidents import end_trouble
from arena.record.files.backup import Backup, backup, backup_to
from arena.record.files.copy import ProgressCallback
from arena.record.schema.database import (
    connect,
    newest_schema_version,
    open_read_only,
    reading,
    record_file,
    schema_version,
    upgrade,
)
from arena.verify.content import verified_content


@dataclass(frozen=True, slots=True)
class BackupFolder:
    """The folder for a record's backups, and the number to keep."""

    path: Path = Path("backups")
    keep: int = 14


@dataclass(frozen=True, slots=True)
class UpgradeResult:
    """The version of a record's schema before and after an upgrade, and the backup that was made first.

    `queue` tells whether the tables of its queue were upgraded too.
    """

    before: str | None
    after: str
    backup: Path | None
    queue: bool


def back_up_record(
    address: str, target: Path | BackupFolder, at: datetime, progress: ProgressCallback
) -> Backup:
    """Copy a record into a file, or into the folder of its backups, and verify the copy."""
    with open_read_only(address, older=True) as engine:
        if isinstance(target, BackupFolder):
            copy = backup(engine, target.path, target.keep, at, verified_content, progress)
        else:
            copy = backup_to(engine, target, verified_content, progress)
        with reading(engine) as connection:
            is_current = schema_version(connection) == newest_schema_version()

    # A record of an earlier version is only copied: writing into it would upgrade it.
    if is_current:
        end_trouble(address, "verify_failed", at)
    return copy


def upgrade_record(
    address: str, folder: BackupFolder, at: datetime, progress: ProgressCallback
) -> UpgradeResult:
    """Upgrade a record of an older version, after a backup of it."""
    newest = newest_schema_version()
    saved = None
    with open_read_only(address, older=True) as engine:
        with reading(engine) as connection:
            version = schema_version(connection)
        if version != newest:
            saved = backup(engine, folder.path, folder.keep, at, verified_content, progress).path

    if version != newest:
        engine = connect(address)
        try:
            upgrade(engine)
        finally:
            engine.dispose()
    return UpgradeResult(version, newest, saved, _upgrade_queue(address))


def _upgrade_queue(address: str) -> bool:
    """Upgrade the queue beside a record on PostgreSQL; return whether it was out of date."""
    if record_file(address) is not None:
        return False
    try:
        from arena.record.write.turn_queue import upgrade_queue
    except ModuleNotFoundError:
        return False
    return upgrade_queue(address)
