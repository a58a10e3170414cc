"""The score of a forecaster on a question: the sum over the forecaster's forecasts.

- Formula: score = Σ of what each of the forecaster's forecasts adds, coverage = Σ of their coverages.
- Direction: that of the rule.
- Range: that of the rule; coverage from 0 to 1, above 1 only in mode `metaculus` after a late close.
- Edge cases: who was never compared with anything, being too late or alone, has NaN in mode `exact`, and 0 in
  `metaculus`.
- Source: seed 000: all one's predictions on a question count, each for the time that it stood.
"""

from dataclasses import dataclass

import numpy as np

from arena.scores.rules._columns import Floats
from arena.scores.rules.metaculus.forecasts import Forecasts
from arena.scores.rules.metaculus.question import ForecastScores, Mode


@dataclass(frozen=True, slots=True)
class Totals:
    """The same added up by forecaster, names in order.

    In mode `exact` the score is NaN for those who could never be compared: too late, or alone.
    """

    mode: Mode
    forecaster: tuple[str, ...]
    score: Floats
    coverage: Floats

    def of(self, name: str) -> tuple[float, float]:
        """One forecaster's score and coverage."""
        place = self.forecaster.index(name)
        return float(self.score[place]), float(self.coverage[place])


def totals(forecasts: Forecasts, scores: ForecastScores) -> Totals:
    """The scores of each forecaster's forecasts added up."""
    names, place = np.unique(forecasts.forecaster, return_inverse=True)
    order = np.lexsort((forecasts.start, place))

    def total(column: Floats) -> Floats:
        return np.bincount(place[order], column[order], minlength=names.size).astype(np.float64)

    score, compared = total(scores.score), total(scores.compared)
    if scores.mode == "exact":
        score = np.where(compared > 0, score, np.nan)
    return Totals(scores.mode, tuple(names.tolist()), score, total(scores.coverage))
