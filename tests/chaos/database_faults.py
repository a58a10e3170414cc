"""What the database of a simulated season may do to a process: be away, be locked, have no room, fail.

It does so between the product and the driver: each process has connections of this module, which meet a fault
as they begin, at any statement, and at a commit, before it took effect or after. There a process can also be
suspended in the middle of a step.
"""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from errno import ENOSPC
from functools import wraps
from os import strerror
from pathlib import Path
from typing import Any
from unittest.mock import patch

from sqlalchemy import Engine, event

from arena.errors import ArenaError
from arena.record.files.room import AnswerRoom
from arena.record.write.operations import Fence
from tests.chaos.loop import PROCESS, SeededLoop
from tests.opened_record import OpenedRecord

DRIVER_WORDS = {
    "disk_error": "disk I/O error",
    "disk_full": "database or disk is full",
    "locked": "database is locked",
    "read_only": "attempt to write a readonly database",
}
"""What the driver says of each fault. SQLite is never `unreachable`, a server is."""
PASSING_CODES = ("disk_error", "disk_full", "locked", "unreachable")
FAULT_CODES = (*DRIVER_WORDS, "unreachable")
COMMIT_CODES = ("disk_error", "disk_full", "unreachable")
LOST_COMMIT_CODES = ("disk_error", "unreachable")
"""Faults that a process may get from a commit, and from one that is done all the same."""
RELEASE = AnswerRoom.release
EXTEND = AnswerRoom._extend
LOOK_AT_LOCK = 0.5
"""Seconds between two looks of a writer whether the one before it is done."""

WriteMethod = Callable[..., Any]


class Dead(BaseException):
    """The process was killed: it writes nothing more."""


@dataclass(frozen=True, slots=True)
class Change:
    """What a process writes in a transaction: the name of the function, its fence, if it must outlive a cut.

    Of the turns that the process waits for, the holder of one is `silent` for so many seconds.
    """

    name: str = ""
    fence: Fence | None = None
    durable: bool = False
    silent: float = 0.0


@dataclass
class ArmedFault:
    """A fault that a process meets once: at a statement, at a commit, or once that is done.

    `left` are the statements or commits until then. With a `change` only those of that function count, and
    without a process those of any.
    """

    at: str
    code: str
    left: int = 1
    process: str = ""
    change: str = ""


@dataclass(frozen=True, slots=True)
class ArmedPause:
    """A pause of whoever makes a change next: as it begins, before its commit, or once that is done.

    It may be only for one to whom something was `silent` for so many seconds. `then` is given the process.
    """

    at: str
    change: str
    seconds: float
    silent: float = 0.0
    then: Callable[[str], None] | None = None


class WatchedCursor(sqlite3.Cursor):
    """A cursor of a connection that meets faults."""

    connection: "WatchedConnection"

    def execute(self, sql: str, *values: Any) -> "WatchedCursor":
        """Execute a statement, unless it meets a fault."""
        self.connection.meet(sql)
        super().execute(sql, *values)
        return self

    def executemany(self, sql: str, *values: Any) -> "WatchedCursor":
        """Execute a statement for many rows, unless it meets a fault."""
        self.connection.meet(sql)
        super().executemany(sql, *values)
        return self


class WatchedConnection(sqlite3.Connection):
    """A connection that meets the faults of its process. It `writes` from BEGIN IMMEDIATE to the end."""

    faults: "DatabaseFaults | None" = None
    process = ""
    writes = False
    patience = 0.0

    def cursor(self, *_: Any, **__: Any) -> Any:
        """Return a cursor that meets faults too."""
        return super().cursor(WatchedCursor)

    def execute(self, sql: str, *values: Any) -> sqlite3.Cursor:
        """Execute a statement, unless it meets a fault."""
        cursor: sqlite3.Cursor = self.cursor().execute(sql, *values)
        return cursor

    def meet(self, sql: str) -> None:
        """Let a statement meet a fault."""
        if sql.startswith("PRAGMA busy_timeout"):
            self.patience = float(sql.rpartition("=")[2]) / 1_000
        elif self.faults is not None and not sql.startswith("PRAGMA"):
            self.faults.before_statement(self, sql)

    def commit(self) -> None:
        """Commit, unless that meets a fault."""
        if self.faults is None or not self.in_transaction:
            super().commit()
            return

        wrote = self.writes
        self.faults.before_commit(self)
        super().commit()
        self.writes = False
        if wrote:
            self.faults.after_commit(self)

    def rollback(self) -> None:
        """Undo what was begun."""
        self.writes = False
        super().rollback()

    def synchronous(self) -> int:
        """Return how the connection waits for the disk, as the driver says."""
        (level,) = super().execute("PRAGMA synchronous").fetchone()
        return int(level)


@dataclass
class DatabaseFaults:
    """Until when which process meets which fault, until when the disk is full or read-only for all.

    `trouble` is told of each fault: the process, or nothing for all, the seconds, and its kind. `committed`
    is called after each commit of a change.
    """

    loop: SeededLoop
    note: Callable[[str], None] = lambda _what: None
    trouble: Callable[[str, float, str], None] = lambda _name, _seconds, _kind: None
    committed: Callable[[WatchedConnection, Change], None] = lambda _connection, _change: None
    without: dict[str, tuple[float, str]] = field(default_factory=dict)
    full_until: float = 0.0
    read_only_until: float = 0.0
    freed: set[str] = field(default_factory=set)
    """The processes that have given up the room they held for answers."""
    armed: list[ArmedFault] = field(default_factory=list)
    pauses: list[ArmedPause] = field(default_factory=list)
    changes: dict[str, Change] = field(default_factory=dict)
    """What each process writes now."""
    connections: list[WatchedConnection] = field(default_factory=list)

    # ---- connections

    def watch(self, engine: Engine) -> None:
        """Let the connections of an engine meet the faults."""

        @event.listens_for(engine, "do_connect")
        def choose_class(_dialect: Any, _record: Any, _values: Any, options: dict[str, Any]) -> None:
            options["factory"] = WatchedConnection

        @event.listens_for(engine, "connect")
        def watch_connection(driver: WatchedConnection, _: object) -> None:
            driver.faults = self
            driver.process = PROCESS.get()
            self.connections.append(driver)

        @event.listens_for(engine, "close")
        def forget_connection(driver: WatchedConnection, _: object) -> None:
            self.connections.remove(driver)

    def noting(self, method: WriteMethod) -> WriteMethod:
        """Return a method of `Record` so that it is known what a process writes while it does."""
        fenced = method.__name__ == "write"
        durable = method.__name__ == "write_answer"

        @wraps(method)
        def write(record: OpenedRecord, change: Callable[..., Any], *args: Any, **options: Any) -> Any:
            name = PROCESS.get()
            silent = longest_silence(record)
            fence = record.fence if fenced else None
            self.changes[name] = Change(getattr(change, "__name__", ""), fence, durable, silent)
            try:
                return method(record, change, *args, **options)
            finally:
                self.changes.pop(name, None)

        return write

    def let_go(self, name: str) -> None:
        """Undo what a process has begun, as its end does, and drop its locks."""
        for connection in self.connections:
            if connection.process == name:
                connection.rollback()

    def close(self) -> None:
        """Close the connections that processes have left open, as their end does."""
        for connection in self.connections:
            connection.close()

    # ---- what is drawn

    def cut_off(self, name: str, code: str, seconds: float) -> None:
        """Let each transaction of a process fail for a while."""
        self.without[name] = self.loop.moment + seconds, code
        self.trouble(name, seconds, "database")

    def fill(self, seconds: float) -> None:
        """Leave nobody room to write for a while; all can read."""
        self.freed.clear()
        self.full_until = self.loop.moment + seconds
        self.trouble("", seconds, "disk")

    def is_full(self) -> bool:
        """Return whether there is no room on the disk."""
        return self.loop.moment < self.full_until

    def make_read_only(self, seconds: float) -> None:
        """Let nobody write for a while; all can read."""
        self.read_only_until = self.loop.moment + seconds
        self.trouble("", seconds, "disk")

    # ---- what a connection meets

    def before_statement(self, connection: WatchedConnection, sql: str) -> None:
        """Let a statement meet a fault."""
        name = PROCESS.get()
        if name in self.loop.dead:
            raise Dead
        if not name:
            if sql == "BEGIN IMMEDIATE":
                self._wait_for_lock(connection, name)
                connection.writes = True
            return

        change = self.changes.get(name, Change())
        if sql == "BEGIN IMMEDIATE":
            self._pause("begin", change)
            self._meet_spell(name)
            self._meet_disk(name, change)
            self._wait_for_lock(connection, name)
            connection.writes = True
        elif sql == "BEGIN":
            self._meet_spell(name)
        self._meet_armed("statement", name, change)

    def before_commit(self, connection: WatchedConnection) -> None:
        """Let a commit meet a fault before it takes effect."""
        name = PROCESS.get()
        if name in self.loop.dead:
            raise Dead
        if name and connection.writes:
            change = self.changes.get(name, Change())
            self._pause("commit", change)
            self._meet_armed("commit", name, change)

    def after_commit(self, connection: WatchedConnection) -> None:
        """Let a commit meet a fault once it has taken effect."""
        name = PROCESS.get()
        change = self.changes.get(name, Change())
        self.committed(connection, change)
        if name:
            self._meet_armed("committed", name, change)
            self._pause("committed", change)

    def _meet_spell(self, name: str) -> None:
        """Raise the fault that a process meets for a while."""
        until, code = self.without.get(name, (0.0, ""))
        if self.loop.moment < until:
            raise driver_error(code, name)

    def _meet_disk(self, name: str, change: Change) -> None:
        """Raise what the disk says to one who wants to write, where it is full or can only be read.

        On a full one an answer is kept where its process has given up the room that it held for those.
        """
        if self.loop.moment < self.read_only_until:
            raise driver_error("read_only", name)
        if self.is_full() and not (change.durable and name in self.freed):
            raise driver_error("disk_full", name)

    def _wait_for_lock(self, connection: WatchedConnection, name: str) -> None:
        """Wait until nobody else writes, for as long as the connection is told to."""
        waited = 0.0
        while any(other.writes for other in self.connections if other is not connection):
            if not name or waited >= connection.patience:
                self.trouble(name, 0.0, "database")
                raise driver_error("locked", name)
            self.trouble(name, LOOK_AT_LOCK, "suspended")
            self.loop.stand_still(LOOK_AT_LOCK)
            waited += LOOK_AT_LOCK

    def _meet_armed(self, at: str, name: str, change: Change) -> None:
        """Raise a fault that was prepared for this statement or commit."""
        for fault in self.armed:
            if fault.at != at or fault.process not in ("", name) or fault.change not in ("", change.name):
                continue
            fault.left -= 1
            if fault.left <= 0:
                self.armed.remove(fault)
                self.note(f"{name}: {fault.code} at a {at} of {change.name or 'a look'}")
                self.trouble(name, 0.0, "database")
                raise driver_error(fault.code, name)

    def _pause(self, at: str, change: Change) -> None:
        """Suspend a process at the change for which that was prepared."""
        for pause in self.pauses:
            if (pause.at, pause.change) == (at, change.name) and change.silent >= pause.silent:
                self.pauses.remove(pause)
                name = PROCESS.get()
                self.note(f"{name} is suspended for {pause.seconds:.1f} s at {change.name}, {at}")
                self.trouble(name, pause.seconds, "suspended")
                if pause.then is not None:
                    pause.then(name)
                self.loop.stand_still(pause.seconds)
                return

    # ---- room for answers

    @contextmanager
    def in_rooms(self) -> Iterator[None]:
        """Let whoever holds or releases room for answers meet these faults."""

        def release(room: AnswerRoom) -> bool:
            return self.release(room)

        def extend(room: AnswerRoom, folder: Path, answers: int) -> None:
            self.extend(room, folder, answers)

        with patch.object(AnswerRoom, "release", release), patch.object(AnswerRoom, "_extend", extend):
            yield

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


def longest_silence(record: OpenedRecord) -> float:
    """Return for how long the holder of a turn is silent that a process waits for."""
    longest = 0.0
    for silence in record.watch.silences.values():
        if silence.hold.what.startswith("turn "):
            longest = max(longest, silence.seconds)
    return longest


def driver_error(code: str, name: str) -> Exception:
    """Return the fault of a code as the driver raises it."""
    words = DRIVER_WORDS.get(code)
    if words is None:
        return ArenaError(code, f"{name}: {code}")
    return sqlite3.OperationalError(words)
