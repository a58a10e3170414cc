"""Two-way fixed effects for many weightings of the questions at once.

With Brier scores y(i, j) = a(i) + b(j), forecasters i and questions j with weights w(j), least squares
take b(j) = mean over i of y(i, j) − a(i), and a solves L a = r, where

    L = Σ_j w(j) (diag m_j − m_j m_jᵀ / n_j),   r = Σ_j w(j) m_j (y_j − mean of y_j),

m_j marks the n_j forecasters of question j: a graph's Laplacian, linear in w. Questions that the same
forecasters answered share a pattern, and L needs no more than the sum of weights of each pattern. It is
solved by conjugate gradients, scaled by L's diagonal, for all weightings side by side.
"""

import numpy as np

from arena.scoring._columns import Flags, Floats

CLOSE = 1e-13
NOISE = 1e-15
"""Effects closer than this are the same: rounding of Brier scores leaves no more."""


def solve(counts: Floats, right: Floats, sample: Floats) -> Floats:
    """The effects a of forecasters, one row a weighting.

    `counts` has the weight of each pattern, `sample` who is in it. What cancels in differences is left out:
    the a of a forecaster without weight is 0.
    """
    shares = (sample / sample.sum(axis=1, keepdims=True)).T
    diagonal = counts @ sample
    scale = np.divide(1, diagonal, out=np.zeros_like(diagonal), where=diagonal > 0)
    found, rest = np.zeros_like(right), right.copy()
    step = scale * rest
    size = (rest * step).sum(axis=1)
    small = np.maximum(CLOSE**2 * size, NOISE**2 * diagonal.sum(axis=1))
    for _ in range(4 * sample.shape[1] + 50):
        going = size > small
        if not going.any():
            return found
        pushed = diagonal * step - (counts * (step @ shares)) @ sample
        length = _quotient(size, (step * pushed).sum(axis=1), going)
        found += length * step
        rest -= length * pushed
        scaled = scale * rest
        before, size = size, np.where(going, (rest * scaled).sum(axis=1), 0.0)
        step = scaled + _quotient(size, before, going) * step
    raise ArithmeticError("the two-way fixed effects did not settle: too few forecasters share questions")


def _quotient(top: Floats, bottom: Floats, where: Flags) -> Floats:
    """A column of quotients, 0 where there is none to take."""
    out = np.zeros_like(top)
    return np.divide(top, bottom, out=out, where=where & (bottom > 0))[:, None]


def connected(counts: Floats, sample: Floats) -> Flags:
    """Whether all forecasters of each weighting hang together by questions that they share."""
    weight = counts @ sample
    present = weight > 0
    reached = np.zeros_like(present)
    reached[np.arange(len(reached)), weight.argmax(axis=1)] = True
    going = np.arange(len(reached))
    while going.size:
        touched = (reached[going].astype(np.float64) @ sample.T > 0) & (counts[going] > 0)
        wider = touched.astype(np.float64) @ sample > 0
        grew = (wider & ~reached[going]).any(axis=1)
        reached[going] |= wider
        going = going[grew & (reached[going] != present[going]).any(axis=1)]
    return np.asarray((reached == present).all(axis=1))
