"""The program's command line and surroundings, for who starts it as a process."""

import os
import sys
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def command(*words: str) -> list[str]:
    """A command line of `arena`."""
    return [sys.executable, "-m", "arena.cli.main", *words]


def environment(home: Path = ROOT, /, **more: str) -> dict[str, str]:
    """This process's environment, with the packages of a checkout first."""
    return {**os.environ, "PYTHONPATH": str(home), **more}


def build_commands_once() -> None:
    """Let calls of the command line in this process, and in those forked from it, share its commands.

    Typer makes them all anew for each call, which takes longer than most commands of a small record.
    """
    import typer.main
    import typer.testing

    once = cache(typer.main.get_command)
    setattr(typer.main, "get_command", once)
    setattr(typer.testing, "_get_command", once)
