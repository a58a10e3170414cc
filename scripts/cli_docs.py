"""Writes docs/cli.md from the program's own help; with --check it only says whether that has drifted."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

from arena.cli.main import app

WIDTH = 100
PAGE = Path(__file__).resolve().parent.parent / "docs" / "cli.md"
HEAD = "# The command line\n\nWhat `arena --help` says, command by command. `make docs` writes this page.\n"


def commands(command: Any, path: str, parent: Any = None) -> Iterator[tuple[str, str]]:
    """Every command under this one with its help, in the order in which help lists them."""
    command.rich_markup_mode = None  # plain text: no boxes, no colour
    size = {"terminal_width": WIDTH, "max_content_width": WIDTH}
    context = command.context_class(command, info_name=path.rsplit(maxsplit=1)[-1], parent=parent, **size)
    yield path, command.get_help(context)
    for name in command.list_commands(context) if hasattr(command, "list_commands") else ():
        child = command.get_command(context, name)
        if not child.hidden:
            yield from commands(child, f"{path} {name}", context)


def page() -> str:
    """The whole page as it should be."""
    parts = [f"## {path}\n\n```\n{help_text}\n```\n" for path, help_text in commands(program(), "arena")]
    return "\n".join([HEAD, *parts])


def program() -> Any:
    """The console program, without the options that only say how to complete a word."""
    app._add_completion = False
    return typer.main.get_command(app)


if __name__ == "__main__":
    if sys.argv[1:] != ["--check"]:
        PAGE.write_text(page(), encoding="utf-8")
    elif not PAGE.exists() or PAGE.read_text(encoding="utf-8") != page():
        sys.exit("docs/cli.md is not what the program's help says: 'make docs' writes it anew.")
