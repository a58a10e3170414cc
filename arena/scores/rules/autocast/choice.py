"""Autocast's score of true-false and multiple-choice questions: half the Brier score over all options.

- Formula: ½ · Σ over options of (p − a)², a = 1 for the option that is the answer and 0 for the others;
  the metric is the mean over questions. With two options this is (f − o)², as in `brier`.
- Direction: lower is better.
- Range: 0 to 1; N equal probabilities score (1 − 1/N) / 2.
- Edge cases: questions may have different numbers of options. Probabilities that do not add up to 1 would be
  rewarded, so files that have them are refused. No question gives NaN.
- Source: seed 003, "Evaluation"; Zou et al. (2022).
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from arena.scores.rules._columns import Floats

TITLE = "Autocast choice"
DIRECTION = "lower"
RANGE = (0.0, 1.0)

SLACK = 0.001
"""How far a question's probabilities may be from adding up to 1: files round."""


def each(options: Sequence[ArrayLike], answer: Sequence[int]) -> Floats:
    """Return the score of each question; `answer` counts its options from 0."""
    scores = []
    for probabilities, answer_index in zip(options, answer, strict=True):
        is_answer = np.arange(np.size(probabilities)) == answer_index
        squares = (np.asarray(probabilities) - is_answer) ** 2
        scores.append(squares.sum() / 2)
    return np.array(scores)
