"""The bound by weeks: how sure a gain is where what ends close together may fall together.

- Formula: a cluster is what ends in one week, or in four weeks, in each of the four ways to divide time so.
  Cluster w has n_w markets and a sum s_w of their gains; the mean is m = Σ s_w / N, its error √(W/(W − 1) ·
  Σ (s_w − n_w·m)²) / N over W clusters, and the bound m − t·error, t the upper 0.8% point of Student's
  distribution with W − 1 degrees of freedom. The lowest of the five bounds counts.
- Direction: higher is surer.
- Range: −1 to 1, and below where little can be said.
- Edge cases: with markets in fewer than 8 weeks there is no bound. It is stricter than an interval that is
  looked at once, because it is looked at every week.
- Source: Cameron and Miller (2015); Wallace (1959) for t. `docs/evidence.md` has its effect.
"""

from math import expm1, sqrt
from statistics import NormalDist

import numpy as np

from arena.scores.rules._columns import Floats
from arena.scores.rules.comparisons.events import EventSums, Ints

ENOUGH_WEEKS = 8
"""The weeks of resolution from which on they are held against each other."""
MONTH = 4
RARE = NormalDist().inv_cdf(1 - 0.008)


def student(normal: float, freedom: int) -> float:
    """The t that is as rare as a normal deviate."""
    z = normal * (8 * freedom + 3) / (8 * freedom + 1)
    return sqrt(freedom * expm1(z * z / freedom))


def low_by_week(sums: EventSums, weeks: Ints) -> float | None:
    """The bound of a mean over markets; `weeks` are the calendar weeks of its sums, in order."""
    ended = np.flatnonzero(sums.count)
    if ended.size < ENOUGH_WEEKS:
        return None
    total, count, week = sums.total[ended], sums.count[ended], weeks[ended]
    months = [np.unique((week + phase) // MONTH, return_inverse=True)[1] for phase in range(MONTH)]
    sums_of = [[np.bincount(month, x).astype(np.float64) for x in (total, count)] for month in months]
    return min(_bound(total, count), *(_bound(*by_month) for by_month in sums_of))


def _bound(total: Floats, count: Floats) -> float:
    markets = float(count.sum())
    mean = float(total.sum()) / markets
    off = total - count * mean
    error = sqrt(total.size / (total.size - 1) * float(off @ off)) / markets
    return mean - student(RARE, total.size - 1) * error
