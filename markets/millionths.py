"""Money, shares, prices and probabilities are whole numbers of millionths."""

from decimal import ROUND_HALF_EVEN, Decimal, InvalidOperation

ONE = 1_000_000


def millionths(value: str | int | float | Decimal) -> int:
    """The value in millionths, rounded half to even.

    >>> millionths("0.40"), millionths(0.1), millionths(3)
    (400000, 100000, 3000000)
    """
    try:
        number = Decimal(repr(value)) if isinstance(value, float) else Decimal(value)
        return int((number * ONE).to_integral_value(ROUND_HALF_EVEN))
    except (InvalidOperation, OverflowError, ValueError) as error:
        raise ValueError(f"{value!r} is not a finite number") from error


def decimal(amount: int) -> Decimal:
    """The exact decimal behind a number of millionths.

    >>> decimal(400_000)
    Decimal('0.4')
    """
    return Decimal(amount) / ONE
