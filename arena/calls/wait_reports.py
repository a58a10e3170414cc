"""Reports of the waits that providers ask for, so that a round is never silent for minutes."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from agents.secrets import redact

LEAST_WAIT = timedelta(seconds=10)
"""Shorter waits are not worth a line."""
STREAK_GAP = timedelta(minutes=2)
"""Waits with less than this between them are one long wait, however short each of them is."""
WAIT_REASONS = {"rate_limit": "rate limit", "overloaded": "overloaded"}


def wait_text(name: str, until: datetime, reason: str = "rate_limit") -> str:
    """Return a line on the model or provider that calls wait for, and until when.

    >>> wait_text("openai/gpt-x", datetime(2026, 1, 4, 2, 53, tzinfo=UTC))
    'waiting for openai/gpt-x until 02:53 UTC (rate limit)'
    """
    cause = WAIT_REASONS.get(reason, "not available")
    return f"waiting for {redact(name)} until {until.astimezone(UTC):%H:%M} UTC ({cause})"


@dataclass
class WaitStreak:
    """Waits for one model or provider that follow each other: when they began, and the last end reported."""

    begun: datetime
    until: datetime
    reported: datetime | None = None


def report_nothing(_text: str) -> None:
    """Ignore the report."""


@dataclass
class WaitReports:
    """Reports each wait once, in a line; of many short waits in a row, one line a minute at most."""

    now: Callable[[], datetime] = field(default=lambda: datetime.min.replace(tzinfo=UTC))
    report: Callable[[str], None] = report_nothing
    streaks: dict[str, WaitStreak] = field(default_factory=dict)

    def note(self, name: str, seconds: float, reason: str = "rate_limit") -> None:
        """Note that calls to a model or a provider pause for some seconds from now."""
        now = self.now()
        until = now + timedelta(seconds=seconds)
        streak = self.streaks.get(name)
        if streak is None or now > streak.until + STREAK_GAP:
            streak = WaitStreak(now, until)
            self.streaks[name] = streak

        streak.until = max(streak.until, until)
        if streak.until - streak.begun < LEAST_WAIT:
            return
        if streak.reported is not None and streak.until < streak.reported + timedelta(minutes=1):
            return

        streak.reported = streak.until
        self.report(wait_text(name, streak.until, reason))
