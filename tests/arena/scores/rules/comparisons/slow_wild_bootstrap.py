"""The wild event bootstrap-t as its formula reads, one draw and one event at a time."""

from collections.abc import Sequence
from math import fsum, sqrt


def p_value(
    totals: Sequence[float], counts: Sequence[float], null: float, signs: Sequence[Sequence[float]]
) -> float:
    """Return (1 + draws at least as far off) / (1 + draws); `signs` are one row a draw."""
    n = fsum(counts)
    mean = fsum(totals) / n
    parts = [s - k * null for s, k in zip(totals, counts, strict=True)]
    spread = fsum((s - k * mean) ** 2 for s, k in zip(totals, counts, strict=True))
    seen = abs(fsum(parts)) / sqrt(spread)
    beyond = 0
    for draw in signs:
        turned = [sign * part for sign, part in zip(draw, parts, strict=True)]
        middle = fsum(turned) / n
        width = fsum((part - k * middle) ** 2 for part, k in zip(turned, counts, strict=True))
        beyond += width == 0 or abs(fsum(turned)) / sqrt(width) >= seen * (1 - 1e-10)
    return (1 + beyond) / (1 + len(signs))
