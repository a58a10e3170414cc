"""Difficulty-adjusted Brier: how far off a forecaster was, less how hard its questions were.

- Formula: s(i) = weighted mean over the questions j of forecaster i of (y(i, j) − b(j)), y its Brier
  score and b the question's difficulty; then s(i) is shifted by a constant, the same for all forecasters,
  so that one who always says 0.5 has 0.25. Difficulty comes in two modes. `two_way`: b(j) of y(i, j) =
  a(i) + b(j) + u(i, j) by least squares over the cells that `fits` marks, which `difficulty_sample` chooses.
  `market_brier`: b(j) is the Brier score of the crowd, the market's own probability on the day that
  forecasts were due.
- Direction: lower is better; 0.25 is no knowledge.
- Range: unbounded, mostly 0 to 1.
- Edge cases: the shift is exact and needs no such forecaster on the board: (0.5 − o)² on every question
  is what it would have scored. A forecaster without a question has NaN. A question that no forecaster of
  the sample answered, or two groups of the sample that share no question, directly or through others, are
  errors, since their difficulties can't be compared; in a bootstrap replicate the second gives NaN.
- Source: seed 004 section 3.4 for the aim; the modes are the benchmark's leaderboard's.
"""

from dataclasses import dataclass

import numpy as np

from arena.scores.rules._columns import Flags, Floats, quotients
from arena.scores.rules.forecastbench.difficulty_sample import IMPUTED
from arena.scores.rules.forecastbench.panel import Ints, Panel

CLOSE = 1e-13
NOISE = 1e-15
"""Effects closer than this are the same: rounding of Brier scores leaves no more."""


def solve(counts: Floats, right: Floats, sample: Floats) -> Floats:
    """Return the effects a of forecasters, one row a weighting.

    With Brier scores y(i, j) = a(i) + b(j), forecasters i and questions j with weights w(j), least squares
    take b(j) = mean over i of y(i, j) − a(i), and a solves L a = r, where

        L = Σ_j w(j) (diag m_j − m_j m_jᵀ / n_j),   r = Σ_j w(j) m_j (y_j − mean of y_j),

    m_j marks the n_j forecasters of question j: a graph's Laplacian, linear in w. Questions that the same
    forecasters answered share a pattern, and L needs no more than the sum of weights of each pattern. It is
    solved by conjugate gradients, scaled by L's diagonal, for all weightings side by side.

    `counts` has the weight of each pattern, `sample` who is in it. What cancels in differences is left out:
    the a of a forecaster without weight is 0.
    """
    shares = _shares(sample)
    diagonal = counts @ sample
    scale = np.divide(1, diagonal, out=np.zeros_like(diagonal), where=diagonal > 0)

    effects = np.zeros_like(right)
    rest = right.copy()
    step = scale * rest
    size = (rest * step).sum(axis=1)
    small = np.maximum(CLOSE**2 * size, NOISE**2 * diagonal.sum(axis=1))

    for _ in range(4 * sample.shape[1] + 50):
        going = size > small
        if not going.any():
            return effects

        means = step @ shares
        pushed = diagonal * step - (counts * means) @ sample
        curvature = (step * pushed).sum(axis=1)
        length = _quotient(size, curvature, going)
        effects += length * step
        rest -= length * pushed

        scaled = scale * rest
        before = size
        size = (rest * scaled).sum(axis=1)
        size = np.where(going, size, 0.0)
        step = scaled + _quotient(size, before, going) * step

    raise ArithmeticError("the two-way fixed effects did not settle: too few forecasters share questions")


def _shares(sample: Floats) -> Floats:
    """Return each forecaster's share of the sample of a pattern, a column a pattern."""
    shares: Floats = sample / sample.sum(axis=1, keepdims=True)
    return shares.T


def _quotient(top: Floats, bottom: Floats, where: Flags) -> Floats:
    """Return a column of quotients; 0 where the divisor doesn't count."""
    zero = np.zeros_like(top)
    quotients = np.divide(top, bottom, out=zero, where=where & (bottom > 0))
    return quotients[:, None]


def are_connected(counts: Floats, sample: Floats) -> Flags:
    """Tell for each weighting whether shared questions connect all of its forecasters."""
    weight = counts @ sample
    present = weight > 0
    going = np.arange(len(present))
    reached = np.zeros_like(present)
    reached[going, weight.argmax(axis=1)] = True

    while going.size:
        # Extend from the forecasters reached to their patterns, and to all forecasters of these.
        touched = reached[going].astype(np.float64) @ sample.T > 0
        touched &= counts[going] > 0
        wider = touched.astype(np.float64) @ sample > 0

        grew = (wider & ~reached[going]).any(axis=1)
        reached[going] |= wider
        is_partial = (reached[going] != present[going]).any(axis=1)
        going = going[grew & is_partial]

    return np.asarray((reached == present).all(axis=1))


HALF = 0.25


@dataclass(frozen=True, slots=True, eq=False)
class DifficultyTable:
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
    fixed: bool
    whole: Flags
    parted: Ints
    part: Floats


def two_way(panel: Panel) -> DifficultyTable:
    """Return a panel prepared for adjustment by two-way fixed effects."""
    counts = panel.fits.sum(axis=0)
    lonely = np.flatnonzero(counts == 0)
    if lonely.size:
        name = panel.questions[lonely[0]]
        raise ValueError(f"question {name!r}: nobody in the difficulty sample answered it")

    total = np.where(panel.fits, panel.brier, 0).sum(axis=0)
    ready = _difficulty_table(panel, total / counts, fixed=False)

    once = np.ones((1, len(ready.starts)))
    if counts.size and not are_connected(once, ready.sample)[0]:
        raise ValueError("the difficulty sample falls apart: some of it shares no question with the rest")
    return ready


def market_brier(panel: Panel, crowd: str = IMPUTED) -> DifficultyTable:
    """Return a panel prepared for adjustment by the Brier score of the forecaster that repeats the market."""
    level = panel.row(crowd)
    absent = np.flatnonzero(np.isnan(level))
    if absent.size:
        raise ValueError(f"question {panel.questions[absent[0]]!r}: {crowd!r}, the crowd, didn't answer it")
    return _difficulty_table(panel, level, fixed=True)


def _difficulty_table(panel: Panel, level: Floats, *, fixed: bool) -> DifficultyTable:
    """Return a prepared panel, with the levels of its questions."""
    fits = panel.fits
    answered = ~np.isnan(panel.brier)
    above = np.where(answered, panel.brier - level, 0)
    always_half = (0.5 - panel.outcome) ** 2 - level
    above = np.vstack([above, always_half])

    # Questions with the same cells share a pattern.
    everybody = np.vstack([answered, np.ones(level.size, dtype=np.bool_)])
    cells = np.vstack([everybody, fits])
    packed = np.packbits(cells, axis=0).T
    _, first, pattern = np.unique(packed, axis=0, return_index=True, return_inverse=True)
    pattern = pattern.ravel()
    order = np.argsort(pattern, kind="stable")
    starts = np.searchsorted(pattern[order], np.arange(first.size))

    differs = (fits != answered).any(axis=1)
    parted = np.flatnonzero(fits.any(axis=1) & differs)
    part = np.where(fits[parted], above[parted], 0)
    return DifficultyTable(
        above=above,
        answered=everybody[:, first].T.astype(np.float64),
        sample=fits[:, first].T.astype(np.float64),
        order=order,
        starts=starts,
        fixed=fixed,
        whole=~differs,
        parted=parted,
        part=part,
    )


def scores(ready: DifficultyTable, weights: Floats) -> Floats:
    """Return the scores of all forecasters, one row for each weighting of the questions."""
    if not ready.order.size:
        return np.full((len(weights), len(ready.above) - 1), np.nan)

    counts = np.add.reduceat(weights[:, ready.order], ready.starts, axis=1)
    total = weights @ ready.above.T
    if not ready.fixed:
        right = np.where(ready.whole, total[:, :-1], 0)
        right[:, ready.parted] = weights @ ready.part.T
        effects = solve(counts, right, ready.sample)
        difficulties = effects @ _shares(ready.sample)
        total += (counts * difficulties) @ ready.answered

    answers = counts @ ready.answered
    mean = quotients(total, answers)
    if not ready.fixed:
        mean[~are_connected(counts, ready.sample)] = np.nan

    # The last column is the forecaster of always 0.5, which scores 0.25.
    shift = HALF - mean[:, -1:]
    shifted: Floats = mean[:, :-1] + shift
    return shifted


def score(ready: DifficultyTable) -> Floats:
    """Return the score of each forecaster, with every question counted once."""
    once = np.ones((1, len(ready.order)))
    values: Floats = scores(ready, once)[0]
    return values
