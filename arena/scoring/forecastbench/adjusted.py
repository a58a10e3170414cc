"""Difficulty-adjusted Brier: how far off a forecaster was, less how hard its questions were.

- Formula: s(i) = weighted mean over the questions j of forecaster i of (y(i, j) − b(j)), y its Brier
  score and b the question's difficulty; then s(i) is shifted by a constant, the same for all forecasters,
  so that one who always says 0.5 has 0.25. Difficulty comes in two modes. `two_way`: b(j) of y(i, j) =
  a(i) + b(j) + u(i, j) by least squares over the cells that `fits` marks, which `sample` chooses.
  `market_brier`: b(j) is the Brier score of the crowd, the market's own probability on the day that
  forecasts were due.
- Direction: lower is better; 0.25 is no knowledge.
- Range: unbounded, mostly 0 to 1. Below 0 is possible: better than perfect would be on easier questions.
- Edge cases: the shift is exact and needs no such forecaster on the board: (0.5 − o)² on every question
  is what it would have scored. A forecaster without a question has NaN. A question that no forecaster of
  the sample answered, or two groups of the sample that share no question, directly or through others, are
  errors, since their difficulties can't be compared; in a bootstrap replicate the second gives NaN.
- Source: seed 004 section 3.4 for the aim; the two modes are those of the benchmark's later leaderboard,
  whose dataset questions are always adjusted by `two_way`.
"""

from dataclasses import dataclass

import numpy as np

from arena.scoring._columns import Flags, Floats
from arena.scoring.forecastbench._effects import connected, solve
from arena.scoring.forecastbench.panel import Ints, Panel

HALF = 0.25


@dataclass(frozen=True, slots=True, eq=False)
class Prepared:
    """A panel made ready to be scored under any weights of its questions.

    `above` has each cell less its question's level, 0 where there is none, and at the end a row for always
    0.5. Questions with the same cells share a pattern: `answered` and `sample` say which cells, `order` and
    `starts` sort by pattern. `given` says that difficulty isn't to be estimated; if it is, forecasters in
    `whole` are of the sample on all their questions, those in `parted` on some: their cells are `part`.
    """

    above: Floats
    answered: Floats
    sample: Floats
    order: Ints
    starts: Ints
    given: bool
    whole: Flags
    parted: Ints
    part: Floats


def two_way(panel: Panel) -> Prepared:
    """Ready to be adjusted by two-way fixed effects."""
    counts = panel.fits.sum(axis=0)
    lonely = np.flatnonzero(counts == 0)
    if lonely.size:
        name = panel.questions[lonely[0]]
        raise ValueError(f"question {name!r}: nobody of the difficulty sample answered it")
    level = np.where(panel.fits, panel.brier, 0).sum(axis=0) / counts
    ready = _prepared(panel, level, given=False)
    if level.size and not connected(np.ones((1, len(ready.starts))), ready.sample)[0]:
        raise ValueError("the difficulty sample falls apart: some of it shares no question with the rest")
    return ready


def market_brier(panel: Panel, crowd: str) -> Prepared:
    """Ready to be adjusted by the Brier score of the forecaster that says what the market said."""
    level = panel.row(crowd)
    absent = np.flatnonzero(np.isnan(level))
    if absent.size:
        raise ValueError(f"question {panel.questions[absent[0]]!r}: {crowd!r}, the crowd, didn't answer it")
    return _prepared(panel, level, given=True)


def _prepared(panel: Panel, level: Floats, *, given: bool) -> Prepared:
    answered = ~np.isnan(panel.brier)
    half = (0.5 - panel.outcome) ** 2 - level
    above = np.vstack([np.where(answered, panel.brier - level, 0), half])
    everybody = np.vstack([answered, np.ones(len(level), dtype=np.bool_)])
    cells = np.packbits(np.vstack([everybody, panel.fits]), axis=0).T
    _, first, which = np.unique(cells, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(which.ravel(), kind="stable")
    parted = np.flatnonzero(panel.fits.any(axis=1) & (panel.fits != answered).any(axis=1))
    return Prepared(
        above=above,
        answered=everybody[:, first].T.astype(np.float64),
        sample=panel.fits[:, first].T.astype(np.float64),
        order=order,
        starts=np.searchsorted(which.ravel()[order], np.arange(len(first))),
        given=given,
        whole=(panel.fits == answered).all(axis=1),
        parted=parted,
        part=np.where(panel.fits[parted], above[parted], 0),
    )


def scores(ready: Prepared, weights: Floats) -> Floats:
    """The scores of all forecasters, one row for each row of weights of the questions."""
    if not ready.order.size:
        return np.full((len(weights), len(ready.above) - 1), np.nan)
    counts = np.add.reduceat(weights[:, ready.order], ready.starts, axis=1)
    total = weights @ ready.above.T
    if not ready.given:
        right = np.where(ready.whole, total[:, :-1], 0)
        right[:, ready.parted] = weights @ ready.part.T
        effects = solve(counts, right, ready.sample)
        shares = (ready.sample / ready.sample.sum(axis=1, keepdims=True)).T
        total += (counts * (effects @ shares)) @ ready.answered
    answers = counts @ ready.answered
    mean = np.divide(total, answers, out=np.full_like(total, np.nan), where=answers > 0)
    if not ready.given:
        mean[~connected(counts, ready.sample)] = np.nan
    shifted: Floats = mean[:, :-1] + (HALF - mean[:, -1:])
    return shifted


def score(ready: Prepared) -> Floats:
    """The score of each forecaster, every question once."""
    found: Floats = scores(ready, np.ones((1, len(ready.order))))[0]
    return found
