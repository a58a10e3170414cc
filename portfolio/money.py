"""Exact money in whole millionths.

What is received is rounded down and what is paid is rounded up, so rounding never makes money.
"""

from markets.millionths import ONE

LARGEST = 10**12 * ONE
"""More than any account or market holds. A larger figure is refused before it is written into a message."""


def ceil_div(value: int, by: int) -> int:
    """Return the quotient rounded up."""
    return -(-value // by)


def worth(shares: int, price: int) -> int:
    """Return what is received for shares at a price, rounded down."""
    return shares * price // ONE


def cost(shares: int, price: int) -> int:
    """Return what is paid for shares at a price, rounded up."""
    return ceil_div(shares * price, ONE)


def fee(shares: int, price: int, rate: int) -> int:
    """Return the fee on shares at a price, rate · shares · p · (1 − p), rounded up as it is paid."""
    return ceil_div(rate * shares * price * (ONE - price), ONE**3)


def affordable(amount: int, price: int, rate: int = 0) -> int:
    """Return the most shares that an amount buys, with their fee paid out of it.

    >>> affordable(500_000_000, 400_000)
    1250000000
    >>> affordable(100_000_000, 500_000, 40_000)
    196078430
    """
    # If fees were not rounded, the amount would buy so many. Rounded down, they never cost more than it.
    fee_of_share = rate * price * (ONE - price)
    most = amount * ONE**3 // (price * ONE**2 + fee_of_share)
    if not fee_of_share:
        return most

    # A fee is rounded up, so it may take up to a millionth more, and `most` may be a few shares too many. The
    # fee is at most that of `most`, and at least that of the shares which the highest fee leaves money for.
    highest = fee(most, price, rate)
    lowest = min(highest, fee((amount - highest) * ONE // price, price, rate))

    # With each possible fee, the amount pays for so many shares, and the fee is enough for so many.
    best = 0
    for charged in range(lowest, highest + 1):
        paid_for = (amount - charged) * ONE // price
        covered = charged * ONE**3 // fee_of_share
        best = max(best, min(paid_for, covered))

    return best


def number(value: int) -> str:
    """Return millionths in figures, with no more decimals than needed."""
    whole, fraction = divmod(abs(value), ONE)
    figures = f"{whole:,}.{fraction:06d}".rstrip("0").rstrip(".")
    return f"-{figures}" if value < 0 else figures


def dollars(amount: int) -> str:
    """Return an amount in dollars and cents, with more decimals only where they are needed."""
    whole, fraction = divmod(abs(amount), ONE)
    decimals = f"{fraction:06d}".rstrip("0").ljust(2, "0")
    sign = "-" if amount < 0 else ""
    return f"{sign}${whole:,}.{decimals}"


def percent(fraction: int) -> str:
    """Return a fraction as a percentage."""
    return f"{number(fraction * 100)}%"
