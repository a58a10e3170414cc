"""The program, run as a user runs it."""

import asyncio
import atexit
import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, chdir, contextmanager
from functools import cache
from pathlib import Path
from typing import Any
from unittest.mock import patch

from typer.testing import CliRunner

from arena.cli.main import app
from tests.program.command_line import ROOT, command, environment
from tests.program.forked import RETRY_WAITS, SHARED, TIMEOUT, Forks, forks, page_command

AGREES = {"ok": True, "differences": [], "count": 0, "left_out": {}}
"""What `arena admin verify` says of a record without fault, whatever it went on from and could not prove."""


@cache
def loaded() -> Forks:
    """Return what this process starts the program with, from its first use to its end."""
    held = ExitStack()
    atexit.register(held.close)
    return held.enter_context(forks())


def arena(folder: Path, *words: str, home: Path = ROOT, **more: str) -> "subprocess.CompletedProcess[str]":
    """Run `arena` in a folder to its end, in this process where nothing asks for one of its own.

    What Python looks at as it starts, such as the seed of its hashes, needs a start of its own.
    """
    there = environment(home, **more)
    if home != ROOT or any(name.startswith("PYTHON") for name in more):
        return subprocess.run(
            command(*words), cwd=folder, env=there, capture_output=True, text=True, timeout=TIMEOUT
        )
    if "TZ" in more or not _is_free():
        return loaded().run(folder, words, there)
    with ExitStack() as held:
        held.enter_context(chdir(folder))
        held.enter_context(patch.dict(os.environ, there, clear=True))
        held.enter_context(patch("arena.calls.recorded_ask.RETRY_WAITS", RETRY_WAITS))
        if SHARED in there:
            held.enter_context(patch("arena.operations.page_programs.page_command", page_command))
        done = CliRunner().invoke(app, words, prog_name="arena", catch_exceptions=False)
    return subprocess.CompletedProcess(["arena", *words], done.exit_code, done.stdout, done.stderr)


def _is_free() -> bool:
    """Tell whether a program may start a loop and take signals here, which a browser's driver prevents."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return threading.current_thread() is threading.main_thread()
    return False


def arena_json(folder: Path, *words: str, home: Path = ROOT, status: int = 0, **more: str) -> Any:
    """Return the output of `arena … --json`; the exit status of `arena status` follows the health in it."""
    done = arena(folder, *words, "--json", home=home, **more)
    good = (0, 2) if words[0] == "status" else (status,)
    assert done.returncode in good, done.stdout[-2000:] + done.stderr[-2000:]
    return json.loads(done.stdout)


@contextmanager
def provider(log: Path) -> Iterator[str]:
    """Yield the demo's provider as a process of its own, which outlives the arenas that ask it."""
    words = [sys.executable, "-m", "agents.demo.provider", "--log", str(log)]
    server = subprocess.Popen(words, env=environment(), stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    try:
        yield server.stdout.readline().strip()
    finally:
        server.terminate()
        server.wait(timeout=10)
        server.stdout.close()


def demo_config(folder: Path, line_up: str | None = None, **settings: object) -> Path:
    """Write examples/demo.yaml into a folder, with some single-line settings or the whole line-up changed."""
    text = (ROOT / "examples" / "demo.yaml").read_text("utf-8")
    for name, value in settings.items():
        text, found = re.subn(rf"(?m)^( *{name}: ).*$", rf"\g<1>{value}", text, count=1)
        assert found, f"examples/demo.yaml has no {name}"
    if line_up is not None:
        text = text[: text.index("agents:\n")] + "agents:\n" + line_up
    path = folder / "config.yaml"
    path.write_text(text, "utf-8")
    return path


def simulated_config(
    folder: Path,
    *agents: str,
    venue: str = "simulator",
    show: int = 4,
    world: str = "weeks: 12, markets: 60, events: 20",
    cohorts: str = "rounds: 3, count: 2",
    more: str = "",
) -> str:
    """Write a config of these agents, blocks of YAML in braces, in a small world, and return its text."""
    lines = "".join(f"  - {agent}\n" for agent in agents)
    markets = f"{{venue: {venue}, show: {show}, {venue}: {{start: 2026-01-04, {world}}}}}"
    text = f"markets: {markets}\ncohorts: {{{cohorts}}}\n{more}agents:\n{lines}"
    (folder / "config.yaml").write_text(text, "utf-8")
    return text


def agents_of(board: list[Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
    """Return a leaderboard's rows by agent."""
    return {row["agent"]: row for row in board}
