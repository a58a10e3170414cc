"""A table of forecasts, checked, and sorted by question, forecaster and time."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from arena.scoring._columns import Floats, chances, scored
from arena.scoring.metaculus.forecasts import Labels

Places = NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class Times:
    """When each row's forecast was made, and when its question opened, closed and was to close."""

    time: ArrayLike
    closes: ArrayLike
    opens: ArrayLike | None = None
    scheduled: ArrayLike | None = None


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows of resolved questions; `row` is where each was in the table, `question` is numbered."""

    row: Places
    question: Places
    forecaster: Labels
    said: Floats
    outcome: Floats
    time: Floats
    opens: Floats
    closes: Floats
    scheduled: Floats


def checked(
    question: ArrayLike, forecaster: ArrayLike, said: ArrayLike, outcome: ArrayLike, times: Times | None
) -> Rows:
    """The rows that count, if all is well with the table."""
    given, ended = chances(said), np.atleast_1d(np.asarray(outcome, dtype=np.float64))
    names = np.atleast_1d(np.asarray(forecaster)).astype(np.str_)
    _, asked = np.unique(np.atleast_1d(np.asarray(question)).astype(np.str_), return_inverse=True)
    moments = _moments(times, asked)
    for name, column in (("forecaster", names), ("probability", given), ("outcome", ended)):
        if column.size != asked.size:
            raise ValueError(f"column {name} has {column.size} rows, not {asked.size}")
    order = np.lexsort((moments[0], names, asked))
    row = order[scored(ended)[order]]
    rows = Rows(row, asked[row], names[row], given[row], ended[row], *(column[row] for column in moments))
    _one_life(rows)
    _no_doubles(rows)
    return rows


def _moments(times: Times | None, asked: Places) -> tuple[Floats, Floats, Floats, Floats]:
    """When each forecast was made, and its question's opening, close and planned close."""
    if times is None:
        start, end = np.zeros(asked.size), np.ones(asked.size)
        return start, start, end, end
    time, closes = _column(times.time, "time", asked), _column(times.closes, "closes", asked)
    scheduled = closes if times.scheduled is None else _column(times.scheduled, "scheduled", asked)
    if times.opens is not None:
        return time, _column(times.opens, "opens", asked), closes, scheduled
    first = np.full(asked.size, np.inf)
    np.minimum.at(first, asked, time)
    return time, first[asked], closes, scheduled


def _column(column: ArrayLike, name: str, asked: Places) -> Floats:
    values = np.atleast_1d(np.asarray(column, dtype=np.float64))
    if values.size != asked.size:
        raise ValueError(f"column {name} has {values.size} rows, not {asked.size}")
    wrong = np.flatnonzero(~np.isfinite(values))
    if wrong.size:
        raise ValueError(f"row {wrong[0]}: {name} {values[wrong[0]]} is not a time")
    return values


def _one_life(rows: Rows) -> None:
    """A question ends one way, and has one opening and one close."""
    same = rows.question[1:] == rows.question[:-1]
    for name in ("outcome", "opens", "closes", "scheduled"):
        column = getattr(rows, name)
        for place in np.flatnonzero(same & (column[1:] != column[:-1]))[:1]:
            one, other = sorted(zip(rows.row[place : place + 2], column[place : place + 2], strict=True))
            raise ValueError(
                f"row {other[0]}: {name} {other[1]:g}, but row {one[0]} of the same question has {one[1]:g}"
            )


def _no_doubles(rows: Rows) -> None:
    """Nobody says two things at once."""
    columns = (rows.question, rows.forecaster, rows.time)
    same = [column[1:] == column[:-1] for column in columns]
    twice = np.flatnonzero(np.logical_and.reduce(same)) + 1
    if twice.size:
        row, first = sorted(rows.row[twice[0] - 1 : twice[0] + 1], reverse=True)
        name = rows.forecaster[twice[0]]
        raise ValueError(f"row {row}: {name} has forecast the same question at the same time in row {first}")
