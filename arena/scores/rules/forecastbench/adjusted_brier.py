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


def solve_effects(counts: Floats, right_side: Floats, sample: Floats) -> Floats:
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
    shares = _shares_of_sample(sample)
    diagonal = counts @ sample
    # The preconditioner: 1 over the diagonal of L, 0 for forecasters without weight.
    scale = np.divide(1, diagonal, out=np.zeros_like(diagonal), where=diagonal > 0)

    effects = np.zeros_like(right_side)
    residual = right_side.copy()
    step = scale * residual
    residual_size = (residual * step).sum(axis=1)
    small_enough = np.maximum(CLOSE**2 * residual_size, NOISE**2 * diagonal.sum(axis=1))

    for _ in range(4 * sample.shape[1] + 50):
        is_open = residual_size > small_enough
        if not is_open.any():
            return effects

        # L times the step, without ever building L.
        means = step @ shares
        step_times_matrix = diagonal * step - (counts * means) @ sample
        curvature = (step * step_times_matrix).sum(axis=1)
        step_length = _column_of_quotients(residual_size, curvature, is_open)
        effects += step_length * step
        residual -= step_length * step_times_matrix

        scaled_residual = scale * residual
        size_before = residual_size
        residual_size = (residual * scaled_residual).sum(axis=1)
        residual_size = np.where(is_open, residual_size, 0.0)
        step = scaled_residual + _column_of_quotients(residual_size, size_before, is_open) * step

    raise ArithmeticError("the two-way fixed effects did not settle: too few forecasters share questions")


def _shares_of_sample(sample: Floats) -> Floats:
    """Return each forecaster's share of the sample of a pattern, a column a pattern."""
    shares: Floats = sample / sample.sum(axis=1, keepdims=True)
    return shares.T


def _column_of_quotients(top: Floats, bottom: Floats, where: Flags) -> Floats:
    """Return a column of quotients; 0 where the divisor doesn't count."""
    zero = np.zeros_like(top)
    quotients = np.divide(top, bottom, out=zero, where=where & (bottom > 0))
    return quotients[:, None]


def are_connected(counts: Floats, sample: Floats) -> Flags:
    """Tell for each weighting whether shared questions connect all of its forecasters."""
    weight = counts @ sample
    is_present = weight > 0
    open_rows = np.arange(len(is_present))
    is_reached = np.zeros_like(is_present)
    # Each weighting starts from its forecaster with the most weight.
    is_reached[open_rows, weight.argmax(axis=1)] = True

    while open_rows.size:
        # Extend from the forecasters reached to their patterns, and to all forecasters of these.
        is_touched = is_reached[open_rows].astype(np.float64) @ sample.T > 0
        is_touched &= counts[open_rows] > 0
        is_wider = is_touched.astype(np.float64) @ sample > 0

        has_grown = (is_wider & ~is_reached[open_rows]).any(axis=1)
        is_reached[open_rows] |= is_wider
        is_partial = (is_reached[open_rows] != is_present[open_rows]).any(axis=1)
        open_rows = open_rows[has_grown & is_partial]

    return np.asarray((is_reached == is_present).all(axis=1))


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
    unanswered = np.flatnonzero(counts == 0)
    if unanswered.size:
        name = panel.questions[unanswered[0]]
        raise ValueError(f"question {name!r}: nobody in the difficulty sample answered it")

    total = np.where(panel.fits, panel.brier, 0).sum(axis=0)
    difficulty_table = _difficulty_table(panel, total / counts, fixed=False)

    once = np.ones((1, len(difficulty_table.starts)))
    if counts.size and not are_connected(once, difficulty_table.sample)[0]:
        raise ValueError("the difficulty sample falls apart: some of it shares no question with the rest")
    return difficulty_table


def market_brier(panel: Panel, crowd: str = IMPUTED) -> DifficultyTable:
    """Return a panel prepared for adjustment by the Brier score of the forecaster that repeats the market."""
    crowd_brier = panel.row(crowd)
    unanswered = np.flatnonzero(np.isnan(crowd_brier))
    if unanswered.size:
        raise ValueError(
            f"question {panel.questions[unanswered[0]]!r}: {crowd!r}, the crowd, didn't answer it"
        )
    return _difficulty_table(panel, crowd_brier, fixed=True)


def _difficulty_table(panel: Panel, level: Floats, *, fixed: bool) -> DifficultyTable:
    """Return a prepared panel, with the levels of its questions."""
    fits = panel.fits
    answered = ~np.isnan(panel.brier)
    above = np.where(answered, panel.brier - level, 0)
    always_half = (0.5 - panel.outcome) ** 2 - level
    above = np.vstack([above, always_half])

    # Questions with the same cells share a pattern.
    answered_and_half = np.vstack([answered, np.ones(level.size, dtype=np.bool_)])
    cells = np.vstack([answered_and_half, fits])
    packed = np.packbits(cells, axis=0).T
    _, first_of_pattern, pattern = np.unique(packed, axis=0, return_index=True, return_inverse=True)
    pattern = pattern.ravel()
    order = np.argsort(pattern, kind="stable")
    starts = np.searchsorted(pattern[order], np.arange(first_of_pattern.size))

    is_partial = (fits != answered).any(axis=1)

    # Forecasters in the sample on only some of their questions.
    parted = np.flatnonzero(fits.any(axis=1) & is_partial)
    parted_cells = np.where(fits[parted], above[parted], 0)
    return DifficultyTable(
        above=above,
        answered=answered_and_half[:, first_of_pattern].T.astype(np.float64),
        sample=fits[:, first_of_pattern].T.astype(np.float64),
        order=order,
        starts=starts,
        fixed=fixed,
        whole=~is_partial,
        parted=parted,
        part=parted_cells,
    )


def scores_by_weighting(difficulty_table: DifficultyTable, weights: Floats) -> Floats:
    """Return the scores of all forecasters, one row for each weighting of the questions."""
    if not difficulty_table.order.size:
        return np.full((len(weights), len(difficulty_table.above) - 1), np.nan)

    counts = np.add.reduceat(weights[:, difficulty_table.order], difficulty_table.starts, axis=1)
    total = weights @ difficulty_table.above.T
    if not difficulty_table.fixed:
        right_side = np.where(difficulty_table.whole, total[:, :-1], 0)
        right_side[:, difficulty_table.parted] = weights @ difficulty_table.part.T
        effects = solve_effects(counts, right_side, difficulty_table.sample)
        difficulties = effects @ _shares_of_sample(difficulty_table.sample)
        total += (counts * difficulties) @ difficulty_table.answered

    answers = counts @ difficulty_table.answered
    mean_scores = quotients(total, answers)
    if not difficulty_table.fixed:
        # Where the sample falls apart, difficulties can't be compared.
        mean_scores[~are_connected(counts, difficulty_table.sample)] = np.nan

    # The last column is the forecaster of always 0.5, which scores 0.25.
    shift = HALF - mean_scores[:, -1:]
    shifted: Floats = mean_scores[:, :-1] + shift
    return shifted


def score(difficulty_table: DifficultyTable) -> Floats:
    """Return the score of each forecaster, with every question counted once."""
    once = np.ones((1, len(difficulty_table.order)))
    values: Floats = scores_by_weighting(difficulty_table, once)[0]
    return values
