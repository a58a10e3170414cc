"""What commands print: tables and text for people, one JSON object for programs."""

import json
import re
import shutil
import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from arena.errors import ArenaError

FIGURE = re.compile(r"[+-]?\$?[\d,]+(?:\.\d+)?%?")
GAP, EDGES = 3, 2
"""Between two columns of a table, and around it."""


def program() -> str:
    """How this program is called from here: `arena` where that is on the path, else its file."""
    beside = Path(sys.executable).parent / "arena"
    if shutil.which("arena") or not beside.is_file():
        return "arena"
    here = Path.cwd()
    return str(beside.relative_to(here) if beside.is_relative_to(here) else beside)


def print_json(value: object) -> None:
    """One JSON document on standard output. NaN and infinity are mistakes here."""
    print(json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False))


def print_error(error: ArenaError, as_json: bool) -> None:
    """An expected error: as text on standard error, or as an object on standard output."""
    if as_json:
        print_json({"error": error.as_dict()})
        return
    print(error.message, file=sys.stderr)
    if error.hint:
        print(f"→ {error.hint}", file=sys.stderr)


def line_width() -> int:
    """The characters that fit in a line: those of the terminal, or plenty where there is none."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else 200


def print_table(
    columns: Sequence[str],
    rows: Sequence[Sequence[object]],
    title: str | None = None,
    right: Collection[str] = (),
) -> None:
    """A table on standard output. None is shown as a dash; figures and `right` columns stand to the right.

    Where the terminal is too narrow, texts are broken between their words; a figure is never cut.
    """
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    cells = [["–" if cell is None else str(cell) for cell in row] for row in rows]
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    needed = EDGES
    for place, column in enumerate(columns):
        texts = [row[place] for row in cells]
        to_the_right = column in right or are_figures(texts)
        least = max(len(word) for text in (column, *texts) for word in (text.split() or [""]))
        least = max([least, len(column), *map(len, texts)]) if to_the_right else least
        table.add_column(
            Text(column), justify="right" if to_the_right else "left", no_wrap=to_the_right, min_width=least
        )
        needed += least + GAP
    for row in cells:
        table.add_row(*map(Text, row))
    # With a height too, for a dumb terminal's width is 80 to rich whatever it is told.
    Console(width=max(line_width(), needed), height=25, soft_wrap=False).print(table)


def are_figures(texts: Sequence[str]) -> bool:
    """Whether a column holds figures, and blanks or dashes between them.

    >>> are_figures(["+1,250.00", "–", "-3%"]), are_figures(["2026-01-04"]), are_figures(["–", ""])
    (True, False, False)
    """
    some = [text for text in texts if text not in ("", "–")]
    return bool(some) and all(FIGURE.fullmatch(text) for text in some)


@contextmanager
def progress(label: str, total: int | None = None) -> Iterator[Callable[[int, int | None], None]]:
    """A bar on standard error, where that is a terminal. The function given says how many of how many."""
    with stages(label, total) as told:
        yield lambda done, whole: told(label, done, whole)


@contextmanager
def stages(
    label: str = "Starting", total: int | None = None
) -> Iterator[Callable[[str, int, int | None], None]]:
    """The same for work in several stages: the function is told of which, too."""
    if not sys.stderr.isatty():
        yield lambda _stage, _done, _total: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    parts: list[Any] = [TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn()]
    with Progress(*parts, TimeRemainingColumn(), console=Console(stderr=True)) as bar:
        task = bar.add_task(label, total=total)
        yield lambda stage, done, whole: bar.update(
            task, description=stage.capitalize(), completed=done, total=whole
        )
