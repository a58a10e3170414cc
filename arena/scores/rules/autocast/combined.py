"""Autocast's combined metric: the sum of its three types' means.

- Formula: mean `choice` over true-false questions + mean `choice` over multiple-choice ones + mean `numeric`
  over numerical ones, however many each type has.
- Direction: lower is better.
- Range: 0 to 3, or 0% to 300%.
- Edge cases: a type without a question leaves the sum unknown: NaN.
- Source: seed 003, "Evaluation".
"""

TITLE = "Autocast combined"
DIRECTION = "lower"
RANGE = (0.0, 3.0)


def score(true_false: float, multiple_choice: float, numeric: float) -> float:
    """Return the sum of the three means.

    >>> score(0.25, 0.375, 0.125)
    0.75
    """
    return true_false + multiple_choice + numeric
