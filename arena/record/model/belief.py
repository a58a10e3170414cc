"""What an agent believes: three readings of one agent, each as the probability of YES.

Implied is seed 002's: a stake is a confidence, whatever the price. Anchored reads the same stake
against the price paid, so that no stake at all would mean agreement with the market. Stated is
what the agent said. All take single numbers or whole columns and give numpy floats.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from markets.millionths import ONE

Floats = NDArray[np.float64]


def confidence(amount: ArrayLike, base: ArrayLike, max_bet: ArrayLike = ONE // 4) -> Floats:
    """c = min(amount / (max_bet · base), 1): the stake as a share of the largest one allowed.

    `amount` and `base` are in the same unit, `max_bet` is in millionths. NaN where no bet is allowed.
    Seed 002, section 1.2:

    >>> confidence([2500, 1250, 500, 50], 10_000)
    array([1.  , 0.5 , 0.2 , 0.02])
    >>> confidence([2000, 500], 8_000)
    array([1.  , 0.25])
    """
    limit = np.asarray(base, dtype=np.float64) * (np.asarray(max_bet, dtype=np.float64) / ONE)
    stake, limit = np.broadcast_arrays(np.asarray(amount, dtype=np.float64), limit)
    share: Floats = np.divide(stake, limit, out=np.full(limit.shape, np.nan), where=limit > 0)
    return np.minimum(share, 1.0, out=share)


def implied(yes: ArrayLike, confidence: ArrayLike) -> Floats:
    """f = c for a bet on YES, 1 − c for a bet on NO. Seed 002, section 1.3.

    >>> implied([True, False], 0.8).round(9)
    array([0.8, 0.2])
    """
    c = np.asarray(confidence, dtype=np.float64)
    return np.where(yes, c, 1 - c)


def anchored(yes: ArrayLike, confidence: ArrayLike, price: ArrayLike) -> Floats:
    """f = p + c(1 − p) for a bet on YES, p(1 − c) for a bet on NO.

    `price` is the average price paid before fees, as that of a YES share, from 0 to 1.
    With a cap of a quarter it gives back the belief of whoever stakes a quarter of Kelly's fraction.

    >>> anchored([True, False, True], [0.5, 0.5, 0.0], 0.4).round(9)
    array([0.7, 0.2, 0.4])
    """
    c, p = np.asarray(confidence, dtype=np.float64), np.asarray(price, dtype=np.float64)
    return np.where(yes, p + c * (1 - p), p * (1 - c))


def stated(probability: ArrayLike) -> Floats:
    """The probability that the agent gave in its final answer, from millionths to 0 … 1.

    >>> stated([700_000, 50_000])
    array([0.7 , 0.05])
    """
    return np.asarray(probability, dtype=np.float64) / ONE
