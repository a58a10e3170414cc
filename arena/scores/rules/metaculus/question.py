"""A question's times, and the life that scores are averaged over.

- Formula: the life is the time from opening to scheduled close. A forecast's score is the integral, over the
  time within the question's opening and end for which it stood, of its score at each instant, divided by
  the life; its coverage is that time divided by the life. The end is the real close or the scheduled one,
  whichever is earlier; in mode `metaculus` the real one. A spot score is taken at the spot, or at the real
  close if that comes first.
- Direction: none.
- Range: times are numbers on any one clock, seconds or days.
- Edge cases: an early close leaves a rest of life that scores 0 ("truncation"). Averaging over the time that
  a question really lasted would reward saying YES early to what can only end early by a YES.
- Source: seed 000 on the time average and on coverage; a late close in mode `metaculus` from the site's code.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from arena.scores.rules._columns import Floats

Mode = Literal["exact", "metaculus"]


@dataclass(frozen=True, slots=True)
class MetaculusQuestion:
    """When a question opened, really closed, was to close, and the instant of its spot scores, if any."""

    opens: float
    closes: float
    scheduled: float
    spot: float | None = None

    @property
    def life(self) -> float:
        """How long the question was to be open."""
        return self.scheduled - self.opens

    def ends(self, mode: Mode) -> float:
        """When scoring ends. The site goes on to a close that comes late; its text does not."""
        return self.closes if mode == "metaculus" else min(self.closes, self.scheduled)

    def instant(self) -> float:
        """When the spot scores are taken: at the spot, or at the close if that comes first."""
        if self.spot is None:
            raise ValueError("the question has no spot: give the time at which its spot scores are taken")
        return min(self.spot, self.closes)


@dataclass(frozen=True, slots=True)
class ForecastScores:
    """What each forecast adds to its forecaster's score and coverage, in the order of the forecasts.

    `compared` is the share of the life for which there was something to compare it with.
    """

    mode: Mode
    score: Floats
    coverage: Floats
    compared: Floats


def no_scores(count: int, mode: Mode) -> ForecastScores:
    """No score for anyone."""
    return ForecastScores(mode, *(np.zeros(count) for _ in range(3)))
