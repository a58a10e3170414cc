"""The only place where the clock is read; everywhere else time is an argument."""

import time
from datetime import UTC, datetime


def now() -> datetime:
    """This instant, in UTC."""
    return datetime.now(UTC)


def timer() -> float:
    """Seconds from some fixed moment, never going back: the difference of two is a duration."""
    return time.perf_counter()
