"""What a power cut leaves of a record in SQLite: what was synced to the disk, and of what came after some.

The log of a write goes to the file `-wal`, one frame a page. A commit with `synchronous=FULL` waits until all
of it is on the disk; so does a checkpoint, unless `synchronous` is OFF, before it copies pages into the main
file. Of frames that nobody has waited for, each sector may be there, or not, or half. The index `-shm` is in
memory alone. See https://www.sqlite.org/walformat.html.
"""

import shutil
import struct
from dataclasses import dataclass
from pathlib import Path
from random import Random

SECTOR = 512
HEADER_SIZE = 32
FRAME_HEADER_SIZE = 24
NORMAL, FULL = 1, 2
"""Levels of `PRAGMA synchronous`."""
SURVIVAL = (0.0, 0.5, 0.9, 0.99, 1.0)
"""How likely a sector that was not synced is on the disk, in one cut or another."""


@dataclass(frozen=True, slots=True)
class LogIndex:
    """What the index of a log says: its salt, the size of its pages, and how many frames are in it.

    Of those, so many have been copied into the main file.
    """

    salt: bytes
    page_size: int
    frames: int
    copied: int

    @classmethod
    def read(cls, file: Path) -> "LogIndex | None":
        """Return what the index of a record's log says; None without a log."""
        try:
            head = beside(file, "-shm").read_bytes()[:100]
        except FileNotFoundError:
            return None
        if len(head) < 100 or not head[12]:
            return None

        page_size, frames = struct.unpack_from("=HI", head, 14)
        (copied,) = struct.unpack_from("=I", head, 96)
        return cls(head[32:40], 65_536 if page_size == 1 else page_size, frames, copied)


@dataclass
class SyncedLog:
    """How much of a record's log is known to be on the disk: its header, and the first of its frames.

    `main_torn` says that pages were copied into the main file without waiting for the disk.
    """

    file: Path
    salt: bytes = b""
    header: bool = False
    frames: int = 0
    copied: int = 0
    main_torn: bool = False

    def note_commit(self, synchronous: int) -> None:
        """Note a commit by a connection with a level of `PRAGMA synchronous`."""
        index = LogIndex.read(self.file)
        if index is None:
            return

        if index.salt != self.salt:  # the log has begun anew, once all of it was in the main file
            self.salt = index.salt
            self.header = synchronous >= NORMAL
            self.frames = 0
            self.copied = 0

        was_copied = index.copied > self.copied
        self.copied = index.copied
        if synchronous >= FULL or (was_copied and synchronous >= NORMAL):
            self.frames = index.frames
            self.header = True
        elif was_copied:
            self.main_torn = True

    def note_start(self) -> None:
        """Note that what is in the log has been on the disk since before the machine was started."""
        index = LogIndex.read(self.file)
        if index is not None:
            self.salt = index.salt
            self.header = True
            self.frames = index.frames
            self.copied = index.copied

    def cut(self, into: Path, chance: Random) -> None:
        """Copy what a power cut leaves of the record into a folder."""
        survival = chance.choice(SURVIVAL)
        copy = into / self.file.name
        main = bytearray(self.file.read_bytes())
        if self.main_torn:
            tear(main, SECTOR, 0.9, chance)
        copy.write_bytes(main)

        log_file = beside(self.file, "-wal")
        if not log_file.exists():
            return
        log = bytearray(log_file.read_bytes())
        tear(log, self._synced_size(log), survival, chance)
        beside(copy, "-wal").write_bytes(log)

    def _synced_size(self, log: bytes | bytearray) -> int:
        """Return how many bytes of the log are on the disk for certain."""
        index = LogIndex.read(self.file)
        if index is None or index.salt != self.salt or not self.header:
            return 0
        return HEADER_SIZE + self.frames * (FRAME_HEADER_SIZE + index.page_size) if log else 0


def beside(file: Path, end: str) -> Path:
    """Return the path of a file that SQLite keeps beside a record."""
    return file.with_name(file.name + end)


def tear(content: bytearray, start: int, survival: float, chance: Random) -> None:
    """Change the sectors of a file that may not be on the disk: those from a byte on.

    Each is there, or is empty, or half of it is; and the file may be shorter than it was.
    """
    for begin in range(start - start % SECTOR, len(content), SECTOR):
        if chance.random() < survival:
            continue
        first = max(begin, start)
        if chance.random() < 0.5:
            first = max(first, begin + chance.randrange(SECTOR))
        end = min(begin + SECTOR, len(content))
        content[first:end] = bytes(max(0, end - first))

    if survival < 1 and chance.random() < 0.5:
        del content[chance.randint(min(start, len(content)), len(content)) :]


def copy_others(folder: Path, into: Path, file: Path) -> None:
    """Copy all that lies in a folder beside a record into another, which may lie in it too."""
    own = {file.name, *(beside(file, end).name for end in ("-wal", "-shm"))}
    for path in sorted(folder.iterdir()):
        if path.is_dir() and path != into:
            shutil.copytree(path, into / path.name, dirs_exist_ok=True)
        elif path.is_file() and path.name not in own:
            shutil.copy2(path, into / path.name)
