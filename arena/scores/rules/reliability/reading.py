"""The reading of calibration: how sure of a side forecasts are, and how often that side comes true.

- Formula: of the resolved forecasts that give YES or NO 70% or more, the mean probability of that side and
  the share in which that side came true. Both sides of 50% count together.
- Direction: the closer the two the better.
- Range: said 0.7 to 1, came 0 to 1.
- Edge cases: None where these forecasts are on fewer than 20 events. A forecast counts each time it was made.
- Limits: more than chance is a p-value of `diagram` below 5%, which takes an event's markets for independent,
  and two standard errors, √(Σ over events of (Σ (came true − probability of the side))²) ÷ forecasts.
- Source: ours.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from arena.errors import count_text
from arena.scores.rules.comparisons.events import ENOUGH_EVENTS

SURE = 0.7
"""So likely a side is to be called for a forecast to be sure of it."""
WHERE_SURE = f"Where it is {SURE:.0%} sure or more of either side"
FEW_SURE = f"{SURE:.0%} sure of a side in fewer than {ENOUGH_EVENTS:.0f} events"
BY_CHANCE = 0.05
"""Chance alone makes a miscalibration as large less often than this: then it is called one."""
FAR = 2.0
"""This many standard errors apart, what is said and what comes true differ by more than chance."""
AS_BY_CHANCE = "no more off than chance"


@dataclass(frozen=True, slots=True)
class CalibrationReading:
    """The mean confidence of forecasts that are sure of a side, and how often that side came true.

    `error` is the standard error of their difference, by event.
    """

    forecasts: int
    events: int
    said: float
    came: float
    error: float = 0.0

    @property
    def text(self) -> str:
        """Return how well calibrated it is, in a few words.

        >>> CalibrationReading(forecasts=40, events=25, said=0.81, came=0.775).text
        'says 81%, happens 78%'
        """
        return f"says {self.said:.0%}, happens {self.came:.0%}"

    @property
    def short(self) -> str:
        """Return the same for a cell of a table.

        >>> CalibrationReading(forecasts=40, events=25, said=0.81, came=0.775).short
        '81% → 78%'
        """
        return f"{self.said:.0%} → {self.came:.0%}"

    def judged(self, p_value: float | None) -> str:
        """Return whether it is further off than by chance, and to which side, in words.

        `p_value` is that of the miscalibration of all forecasts, not of these alone.
        """
        if p_value is None or not p_value < BY_CHANCE:
            return AS_BY_CHANCE
        if abs(self.said - self.came) <= FAR * self.error:
            return AS_BY_CHANCE
        if self.said > self.came:
            return "too sure"
        return "not sure enough"


def reading_sentence(sure: CalibrationReading | None, p_value: float | None) -> str:
    """Return the sentence on calibration that every page, report and command shows.

        >>> reading_sentence(CalibrationReading(forecasts=40, events=25, said=0.81, came=0.775), 0.3)
        'Where it is 70% sure or more of either side: says 81%, happens 78%, no more off than chance \
    (40 forecasts on 25 events)'
        >>> reading_sentence(None, 0.3)
        '70% sure of a side in fewer than 20 events'
    """
    if sure is None:
        return FEW_SURE
    size = f"{count_text(sure.forecasts, 'forecast')} on {count_text(sure.events, 'event')}"
    return f"{WHERE_SURE}: {sure.text}, {sure.judged(p_value)} ({size})"


def named_sentence(name: str, sure: CalibrationReading | None, p_value: float | None) -> str:
    """Return the sentence on a forecaster's calibration, with its name.

    >>> named_sentence("ann", None, 0.3)
    'ann: 70% sure of a side in fewer than 20 events.'
    """
    sentence = reading_sentence(sure, p_value)
    return f"{name}: {sentence[0].lower()}{sentence[1:]}."


def read_calibration(forecast: ArrayLike, outcome: ArrayLike, event: ArrayLike) -> CalibrationReading | None:
    """Return the calibration of sure forecasts on these events; None if there are none.

    >>> read_calibration([0.9, 0.2] * 10, [1, 1] * 10, range(20))
    CalibrationReading(forecasts=20, events=20, said=0.85, came=0.5, error=0.12747548784)
    >>> read_calibration([0.9, 0.2] * 10, [1, 1] * 10, [0, 1] * 10) is None
    True
    """
    ended = np.asarray(outcome)
    stated = np.asarray(forecast, dtype=np.float64)
    side_probability = np.maximum(stated, 1 - stated)
    # Rounding keeps a floating-point 70% at 70%.
    is_sure = (side_probability >= SURE - 1e-9) & np.isin(ended, (0, 1))
    events, event_number = np.unique(np.asarray(event)[is_sure], return_inverse=True)
    if events.size < ENOUGH_EVENTS:
        return None

    # Forecasts of one event may all be right or wrong together.
    has_come_true = (stated[is_sure] > 0.5) == (ended[is_sure] == 1)
    off_by_event = np.bincount(event_number, has_come_true - side_probability[is_sure])
    error = np.linalg.norm(off_by_event) / has_come_true.size
    said = float(side_probability[is_sure].mean())
    return CalibrationReading(
        has_come_true.size, events.size, round(said, 12), float(has_come_true.mean()), round(float(error), 12)
    )
