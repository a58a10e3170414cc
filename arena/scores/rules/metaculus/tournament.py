"""Tournaments by peer score, as since March 2024.

- Formula: total = Σ over questions of the forecaster's peer score (times the question's weight, 1 unless
  given); take = max(total, 0)²; share of the prize = take / Σ takes of all who may win. With a minimum
  share, the smallest takes are struck off, one at a time from the bottom, while their share of what is
  left is below it; the others then share all of the prize.
- Direction: higher is better.
- Range: any total; shares from 0 to 1, adding up to 1, or to 0 if nobody's total is above 0.
- Edge cases: a question that one did not forecast, or could not be compared on, counts 0. Those who are
  excluded (staff, bots, the community itself) keep their score, win nothing and take up no rank: they
  are shown at the rank of the next. Equal totals share a rank.
- Source: seed 000, "How are my tournament Score, Take, Prize and Rank calculated?"; the site's code for
  minimum and exclusions.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from arena.scores.rules._columns import Floats
from arena.scores.rules.metaculus.forecasts import Mode, Totals

TITLE = "Peer tournament"
DIRECTION = "higher"


@dataclass(frozen=True, slots=True)
class TournamentPlace:
    """One line of a tournament's board. `share` is of 1, `prize` of the pool.

    `coverage` is the mean coverage of all questions' lifetimes, by weight, and `questions` the number with a
    forecast.
    """

    forecaster: str
    rank: int
    score: float
    coverage: float
    take: float
    share: float
    prize: float
    questions: int
    excluded: bool


@dataclass(frozen=True, slots=True)
class ForecasterSums:
    """Forecasters by name, with their sums of scores and coverages, and numbers of questions."""

    names: list[str]
    score: Floats
    coverage: Floats
    questions: NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class TournamentBoard:
    """A tournament's result, best first, and the mode in which its questions were scored."""

    mode: Mode
    places: tuple[TournamentPlace, ...]


def takes(total: ArrayLike) -> Floats:
    """Return max(total, 0)².

    >>> takes([3.0, -2.0])
    array([9., 0.])
    """
    return np.maximum(np.asarray(total, dtype=np.float64), 0.0) ** 2


def prize_shares(take: ArrayLike, minimum: float = 0.0, excluded: Collection[int] = ()) -> Floats:
    """Return each take's share of the prize; those at the `excluded` indices get none."""
    values = np.asarray(take, dtype=np.float64)
    values = np.maximum(values, 0.0)
    values[list(excluded)] = 0.0
    largest_first = np.argsort(-values, kind="stable")
    sorted_takes = values[largest_first]

    # The last winner is the last whose share of all takes down to its own is large enough.
    is_enough = (sorted_takes > 0) & (sorted_takes >= minimum * np.cumsum(sorted_takes))
    winner_count = np.max(np.flatnonzero(is_enough) + 1, initial=0)
    winners = largest_first[: int(winner_count)]

    winning_takes = values[winners]
    share = np.zeros(values.size)
    share[winners] = winning_takes / winning_takes.sum()
    return share


def board(
    questions: Sequence[Totals],
    pool: float = 0.0,
    minimum: float = 0.0,
    excluded: Collection[str] = (),
    weights: ArrayLike | None = None,
) -> TournamentBoard:
    """Return the board of a tournament from the peer scores of its questions."""
    weight = np.ones(len(questions))
    if weights is not None:
        weight = np.asarray(weights, dtype=np.float64)

    sums = sum_by_forecaster(questions, weight)
    total = max(float(weight.sum()), 1e-9)
    sums = replace(sums, coverage=sums.coverage / total)

    without_prize = [index for index, name in enumerate(sums.names) if name in excluded]
    take = takes(sums.score)
    share = prize_shares(take, minimum, without_prize)
    return rank_board(questions, sums, take, share, pool, sums.score, without_prize)


def sum_by_forecaster(questions: Sequence[Totals], weight: Floats) -> ForecasterSums:
    """Return the weighted sums of everyone's scores and coverages."""
    names = sorted({name for question in questions for name in question.forecaster})
    places = {name: place for place, name in enumerate(names)}
    shape = (len(questions), len(names))
    score = np.zeros(shape)
    coverage = np.zeros(shape)
    has_forecast = np.zeros(shape)

    for number, question in enumerate(questions):
        columns = [places[name] for name in question.forecaster]
        question_weight = weight[number]
        score[number, columns] = np.nan_to_num(question.score) * question_weight
        coverage[number, columns] = question.coverage * question_weight
        has_forecast[number, columns] = 1

    return ForecasterSums(
        names=names,
        score=score.sum(axis=0),
        coverage=coverage.sum(axis=0),
        questions=has_forecast.sum(axis=0).astype(np.intp),
    )


def rank_board(
    questions: Sequence[Totals],
    sums: ForecasterSums,
    take: Floats,
    share: Floats,
    pool: float,
    ranked_by: Floats,
    excluded: Collection[int],
) -> TournamentBoard:
    """Return the board, ranked by one of its columns; excluded forecasters take no rank from others."""
    ranks = rank_scores(ranked_by, excluded)
    is_excluded = np.zeros(ranked_by.size, dtype=np.bool_)
    is_excluded[list(excluded)] = True
    columns = [ranks, sums.score, sums.coverage, take, share, share * pool, sums.questions, is_excluded]
    rows = zip(sums.names, *(column.tolist() for column in columns), strict=True)

    places = [TournamentPlace(*row) for row in rows]
    places.sort(key=lambda place: (place.rank, -place.score, place.forecaster))
    mode = questions[0].mode if questions else "exact"
    return TournamentBoard(mode, tuple(places))


def rank_scores(score: Floats, excluded: Collection[int]) -> NDArray[np.intp]:
    """Return ranks from 1, best first: one more than the number of better ones that are not excluded."""
    is_counted = np.ones(score.size, dtype=np.bool_)
    is_counted[list(excluded)] = False
    counted_scores = np.sort(score[is_counted])

    # Values that differ only by rounding are equal.
    rounding = 1e-9 * np.maximum(abs(score), 1)
    not_better = np.searchsorted(counted_scores, score + rounding, side="right")
    return counted_scores.size - not_better + 1
