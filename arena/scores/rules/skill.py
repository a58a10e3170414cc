"""Skill: how much closer than a reference the forecasts lay, on the very same rows.

- Formula: skill = BS_reference − BS, both as in `brier`, on the same rows; on the leaderboard the reference
  is the mid in the snapshot that the agent saw.
- Direction: higher is better; 0 is the reference.
- Range: −1 to 1.
- Edge cases: nothing resolved gives NaN. A difference keeps its meaning where the reference is nearly
  perfect and the quotient of `skill_ratio` does not.
- Source: seed 002 section 1.5 for the references; the difference is ours.
"""

from numpy.typing import ArrayLike

from arena.scores.rules import brier

TITLE = "Skill"
DIRECTION = "higher"
RANGE = (-1.0, 1.0)


def score(
    forecast: ArrayLike, outcome: ArrayLike, reference: ArrayLike, market: ArrayLike | None = None
) -> float:
    """Return the reference's Brier score minus that of the forecasts, on the same rows.

    >>> score([1.0, 0.5], [1, 0], reference=[0.5, 0.5])
    0.125
    """
    return brier.score(reference, outcome, market) - brier.score(forecast, outcome, market)
