"""ForecastBench's peer score: how much less wrong than everybody's average on the same questions.

- Formula: mean over a forecaster's questions j of (mean over all forecasters of y(·, j) − y(i, j)), y the
  Brier score. The average is over all that answered, itself included.
- Direction: higher is better; the mean over all cells is 0.
- Range: −1 to 1.
- Edge cases: a forecaster without a question has NaN.
- Source: the benchmark's leaderboard. Only its name is Metaculus's.
"""

import numpy as np

from arena.scores.rules._columns import Floats, quotients
from arena.scores.rules.forecastbench.panel import Panel


def peer(panel: Panel) -> Floats:
    """Return the peer score of each forecaster."""
    answered = ~np.isnan(panel.brier)
    brier = np.where(answered, panel.brier, 0)
    count = answered.sum(axis=0)
    mean_of_question = brier.sum(axis=0) / count
    gain_on_mean = np.where(answered, mean_of_question - brier, 0)
    return quotients(gain_on_mean.sum(axis=1), answered.sum(axis=1))
