"""The tournament of seed 001: three questions of four days, three forecasters and a bot."""

import numpy as np

from arena.scores.rules.metaculus.forecasts import (
    Forecasts,
    MetaculusQuestion,
    Totals,
    chance_forecasts,
    total_by_forecaster,
)
from arena.scores.rules.metaculus.tournament import TournamentBoard
from arena.scores.rules.metaculus.tournament_2022 import HiddenPeriod, board, score

Days = dict[str, list[float | None]]

FORECASTERS = ("A", "B", "C", "bot")
TABLES: dict[int, Days] = {
    1: {
        "A": [0.10, 0.10, 0.55, 0.55],
        "B": [None, 0.90, 0.90, 0.90],
        "C": [0.20, 0.25, 0.30, 0.35],
        "bot": [None, None, 0.55, 0.55],
    },
    2: {
        "A": [0.18, 0.18, 0.18, 0.18],
        "B": [0.36, 0.5, 1.0, 2.0],
        "C": [0.09, 0.09, 0.09, 0.09],
        "bot": [None, None, 0.18, 0.18],
    },
    3: {
        "A": [0.30, 0.30, None, None],
        "B": [None, 0.10, 0.10, None],
        "C": [None, None, None, None],
        "bot": [None, None, 0.10, None],
    },
}
LENGTH = 4
POOL = 1000


def forecasts_of(table: Days) -> Forecasts:
    """Return one forecast for each day that has one, from the day before its number until its number."""
    rows = [
        (name, day, value)
        for name, days in table.items()
        for day, value in enumerate(days)
        if value is not None
    ]
    names, starts, values = ([row[k] for row in rows] for k in range(3))
    return chance_forecasts(names, starts, values, end=np.array(starts) + 1)


def question_of(table: Days) -> MetaculusQuestion:
    """Return a question that closes after the last day with a forecast."""
    last = max(k + 1 for days in table.values() for k, value in enumerate(days) if value is not None)
    return MetaculusQuestion(0, last, len(next(iter(table.values()))))


def scored(table: Days, hidden: HiddenPeriod | None = None) -> Totals:
    """Return everybody's score of a question."""
    forecasts = forecasts_of(table)
    return total_by_forecaster(forecasts, score(question_of(table), forecasts, hidden))


def tournament(hidden: HiddenPeriod | None = None, pool: float = POOL) -> TournamentBoard:
    """Return the board of the three questions."""
    return board([scored(table, hidden) for table in TABLES.values()], pool)
