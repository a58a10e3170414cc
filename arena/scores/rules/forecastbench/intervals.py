"""What replicates say: intervals, one-sided p-values, and how often one comes first.

- Formula: the interval is from the 2.5% to the 97.5% quantile, with linear interpolation. p(i) is the
  share of replicates in which forecaster i's index is at least the reference's: small when the reference
  is better. First: the share of replicates in which i has the highest index, the first by name where
  several have; top: in which it is at or above the 95% quantile of all forecasters.
- Direction: p small speaks for the reference; 1 − p small speaks for i against it.
- Range: quantiles as the index, shares 0 to 1.
- Edge cases: NaN replicates are left out of quantiles and shares; a forecaster without any, and the
  reference against itself, have NaN.
- Source: the benchmark's leaderboard. Not centred on the null: `paper` has the paper's centred form.
"""

from collections.abc import Collection, Sequence

import numpy as np
from scipy.special import stdtrit

from arena.scores.rules._columns import Flags, Floats, quotients

TAIL = 0.025
TOP = 0.95


def interval(drawn: Floats) -> tuple[Floats, Floats]:
    """Return the ends of the 95% percentile interval of each column."""
    low = np.full(drawn.shape[1], np.nan)
    high = np.full(drawn.shape[1], np.nan)
    present = ~np.isnan(drawn).all(axis=0)

    if present.any():
        ordered = np.sort(drawn[:, present], axis=0)  # NaN last
        size = (~np.isnan(ordered)).sum(axis=0)
        low[present] = _quantile(ordered, size, TAIL)
        high[present] = _quantile(ordered, size, 1 - TAIL)
    return low, high


def _quantile(ordered: Floats, size: Floats, share: float) -> Floats:
    """Return the quantile of each column's first `size` values, interpolated linearly."""
    place = share * (size - 1)
    below = np.floor(place).astype(np.int64)
    above = np.minimum(below + 1, size - 1)

    columns = np.arange(ordered.shape[1])
    lower = ordered[below, columns]
    upper = ordered[above, columns]
    share_above = place - below
    between: Floats = lower + share_above * (upper - lower)
    return between


def mean_by_cluster(clusters: Collection[Sequence[float]]) -> tuple[float, float | None, float | None]:
    """Return the mean of all values, with its 95% interval under errors correlated within clusters.

    >>> mean_by_cluster([[0.0, 0.0], [1.0, 1.0]])[0], mean_by_cluster([[0.5, 0.1]])
    (0.5, (0.3, None, None))
    """
    size = sum(map(len, clusters))
    units = len(clusters)
    mean = sum(map(sum, clusters)) / size
    if units < 2:
        return mean, None, None

    squares = sum((sum(values) - mean * len(values)) ** 2 for values in clusters)
    t = float(stdtrit(units - 1, 1 - TAIL))
    root = (squares * units / (units - 1)) ** 0.5
    half = t * root / size
    return mean, mean - half, mean + half


def at_least(drawn: Floats, reference: int) -> Floats:
    """Return for each column the share of replicates in which it is at least the reference's."""
    other = drawn[:, [reference]]
    both: Flags = ~np.isnan(drawn) & ~np.isnan(other)
    count = both.sum(axis=0)
    wins = (both & (drawn >= other)).sum(axis=0)

    share = quotients(wins, count)
    share[reference] = np.nan
    return share


def first(drawn: Floats) -> Floats:
    """Return the share of replicates in which each column has the highest value."""
    rows = drawn[~np.isnan(drawn).all(axis=1)]
    ranked = np.where(np.isnan(rows), -np.inf, rows)
    best = ranked.argmax(axis=1)
    wins = np.bincount(best, minlength=drawn.shape[1])
    share: Floats = wins / max(len(rows), 1)
    return share


def top(drawn: Floats) -> Floats:
    """Return the share of replicates in which each column is among the top 5%."""
    rows = drawn[~np.isnan(drawn).all(axis=1)]
    size = np.count_nonzero(~np.isnan(rows), axis=1)
    ordered = np.sort(rows, axis=1)
    bar = _quantile(ordered.T, size, TOP)
    reached = (rows >= bar[:, None]).sum(axis=0)
    share: Floats = reached / max(len(rows), 1)
    return share
