"""The program's command line and surroundings, for who starts it as a process."""

import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def command(*words: str) -> list[str]:
    """Return a command line of `arena`."""
    return [sys.executable, "-m", "arena.cli.main", *words]


def environment(home: Path = ROOT, /, **more: str) -> dict[str, str]:
    """Return this process's environment, with the packages of a checkout first."""
    return {**os.environ, "PYTHONPATH": str(home), **more}
