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
    has_values = ~np.isnan(drawn).all(axis=0)

    if has_values.any():
        ordered = np.sort(drawn[:, has_values], axis=0)  # NaN last
        value_count = (~np.isnan(ordered)).sum(axis=0)
        low[has_values] = _quantile(ordered, value_count, TAIL)
        high[has_values] = _quantile(ordered, value_count, 1 - TAIL)
    return low, high


def _quantile(ordered: Floats, size: Floats, share: float) -> Floats:
    """Return the quantile of each column's first `size` values, interpolated linearly."""
    position = share * (size - 1)
    below = np.floor(position).astype(np.int64)
    above = np.minimum(below + 1, size - 1)

    columns = np.arange(ordered.shape[1])
    lower = ordered[below, columns]
    upper = ordered[above, columns]
    share_above = position - below
    quantile: Floats = lower + share_above * (upper - lower)
    return quantile


def mean_by_cluster(clusters: Collection[Sequence[float]]) -> tuple[float, float | None, float | None]:
    """Return the mean of all values, with its 95% interval under errors correlated within clusters.

    >>> mean_by_cluster([[0.0, 0.0], [1.0, 1.0]])[0], mean_by_cluster([[0.5, 0.1]])
    (0.5, (0.3, None, None))
    """
    size = sum(map(len, clusters))
    cluster_count = len(clusters)
    mean = sum(map(sum, clusters)) / size
    if cluster_count < 2:
        return mean, None, None

    squares = sum((sum(values) - mean * len(values)) ** 2 for values in clusters)
    t = float(stdtrit(cluster_count - 1, 1 - TAIL))
    root = (squares * cluster_count / (cluster_count - 1)) ** 0.5
    half_width = t * root / size
    return mean, mean - half_width, mean + half_width


def share_at_least(drawn: Floats, reference: int) -> Floats:
    """Return for each column the share of replicates in which it is at least the reference's."""
    reference_values = drawn[:, [reference]]
    has_both: Flags = ~np.isnan(drawn) & ~np.isnan(reference_values)
    count = has_both.sum(axis=0)
    wins = (has_both & (drawn >= reference_values)).sum(axis=0)

    share = quotients(wins, count)
    share[reference] = np.nan
    return share


def share_first(drawn: Floats) -> Floats:
    """Return the share of replicates in which each column has the highest value."""
    rows = drawn[~np.isnan(drawn).all(axis=1)]
    ranked = np.where(np.isnan(rows), -np.inf, rows)
    best = ranked.argmax(axis=1)
    wins = np.bincount(best, minlength=drawn.shape[1])
    share: Floats = wins / max(len(rows), 1)
    return share


def share_on_top(drawn: Floats) -> Floats:
    """Return the share of replicates in which each column is among the top 5%."""
    rows = drawn[~np.isnan(drawn).all(axis=1)]
    size = np.count_nonzero(~np.isnan(rows), axis=1)
    ordered = np.sort(rows, axis=1)
    bar = _quantile(ordered.T, size, TOP)
    reached = (rows >= bar[:, None]).sum(axis=0)
    share: Floats = reached / max(len(rows), 1)
    return share
