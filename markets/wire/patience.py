"""How long to wait before asking a web service again."""

import random
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

LONGEST_WAIT = 120.0
"""Seconds. A service that wants to be left alone for longer is asked another time."""


def backoff(attempt: int, rng: random.Random) -> float:
    """Seconds before the attempt after this one: about 0.5, 1, 2 … and never just as long as others wait.

    >>> 0.375 <= backoff(1, random.Random("a")) <= 0.625
    True
    """
    return float(0.5 * 2 ** min(attempt - 1, 6) * (0.75 + rng.random() / 2))


def retry_after(headers: Mapping[str, str]) -> float | None:
    """The seconds that a service asks to be left alone for; None where it doesn't say so.

    A date is read against the service's own `date`, so that nobody's clock need be right.

    >>> retry_after({"retry-after": "7"})
    7.0
    >>> then, now = "Sun, 04 Jan 2026 12:00:09 GMT", "Sun, 04 Jan 2026 12:00:00 GMT"
    >>> retry_after({"retry-after": then, "date": now})
    9.0
    """
    asked = headers.get("retry-after", "").strip()
    if asked.isascii() and asked.isdigit():
        return float(asked[:9])
    then, now = _date(asked), _date(headers.get("date", ""))
    return None if then is None or now is None else max((then - now).total_seconds(), 0.0)


def _date(text: str) -> datetime | None:
    try:
        date = parsedate_to_datetime(text)
    except ValueError:
        return None
    return date if date.tzinfo else date.replace(tzinfo=UTC)
