"""The difficulty sample: whose Brier scores help to say how hard a question was.

- Formula: the benchmark's own runs of models count, on questions due less than 365 days after the model's
  release, and of baselines the naive one. Others' submissions never do, so nobody can move the yardstick.
- Direction: none.
- Range: yes or no for each forecast.
- Edge cases: a comparison has no age. A model whose age isn't known doesn't count.
- Source: the benchmark's leaderboard; the paper adjusts for nothing.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from arena.scores.rules._columns import Flags

OLDEST_DAYS = 365
NAIVE = "Naive Forecaster"
IMPUTED = "Imputed Forecaster"


def sample(
    forecaster: Sequence[str], external: ArrayLike, comparison: ArrayLike, age_days: ArrayLike
) -> Flags:
    """Return whether each forecast belongs to the sample."""
    is_naive = np.asarray([name == NAIVE for name in forecaster], dtype=np.bool_)
    is_young = np.asarray(age_days, dtype=np.float64) < OLDEST_DAYS
    is_external = np.asarray(external, dtype=np.bool_)
    is_comparison = np.asarray(comparison, dtype=np.bool_)

    chosen: Flags = ~is_external & np.where(is_comparison, is_naive, is_young)
    return chosen
