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
from arena.scores.rules.forecastbench.bootstrap import CHUNK_CELLS, draw_counts
from arena.scores.rules.forecastbench.leaderboard import QuestionCounts, ScoreByType, stack_with_mean
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
    """Return the leaderboard, lowest overall Brier score first."""
    _check_complete(dataset)
    _check_complete(market)
    means = stack_with_mean(dataset.brier.mean(axis=1), market.brier.mean(axis=1))
    overall = means[2]
    half_width = _half_widths(dataset, market)
    low = overall - half_width
    high = overall + half_width
    clustered_half_width = _half_widths(dataset, market, by_cluster=True)
    low_clustered = overall - clustered_half_width
    high_clustered = overall + clustered_half_width

    reference = int(overall.argmin())
    if against is not None:
        reference = dataset.forecasters.index(against)
    difference = dataset.brier - dataset.brier[reference]
    market_difference = market.brier - market.brier[reference]
    p = _p_values(difference, market_difference, np.random.default_rng(seed), draws)

    # Markets count as often as their price was noted.
    noted = noted or {}
    questions = (*dataset.questions, *market.questions)
    weights = np.array([noted.get(name, 1) for name in questions])
    is_below = np.hstack([difference, market_difference]) < 0
    better = is_below @ weights / weights.sum()
    better_once = is_below.mean(axis=1)

    # The best, or the one named, isn't compared with itself.
    p[reference] = np.nan
    better[reference] = np.nan
    better_once[reference] = np.nan

    sizes = QuestionCounts(
        dataset=len(dataset.questions), market=len(market.questions), overall=len(questions)
    )
    rows = []
    for place, name in enumerate(dataset.forecasters):
        scores = PaperScores(
            forecaster=name,
            n=sizes,
            brier=ScoreByType(*means[:, place].tolist()),
            low=none_for_nan(low[place]),
            high=none_for_nan(high[place]),
            low_clustered=none_for_nan(low_clustered[place]),
            high_clustered=none_for_nan(high_clustered[place]),
            p=none_for_nan(p[place]),
            better=none_for_nan(better[place]),
            better_once=none_for_nan(better_once[place]),
        )
        rows.append(scores)
    return sorted(rows, key=lambda row: (row.brier.overall, row.forecaster))


def _check_complete(panel: Panel) -> None:
    """Raise `ValueError` if there is no question, or if a forecast is missing."""
    if not panel.questions:
        raise ValueError("there is no question of one of the types, and the paper's board needs both")

    absent = np.argwhere(np.isnan(panel.brier))
    if absent.size:
        forecaster, question = absent[0].tolist()
        raise ValueError(
            f"{panel.forecasters[forecaster]!r} has no forecast on {panel.questions[question]!r}"
        )


def _half_widths(dataset: Panel, market: Panel, by_cluster: bool = False) -> Floats:
    """Return half of each interval's width; NaN if a type has only one question or cluster."""
    deviations = _deviations(dataset, by_cluster)
    market_deviations = _deviations(market, by_cluster)
    freedom = min(deviations.shape[1], market_deviations.shape[1]) - 1
    if freedom < 1:
        return np.full(len(dataset.forecasters), np.nan)

    variance = _variance(deviations, len(dataset.questions))
    variance = variance + _variance(market_deviations, len(market.questions))
    half: Floats = stdtrit(freedom, TAIL) * np.sqrt(variance) / 2
    return half


def _variance(deviations: Floats, questions: int) -> Floats:
    """Return the variance of each mean over this many questions."""
    units = deviations.shape[1]
    variance: Floats = (deviations**2).sum(axis=1) * units / (units - 1) / questions**2
    return variance


def _deviations(panel: Panel, by_cluster: bool) -> Floats:
    """Return how far each question is from the forecaster's mean, optionally summed by cluster."""
    apart = _centred(panel.brier)
    if not by_cluster:
        return apart

    order = np.argsort(panel.cluster, kind="stable")
    _, starts = np.unique(panel.cluster[order], return_index=True)
    sums: Floats = np.add.reduceat(apart[:, order], starts, axis=1)
    return sums


def _centred(values: Floats) -> Floats:
    """Return each row minus its mean."""
    centred: Floats = values - values.mean(axis=1, keepdims=True)
    return centred


def _p_values(dataset: Floats, market: Floats, chance: Generator, draws: int) -> Floats:
    """Return the share of draws under the null that differ from the best as much as observed."""
    observed = (dataset.mean(axis=1) + market.mean(axis=1)) / 2
    draws_as_far = np.zeros(len(observed))
    if len(observed) == 1:
        return draws_as_far  # there is nobody to compare the best with

    # Under the null nobody differs from the best: the differences are centred before they are drawn.
    dataset = _centred(dataset)
    market = _centred(market)
    draws_at_once = max(1, CHUNK_CELLS // max(dataset.shape[1], market.shape[1]))
    for start in range(0, draws, draws_at_once):
        count = min(draws_at_once, draws - start)
        drawn = (_resampled_means(dataset, chance, count) + _resampled_means(market, chance, count)) / 2
        draws_as_far += (drawn >= observed).sum(axis=0)
    return draws_as_far / draws


def _resampled_means(values: Floats, chance: Generator, rows: int) -> Floats:
    """Return the mean of each row of values over resampled questions, one draw a row."""
    size = values.shape[1]
    means: Floats = draw_counts(size, chance, rows) @ values.T / size
    return means
