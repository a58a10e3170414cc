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
        is_negative_zero = text.startswith("-") and not text.strip("-0.,%")
        if is_negative_zero:  # a negative number that was rounded to 0
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
        low_value = value_in(row, low)
        if low_value is None:
            return None
        return f"{low_value:+{places}} to {value_in(row, high):+{places}}"

    return write


@dataclass(frozen=True, slots=True)
class TableChoice:
    """The columns that a user wants: those that fit, all, or some by name; `width` is for piped output."""

    wide: bool = False
    columns: str = ""
    width: int | None = None

    def wanted_columns(self, columns: Sequence[TableColumn]) -> list[TableColumn]:
        """Return the wanted columns in their order; raise `ArenaError` for an unknown one."""
        if not self.columns:
            return list(columns)

        known = {column.plain_title: column for column in columns if column.plain_title}
        known |= {column.name: column for column in columns}
        wanted = []
        for part in self.columns.split(","):
            name = part.strip()
            if not name:
                continue
            if name not in known:
                message = f"there is no column {name!r}"
                for near in get_close_matches(name, known, 1):
                    message += f"; did you mean {near}?"
                names = ", ".join(column.name for column in columns)
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
        return [_column_at(place, column) for place, column in enumerate(self.columns)]

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
                # Columns asked for by name stay; of all others the empty and those that don't fit are hidden.
                filled = [column for column in shown if any(text not in EMPTY for text in column.cells)]
                shown = columns_that_fit(filled, width)
                hidden = [column.column for column in filled if column not in shown]
            narrow_columns(shown, width)

        lines = table_lines(shown)
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

        title_width = max(map(cells_of, column.title.split("\n")))
        width = max([title_width, *map(cells_of, cells)])
        figures = are_figures(cells)
        least_width = width
        if column.narrow and not figures:
            least_width = min(width, max(LEAST[column.narrow], title_width))
        return WrittenColumn(column, cells, figures, width, least_width)


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

    # `textwrap` counts letters, some of which take two cells: wrap to fewer letters until all lines fit.
    letters = width
    while True:
        lines = textwrap.wrap(text, letters, subsequent_indent=before, break_on_hyphens=False)
        widest = max(map(cells_of, lines), default=0)
        if widest <= width or letters <= len(before) + 2:
            return lines
        letters -= widest - width


def _column_at(place: int, column: TableColumn | str) -> TableColumn:
    if isinstance(column, TableColumn):
        return column

    # Only a heading is given: rows are tuples, and the value is at the same place in each.
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


def columns_that_fit(columns: Sequence[WrittenColumn], width: int) -> list[WrittenColumn]:
    """Return the columns that fit once narrowed, dropping those with the highest `gives_way` first."""
    shown = [column for column in columns if column.column.from_width <= width]
    while sum(column.least + GAP for column in shown) - GAP > width:
        # Of columns that give way equally, the last one goes.
        first_to_go = max(reversed(shown), key=lambda column: column.column.gives_way)
        if not first_to_go.column.gives_way:
            break
        shown.remove(first_to_go)
    return shown


def narrow_columns(columns: Sequence[WrittenColumn], width: int) -> None:
    """Cut or wrap texts until a line fits, the widest column first."""
    while sum(column.width + GAP for column in columns) - GAP > width:
        can_narrow = [column for column in columns if column.width > column.least]
        if not can_narrow:
            break
        widest = max(can_narrow, key=lambda column: column.width)
        widest.width -= 1

    for column in columns:
        column.cells = [narrowed(text, column.width, column.column.narrow) for text in column.cells]


def narrowed(text: str, width: int, how: str) -> str:
    """Return a text narrowed to `width` characters: cut at its end or in the middle, or wrapped.

    >>> narrowed("Will it rain in Rome?", 12, "cut"), narrowed("openrouter/qwen-4-max", 13, "cut middle")
    ('Will it rai…', 'openro…-4-max')
    """
    if cells_of(text) <= width:
        return text
    if how == "wrap":
        return "\n".join(textwrap.wrap(text, width))
    if how == "cut middle":
        tail = (width - 1) // 2
        return f"{text[: width - 1 - tail]}…{text[-tail:]}"
    return f"{text[: width - 1].rstrip()}…"


def table_lines(columns: Sequence[WrittenColumn]) -> list[str]:
    """Return the lines of a table, with figures right-aligned and headings aligned at the bottom."""
    most_breaks = max((column.column.title.count("\n") for column in columns), default=0)
    texts = []
    widths = []
    for column in columns:
        title = column.column.title
        bottom_aligned_title = "\n" * (most_breaks - title.count("\n")) + title
        column_texts = [bottom_aligned_title, *column.cells]
        texts.append(column_texts)
        every_line = "\n".join(column_texts).split("\n")
        widths.append(max(map(cells_of, every_line)))

    lines = []
    for row in zip(*texts, strict=True):
        # A row takes as many lines as its tallest cell.
        for parts in zip_longest(*(text.split("\n") for text in row), fillvalue=""):
            line = ""
            for text, width, column in zip(parts, widths, columns, strict=True):
                line += padded(text, width, column.figures) + " " * GAP
            lines.append(line.rstrip())
    return lines


def padded(text: str, width: int, align_right: bool) -> str:
    """Return a text padded to the width."""
    padding = " " * (width - cells_of(text))
    if align_right:
        return padding + text
    return text + padding


def are_figures(texts: Sequence[str]) -> bool:
    """Tell whether the texts are figures, apart from blanks and dashes.

    >>> are_figures(["+1,250.00", "–", "-3%"]), are_figures(["2026-01-04"]), are_figures(["0.013–0.27", "9k"])
    (True, False, True)
    """
    filled = [text for text in texts if text not in EMPTY]
    return bool(filled) and all(map(FIGURE.fullmatch, filled))


def cells_of(text: str) -> int:
    """Return the terminal cells that a text takes; some letters take two."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)
