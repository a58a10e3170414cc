"""How figures are written, in tiles, sentences, tables and charts: one way for each kind of figure."""

import re

from arena.errors import times_text

MINUS = "−"
DEAR = 100_000
"""From so many dollars on nobody reads the cents."""
UNITS = ((1e9, "B"), (1e6, "M"), (1e3, "k"))
PATTERN = re.compile(r"%(\+?)(?:\.(\d+))?[fd](%?)")
"""A number with or without its sign, with so many digits after the point, and in percent if that follows."""


def written(value: float, format: str) -> str:
    """A figure in a format: a pattern of `PATTERN`, or one of the names below.

    `dollar` and `gain` are money, `short` money on an axis, `compact` and `localized` counts, `times`
    evidence, and `power` evidence by its logarithm.

    >>> written(-0.00001, "%+.4f"), written(0.0161, "%+.4f"), written(-12345.6, "%.1f"), written(7, "%d")
    ('0.0000', '+0.0161', '−12,345.6', '7')
    >>> written(1403.2, "gain"), written(-346816.01, "gain"), written(0, "gain"), written(-3.5, "dollar")
    ('▲ +$1,403.20', '▼ −$346,816', '$0.00', '−$3.50')
    >>> written(0.000013, "dollar"), written(1234567, "compact"), written(1234, "localized")
    ('$0.000013', '1.2M', '1,234')
    >>> written(14.26, "%+.1f%"), written(-0.04, "%+.1f%"), written(-53_319, "short"), written(2500, "short")
    ('+14.3%', '0.0%', '−$53k', '+$2.5k')
    """
    if format == "times":
        return times_text(value)
    if format in ("dollar", "gain"):
        return ("" if format == "dollar" else arrow_of(value)) + in_dollars(value, format == "gain")
    if format == "short":
        size = compact(abs(value)).replace(".0", "")
        return f"{'' if size == '0' else MINUS if value < 0 else '+'}${size}"
    if format == "power":
        return times_text(10**value)
    if format == "compact":
        return compact(value)
    if format == "localized":
        return digits(value, 0 if value == int(value) else 1)
    found = PATTERN.fullmatch(format)
    assert found is not None, format
    return digits(value, int(found[2] or 0), signed=bool(found[1])) + found[3]


def compact(value: float) -> str:
    """A large number in short."""
    size, unit = next(((size, unit) for size, unit in UNITS if abs(value) >= size), (1.0, ""))
    return digits(value / size, 1 if unit and abs(value) < 20 * size else 0) + unit


def digits(value: float, places: int, signed: bool = False) -> str:
    """A number with so many places, thousands apart, a true minus, and no sign before nothing."""
    size = f"{abs(value):,.{places}f}"
    if not re.search("[1-9]", size):
        return size
    return f"{MINUS if value < 0 else '+' if signed else ''}{size}"


def in_dollars(value: float, signed: bool = False) -> str:
    """Money: to the cent; without cents where there is much, with two digits where there is little.

    >>> in_dollars(1.5), in_dollars(-1.5, signed=True), in_dollars(0.00001234), in_dollars(0)
    ('$1.50', '−$1.50', '$0.000012', '$0.00')
    """
    size = abs(value)
    amount = f"{size:,.0f}" if size >= DEAR else f"{size:,.2f}"
    if 0 < size < 0.005:
        amount = f"{size:.{min(2 - _exponent(size) - 1, 9)}f}"
    if not re.search("[1-9]", amount):
        return "$0.00"
    return f"{MINUS if value < 0 else '+' if signed else ''}${amount}"


def whole(value: float) -> str:
    """Money in a heading: without cents where nobody needs them.

    >>> whole(6138.33), whole(61.5)
    ('$6,138', '$61.50')
    """
    return f"${value:,.0f}" if value >= 100 else in_dollars(value)


def _exponent(value: float) -> int:
    return int(f"{value:e}".partition("e")[2])


def arrow_of(value: float) -> str:
    """What says gain or loss beside the colour."""
    return "" if abs(value) < 0.005 else "▲ " if value > 0 else "▼ "


def with_true_minus(sentence: str) -> str:
    """A sentence that was made for a terminal, whose negative figures get the sign that a page has.

    >>> with_true_minus("-0.0141 to +0.0003, of gpt-5.6 in -1-1")
    '−0.0141 to +0.0003, of gpt-5.6 in -1-1'
    """
    return re.sub(r"(?<![\w.-])-(?=\$?\d+[.,]\d)", MINUS, sentence)
