"""The first paper's leaderboard: plain means, the best forecaster, and how sure it is that it is the best.

- Formula: mean Brier score of each type, overall their mean; its 95% interval is the mean ± t·SE, SE² = (s²/n
  of datasets + s²/n of markets) / 4, t of min(n) − 1 degrees of freedom. Each is compared with the best:
  differences by question are centred on 0 within each type, questions of each type are drawn with
  replacement, and p is the share of draws whose overall difference is at least the one seen. `better` is the
  share of questions on which the forecaster's Brier score is below the best's, each market counted as often
  as its price was noted (`noted`), as in the paper's tables: once for each horizon. `better_once` counts each
  market once. The clustered interval is ours: the deviations of what is in one cluster are summed before they
  are squared.
- Direction: score lower, `better` higher; p small speaks for the best.
- Range: 0 to 1, all of them.
- Edge cases: questions that haven't resolved count with the market's price for an outcome. Everybody must
  have answered every question (see `imputation`), else it is an error. The best has neither p nor `better`;
  of forecasters with the same score the first by name is the best. `against` names another than the best
  to compare with. A type with one question has no
  interval.
- Source: seed 004 section 5.2, notes to tables 2 and 3, and appendix G, which takes questions for
  independent.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from scipy.special import stdtrit

from arena.scores.rules._columns import Floats, none_for_nan
from arena.scores.rules.forecastbench.bootstrap import CHUNK_CELLS
from arena.scores.rules.forecastbench.leaderboard import QuestionCounts, ScoreByType, both
from arena.scores.rules.forecastbench.panel import Panel

DRAWS = 10_000
TAIL = 0.975


@dataclass(frozen=True, slots=True)
class PaperScores:
    """A forecaster on the paper's board."""

    forecaster: str
    n: QuestionCounts
    brier: ScoreByType
    low: float | None
    high: float | None
    low_clustered: float | None
    high_clustered: float | None
    p: float | None
    better: float | None
    better_once: float | None


def paper_leaderboard(
    dataset: Panel,
    market: Panel,
    *,
    draws: int = DRAWS,
    seed: int = 0,
    noted: Mapping[str, int] | None = None,
    against: str | None = None,
) -> list[PaperScores]:
    """The leaderboard, lowest overall Brier score first."""
    for part in (dataset, market):
        if not part.questions:
            raise ValueError("there is no question of one of the types, and the paper's board needs both")
        absent = np.argwhere(np.isnan(part.brier))
        if absent.size:
            who, what = absent[0].tolist()
            raise ValueError(f"{part.forecasters[who]!r} has no forecast on {part.questions[what]!r}")
    means = both(dataset.brier.mean(axis=1), market.brier.mean(axis=1))
    half, clustered = _half_width(dataset, market), _half_width(dataset, market, by_cluster=True)
    best = int(means[2].argmin()) if against is None else dataset.forecasters.index(against)
    apart = [part.brier - part.brier[best] for part in (dataset, market)]
    p = _p_values(apart[0], apart[1], np.random.default_rng(seed), draws)
    below = np.hstack(apart) < 0
    times = np.array([(noted or {}).get(name, 1) for name in (*dataset.questions, *market.questions)])
    better, once = below @ times / times.sum(), below.mean(axis=1)
    sizes = len(dataset.questions), len(market.questions)
    rows = [
        PaperScores(
            forecaster=name,
            n=QuestionCounts(*sizes, sum(sizes)),
            brier=ScoreByType(*means[:, i].tolist()),
            low=none_for_nan(means[2, i] - half[i]),
            high=none_for_nan(means[2, i] + half[i]),
            low_clustered=none_for_nan(means[2, i] - clustered[i]),
            high_clustered=none_for_nan(means[2, i] + clustered[i]),
            p=None if i == best else float(p[i]),
            better=None if i == best else float(better[i]),
            better_once=None if i == best else float(once[i]),
        )
        for i, name in enumerate(dataset.forecasters)
    ]
    return sorted(rows, key=lambda row: (row.brier.overall, row.forecaster))


def _half_width(dataset: Panel, market: Panel, by_cluster: bool = False) -> Floats:
    """Half of each interval's width; NaN where a type has one question, or one cluster."""
    parts = [_deviations(panel, by_cluster) for panel in (dataset, market)]
    freedom = min(part.shape[1] for part in parts) - 1
    if freedom < 1:
        return np.full(len(dataset.forecasters), np.nan)
    variance = 0.0
    for panel, part in zip((dataset, market), parts, strict=True):
        units = part.shape[1]
        variance = variance + (part**2).sum(axis=1) * units / (units - 1) / len(panel.questions) ** 2
    return np.asarray(stdtrit(freedom, TAIL) * np.sqrt(variance) / 2, dtype=np.float64)


def _deviations(panel: Panel, by_cluster: bool) -> Floats:
    """How far each question is from the forecaster's mean, summed by cluster if that is wanted."""
    apart: Floats = panel.brier - panel.brier.mean(axis=1, keepdims=True)
    if not by_cluster:
        return apart
    order = np.argsort(panel.cluster, kind="stable")
    _, starts = np.unique(panel.cluster[order], return_index=True)
    sums: Floats = np.add.reduceat(apart[:, order], starts, axis=1)
    return sums


def _p_values(dataset: Floats, market: Floats, chance: Generator, draws: int) -> Floats:
    """The share of draws under the null in which each one's difference from the best is as large as seen."""
    observed = (dataset.mean(axis=1) + market.mean(axis=1)) / 2
    reached = np.zeros(len(observed))
    if len(observed) == 1:  # it is the best, and has no p
        return reached
    centred = [part - part.mean(axis=1, keepdims=True) for part in (dataset, market)]
    rows = max(1, CHUNK_CELLS // max(part.shape[1] for part in centred))
    for start in range(0, draws, rows):
        shifts = [_means(part, chance, min(rows, draws - start)) for part in centred]
        reached += ((shifts[0] + shifts[1]) / 2 >= observed).sum(axis=0)
    return reached / draws


def _means(values: Floats, chance: Generator, rows: int) -> Floats:
    """The mean of each row of values on questions drawn anew, a row a draw."""
    size = values.shape[1]
    picked = chance.integers(0, size, size=(rows, size)) + np.arange(rows)[:, None] * size
    times = np.bincount(picked.ravel(), minlength=rows * size).reshape(rows, size)
    means: Floats = times @ values.T / size
    return means
