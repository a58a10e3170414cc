"""One probability out of several, in whole numbers alone: exact, and the same on every machine.

Probabilities are millionths. A result is rounded to the nearest millionth, a half upwards. No root is
ever taken: a millionth is compared with it by raising both to the same power.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from math import prod

from markets.millionths import ONE

GRID = range(1, ONE + 1)


def mean(ps: Sequence[int]) -> int:
    """The average.

    >>> mean([200_000, 300_000, 700_000])
    400000
    """
    return (2 * sum(ps) + len(ps)) // (2 * len(ps))


def median(ps: Sequence[int]) -> int:
    """The middle one; of an even number, the average of the two in the middle.

    >>> median([900_000, 200_000, 300_000]), median([200_000, 300_000])
    (300000, 250000)
    """
    ordered, half = sorted(ps), (len(ps) - 1) // 2
    return mean(ordered[half : len(ps) - half])


def trimmed_mean(ps: Sequence[int], trim: int) -> int:
    """The average without the lowest and the highest, so many millionths of them at each end, rounded down.

    >>> trimmed_mean([0, 300_000, 400_000, 500_000, 1_000_000], 200_000)
    400000
    """
    out = len(ps) * trim // ONE
    return mean(sorted(ps)[out : len(ps) - out])


def geometric_mean(ps: Sequence[int]) -> int:
    """The n-th root of the product of n probabilities. It leans to NO: one 0 makes it 0.

    >>> geometric_mean([200_000, 800_000]), geometric_mean([0, 800_000])
    (400000, 0)
    """
    n, product = len(ps), prod(ps)
    return bisect_right(GRID, 2**n * product, key=lambda p: (2 * p - 1) ** n)


def geometric_mean_of_odds(ps: Sequence[int]) -> int:
    """The probability whose odds are the n-th root of the product of the odds: YES and NO count alike.

    0 and 1 have no odds that could be averaged; they count as the first and the last millionth.

    >>> geometric_mean_of_odds([200_000, 800_000]), geometric_mean_of_odds([500_000, 900_000])
    (500000, 750000)
    >>> geometric_mean_of_odds([0, 500_000])
    999
    """
    inside = [min(max(p, 1), ONE - 1) for p in ps]
    n, yes, no = len(inside), prod(inside), prod(ONE - p for p in inside)
    return bisect_left(GRID, True, key=lambda p: yes * (2 * ONE - (2 * p - 1)) ** n < no * (2 * p - 1) ** n)
