"""The baseline score that a forecast has if the community is right, by which Metaculus's tools rank bots.

- Formula: 100 · (c · (log2 p + 1) + (1 − c) · (log2(1 − p) + 1)), with c for the community's probability.
- Direction: higher is better.
- Edge cases: none for a probability of 0 or 1.
- Source: the tools' code.
"""

from math import log2


def expected_baseline(probability: float | None, community: float | None) -> float | None:
    """Return the score, None where a probability is not known.

    >>> expected_baseline(0.5, 0.9), round(expected_baseline(0.25, 0.5), 3), expected_baseline(0.5, None)
    (0.0, -20.752, None)
    """
    if probability is None or community is None or not 0 < probability < 1:
        return None

    yes = log2(probability) + 1
    no = log2(1 - probability) + 1
    return 100 * (community * yes + (1 - community) * no)
