"""Probabilities and log-odds, bit for bit the same on every machine.

`math.exp` and `math.log` differ in the last bit between C libraries; Decimal's are correctly rounded.
"""

import random
from collections.abc import Sequence
from decimal import ROUND_HALF_EVEN, Context, Decimal

from markets.millionths import ONE

_EXACT_ENOUGH = Context(prec=28, rounding=ROUND_HALF_EVEN)
_FAR = 14.0
"""Beyond these log-odds every probability rounds to the first or the last millionth."""


def log_odds(p: int) -> float:
    """Return the log-odds of a probability in millionths; 0 and 1 count as the nearest possible one."""
    p = min(max(p, 1), ONE - 1)
    return float(_EXACT_ENOUGH.ln(_EXACT_ENOUGH.divide(Decimal(p), Decimal(ONE - p))))


def probability(log_odds: float) -> int:
    """Return the probability in millionths for log-odds, never 0 and never 1."""
    clamped = Decimal(min(max(log_odds, -_FAR), _FAR))
    if not clamped.is_finite():
        raise ValueError(f"{log_odds!r} is no log-odds")

    # The logistic function: 1 / (1 + e^-x).
    inverse_odds = _EXACT_ENOUGH.exp(_EXACT_ENOUGH.minus(clamped))
    exact = _EXACT_ENOUGH.divide(Decimal(ONE), _EXACT_ENOUGH.add(1, inverse_odds))
    millionths = int(exact.to_integral_value(ROUND_HALF_EVEN))
    return min(max(millionths, 1), ONE - 1)


def softmax_millionths(log_weights: Sequence[float]) -> tuple[int, ...]:
    """Return the softmax of two or more log weights, in millionths that sum to one."""
    largest = max(log_weights)
    powers = [Decimal(max(x - largest, -2 * _FAR)) for x in log_weights]
    weights = list(map(_EXACT_ENOUGH.exp, powers))
    total = weights[0]

    for weight in weights[1:]:
        total = _EXACT_ENOUGH.add(total, weight)

    parts = []
    for weight in weights:
        exact_part = _EXACT_ENOUGH.divide(_EXACT_ENOUGH.multiply(weight, Decimal(ONE)), total)
        rounded_part = int(exact_part.to_integral_value(ROUND_HALF_EVEN))
        parts.append(max(rounded_part, 1))

    # What rounding leaves over or takes away goes to the largest weight.
    parts[weights.index(max(weights))] += ONE - sum(parts)
    return tuple(parts)


def bell(rng: random.Random) -> float:
    """Draw from an approximately standard normal distribution: twelve uniform draws, less six."""
    total = -6.0
    for _ in range(12):  # not sum(), which rounds otherwise since Python 3.12
        total += rng.random()
    return total
