"""Bootstrap of the board: the same board on questions drawn anew.

- Formula: within each stratum as many questions are drawn as there are, with replacement; difficulties
  and the shift of scores are estimated anew. `by="cluster"` draws whole clusters (questions of one
  series, or of one event) within families, such as sources; where questions move together that interval
  is wider.
- Direction: none.
- Range: as the index, percent.
- Edge cases: a replicate in which a forecaster has no question, or the difficulty sample falls apart, is
  NaN for it, and is left out of its quantiles.
- Source: the benchmark's leaderboard: 1,999 replicates, strata by due date and source, dataset and market
  questions drawn independently. Clusters are ours.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.random import Generator

from arena.scores.rules._columns import Floats
from arena.scores.rules.forecastbench.adjusted_brier import DifficultyTable, scores_by_weighting
from arena.scores.rules.forecastbench.brier_index import index
from arena.scores.rules.forecastbench.panel import Ints, Panel

REPLICATES = 1999
Unit = Literal["question", "cluster"]
DECIMALS = 9
"""Digits of an index that rounding leaves alone: equal forecasters are equal in every replicate."""
CHUNK_CELLS = 500_000
"""So many cells of draws at a time stay in a processor's cache."""


@dataclass(frozen=True, slots=True, eq=False)
class Replicates:
    """The Brier Index of each forecaster in each replicate: replicates in rows."""

    dataset: Floats
    market: Floats
    overall: Floats


def replicates(
    dataset: tuple[Panel, DifficultyTable],
    market: tuple[Panel, DifficultyTable],
    chance: Generator,
    count: int = REPLICATES,
    by: Unit = "question",
) -> Replicates:
    """Return the board's indices on `count` draws of both types of question."""
    dataset_scores = replicate_scores(*dataset, chance, count, by)
    market_scores = replicate_scores(*market, chance, count, by)
    overall = (dataset_scores + market_scores) / 2

    return Replicates(
        dataset=index(dataset_scores).round(DECIMALS),
        market=index(market_scores).round(DECIMALS),
        overall=index(overall).round(DECIMALS),
    )


def replicate_scores(
    panel: Panel, ready: DifficultyTable, chance: Generator, count: int, by: Unit = "question"
) -> Floats:
    """Return the adjusted scores of one type in each replicate."""
    return np.vstack([scores_by_weighting(ready, weights) for weights in draws(panel, chance, count, by)])


def draws(panel: Panel, chance: Generator, count: int, by: Unit = "question") -> Iterator[Floats]:
    """Yield how often each question was drawn, one replicate a row, some replicates at a time."""
    stratum_of_unit = panel.stratum
    if by == "cluster":
        # The units are clusters instead of questions, drawn within their families.
        clusters = int(panel.cluster.max(initial=-1)) + 1
        stratum_of_unit = np.zeros(clusters, dtype=np.int64)
        stratum_of_unit[panel.cluster] = panel.family

    groups = [np.flatnonzero(stratum_of_unit == label) for label in np.unique(stratum_of_unit)]
    rows_at_once = max(1, CHUNK_CELLS // max(len(panel.questions), 1))
    for start in range(0, count, rows_at_once):
        draw_count = _counts_within_groups(
            groups, len(stratum_of_unit), chance, min(rows_at_once, count - start)
        )
        if by == "cluster":
            draw_count = draw_count[:, panel.cluster]
        yield draw_count


def _counts_within_groups(groups: list[Ints], units: int, chance: Generator, rows: int) -> Floats:
    """Return how often each unit was drawn, within its group, one replicate a row."""
    counts = np.empty((rows, units))
    for group in groups:
        drawn = draw_counts(group.size, chance, rows)
        if len(groups) == 1:
            counts[:] = drawn
        else:
            counts[:, group] = drawn
    return counts


def draw_counts(size: int, chance: Generator, rows: int) -> Ints:
    """Return how often each of `size` units was drawn in as many draws, one replicate a row."""
    # Each replicate has numbers of its own, so that one count serves all.
    row_offset = np.arange(rows)[:, None] * size
    drawn_units = chance.integers(0, size, size=(rows, size)) + row_offset
    return np.bincount(drawn_units.ravel(), minlength=rows * size).reshape(rows, size)
