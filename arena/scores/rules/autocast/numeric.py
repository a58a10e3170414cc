"""Autocast's score of numerical questions: the distance to the answer.

- Formula: |p − a|, both as shares of the question's range, 0 at its lower end and 1 at its upper; the
  metric is the mean over questions.
- Direction: lower is better.
- Range: 0 to 1.
- Edge cases: a number outside its range is an error; no question gives NaN.
- Source: seed 003, "Evaluation"; Zou et al. (2022).
"""

import numpy as np
from numpy.typing import ArrayLike

from arena.scores.rules._columns import Floats, check_probabilities

TITLE = "Autocast numeric"
DIRECTION = "lower"
RANGE = (0.0, 1.0)


def each(forecast: ArrayLike, answer: ArrayLike) -> Floats:
    """Return the score of each question."""
    return np.abs(check_probabilities(forecast) - check_probabilities(answer))
