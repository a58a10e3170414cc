"""Conversions of money, shares, prices and probabilities, which are whole numbers of millionths."""

from decimal import ROUND_HALF_EVEN, Decimal, InvalidOperation
from functools import lru_cache
from typing import SupportsFloat

ONE = 1_000_000


@lru_cache(4_096)  # prices have few values
def millionths(value: str | int | float | Decimal) -> int:
    """Return a value in millionths, rounded half to even."""
    return int((decimal_of(value) * ONE).to_integral_value(ROUND_HALF_EVEN))


def decimal_of(value: SupportsFloat | str) -> Decimal:
    """Return a finite number as a Decimal, a float by its shortest repr; raise ValueError otherwise."""
    try:
        number = Decimal(value if isinstance(value, str | int | Decimal) else repr(float(value)))
    except (InvalidOperation, ValueError):
        number = Decimal("NaN")
    if not number.is_finite():
        raise ValueError(f"{value!r} is not a finite number")
    return number


def decimal(amount: int) -> Decimal:
    """Return the exact decimal of a number of millionths."""
    return Decimal(amount) / ONE
