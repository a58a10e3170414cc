"""Tables: columns, declared once, give a command's JSON and its lines fitted to a terminal."""

import re
import textwrap
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import zip_longest
from typing import Any, Literal

from arena.cli.output import from_millionths
from arena.errors import ArenaError

FIGURE = re.compile(r"<?[+-]?\$?[\d,]+(\.\d+)?[%kM]?(–\$?[\d,]+(\.\d+)?[kM]?)?")
GAP = 2
"""Spaces between two columns."""
MOST_NAMED = 5
LEAST = {"cut": 28, "cut middle": 14, "wrap": 16}
"""The least width of a narrowed text, by how it is narrowed, before columns are hidden instead."""
UNKNOWN = "–"
EMPTY = ("", UNKNOWN)


@dataclass(frozen=True, slots=True)
class TableColumn:
    """A column of a table; its name is its key in JSON and in `--columns`.

    `value` finds it in a row, by default by its name: `cohort.number` is the number of the row's
    cohort. `show` writes it: a format or a function.
    If the terminal is too narrow, texts are cut or wrapped, then the columns of the highest `gives_way`
    are hidden; a column of 0 stays. In a terminal of less than `from_width` characters a column is always
    hidden. A heading may have several lines.
    """

    name: str
    heading: str | None = None
    show: str | Callable[[Any], str] = ""
    gives_way: int = 0
    value: Callable[[Any], Any] | str = ""
    narrow: Literal["", "cut", "wrap", "cut middle"] = ""
    from_width: int = 0

    @property
    def title(self) -> str:
        """Return the heading of the column, which may have several lines."""
        return self.name if self.heading is None else self.heading

    @property
    def plain_title(self) -> str:
        """Return the heading on one line."""
        return self.title.replace("\n", " ")

    def value_of(self, row: Any) -> Any:
        """Return the value of a row in this column."""
        if callable(self.value):
            return self.value(row)
        return value_in(row, self.value or self.name)

    def cell(self, row: Any) -> str:
        """Return the value of a row as text; a dash if it is None."""
        value = self.value_of(row)
        if value is None:
            return UNKNOWN
        if callable(self.show):
            return self.show(value)

        text = format(value, self.show)
        if text.startswith("-") and not text.strip("-0.,%"):  # rounded to 0, which has no minus
            text = format(0.0, self.show)
        return text


def value_in(row: Any, path: str) -> Any:
    """Return the value of a row at a dotted path of names; None if a part before the last is None."""
    for name in path.split("."):
        if row is None:
            return None
        row = row[name] if isinstance(row, Mapping) else getattr(row, name)
    return row


def from_millionths_at(path: str) -> Callable[[Any], float | None]:
    """Return a function that reads millionths of a row as a number."""
    return lambda row: from_millionths(value_in(row, path))


def counted(name: str, gives_way: int = 0, heading: str | None = None) -> TableColumn:
    """Return a column of whole numbers."""
    return TableColumn(name, heading, ",d", gives_way)


def answered(gives_way: int) -> TableColumn:
    """Return the column of how many questions were answered, of those asked."""
    return TableColumn(
        "answered",
        "questions",
        value=lambda row: f"{row['questions']:,} of {row['asked']:,}",
        gives_way=gives_way,
    )


def between(low: str, high: str, places: str = ".4f") -> Callable[[Any], str | None]:
    """Return a function that writes an interval of a row, if it has one."""

    def write(row: Any) -> str | None:
        least = value_in(row, low)
        if least is None:
            return None
        return f"{least:+{places}} to {value_in(row, high):+{places}}"

    return write


@dataclass(frozen=True, slots=True)
class TableChoice:
    """The columns that a user wants: those that fit, all, or some by name; `width` is for piped output."""

    wide: bool = False
    columns: str = ""
    width: int | None = None

    def wanted_columns(self, every: Sequence[TableColumn]) -> list[TableColumn]:
        """Return the wanted columns in their order; raise `ArenaError` for an unknown one."""
        if not self.columns:
            return list(every)

        known = {column.plain_title: column for column in every if column.plain_title}
        known |= {column.name: column for column in every}
        wanted = []
        for part in self.columns.split(","):
            name = part.strip()
            if not name:
                continue
            if name not in known:
                message = f"there is no column {name!r}"
                for near in get_close_matches(name, known, 1):
                    message += f"; did you mean {near}?"
                names = ", ".join(column.name for column in every)
                raise ArenaError("no_column", message, f"columns: {names}", status=64)
            wanted.append(known[name])
        return wanted


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under columns, of which the wanted ones that fit are shown.

    A column that is only a heading reads its place of rows that are tuples. `total` is one more row, by
    column name. `choice` is what the user wants, if the command has `--wide` and `--columns`.
    With `as_above` only columns that the tables above on the page show are shown.
    """

    columns: Sequence[TableColumn | str]
    rows: Sequence[Any]
    title: str = ""
    choice: TableChoice | None = None
    total: Mapping[str, str] | None = None
    tells_hidden: bool = True
    as_above: bool = False

    def data(self) -> list[dict[str, Any]]:
        """Return the rows for JSON, with every column by name."""
        rows: list[dict[str, Any]] = [{} for _ in self.rows]
        for column in self.every:
            for data, row in zip(rows, self.rows, strict=True):
                data[column.name] = column.value_of(row)
        return rows

    @property
    def every(self) -> list[TableColumn]:
        """Return all columns; one that is only a heading is named after its place."""
        return [_placed(place, column) for place, column in enumerate(self.columns)]

    def fitted(self, width: int | None, above: Collection[str] = ()) -> tuple[list[str], list[str]]:
        """Return the lines of the table for a width, and the names of the columns shown.

        Without a width all columns are shown in full. `above` has the columns of the tables above.
        """
        choice = self.choice or TableChoice()
        width = width or choice.width
        wanted = choice.wanted_columns(self.every)
        if self.as_above and above:
            wanted = [column for column in wanted if column.name in above]
        shown = [self._written(column) for column in wanted]
        hidden: list[TableColumn] = []

        if width is not None and not choice.wide:
            if not choice.columns:
                some = [column for column in shown if any(text not in EMPTY for text in column.cells)]
                shown = fitting(some, width)
                hidden = [column.column for column in some if column not in shown]
            narrow_columns(shown, width)

        lines = drawn(shown)
        if self.title:
            lines.insert(0, self.title)
        if hidden and self.tells_hidden:
            names = [column.plain_title or column.name for column in hidden]
            lines += wrapped(hidden_sentence(names, choosing=self.choice is not None), width)
        return lines, [column.column.name for column in shown]

    def _written(self, column: TableColumn) -> "WrittenColumn":
        """Return a column with its cells as text, the total last."""
        cells = [column.cell(row) for row in self.rows]
        if self.total is not None:
            cells.append(self.total.get(column.name, ""))

        head = max(map(cells_of, column.title.split("\n")))
        width = max([head, *map(cells_of, cells)])
        figures = are_figures(cells)
        least = width
        if column.narrow and not figures:
            least = min(width, max(LEAST[column.narrow], head))
        return WrittenColumn(column, cells, figures, width, least)


@dataclass(eq=False, slots=True)
class WrittenColumn:
    """A column with its cells as text; its `width` can be narrowed to `least`."""

    column: TableColumn
    cells: list[str]
    figures: bool
    width: int
    least: int


def wrapped(text: str, width: int | None, before: str = "") -> list[str]:
    """Return a text wrapped to the width, with `before` at the start of all lines but the first.

    >>> wrapped("Nobody has played yet.", 12, "  ")
    ['Nobody has', '  played', '  yet.']
    """
    if width is None or cells_of(text) <= width:
        return [text]
    most = width
    while True:
        lines = textwrap.wrap(text, most, subsequent_indent=before, break_on_hyphens=False)
        broadest = max(map(cells_of, lines), default=0)
        if broadest <= width or most <= len(before) + 2:
            return lines
        most -= broadest - width


def _placed(place: int, column: TableColumn | str) -> TableColumn:
    if isinstance(column, TableColumn):
        return column
    return TableColumn(f"{place} {column}", column, value=lambda row: row[place], narrow="wrap")


def hidden_sentence(names: Sequence[str], choosing: bool = True) -> str:
    """Return a sentence on the hidden columns, and how to see them.

    >>> hidden_sentence(["rank", "cost", "value", "price", "bets", "events"])
    '6 columns are hidden; widen the terminal or use --wide.'
    >>> hidden_sentence(["cost", "value", "price"], choosing=False)
    'Columns cost, value and price are hidden; widen the terminal.'
    """
    which = f"Column {names[-1]} is"
    if len(names) > MOST_NAMED:
        which = f"{len(names)} columns are"
    elif len(names) > 1:
        which = f"Columns {', '.join(names[:-1])} and {names[-1]} are"

    remedy = "widen the terminal"
    if choosing:
        remedy += " or use --wide"
    return f"{which} hidden; {remedy}."


def fitting(columns: Sequence[WrittenColumn], width: int) -> list[WrittenColumn]:
    """Return the columns that fit once narrowed, dropping those with the highest `gives_way` first."""
    shown = [column for column in columns if column.column.from_width <= width]
    while sum(column.least + GAP for column in shown) - GAP > width:
        last = max(reversed(shown), key=lambda column: column.column.gives_way)
        if not last.column.gives_way:
            break
        shown.remove(last)
    return shown


def narrow_columns(columns: Sequence[WrittenColumn], width: int) -> None:
    """Cut or wrap texts until a line fits, the widest column first."""
    while sum(column.width + GAP for column in columns) - GAP > width:
        spare = [column for column in columns if column.width > column.least]
        if not spare:
            break
        longest = max(spare, key=lambda column: column.width)
        longest.width -= 1

    for column in columns:
        column.cells = [narrowed(text, column.width, column.column.narrow) for text in column.cells]


def narrowed(text: str, most: int, how: str) -> str:
    """Return a text narrowed to `most` characters: cut at its end or in the middle, or wrapped.

    >>> narrowed("Will it rain in Rome?", 12, "cut"), narrowed("openrouter/qwen-4-max", 13, "cut middle")
    ('Will it rai…', 'openro…-4-max')
    """
    if cells_of(text) <= most:
        return text
    if how == "wrap":
        return "\n".join(textwrap.wrap(text, most))
    if how == "cut middle":
        tail = (most - 1) // 2
        return f"{text[: most - 1 - tail]}…{text[-tail:]}"
    return f"{text[: most - 1].rstrip()}…"


def drawn(columns: Sequence[WrittenColumn]) -> list[str]:
    """Return the lines of a table, with figures right-aligned and headings aligned at the bottom."""
    tallest = max((column.column.title.count("\n") for column in columns), default=0)
    texts = []
    widths = []
    for column in columns:
        title = column.column.title
        head = "\n" * (tallest - title.count("\n")) + title
        texts.append([head, *column.cells])
        every_line = "\n".join([head, *column.cells]).split("\n")
        widths.append(max(map(cells_of, every_line)))

    lines = []
    for row in zip(*texts, strict=True):
        for parts in zip_longest(*(text.split("\n") for text in row), fillvalue=""):
            line = ""
            for text, width, column in zip(parts, widths, columns, strict=True):
                line += padded(text, width, column.figures) + " " * GAP
            lines.append(line.rstrip())
    return lines


def padded(text: str, width: int, to_the_right: bool) -> str:
    """Return a text padded to the width."""
    blank = " " * (width - cells_of(text))
    if to_the_right:
        return blank + text
    return text + blank


def are_figures(texts: Sequence[str]) -> bool:
    """Tell whether the texts are figures, apart from blanks and dashes.

    >>> are_figures(["+1,250.00", "–", "-3%"]), are_figures(["2026-01-04"]), are_figures(["0.013–0.27", "9k"])
    (True, False, True)
    """
    known = [text for text in texts if text not in EMPTY]
    return bool(known) and all(map(FIGURE.fullmatch, known))


def cells_of(text: str) -> int:
    """Return the terminal cells that a text takes; some letters take two."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)
