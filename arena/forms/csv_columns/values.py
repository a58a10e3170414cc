"""Values of cells: a number, a probability, an outcome or a time."""

import re
from datetime import UTC, datetime
from math import isfinite

YES = ("yes", "true", "y")
NO = ("no", "false", "n")
LARGEST = 1e300
"""Numbers from here on are rejected, so that means of them stay finite."""
MILLISECONDS = 1e11
"""A numeric time from here on is in milliseconds, or later than the year 5000."""
CALENDAR_DAY = re.compile(r"(19|20)\d{6}")


def is_number(text: str) -> bool:
    """Tell whether a text is a finite number in ASCII digits."""
    try:
        return isfinite(float(text)) and "_" not in text and text.isascii()
    except ValueError:
        return False


def parse_number(text: str) -> float:
    """Return the finite number that a text holds.

    >>> parse_number("0.5"), is_number("1e999"), is_number("1_0")
    (0.5, False, False)
    """
    if not is_number(text):
        raise ValueError("is not a number")
    return float(text)


def parse_share(text: str) -> float:
    """Return a number from 0 to 1, possibly given as a percentage.

    >>> parse_share("0.7"), parse_share("70 %")
    (0.7, 0.7)
    """
    is_percent = text.endswith("%")
    value = parse_number(text[:-1].rstrip()) / 100 if is_percent else parse_number(text)
    if not 0 <= value <= 1:
        raise ValueError("is not from 0 to 1")
    return value


def parse_outcome(text: str) -> float:
    """Return the outcome of a yes/no question as a number.

    >>> parse_outcome("Yes"), parse_outcome("false"), parse_outcome("0.5")
    (1.0, 0.0, 0.5)
    """
    word = text.lower()
    if word in YES:
        return 1.0
    if word in NO:
        return 0.0
    return parse_share(text)


def parse_positive(text: str) -> float:
    """Return a number above 0."""
    value = parse_number(text)
    if value <= 0:
        raise ValueError("is not above 0")
    if value >= LARGEST:
        raise ValueError("is too large")
    return value


def parse_time(text: str) -> float:
    """Return a time as a number: a date in seconds since 1970, or the number itself.

    >>> parse_time("2026-01-04"), parse_time("20260104"), parse_time("2.5")
    (1767484800.0, 1767484800.0, 2.5)
    """
    if is_plain_time(text):
        if abs(float(text)) >= MILLISECONDS:
            raise ValueError("is in milliseconds, or later than the year 5000")
        return float(text)

    try:
        at = datetime.fromisoformat(text)
        if at.tzinfo is None:
            at = at.replace(tzinfo=UTC)
        return at.timestamp()
    except (ValueError, OverflowError):
        raise ValueError("is not a time") from None


def is_plain_time(text: str) -> bool:
    """Tell whether a time is a plain number; eight digits of a calendar day, as in 20260104, are a date."""
    return is_number(text) and not CALENDAR_DAY.fullmatch(text)
