"""Exact money: what is received is rounded down and what is paid rounded up, so rounding never makes any."""

from markets.millionths import ONE

LARGEST = 10**12 * ONE
"""A figure beyond any account and any market: refused before it is put into words."""


def ceil_div(value: int, by: int) -> int:
    """The quotient rounded up."""
    return -(-value // by)


def worth(shares: int, price: int) -> int:
    """What is received for shares at a price: rounded down."""
    return shares * price // ONE


def cost(shares: int, price: int) -> int:
    """What is paid for shares at a price: rounded up."""
    return ceil_div(shares * price, ONE)


def fee(shares: int, price: int, rate: int) -> int:
    """The fee on shares at a price, rate · shares · p · (1 − p), rounded up."""
    return ceil_div(rate * shares * price * (ONE - price), ONE**3)


def affordable(amount: int, price: int, rate: int = 0) -> int:
    """The most shares that an amount buys, with their fee paid out of it.

    >>> affordable(500_000_000, 400_000)
    1250000000
    >>> affordable(100_000_000, 500_000, 40_000)
    196078430
    """
    charge = rate * price * (ONE - price)
    most = amount * ONE**3 // (price * ONE**2 + charge)
    if not charge:
        return most
    # Fees are rounded up, so the best of the few that can be: so much is paid for shares, so many it covers.
    high = fee(most, price, rate)
    low = min(high, fee(max((amount - high) * ONE // price, 0), price, rate))
    return max(min((amount - f) * ONE // price, f * ONE**3 // charge) for f in range(low, high + 1))


def number(value: int) -> str:
    """Millionths in figures, with no more decimals than needed."""
    whole, rest = divmod(abs(value), ONE)
    decimals = f"{rest:06d}".rstrip("0")
    return f"{'-' * (value < 0)}{whole:,}{'.' * bool(decimals)}{decimals}"


def dollars(amount: int) -> str:
    """Dollars and cents; more digits only where they are needed."""
    whole, rest = divmod(abs(amount), ONE)
    decimals = f"{rest:06d}".rstrip("0").ljust(2, "0")
    return f"{'-' * (amount < 0)}${whole:,}.{decimals}"


def percent(fraction: int) -> str:
    """A fraction as a percentage."""
    return f"{number(fraction * 100)}%"
