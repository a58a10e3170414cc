"""What the cells of a file mean: names, numbers from 0 to 1, times; a cell that means nothing is named."""

from collections.abc import Collection, Sequence
from datetime import UTC, datetime
from math import isfinite, nan

import numpy as np
from numpy.typing import NDArray

from arena.filed.cells import Cells

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]


def names(cells: Cells, column: str) -> tuple[Ints, tuple[str, ...]]:
    """A column of names as places among them, in the order of the alphabet. None may be empty."""
    texts = cells.columns[column]
    empty = [row for row, text in enumerate(texts) if not text]
    if empty:
        raise cells.wrong(column, empty, "it is empty", f"every line needs a {column}")
    return places(texts)


def places(texts: Sequence[str]) -> tuple[Ints, tuple[str, ...]]:
    """Texts as places among the different ones, sorted.

    >>> places(["b", "a", "b"])
    (array([1, 0, 1]), ('a', 'b'))
    """
    found = sorted(set(texts))
    place = {text: number for number, text in enumerate(found)}
    return np.fromiter((place[text] for text in texts), dtype=np.int64, count=len(texts)), tuple(found)


def shares(cells: Cells, column: str, mend: str, blank: bool = False) -> Floats:
    """Numbers from 0 to 1; an empty cell is NaN where that is allowed."""
    values = numbers(cells, column, mend, blank)
    wrong = np.flatnonzero((values < 0) | (values > 1))
    if wrong.size:
        raise cells.wrong(column, wrong, f"{cells.shown(column, wrong[0])} is not from 0 to 1", mend)
    return values


def numbers(cells: Cells, column: str, mend: str, blank: bool = False) -> Floats:
    """Finite numbers; an empty cell is NaN where that is allowed."""
    texts = cells.columns[column]
    known = {text: number(text) for text in dict.fromkeys(texts)}
    values = np.fromiter((known[text] for text in texts), dtype=np.float64, count=len(texts))
    wrong = np.flatnonzero(np.isnan(values))
    if blank:
        wrong = np.array([row for row in wrong if texts[row]], dtype=np.intp)
    if wrong.size:
        raise cells.wrong(column, wrong, _no_number(cells, column, int(wrong[0])), mend)
    return values


def number(text: str) -> float:
    """The finite number that a text is, NaN if it is none.

    >>> number("0.5"), number("1e999"), number("1_0")
    (0.5, nan, nan)
    """
    try:
        value = float(text)
    except ValueError:
        return nan
    return value if isfinite(value) and "_" not in text and text.isascii() else nan


def times(cells: Cells, columns: Collection[str], blank: Collection[str] = ()) -> dict[str, Floats]:
    """Columns of times, all ISO's or all plain numbers; an empty cell is NaN in those that may be."""
    plain, found = None, dict[str, Floats]()
    for column in columns:
        texts = cells.columns[column]
        known = {text: moment(text) for text in dict.fromkeys(texts)}
        values = np.fromiter((known[text][0] for text in texts), dtype=np.float64, count=len(texts))
        _check_times(cells, column, np.flatnonzero(np.isnan(values)), column in blank)
        for text, (value, is_plain) in known.items():
            plain = is_plain if plain is None and text else plain
            if value == value and is_plain is not plain:
                what = f"{text[:40]!r} and other times of the file are of two kinds"
                mend = "write all times as dates such as 2026-01-04T12:00, or all as numbers"
                raise cells.wrong(column, [texts.index(text)], what, mend)
        found[column] = values
    return found


def moment(text: str) -> tuple[float, bool]:
    """A time as a number, NaN if it is none, and whether it was written as one.

    >>> moment("2026-01-04"), moment("2.5"), moment("soon")
    ((1767484800.0, False), (2.5, True), (nan, False))
    """
    value = number(text)
    if value == value:
        return value, True
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        return nan, False
    return (at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp(), False


def _check_times(cells: Cells, column: str, unknown: NDArray[np.intp], blank: bool) -> None:
    wrong = [int(row) for row in unknown if not blank or cells.columns[column][row]]
    if wrong:
        text = cells.columns[column][wrong[0]]
        what = f"{cells.shown(column, wrong[0])} is not a time" if text else "it is empty"
        raise cells.wrong(
            column, wrong, what, "write it like 2026-01-04T12:00 (UTC unless it says so), or as a number"
        )


def _no_number(cells: Cells, column: str, row: int) -> str:
    return f"{cells.shown(column, row)} is not a number" if cells.columns[column][row] else "it is empty"
