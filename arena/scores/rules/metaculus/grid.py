"""Many yes/no questions on which the same few may forecast at the same instants, as in a season's rounds.

In mode `exact`, with spot scores at the end of each question and the community as one more forecaster; those
who forecast at one instant are of one age. Forecasts are a table, an instant a row and a forecaster a column,
which comes to the same as `table`, question by question.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from arena.scores.rules._columns import Flags, Floats
from arena.scores.rules.metaculus import baseline
from arena.scores.rules.metaculus._timeline import medians_of_others
from arena.scores.rules.metaculus.community import median_of_rising, recency_weights
from arena.scores.rules.metaculus.limits import clip

Ints = NDArray[np.int64]
GRID_SCORES = ("baseline", "peer", "relative", "coverage", "spot_baseline", "spot_peer")


@dataclass(frozen=True, slots=True)
class ForecastGrid:
    """Instants in order of question and time; `said` has the probability of YES where one was stated, else
    NaN.

    `opens`, `ends` and `scheduled` are of each row's question: when its life began, when scoring ends, and
    when it was to close. `yes` says whether it ended so, `base` who is compared with whom.
    """

    question: Ints
    time: Floats
    said: Floats
    opens: Floats
    ends: Floats
    scheduled: Floats
    yes: Flags
    base: Flags


@dataclass(frozen=True, slots=True)
class GridScores:
    """The numbers of the questions, and for each score a table of them by forecaster, the community last."""

    question: Ints
    values: dict[str, Floats]


def grid_scores(grid: ForecastGrid) -> GridScores:
    """The scores of all."""
    first = np.flatnonzero(np.diff(grid.question, prepend=-1))
    stands, since = _standing(grid, first)
    until = np.where(np.diff(grid.question, append=-1) == 0, np.append(grid.time[1:], 0.0), np.inf)
    low, high = (np.clip(x, grid.opens, grid.ends) for x in (grid.time, until))
    share = (high - low) / (grid.scheduled - grid.opens)
    chance = clip(np.where(grid.yes[:, None], stands, 1 - stands))
    logs = np.log(np.column_stack([chance, _community(chance, since, grid.base)]))
    base = np.append(grid.base, False)
    inside = base & ~np.isnan(logs)
    total = np.where(inside, logs, 0.0).sum(axis=1, keepdims=True)
    others = inside.sum(axis=1, keepdims=True) - inside
    mean = (total - np.where(inside, logs, 0.0)) / np.where(others > 0, others, np.nan)
    peers: Floats = 100 * (logs - mean)
    parts = {
        "baseline": baseline.points(np.exp(logs)),
        "peer": peers,
        "relative": _relatives(logs, base),
    }
    is_last = (grid.time < grid.ends) & ~(
        (np.append(grid.time[1:], np.inf) < grid.ends) & (np.diff(grid.question, append=-1) == 0)
    )
    values = {}
    for name, part in parts.items():
        known = ~np.isnan(part)
        total = np.add.reduceat(np.where(known, part, 0.0) * share[:, None], first)
        compared = np.add.reduceat(known * share[:, None], first)
        values[name] = np.where(compared > 0, total, np.nan)
        if name == "baseline":
            values["coverage"] = np.where(compared > 0, compared, np.nan)
        if name != "relative":
            spot = np.where(known & is_last[:, None], part, 0.0)
            counted = np.add.reduceat((known & is_last[:, None]).astype(np.float64), first)
            values[f"spot_{name}"] = np.where(counted > 0, np.add.reduceat(spot, first), np.nan)
    return GridScores(grid.question[first], values)


def _standing(grid: ForecastGrid, first: Ints) -> tuple[Floats, Floats]:
    """What stands at each instant, and since when."""
    row = np.arange(grid.time.size)[:, None]
    newest = np.maximum.accumulate(np.where(np.isnan(grid.said), -1, row), axis=0)
    start = np.repeat(first, np.diff(first, append=grid.time.size))[:, None]
    stands = newest >= start
    newest = np.where(stands, newest, 0)
    said = np.take_along_axis(grid.said, newest, axis=0)
    return np.where(stands, said, np.nan), np.where(stands, grid.time[newest], np.inf)


def _community(chance: Floats, since: Floats, base: Flags) -> Floats:
    """The recency-weighted median of the base at each instant."""
    values = np.where(base, chance, np.nan)
    known = ~np.isnan(values)
    count = known.sum(axis=1, keepdims=True)
    age = _age_ranks(np.where(known, since, np.inf))
    weights = np.where(known, recency_weights(count, age), 0.0)
    rising = np.argsort(values, axis=1, kind="stable")
    values, weights = (np.take_along_axis(x, rising, axis=1) for x in (values, weights))
    return median_of_rising(values, weights)


def _age_ranks(since: Floats) -> Floats:
    """Each one's rank in its row, from 1, the oldest first; those of one age share the mean of theirs."""
    order = np.argsort(since, axis=1, kind="stable")
    rising = np.take_along_axis(since, order, axis=1)
    place = np.broadcast_to(np.arange(since.shape[1]), since.shape)
    same = rising[:, 1:] == rising[:, :-1]
    one = np.zeros((len(since), 1), dtype=np.bool_)
    first = np.maximum.accumulate(np.where(np.hstack([one, same]), 0, place), axis=1)
    last = np.where(np.hstack([same, one]), since.shape[1], place)
    last = np.minimum.accumulate(last[:, ::-1], axis=1)[:, ::-1]
    ranks = np.empty(since.shape)
    np.put_along_axis(ranks, order, (first + last) / 2 + 1, axis=1)
    return ranks


def _relatives(logs: Floats, base: Flags) -> Floats:
    """Against the median of all others."""
    inside = base & ~np.isnan(logs)
    chance = np.exp(np.where(inside, logs, np.nan))
    order = np.argsort(chance, axis=1, kind="stable")
    place = np.empty(order.shape, dtype=np.intp)
    np.put_along_axis(place, order, np.broadcast_to(np.arange(order.shape[1]), order.shape), axis=1)
    median = medians_of_others(np.take_along_axis(chance, order, axis=1), place, inside)
    scores: Floats = (logs - np.log(median)) / np.log(2)
    return scores
