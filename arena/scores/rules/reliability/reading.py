"""The reading of calibration: how sure of a side forecasts are, and how often that side comes true.

- Formula: of the resolved forecasts that give YES or NO 70% or more, the mean probability of that side and
  the share in which that side came true. Both sides of 50% count together.
- Direction: the closer the two the better.
- Range: said 0.7 to 1, came 0 to 1.
- Edge cases: None where these forecasts are on fewer than 20 events. A forecast counts each time it was made.
- Limits: whether the two are further apart than by chance is for the p-value of `diagram`.
- Source: ours.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from arena.scores.rules.comparisons.events import ENOUGH_EVENTS

SURE = 0.7
"""So likely a side is to be called for a forecast to be sure of it."""


@dataclass(frozen=True, slots=True)
class CalibrationReading:
    """What forecasts that are sure of a side say of it on average, and how often it came true."""

    forecasts: int
    events: int
    said: float
    came: float

    @property
    def text(self) -> str:
        """How well it is calibrated, in a few words.

        >>> CalibrationReading(forecasts=40, events=25, said=0.81, came=0.775).text
        'says 81%, happens 78%'
        """
        return f"says {self.said:.0%}, happens {self.came:.0%}"


def reading(forecast: ArrayLike, outcome: ArrayLike, event: ArrayLike) -> CalibrationReading | None:
    """Read the calibration of forecasts on these events.

    >>> reading([0.9, 0.2] * 10, [1, 1] * 10, range(20))
    CalibrationReading(forecasts=20, events=20, said=0.85, came=0.5)
    >>> reading([0.9, 0.2] * 10, [1, 1] * 10, [0, 1] * 10) is None
    True
    """
    ended = np.asarray(outcome)
    stated = np.asarray(forecast, dtype=np.float64)
    side = np.maximum(stated, 1 - stated)
    # what floats make of 70% is 70%
    sure = (side >= SURE - 1e-9) & np.isin(ended, (0, 1))
    events = np.unique(np.asarray(event)[sure]).size
    if events < ENOUGH_EVENTS:
        return None
    came = (stated[sure] > 0.5) == (ended[sure] == 1)
    return CalibrationReading(came.size, events, round(float(side[sure].mean()), 12), float(came.mean()))
