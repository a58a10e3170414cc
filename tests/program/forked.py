"""The program in processes that are there at once: each is forked from one that has loaded everything.

They are real ones, each with a number and a memory of its own, and can be killed like any other. As a program
this is the one that they are forked from. Each line that comes in at its socket starts one, and it says when
one has ended. It loads when somebody first connects, and ends with its input. Those that play all tests are
forked from it too: `tests.program.worker` asks for them.
"""

import atexit
import json
import logging
import os
import resource
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, chdir, contextmanager, suppress
from dataclasses import dataclass, field
from importlib import import_module
from importlib.metadata import entry_points
from itertools import chain
from pathlib import Path
from pkgutil import walk_packages
from queue import Queue
from tempfile import TemporaryDirectory
from typing import TextIO
from unittest.mock import patch

from tests.program.command_line import ROOT, command, environment

TIMEOUT = 300
"""Seconds that a command is waited for."""
SHARED = "FORKED_FROM"
"""The variable with the socket of the one that all processes of this run share."""
LONGEST_FILE = "LONGEST_FILE"
"""The variable with how many bytes a file may have, as if the disk were full then."""
CLOCK_AHEAD = "CLOCK_AHEAD"
"""The variable with how many seconds a process's clock is ahead of the others', as its database has it."""
RETRY_WAITS = (0.05, 0.2)
"""Between the tries of a call: what the tests ask is on this machine and needs no rest."""
WORKER = "worker"
"""The name of a process that plays tests."""
CALL = "call"
"""The name of one that calls a function, named as entry points are: what Python would start by its module."""
BROKEN = 70
"""The exit status of one that ended with an error that nobody expected."""


@dataclass
class Forked:
    """A process that runs `arena`; what it says is in its log."""

    pid: int
    log: Path
    ended: threading.Event = field(default_factory=threading.Event)
    status: int = 0

    @property
    def runs(self) -> bool:
        """Tell whether it has not ended yet."""
        return not self.ended.is_set()

    def signal(self, number: int) -> None:
        """Send it a signal, if it still runs."""
        if self.runs:
            os.kill(self.pid, number)

    def said(self) -> str:
        """Return all output until now."""
        return self.log.read_text("utf-8")

    def wait(self) -> int:
        """Wait for its end: the exit status, or minus the signal that ended it."""
        assert self.ended.wait(3_600), self.said()
        return self.status

    def kill(self) -> None:
        """End it as a power cut would, and wait until it is gone."""
        self.signal(signal.SIGKILL)
        self.wait()


@dataclass
class Forks:
    """Starts processes, and learns when they have ended."""

    asks: TextIO
    hears: TextIO
    running: dict[int, Forked] = field(default_factory=dict)
    fresh: "Queue[Forked]" = field(default_factory=Queue)
    count: int = 0
    one: threading.Lock = field(default_factory=threading.Lock)

    def start(self, folder: Path, *words: str, **more: str) -> Forked:
        """Start `arena` with these words, in a folder, and with more in its environment."""
        self.count += 1
        log = folder / f"log.{self.count}"
        log.touch()
        return self._start(folder, log, log, words, environment(**more))

    def in_terminal(self, folder: Path, terminal: Path, *words: str, **more: str) -> Forked:
        """Start `arena` with these words, in a folder, which reads from a terminal and writes to it."""
        return self._start(folder, terminal, terminal, words, environment(**more), terminal)

    def run(
        self, folder: Path, words: Sequence[str], environ: Mapping[str, str]
    ) -> "subprocess.CompletedProcess[str]":
        """Run `arena` with these words, to its end."""
        with TemporaryDirectory() as name:
            out = Path(name) / "out"
            err = Path(name) / "err"
            out.touch()
            err.touch()
            ran = self._start(folder, out, err, words, environ)
            if not ran.ended.wait(TIMEOUT):
                ran.kill()
                raise subprocess.TimeoutExpired(["arena", *words], TIMEOUT, out.read_text(), err.read_text())
            return subprocess.CompletedProcess(
                ["arena", *words], ran.status, out.read_text("utf-8"), err.read_text("utf-8")
            )

    def _start(
        self,
        folder: Path,
        out: Path,
        err: Path,
        words: Sequence[str],
        environ: Mapping[str, str],
        source: Path = Path(os.devnull),
    ) -> Forked:
        asked = json.dumps([str(folder), [str(source), str(out), str(err)], ["arena", *words], dict(environ)])
        with self.one:
            print(asked, file=self.asks, flush=True)
            return self.fresh.get(timeout=TIMEOUT)

    def listen(self) -> None:
        """Receive news of processes that were started, and of those that have ended."""
        for line in self.hears:
            pid, told = json.loads(line)
            if isinstance(told, str):
                self.running[pid] = Forked(pid, Path(told))
                self.fresh.put(self.running[pid])
            else:
                ended = self.running.pop(pid)
                ended.status = os.waitstatus_to_exitcode(told)
                ended.ended.set()


@contextmanager
def forking() -> Iterator[str]:
    """Yield the socket of a process that others are forked from, for as long as the block lasts."""
    pipe = subprocess.PIPE
    with TemporaryDirectory() as folder:
        words = [sys.executable, "-m", "tests.program.forked", f"{folder}/socket"]
        with subprocess.Popen(
            words, cwd=ROOT, env=environment(), stdin=pipe, stdout=pipe, text=True
        ) as parent:
            assert parent.stdout is not None
            assert parent.stdout.readline() == "listens\n"
            yield words[-1]


@contextmanager
def forks() -> Iterator[Forks]:
    """Yield what starts processes; none of them outlives the block."""
    with ExitStack() as held:
        place = os.environ.get(SHARED) or held.enter_context(forking())
        parent = held.enter_context(socket.socket(socket.AF_UNIX))
        parent.connect(place)
        asks, hears = (held.enter_context(parent.makefile(mode)) for mode in ("w", "r"))
        found = Forks(asks, hears)
        thread = threading.Thread(target=found.listen, daemon=True)
        thread.start()
        try:
            yield found
        finally:
            for each in list(found.running.values()):
                each.signal(signal.SIGKILL)
            parent.shutdown(socket.SHUT_RDWR)
            thread.join()


def stand_in(program: str, *words: str) -> list[str]:
    """Return the command of a process that stands for a forked one, where all of this run's share one."""
    return [sys.executable, "-S", f"{ROOT}/tests/program/worker.py", os.environ[SHARED], program, *words]


def quick_command(*words: str) -> list[str]:
    """Return a command line of `arena` that is forked where all of this run's processes share one."""
    return stand_in("arena", *words) if SHARED in os.environ else command(*words)


def quick_program(module: str) -> list[str]:
    """Return the command that runs the `main` of a module, forked likewise."""
    return stand_in(CALL, f"{module}:main") if SHARED in os.environ else [sys.executable, "-m", module]


def page_command(name: str) -> list[str]:
    """Return the command that starts a program of pages without the seconds that it takes to load."""
    program = next(iter(entry_points(group="arena.pages", name=name)))
    return stand_in(CALL, program.value)


ASKED_BY: dict[int, socket.socket] = {}
"""Who has asked for each process that runs."""


def _say(pid: int, what: object) -> None:
    with suppress(OSError):  # whoever asked may have gone
        ASKED_BY[pid].sendall(json.dumps([pid, what]).encode() + b"\n")


def _reap(*_: object) -> None:
    """Say of all that have ended how they did."""
    try:
        while (found := os.waitpid(-1, os.WNOHANG))[0]:
            _say(*found)
            del ASKED_BY[found[0]]
    except ChildProcessError:
        return


def _become(folder: str, streams: Sequence[str], words: Sequence[str], environ: Mapping[str, str]) -> int:
    """Become the program, or a runner of tests, and return the exit status."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGCHLD])
    for number, path in enumerate(streams):
        os.dup2(os.open(path, os.O_WRONLY | os.O_APPEND if number else os.O_RDONLY), number)
    sys.stdin = os.fdopen(0, closefd=False)  # without what was read ahead of the one that it is forked from
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environ)
    if seconds := os.environ.pop(CLOCK_AHEAD, None):
        import_module("tests.program.clocks").put_clock_ahead(int(seconds))
    if room := os.environ.pop(LONGEST_FILE, None):
        resource.setrlimit(resource.RLIMIT_FSIZE, (int(room), int(room)))
    time.tzset()
    program, *rest = words
    sys.argv = [program, *rest]
    if program == WORKER:
        return _play_tests(*rest)
    return _call(*rest) if program == CALL else _arena()


def _arena() -> int:
    from arena.cli.main import main

    vars(import_module("arena.calls.recorded_ask"))["RETRY_WAITS"] = RETRY_WAITS
    if SHARED in os.environ:
        for module in ("arena.operations.page_programs", "arena.operations.dashboard_server"):
            vars(import_module(module))["page_command"] = page_command
    return _status_of(main)


def _call(function: str, *words: str) -> int:
    module, _, name = function.partition(":")
    sys.argv = [module, *words]
    return _status_of(lambda: sys.exit(vars(import_module(module))[name]()))


def _status_of(main: Callable[[], object]) -> int:
    try:
        main()
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 0
    return 0


def _play_tests(*words: str) -> int:
    """Run the code that pytest-xdist hands to Python, and then what was put off to the end of the process."""
    exec(words[-1], {"__name__": "__main__"})
    atexit._run_exitfuncs()
    return 0


def _fork(
    asks: socket.socket, folder: str, streams: Sequence[str], words: Sequence[str], environ: Mapping[str, str]
) -> None:
    # until its number was told, nobody hears of its end
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCHLD])
    pid = os.fork()
    if pid == 0:
        status = BROKEN
        try:
            status = _become(folder, streams, words, environ)
        except KeyboardInterrupt:  # it came when all had been done
            status = 128 + signal.SIGINT
        finally:
            if (error := sys.exception()) is not None:
                sys.excepthook(type(error), error, error.__traceback__)
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(status)
    ASKED_BY[pid] = asks
    _say(pid, streams[1])
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGCHLD])


LOADED = (
    "scipy.stats", "alembic.command", "apscheduler.triggers.cron", "rich.table", "mcp", "pandas",
    "streamlit.testing.v1", "playwright.sync_api",
)  # fmt: skip
PACKAGES = ("markets", "portfolio", "agents", "arena", "dashboard")
WARMED = """\
markets: {{venue: simulator, show: 3, simulator: {{start: 2026-01-04, weeks: 3, markets: 10, events: 3}}}}
cohorts: {{rounds: 1, count: 1}}
run: {{marks: 1w, scores: 1w, quotes: off, catalogue: off, resolutions: 1w, backup: off}}
agents:
  - kind: market
  - {{name: sharp, model: demo/sharp, price: {{input: 1, output: 4}}}}
  - {{name: plays, model: openai/plays, base_url: "{url}"}}
  - {{kind: kelly, of: sharp}}
"""
WATCHED = """\
database: watched.db
markets:
  venue: polymarket
  min_volume: 0
  closes_within: 3650d
  polymarket: {{url: "{url}{gamma}", book_url: "{url}{clob}", per_second: 1000}}
agents: [{{kind: market}}]
"""
REHEARSED = ("run", "--clock", "clock", "--database", "rehearsal.db")
COMMANDS = (
    ("check",), ("run", "--round"), ("status",), ("board",), ("board", "--json"), ("show", "positions"),
    ("show", "agents"), ("show", "agent", "sharp"), ("show", "turn", "--play", "sharp"), ("show", "cohorts"),
    ("show", "cohort", "1"), ("admin", "verify"), ("share", "export", "x"),
    ("admin", "restore", "x", "--database", "copy.db"),
    REHEARSED, ("admin", "verify", "--json", "--database", "rehearsal.db"),
    ("demo", "--headless", "--json", "--config", "config.yaml", "--database", "demo.db"),
    ("study", "replay", "past", "--agents", "market"), ("run", "--sync", "--config", "watched.yaml"),
    ("run", "--sync", "--json", "--config", "watched.yaml"),
    ("show", "markets", "--config", "watched.yaml"),
)  # fmt: skip
"""What is played ahead: models, templates, statements and clients are made at their first use."""


def _load() -> None:
    """Load all that any command needs, before it is asked for."""
    from tests.shared_caches import share_caches

    share_caches()
    logging.disable(logging.WARNING)  # Streamlit says that it has no server yet
    found = chain.from_iterable(walk_packages(import_module(name).__path__, f"{name}.") for name in PACKAGES)
    ours = (module.name for module in found if ".migrations" not in module.name)
    for name in (*ours, *LOADED):
        import_module(name)
    import_module("agents.llm.library").litellm()
    logging.disable(logging.NOTSET)


def _warm_up() -> None:
    """Do everything that a process does only once, so that no forked one has to."""
    from typer.testing import CliRunner

    from arena.cli.main import app
    from markets.garbage_collection import freeze_gc
    from tests.bundles import simulated
    from tests.provider.server import faulty
    from tests.venue_server.polymarket import CLOB, GAMMA, PolymarketWire, a_market
    from tests.venue_server.server import venue_server

    waits = patch("arena.calls.recorded_ask.RETRY_WAITS", RETRY_WAITS)
    with waits, TemporaryDirectory() as name, chdir(name), faulty() as provider, venue_server() as venue:
        PolymarketWire([a_market(endDate="2030-01-01T00:00:00Z")]).serve(venue)
        Path("config.yaml").write_text(WARMED.format(url=provider.url), "utf-8")
        Path("watched.yaml").write_text(WATCHED.format(url=venue.url, gamma=GAMMA, clob=CLOB), "utf-8")
        Path("clock").write_text("2026-01-04T00:00:00+00:00\n", "utf-8")
        simulated(Path("past"), weeks=2, markets=6, events=3)
        for words in COMMANDS:
            done = CliRunner().invoke(app, words)
            assert done.exit_code == 0, (words, done.output)
    freeze_gc()


def _main(place: str) -> None:
    clients: dict[socket.socket, bytes] = {}
    with socket.socket(socket.AF_UNIX) as door:
        door.bind(place)
        door.listen()
        os.write(1, b"listens\n")
        while sys.stdin not in (ready := select.select([sys.stdin, door, *clients], [], [])[0]):
            if door in ready:
                if signal.getsignal(signal.SIGCHLD) is not _reap:
                    _load()
                    _warm_up()
                    signal.signal(signal.SIGCHLD, _reap)
                clients[door.accept()[0]] = b""
            for client in clients.keys() & set(ready):
                _hear(client, clients)


def _hear(client: socket.socket, clients: dict[socket.socket, bytes]) -> None:
    """Start what a client asks for; one that has gone is let go."""
    if not (told := client.recv(2**16)):
        del clients[client]
        client.close()
        return
    *lines, clients[client] = (clients[client] + told).split(b"\n")
    for line in lines:
        _fork(client, *json.loads(line))


if __name__ == "__main__":
    _main(sys.argv[1])
