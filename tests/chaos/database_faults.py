"""What the database of a simulated season may do to a process: be away, be locked, have no room."""

from dataclasses import dataclass, field
from errno import ENOSPC
from os import strerror
from pathlib import Path

from sqlalchemy import Engine, event

from arena.errors import ArenaError
from arena.record.files.room import AnswerRoom
from arena.record.schema.database import DURABLE_OPTION, READ_ONLY_OPTION, Connection
from tests.chaos.loop import PROCESS, SeededLoop

FAULT_CODES = ("disk_full", "locked", "unreachable")
RELEASE = AnswerRoom.release
EXTEND = AnswerRoom._extend


class Dead(BaseException):
    """The process was killed: it writes nothing more."""


@dataclass
class DatabaseFaults:
    """Until when which process meets which fault, and until when the disk is full for all."""

    loop: SeededLoop
    without: dict[str, tuple[float, str]] = field(default_factory=dict)
    full_until: float = 0.0
    freed: set[str] = field(default_factory=set)
    """The processes that have given up the room they held for answers."""

    def watch(self, engine: Engine) -> None:
        """Let the transactions of an engine meet the faults."""

        @event.listens_for(engine, "begin")
        def begin(connection: Connection) -> None:
            name = PROCESS.get()
            if name in self.loop.dead:
                raise Dead

            until, code = self.without.get(name, (0.0, ""))
            if self.loop.time() < until:
                raise ArenaError(code, f"{name}: {code}")
            if self.is_full() and name and not self.may_write(connection, name):
                raise ArenaError("disk_full", f"{name}: the disk is full")

    def cut_off(self, name: str, code: str, seconds: float) -> None:
        """Let each transaction of a process fail for a while."""
        self.without[name] = self.loop.time() + seconds, code

    def fill(self, seconds: float) -> None:
        """Leave nobody room to write for a while; all can read."""
        self.freed.clear()
        self.full_until = self.loop.time() + seconds

    def is_full(self) -> bool:
        """Return whether there is no room on the disk."""
        return self.loop.time() < self.full_until

    def may_write(self, connection: Connection, name: str) -> bool:
        """Return whether a transaction needs no more room than there is.

        It reads, or keeps an answer where its process has given up the room that it held for those.
        """
        options = connection.get_execution_options()
        return bool(options.get(READ_ONLY_OPTION) or (options.get(DURABLE_OPTION) and name in self.freed))

    def release(self, room: AnswerRoom) -> bool:
        """Release what a process held for answers, as `AnswerRoom.release` does."""
        had = RELEASE(room)
        if had:
            self.freed.add(PROCESS.get())
        return had

    def extend(self, room: AnswerRoom, folder: Path, answers: int) -> None:
        """Reserve room for more answers, as `AnswerRoom` does, where there is some."""
        if self.is_full():
            raise OSError(ENOSPC, strerror(ENOSPC))
        EXTEND(room, folder, answers)
