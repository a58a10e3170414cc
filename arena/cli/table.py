"""Tables: the columns of a command, named once, give its JSON, its plain lines and what fits a terminal."""

import re
import textwrap
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Literal

from arena.cli.output import exact
from arena.errors import ArenaError

FIGURE = re.compile(r"<?[+-]?\$?[\d,]+(\.\d+)?[%kM]?(–\$?[\d,]+(\.\d+)?[kM]?)?")
GAP = 2
"""Spaces between two columns."""
MOST_NAMED = 5
LEAST = {"cut": 28, "cut middle": 14, "wrap": 16}
"""The characters that a text keeps, by how it is narrowed, before a column gives way to it."""
UNKNOWN = "–"
EMPTY = ("", UNKNOWN)


@dataclass(frozen=True, slots=True)
class TableColumn:
    """A column: its name is its key in JSON and what `--columns` calls it.

    `value` finds it in a row, by its name unless said otherwise: `cohort.number` is the number of the row's
    cohort. `show` writes it, by a format or a function.
    Where the terminal is too narrow, texts are cut or wrapped, then the columns of the highest `gives_way`
    are hidden. A column of 0 stays. In a terminal of less than `from_width` characters a column is hidden
    anyway. A heading may have several lines.
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
        """Return what stands above it."""
        return self.name if self.heading is None else self.heading

    @property
    def plain_title(self) -> str:
        """Return the same in one line."""
        return self.title.replace("\n", " ")

    def value_of(self, row: Any) -> Any:
        """Return what a row has in this column."""
        return self.value(row) if callable(self.value) else value_in(row, self.value or self.name)

    def cell(self, row: Any) -> str:
        """Return the same as text; a dash where nothing is known."""
        value = self.value_of(row)
        if value is None:
            return UNKNOWN
        return self.show(value) if callable(self.show) else format(value, self.show)


def value_in(row: Any, path: str) -> Any:
    """Return what a row has under a name, or under names with dots between; None where one is not there."""
    for name in path.split("."):
        if row is None:
            return None
        row = row[name] if isinstance(row, Mapping) else getattr(row, name)
    return row


def exact_at(path: str) -> Callable[[Any], float | None]:
    """Return what reads millionths of a row as the number that they are."""
    return lambda row: exact(value_in(row, path))


def counted(name: str, gives_way: int = 0, heading: str | None = None) -> TableColumn:
    """Return a column of whole numbers."""
    return TableColumn(name, heading, ",d", gives_way)


def between(low: str, high: str, places: str = ".4f") -> Callable[[Any], str | None]:
    """Return what writes an interval of a row, where it has one."""

    def write(row: Any) -> str | None:
        least = value_in(row, low)
        return None if least is None else f"{least:+{places}} to {value_in(row, high):+{places}}"

    return write


@dataclass(frozen=True, slots=True)
class TableChoice:
    """Which columns a user wants: those that fit, all, or some by name; a pipe has no width but this one."""

    wide: bool = False
    columns: str = ""
    width: int | None = None

    def of(self, every: Sequence[TableColumn]) -> list[TableColumn]:
        """Return the columns that are wanted, in their order."""
        if not self.columns:
            return list(every)
        known = {name: column for column in every for name in (column.plain_title, column.name) if name}
        wanted = [name.strip() for name in self.columns.split(",") if name.strip()]
        for name in wanted:
            if name not in known:
                near = get_close_matches(name, known, 1)
                also = f"; did you mean {near[0]}?" if near else ""
                hint = f"columns: {', '.join(column.name for column in every)}"
                raise ArenaError("no_column", f"there is no column {name!r}{also}", hint, status=64)
        return [known[name] for name in wanted]


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under columns, of which those are shown that are wanted and fit.

    A column that is only a heading takes its place from rows that are tuples. `total` is one more row, by its
    columns. `choice` is what the user wants of it, where the command has `--wide` and `--columns`.
    With `as_above` it has only columns that the tables above it on the page show.
    """

    columns: Sequence[TableColumn | str]
    rows: Sequence[Any]
    title: str = ""
    choice: TableChoice | None = None
    total: Mapping[str, str] | None = None
    tells_hidden: bool = True
    as_above: bool = False

    def data(self) -> list[dict[str, Any]]:
        """Return the rows for JSON, with every column by its name."""
        return [{column.name: column.value_of(row) for column in self.every} for row in self.rows]

    @property
    def every(self) -> list[TableColumn]:
        """Return all columns; one that is only a heading is named by its place."""
        return [_placed(place, column) for place, column in enumerate(self.columns)]

    def fitted(self, width: int | None, above: Collection[str] = ()) -> "FittedTable":
        """Return the table in lines of so many characters; without a width all columns, whole.

        `above` are the names of the columns that the tables above it show, if there are any.
        """
        choice = self.choice or TableChoice()
        width = width or choice.width
        every = self.every
        shown = choice.of(every)
        if self.as_above and above:
            shown = [column for column in shown if column.name in above]
        texts = {column.name: self._texts(column) for column in shown}
        hidden: list[TableColumn] = []

        if width is not None and not choice.wide:
            if not choice.columns:
                shown = [column for column in shown if any(text not in EMPTY for text in texts[column.name])]
                narrower = [column for column in shown if column.from_width > width]
                fitting = [column for column in shown if column not in narrower]
                hidden = [*narrower, *too_many(fitting, texts, width)]
            shown = [column for column in shown if column not in hidden]
            fit_texts(shown, texts, width)

        lines = [self.title] if self.title else []
        lines += drawn([(column.title, texts[column.name]) for column in shown])
        if hidden and self.tells_hidden:
            names = [column.plain_title or column.name for column in every if column in hidden]
            lines += wrapped(hidden_sentence(names, choosing=self.choice is not None), width)
        return FittedTable(lines, [column.name for column in shown])

    def _texts(self, column: TableColumn) -> list[str]:
        """Return the cells of a column as text, that of the total last."""
        texts = [column.cell(row) for row in self.rows]
        if self.total is not None:
            texts.append(self.total.get(column.name, ""))
        return texts


@dataclass(frozen=True, slots=True)
class FittedTable:
    """The lines of a table, and the names of the columns that are in them."""

    lines: list[str]
    columns: list[str]


def wrapped(text: str, width: int | None, before: str = "") -> list[str]:
    """Return a text in lines of at most so many characters, with `before` at the start of all but the first.

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
    """Return what is not shown, and how to see it.

    >>> hidden_sentence(["rank", "cost", "value", "price", "bets", "events"])
    '6 columns are hidden; widen the terminal or use --wide.'
    >>> hidden_sentence(["cost", "value", "price"], choosing=False)
    'Columns cost, value and price are hidden; widen the terminal.'
    """
    every = " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
    which = f"Column {every} is" if len(names) == 1 else f"Columns {every} are"
    which = f"{len(names)} columns are" if len(names) > MOST_NAMED else which
    return f"{which} hidden; widen the terminal{' or use --wide' if choosing else ''}."


def too_many(columns: Sequence[TableColumn], texts: Mapping[str, list[str]], width: int) -> list[TableColumn]:
    """Return the columns that have to give way, those that matter least first."""
    shown, gone = list(columns), list[TableColumn]()
    while sum(least(column, texts) + GAP for column in shown) - GAP > width:
        column = max(reversed(shown), key=lambda one: one.gives_way, default=None)
        if column is None or not column.gives_way:
            break
        shown.remove(column)
        gone.append(column)
    return [column for column in columns if column in gone]


def natural(column: TableColumn, texts: Mapping[str, list[str]]) -> int:
    """Return the characters of a column that is not narrowed."""
    return max(map(cells_of, [*column.title.split("\n"), *texts[column.name]]))


def least(column: TableColumn, texts: Mapping[str, list[str]]) -> int:
    """Return the fewest characters that a column can be narrowed to."""
    whole = natural(column, texts)
    if not column.narrow or are_figures(texts[column.name]):
        return whole
    return min(whole, max(LEAST[column.narrow], *map(cells_of, column.title.split("\n"))))


def fit_texts(columns: Sequence[TableColumn], texts: dict[str, list[str]], width: int) -> None:
    """Cut or wrap texts until a line fits, the longest first."""
    wide = {column.name: natural(column, texts) for column in columns}
    fewest = {column.name: least(column, texts) for column in columns}
    while sum(wide.values()) + GAP * (len(wide) - 1) > width:
        spare = [name for name in wide if wide[name] > fewest[name]]
        if not spare:
            break
        wide[max(spare, key=lambda name: wide[name])] -= 1
    for column in columns:
        most = wide[column.name]
        if most < natural(column, texts):
            texts[column.name] = [narrowed(text, most, column.narrow) for text in texts[column.name]]


def narrowed(text: str, most: int, how: str) -> str:
    """Return a text in so many characters: cut at its end or in the middle, or broken between words.

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


def drawn(columns: Sequence[tuple[str, list[str]]]) -> list[str]:
    """Return the lines of a table; figures stand to the right, and headings end just above the rows."""
    parts = []
    tallest = max((title.count("\n") for title, _ in columns), default=0)
    for title, cells in columns:
        head = "\n" * (tallest - title.count("\n")) + title
        every = [cell.split("\n") for cell in (head, *cells)]
        wide = max(cells_of(line) for lines in every for line in lines)
        parts.append((every, wide, are_figures(cells)))
    found = list[str]()
    for row in zip(*(every for every, _, _ in parts), strict=True):
        for number in range(max(map(len, row))):
            line = [
                padded(lines[number] if number < len(lines) else "", wide, to_the_right)
                for lines, (_, wide, to_the_right) in zip(row, parts, strict=True)
            ]
            found.append((" " * GAP).join(line).rstrip())
    return found


def padded(text: str, width: int, to_the_right: bool) -> str:
    """Return a text with spaces before or after it."""
    blank = " " * (width - cells_of(text))
    return blank + text if to_the_right else text + blank


def are_figures(texts: Sequence[str]) -> bool:
    """Return whether a column holds figures, and blanks or dashes between them.

    >>> are_figures(["+1,250.00", "–", "-3%"]), are_figures(["2026-01-04"]), are_figures(["0.013–0.27", "9k"])
    (True, False, True)
    """
    some = [text for text in texts if text not in EMPTY]
    return bool(some) and all(FIGURE.fullmatch(text) for text in some)


def cells_of(text: str) -> int:
    """Return the characters of a terminal that a text takes, where some letters take two."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)
