"""A proxy between the arena and a PostgreSQL that cuts, stalls and half-closes connections.

It reads as much of what clients send as it takes to see where a statement ends and which is a COMMIT. What it
does, and when, is decided by `Fault`s that it is given; what each met with is in its `log`. A connection is
known by its `application_name`, which libpq takes from PGAPPNAME, so that a fault meets one process.
"""

import asyncio
import socket
import struct
import threading
from collections import defaultdict
from collections.abc import Coroutine, Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any, Literal

from arena.clock import timer

Kind = Literal[
    "reset",
    "end",
    "stall",
    "drip",
    "half close",
    "vanish",
    "orphan",
    "refuse",
    "before commit",
    "after commit",
    "late commit",
    "unanswered",
]
"""What may happen to the connections of a process.

- `reset`, `end`: both sides are cut, without a farewell or with one
- `stall`, `drip`: nothing passes for a while, or a few bytes at a time
- `half close`: one side hears that the other has ended, which goes on
- `vanish`: the server is left alone, and the client hears nothing for a while
- `orphan`: the client is cut, and the server waits in its transaction for a while
- `refuse`: no new connection is let in for a while, whoever asks
- `before commit`, `after commit`: the client is cut at its next COMMIT, before or after it takes effect
- `late commit`: the client is cut at its next COMMIT, which takes effect a while later
- `unanswered`: the client is cut when its next statement has been done, which may be a transaction of its own
"""
ARMED: tuple[Kind, ...] = ("before commit", "after commit", "late commit", "unanswered")
"""Those that wait for a statement."""
AT_ONCE: tuple[Kind, ...] = ("reset", "end", "stall", "drip", "half close", "vanish", "orphan", "refuse")
KINDS = (*AT_ONCE, *ARMED)
Side = Literal["server", "client", "both"]
SIDES: tuple[Side, ...] = ("server", "client", "both")

CHUNK = 65_536
LOOK = 0.1
"""Seconds between two looks whether a stall is over."""
DRIP_BYTES = 7
DRIP_PAUSE = 0.002
RESET = struct.pack("ii", 1, 0)
"""The setting of a socket that is closed with RST."""


@dataclass(frozen=True, slots=True)
class Fault:
    """What happens to a process, for how many seconds, and on the way to which side.

    One that waits for a statement lets so many of them pass first: `skipped`.
    """

    kind: Kind
    process: str
    seconds: float = 0.0
    towards: Side = "both"
    skipped: int = 0

    def __str__(self) -> str:
        """Return the fault in words."""
        words = f"{self.kind}, {self.process}"
        if self.seconds:
            words += f", {self.seconds:.1f} s"
        if self.kind in ("stall", "half close"):
            words += f", towards {self.towards}"
        if self.skipped:
            words += f", after {self.skipped} more"
        return words


def drawn_fault(chance: Random, processes: list[str], longest: float) -> Fault:
    """Return a fault of one of the processes."""
    kind = chance.choice(KINDS)
    process = chance.choice(processes)
    seconds = round(chance.uniform(1.0, longest), 1)
    towards = chance.choice(SIDES)
    skipped = chance.randrange(4)

    if kind == "half close" and towards == "both":
        towards = "client"
    if kind in ("reset", "end", "half close", "before commit", "after commit", "unanswered"):
        seconds = 0.0
    if kind == "late commit":
        seconds = min(seconds, 10.0)
    if kind == "orphan":  # longer than a lease, unless the server ends it
        seconds *= 4
    return Fault(kind, process, seconds, towards, skipped if kind in ARMED else 0)


def is_commit(message: bytes) -> bool:
    """Tell whether a message of a client's is a COMMIT: a simple query, or one to be parsed.

    >>> is_commit(b"Q\\x00\\x00\\x00\\x0bCOMMIT\\x00"), is_commit(b"Q\\x00\\x00\\x00\\x0aBEGIN\\x00")
    (True, False)
    """
    if message[:1] == b"Q":
        statement = message[5:]
    elif message[:1] == b"P":
        statement = message[5:].partition(b"\0")[2]
    else:
        return False
    return statement.partition(b"\0")[0].strip().rstrip(b";").upper() == b"COMMIT"


def ends_statement(message: bytes) -> bool:
    """Tell whether the server answers after a message: a simple query, or the Sync of an extended one."""
    return message[:1] in (b"Q", b"S")


@dataclass
class Messages:
    """What a client sends, message by message. The first ones have no type, until one starts the session."""

    begun: bool = False
    rest: bytes = b""

    def split(self, data: bytes) -> Iterator[bytes]:
        """Yield the messages that are whole by now."""
        self.rest += data
        while True:
            start = 1 if self.begun else 0
            if len(self.rest) < start + 4:
                return
            length = start + int.from_bytes(self.rest[start : start + 4], "big")
            if len(self.rest) < length:
                return

            message = self.rest[:length]
            self.rest = self.rest[length:]
            if not self.begun and message[4:8] == b"\0\3\0\0":  # version 3.0, not a request for TLS
                self.begun = True
            yield message


def answer_text(data: bytes) -> str:
    """Return what a server's answer begins with: the command that it has done, or its type.

    >>> answer_text(b"C\\0\\0\\0\\x0bCOMMIT\\0Z")
    'COMMIT'
    """
    if data[:1] == b"C":
        return data[5:].partition(b"\0")[0].decode()
    return data[:1].decode("ascii", "replace")


def application_name(startup: bytes) -> str:
    """Return the name that a session starts under.

    >>> application_name(bytes(8) + b"user\\0ann\\0application_name\\0run\\0\\0")
    'run'
    """
    words = startup[8:].split(b"\0")
    options = dict(zip(words[::2], words[1::2], strict=False))
    return options.get(b"application_name", b"").decode()


@dataclass(eq=False)
class Link:
    """A connection of a client, and the one to the server that it is passed on to."""

    client: asyncio.StreamWriter
    server: asyncio.StreamWriter
    name: str = ""
    messages: Messages = field(default_factory=Messages)
    open_at: dict[str, float] = field(default_factory=lambda: {"server": 0.0, "client": 0.0})
    drips_until: float = 0.0
    cut_by: Fault | None = None

    def is_of(self, process: str) -> bool:
        """Tell whether a process has this connection: its name begins so."""
        return self.name.startswith(process)

    def cut(self) -> None:
        """Cut both sides without a farewell."""
        reset(self.client)
        reset(self.server)

    def stall(self, towards: Side, seconds: float) -> None:
        """Let nothing pass towards a side, or both, for a while."""
        for side in self.open_at:
            if towards in (side, "both"):
                self.open_at[side] = timer() + seconds

    def end(self) -> None:
        """Close both sides."""
        self.client.close()
        self.server.close()

    async def passage(self, side: Literal["server", "client"]) -> None:
        """Wait until what goes to a side may pass."""
        left = self.open_at[side] - timer()
        while left > 0:
            await asyncio.sleep(min(left, LOOK))
            left = self.open_at[side] - timer()

    async def pass_on(self, data: bytes, side: Literal["server", "client"]) -> None:
        """Send to a side what came from the other, once it may pass."""
        writer = self.server if side == "server" else self.client
        await self.passage(side)
        at = 0
        while at < len(data) and timer() < self.drips_until:
            writer.write(data[at : at + DRIP_BYTES])
            at += DRIP_BYTES
            await writer.drain()
            await asyncio.sleep(DRIP_PAUSE)
        writer.write(data[at:])
        await writer.drain()


@dataclass(eq=False)
class Armed:
    """A fault that waits for a statement, after so many others."""

    fault: Fault
    left: int


def reset(writer: asyncio.StreamWriter) -> None:
    """Close a connection at once, with RST."""
    end = writer.get_extra_info("socket")
    if end is not None and end.family != socket.AF_UNIX:
        with suppress(OSError):
            end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
    writer.transport.abort()


def end_half(writer: asyncio.StreamWriter) -> None:
    """Tell a side that the other has ended."""
    with suppress(OSError, RuntimeError):
        if not writer.is_closing():
            writer.write_eof()


@dataclass
class PostgreSqlProxy:
    """Passes connections on to the socket of a server; `port` is where it listens.

    `log` has all that happened, and `heard` when each process last got something from the server, and before.
    """

    server: Path
    port: int = 0
    log: list[tuple[float, str]] = field(default_factory=list)
    heard: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    links: set[Link] = field(default_factory=set)
    armed: list[Armed] = field(default_factory=list)
    loop: asyncio.AbstractEventLoop = field(default_factory=asyncio.new_event_loop)
    listening: asyncio.Server | None = None
    tasks: set["asyncio.Task[None]"] = field(default_factory=set)

    def do(self, fault: Fault) -> None:
        """Have a fault happen now, or at the next statement that it waits for; from any thread."""
        self.run(self._happen(fault)).result()

    def calm(self) -> None:
        """Let everything pass again, and forget faults that wait for a statement."""
        self.run(self._calm()).result()

    def run(self, work: Coroutine[Any, Any, None]) -> "Future[None]":
        """Run something on the proxy's own loop, from another thread."""
        return asyncio.run_coroutine_threadsafe(work, self.loop)

    async def listen(self) -> None:
        """Take connections, at the same port as before."""
        self.listening = await asyncio.start_server(self._serve, "127.0.0.1", self.port)
        self.port = self.listening.sockets[0].getsockname()[1]

    async def close(self) -> None:
        """Leave nothing open."""
        if self.listening is not None:
            self.listening.close()
        for link in list(self.links):
            link.cut()
        for task in list(self.tasks):
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)

    def note(self, words: str) -> None:
        """Log what happened."""
        self.log.append((timer(), words))

    async def _happen(self, fault: Fault) -> None:
        links = [link for link in self.links if link.is_of(fault.process)]
        self.note(f"{fault} ({len(links)} connections)")

        if fault.kind in ARMED:
            self.armed.append(Armed(fault, fault.skipped))
        elif fault.kind == "refuse":
            self._later(self._refuse(fault.seconds))
        else:
            for link in links:
                self._harm(link, fault)

    def _harm(self, link: Link, fault: Fault) -> None:
        """Have something happen to a connection now."""
        match fault.kind:
            case "reset":
                link.cut()
            case "end":
                link.end()
            case "stall":
                link.stall(fault.towards, fault.seconds)
            case "drip":
                link.drips_until = timer() + fault.seconds
            case "half close":
                end_half(link.server if fault.towards == "server" else link.client)
            case "vanish":
                link.stall("client", fault.seconds)
                reset(link.server)
                self._later(self._cut_after(link, fault.seconds))
            case "orphan":
                link.cut_by = fault
                reset(link.client)
                self._later(self._cut_after(link, fault.seconds))

    async def _calm(self) -> None:
        self.armed.clear()
        for link in self.links:
            link.drips_until = 0.0
            for side in link.open_at:
                link.open_at[side] = 0.0
        if self.listening is None:
            await self.listen()

    async def _refuse(self, seconds: float) -> None:
        if self.listening is None:
            return
        self.listening.close()
        self.listening = None
        await asyncio.sleep(seconds)
        if self.listening is None:
            await self.listen()

    async def _cut_after(self, link: Link, seconds: float) -> None:
        await asyncio.sleep(seconds)
        link.cut()

    def _later(self, work: Coroutine[Any, Any, None]) -> None:
        task = self.loop.create_task(work)
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Pass a connection on, for as long as both sides have it open."""
        try:
            answers, server = await asyncio.open_unix_connection(str(self.server))
        except OSError:  # the server is away
            reset(writer)
            return

        link = Link(writer, server)
        self.links.add(link)
        there = asyncio.ensure_future(self._to_server(reader, link))
        back = asyncio.ensure_future(self._to_client(answers, link))
        self.tasks |= {there, back}
        await asyncio.gather(there, back, return_exceptions=True)
        self.tasks -= {there, back}
        self.links.discard(link)
        link.end()

    async def _to_server(self, reader: asyncio.StreamReader, link: Link) -> None:
        with suppress(OSError, RuntimeError):
            while True:
                data = await reader.read(CHUNK)
                if not data:
                    break
                for message in link.messages.split(data):
                    if not await self._pass_message(message, link):
                        return

        if link.cut_by is None:
            end_half(link.server)

    async def _pass_message(self, message: bytes, link: Link) -> bool:
        """Pass a message on to the server; return False where the client was cut at it."""
        if not link.name and link.messages.begun:
            link.name = application_name(message)

        fault = self._met(message, link)
        if fault is None:
            await link.pass_on(message, "server")
            return True

        link.cut_by = fault
        if fault.kind == "before commit":
            link.cut()
        elif fault.kind == "late commit":
            reset(link.client)
            await asyncio.sleep(fault.seconds)
            await link.pass_on(message, "server")
        else:
            await link.pass_on(message, "server")
        return fault.kind in ("after commit", "unanswered")

    def _met(self, message: bytes, link: Link) -> Fault | None:
        """Return the fault that a statement meets."""
        if not (ends_statement(message) or is_commit(message)) or link.cut_by is not None:
            return None

        for armed in self.armed:
            fault = armed.fault
            waited_for = is_commit(message) if fault.kind != "unanswered" else ends_statement(message)
            if not link.is_of(fault.process) or not waited_for:
                continue
            if armed.left == 0:
                self.armed.remove(armed)
                self.note(f"met by {link.name}: {fault}")
                return fault
            armed.left -= 1
        return None

    async def _to_client(self, reader: asyncio.StreamReader, link: Link) -> None:
        with suppress(OSError, RuntimeError):
            while True:
                data = await reader.read(CHUNK)
                if not data:
                    break
                fault = link.cut_by
                if fault is not None and fault.kind == "orphan":
                    continue
                if fault is not None:
                    # The server has done it. Its answer reaches nobody.
                    self.note(f"{link.name} never heard {answer_text(data)}")
                    link.cut()
                    return
                await link.pass_on(data, "client")
                self.heard[link.name].append(timer())

        end_half(link.client)


@contextmanager
def proxied(server: Path) -> Iterator[PostgreSqlProxy]:
    """Run a proxy in a thread of its own for as long as the block lasts."""
    proxy = PostgreSqlProxy(server)
    thread = threading.Thread(target=proxy.loop.run_forever, daemon=True)
    thread.start()
    try:
        proxy.run(proxy.listen()).result()
        yield proxy
    finally:
        proxy.run(proxy.close()).result()
        proxy.loop.call_soon_threadsafe(proxy.loop.stop)
        thread.join()
        proxy.loop.close()
