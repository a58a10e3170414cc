"""A command's page: blocks of prose, fields and tables, laid out as lines for a terminal.

A block that is a plain text is a paragraph.
"""

import os
import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TextIO

from arena.cli.output import print_json
from arena.cli.table import Table, wrapped
from arena.errors import ArenaError

GAP = 2
"""Spaces between a label and its text."""


@dataclass(frozen=True, slots=True)
class Fields:
    """Labelled texts, one a line; the continuation lines of long ones are indented."""

    rows: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Notes:
    """Notes on columns, by name; those on columns that a table above has shown are printed."""

    texts: Mapping[str, str]
    first: tuple[str, ...] = ()
    """Sentences that are always printed, before the notes, in the same paragraph."""


Block = str | Fields | Notes | Table
Page = Iterable[Block]


def page_lines(page: Page, width: int | None) -> Iterator[str]:
    """Yield the lines of a page, wrapped to the width if there is one."""
    shown_columns: set[str] = set()
    for block in page:
        if isinstance(block, Table):
            lines, columns = block.fitted(width, shown_columns)
            shown_columns.update(columns)
            yield from lines
            yield ""
        elif isinstance(block, Fields):
            yield from _field_lines(block, width)
        elif isinstance(block, Notes):
            texts = [*block.first, *(text for name, text in block.texts.items() if name in shown_columns)]
            yield from wrapped(" ".join(texts), width)
        else:
            yield from _paragraph_lines(block, width)


def _field_lines(fields: Fields, width: int | None) -> Iterator[str]:
    """Yield the lines of labelled texts."""
    indent = max(map(len, fields.rows), default=0) + GAP
    for label, text in fields.rows.items():
        yield from wrapped(f"{label:{indent}}{text}", width, " " * indent)


def _paragraph_lines(text: str, width: int | None) -> Iterator[str]:
    """Yield the wrapped lines of a text; continuations of an indented line are indented further."""
    for line in text.split("\n"):
        words = line.lstrip()
        margin = line[: len(line) - len(words)]
        continuation = margin and margin + " " * GAP
        if words.startswith("# "):  # a comment goes on as one
            continuation = f"{margin}# "
        yield from wrapped(line, width, continuation)


def line_width() -> int | None:
    """Return the width of the terminal or that set by COLUMNS; None if there is neither."""
    if sys.stdout.isatty() or os.environ.get("COLUMNS", "").isdecimal():
        return shutil.get_terminal_size().columns
    return None


def print_page(page: Page, file: TextIO | None = None) -> None:
    """Print a page in lines that fit the terminal; print nothing if making it raises."""
    lines = list(page_lines(page, line_width()))
    for line in lines:
        print(line, file=file, flush=True)


def print_error(error: ArenaError, as_json: bool) -> None:
    """Print an expected error: as text on standard error, or as an object on standard output."""
    if as_json:
        print_json({"error": error.as_dict()})
        return

    # The width is that of standard output, so it says nothing of errors that are sent elsewhere.
    width = None
    if sys.stderr.isatty() or not sys.stdout.isatty():
        width = line_width()
    lines = [*_paragraph_lines(error.message, width)]
    if error.hint:
        lines += wrapped(f"→ {error.hint}", width, " " * GAP)
    for line in lines:
        print(line, file=sys.stderr)
