"""Checks of where an arena keeps things: what the config says of them must be possible there."""

from pathlib import Path

from arena.config.document import Document
from arena.config.errors import shown
from arena.config.model import Frame


def check_places(document: Document, frame: Frame, folder: Path, database: str | None) -> None:
    """Note workers beside a record in a file, and backups in a folder that is none.

    `database` is the record that was named in place of the config's.
    """
    if frame.run.workers and not (database or frame.database).startswith("postgresql"):
        meant = "false, or a record on PostgreSQL"
        words = (
            "workers take their turns from PostgreSQL, and this record is a file. Name another one under "
            "`database` or by --database (docs/scaling.md tells how a record moves), or take `workers` out: "
            "`arena run` plays every turn itself then"
        )
        document.add(("run", "workers"), "true", meant, words)
    backups = folder / frame.backup.folder
    if in_the_way := next((path for path in (backups, *backups.parents) if path.is_file()), None):
        words = f"{in_the_way} is a file. Name another folder, or move that file away"
        document.add(("backup", "folder"), shown(frame.backup.folder), "a folder", words)
