"""A file that is there whole or not at all, however its making ends."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from glob import escape
from pathlib import Path

from arena.errors import ArenaError
from arena.record.schema.troubles import plainly

BESIDE = ("", "-journal", "-wal", "-shm")
"""What may lie beside a SQLite file, and belongs to it."""


@contextmanager
def arriving(
    target: Path,
    key: str | None = None,
    pattern: str | None = None,
    room: AbstractContextManager[None] | None = None,
) -> Iterator[Path]:
    """A file to be written under another name; it gets its own once all is well, and is on the disk then.

    Otherwise nothing of it stays. One process at a time writes what goes by a key and has a name by a
    pattern; so what one that was killed has left behind is known to be nobody's. `room` is entered at the
    last moment, to make room for it.
    """
    with plainly(target):
        if target.parent.is_file():
            words, mend = f"{target.parent} is a file, not a folder", "name another folder, or move it away"
            raise ArenaError("cannot_write", words, mend)
        target.parent.mkdir(parents=True, exist_ok=True)
        with _alone(target.with_name(f".{key or target.name}.lock")):
            part = target.with_name(f".{target.name}.part")
            for left in target.parent.glob(f".{pattern or escape(target.name)}.part*"):
                left.unlink()
            try:
                yield part
                _to_disk(part)
                with room or nullcontext():
                    part.replace(target)
                _to_disk(target.parent)
            finally:
                for end in BESIDE:
                    part.with_name(part.name + end).unlink(missing_ok=True)


@contextmanager
def _alone(lock: Path) -> Iterator[None]:
    with lock.open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if not lock.exists() or not os.path.samestat(os.fstat(file.fileno()), lock.stat()):
                raise BlockingIOError  # another one had it, and took it away as it was done
        except BlockingIOError as error:
            message = f"another process is writing into {lock.parent} at this moment"
            raise ArenaError("locked", message, "try again when that has ended") from error
        try:
            yield
        finally:
            lock.unlink(missing_ok=True)


def _to_disk(path: Path) -> None:
    """Have what was written outlive a power cut."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
