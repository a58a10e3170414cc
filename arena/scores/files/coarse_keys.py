"""Question keys that stand for several questions at once, and the columns that distinguish these."""

from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np

from arena.forms.csv_columns import Cells, Ints, Rows, TextColumn

COARSE = 5
"""With more repeated forecasts than this, their key is reported as too coarse."""
MOST_LOOKED_AT = 20_000
"""The most rows examined to find the columns that distinguish them."""
MOST_COLUMNS = 30
"""The most columns of a file that are tried."""
LEAST_SHARED = 0.6
"""The share of a question's forecasters that a finer question has to keep."""


def coarse_hint(cells: Cells, rows: Rows) -> str:
    """Return a hint that names the columns of the file which distinguish these rows."""
    looked_at = rows[:MOST_LOOKED_AT]
    whole = cells.whole_rows(looked_at)
    columns = {name: column.take(whole) for name, column in cells.spare().items()}
    question = cells.columns["question"].code[looked_at]
    forecaster = cells.columns["forecaster"].code[looked_at]

    for number in (1, 2):
        finer = list(_finer(columns, question, forecaster, number))
        if finer:
            _, _, names = max(finer)
            key = "+".join([cells.theirs.get("question", "question"), *names])
            return f"name it by several columns: --columns question={key}; updates need a column time"
    return "no column of the file tells them apart: add one that does; updates need a column time"


def _finer(
    columns: dict[str, TextColumn], question: Ints, forecaster: Ints, number: int
) -> Iterator[tuple[float, int, Sequence[str]]]:
    """Yield the columns that make the key of every forecast unique, for comparison after two figures.

    These are the number of forecasters a question then has, and how few texts the columns have. A column that
    differs in every row, such as a running number, would make a question of every forecast.
    """
    shared_before = _forecasters_a_question(question, forecaster)
    for names in combinations(list(columns)[:MOST_COLUMNS], number):
        key = question
        for name in names:
            key = _numbered(key, columns[name].code)
        forecast = _numbered(key, forecaster)
        is_unique = np.unique(forecast).size == forecast.size
        shared = _forecasters_a_question(key, forecaster)
        if is_unique and shared >= LEAST_SHARED * shared_before:
            yield shared, -sum(np.unique(columns[name].code).size for name in names), names


def _numbered(first: Ints, second: Ints) -> Ints:
    """Return a number for each different pair of two columns."""
    pairs = first * (int(second.max(initial=0)) + 1) + second
    numbered: Ints = np.unique(pairs, return_inverse=True)[1]
    return numbered


def _forecasters_a_question(question: Ints, forecaster: Ints) -> float:
    """Return the mean number of forecasters of a question."""
    pairs = np.unique(_numbered(question, forecaster)).size
    return pairs / max(np.unique(question).size, 1)
