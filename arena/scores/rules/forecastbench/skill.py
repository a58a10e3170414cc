"""ForecastBench's skill: over a forecaster that knows nothing but the base rate, in Brier points.

- Formula: mean over a forecaster's questions j of y(naive, j) − y(i, j), y the Brier score. The naive
  forecaster says the market's price of the day before, and on datasets what the series alone suggests.
- Direction: higher is better; 0 is the naive forecaster.
- Range: −1 to 1.
- Edge cases: the naive forecaster must have answered all that others did: a question without it is an
  error, nothing is left out in silence. A forecaster without a question has NaN.
- Source: the benchmark's leaderboard, which calls it Brier skill score.
"""

import numpy as np

from arena.scores.rules._columns import Floats, quotients
from arena.scores.rules.forecastbench.panel import Panel


def skill(panel: Panel, naive: str) -> Floats:
    """Return the skill of each forecaster over the naive one."""
    reference = panel.row(naive)
    absent = np.flatnonzero(np.isnan(reference))
    if absent.size:
        raise ValueError(f"question {panel.questions[absent[0]]!r}: {naive!r} didn't answer it")

    answered = ~np.isnan(panel.brier)
    gains = np.where(answered, reference - panel.brier, 0)
    return quotients(gains.sum(axis=1), answered.sum(axis=1))
