"""Beyond the draws: p-values smaller than a few of 2,000 draws can tell."""

from math import erfc, inf, log1p, sqrt
from statistics import NormalDist

import numpy as np

from arena.scoring._columns import Floats

BEYOND = 20
"""With fewer draws than this beyond what was seen, the tail is taken from Student's t."""


def normal(t: float, freedom: float) -> float:
    """The normal deviate that is as rare as this t: Wallace's approximation.

    >>> round(normal(2.093, 19), 2), round(normal(3.883, 19), 2)
    (1.96, 3.29)
    """
    if freedom <= 0 or t == inf:
        return t
    return (8 * freedom + 1) / (8 * freedom + 3) * sqrt(freedom * log1p(t * t / freedom))


def tail(t: float, ratios: Floats, freedom: float, events: int) -> float:
    """p of |t|, of whose square the draws reached these shares: the t distribution, stretched to meet them.

    It never gets below the chance that all coins of so many events fall alike.
    """
    share = (BEYOND + 1) / (ratios.size + 1)
    met = sqrt(float(np.partition(ratios, -BEYOND)[-BEYOND])) * t if t < inf else 0.0
    stretch = normal(met, freedom) / NormalDist().inv_cdf(1 - share / 2)
    rare = erfc(normal(t, freedom) / stretch / sqrt(2)) if stretch > 0 else 0.0
    # nine digits, so that the dust of matrix products, which differs between machines, isn't among them
    return float(f"{min(max(rare, 2.0 ** (1 - events)), share):.9g}")
