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
    examined_rows = rows[:MOST_LOOKED_AT]
    file_rows = cells.whole_rows(examined_rows)
    columns = {name: column.take(file_rows) for name, column in cells.spare().items()}
    question = cells.columns["question"].code[examined_rows]
    forecaster = cells.columns["forecaster"].code[examined_rows]

    # Two columns are tried only if no single one will do.
    for column_count in (1, 2):
        candidates = list(_distinguishing_columns(columns, question, forecaster, column_count))
        if candidates:
            # The most forecasters a question, then the fewest different texts.
            _, _, names = max(candidates)
            key = "+".join([cells.theirs.get("question", "question"), *names])
            return f"name it by several columns: --columns question={key}; updates need a column time"
    return "no column of the file tells them apart: add one that does; updates need a column time"


def _distinguishing_columns(
    columns: dict[str, TextColumn], question: Ints, forecaster: Ints, number: int
) -> Iterator[tuple[float, int, Sequence[str]]]:
    """Yield the columns that make the key of every forecast unique, for comparison after two figures.

    These are the number of forecasters a question then has, and how few texts the columns have. A column that
    differs in every row, such as a running number, would make a question of every forecast.
    """
    mean_forecasters_before = _mean_forecasters(question, forecaster)
    for names in combinations(list(columns)[:MOST_COLUMNS], number):
        key = question
        for name in names:
            key = _pair_numbers(key, columns[name].code)
        forecast_key = _pair_numbers(key, forecaster)
        is_unique = np.unique(forecast_key).size == forecast_key.size
        mean_forecasters = _mean_forecasters(key, forecaster)
        if is_unique and mean_forecasters >= LEAST_SHARED * mean_forecasters_before:
            distinct_texts = sum(np.unique(columns[name].code).size for name in names)
            yield mean_forecasters, -distinct_texts, names


def _pair_numbers(first: Ints, second: Ints) -> Ints:
    """Return a number for each different pair of two columns."""
    pairs = first * (int(second.max(initial=0)) + 1) + second
    numbers: Ints = np.unique(pairs, return_inverse=True)[1]
    return numbers


def _mean_forecasters(question: Ints, forecaster: Ints) -> float:
    """Return the mean number of forecasters of a question."""
    pair_count = np.unique(_pair_numbers(question, forecaster)).size
    return pair_count / max(np.unique(question).size, 1)
