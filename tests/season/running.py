"""The program, run as a user runs it."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

AGREES = {"ok": True, "differences": [], "count": 0, "left_out": {}}
"""What `arena verify` says of a record without fault."""
ROOT = Path(__file__).resolve().parents[2]


def command(*words: str) -> list[str]:
    """A command line of `arena`."""
    return [sys.executable, "-m", "arena.cli.main", *words]


def environment(home: Path = ROOT, **more: str) -> dict[str, str]:
    """This process's environment, with the packages of a checkout first."""
    return {**os.environ, "PYTHONPATH": str(home), **more}


def arena(folder: Path, *words: str, home: Path = ROOT, **more: str) -> subprocess.CompletedProcess[str]:
    """Run `arena` in a folder to its end."""
    return subprocess.run(
        command(*words),
        cwd=folder,
        env=environment(home, **more),
        capture_output=True,
        text=True,
        timeout=300,
    )


def arena_json(folder: Path, *words: str, home: Path = ROOT, status: int = 0, **more: str) -> Any:
    """What `arena … --json` answers."""
    done = arena(folder, *words, "--json", home=home, **more)
    assert done.returncode == status, done.stdout[-2000:] + done.stderr[-2000:]
    return json.loads(done.stdout)


def start(folder: Path, *words: str, **more: str) -> "subprocess.Popen[bytes]":
    """Start `arena` in a folder and leave it running."""
    quiet = subprocess.DEVNULL
    return subprocess.Popen(command(*words), cwd=folder, env=environment(**more), stdout=quiet, stderr=quiet)


@contextmanager
def provider(log: Path) -> Iterator[str]:
    """The demo's provider as a process of its own, which outlives the arenas that ask it."""
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
    """examples/demo.yaml in a folder, with some of its single-line settings or its whole line-up changed."""
    text = (ROOT / "examples" / "demo.yaml").read_text("utf-8")
    for name, value in settings.items():
        text, found = re.subn(rf"(?m)^( *{name}: ).*$", rf"\g<1>{value}", text, count=1)
        assert found, f"examples/demo.yaml has no {name}"
    if line_up is not None:
        text = text[: text.index("agents:\n")] + "agents:\n" + line_up
    path = folder / "config.yaml"
    path.write_text(text, "utf-8")
    return path


def agents_of(board: list[Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
    """A leaderboard's rows by agent."""
    return {row["agent"]: row for row in board}
