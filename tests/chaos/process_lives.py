"""The processes of a simulated season: when each died, and what kept it from giving a sign of life."""

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field

MISSED_BEAT = 30.0
"""Seconds of silence that a fault of the database may cost beside its own length: the next beat is later."""


@dataclass(frozen=True, slots=True)
class Trouble:
    """Something because of which a process may have been silent."""

    since: float
    until: float
    kind: str

    def weight(self, since: float, until: float) -> float:
        """Return for how many seconds it may have silenced a process within a time."""
        if self.since > until or self.until < since:
            return 0.0

        seconds = min(self.until, until) - max(self.since, since)
        if self.kind != "suspended":
            seconds += MISSED_BEAT
        return seconds


@dataclass
class ProcessLife:
    """A process: its troubles, when it died or ended, and when another rightly took the lead from it."""

    troubles: list[Trouble] = field(default_factory=list)
    died_at: float | None = None
    ended_at: float | None = None
    lost_lead_at: float | None = None


@dataclass
class ProcessLives:
    """All processes by name. Troubles under the name "" are of all of them."""

    time: Callable[[], float]
    lives: defaultdict[str, ProcessLife] = field(default_factory=lambda: defaultdict(ProcessLife))

    def killed(self, name: str) -> None:
        """Note that a process has died."""
        self.lives[name].died_at = self.time()

    def ended(self, name: str) -> None:
        """Note that a process has ended by itself."""
        self.lives[name].ended_at = self.time()

    def is_dead(self, name: str) -> bool:
        """Return whether a process has died."""
        return self.lives[name].died_at is not None

    def is_gone(self, name: str) -> bool:
        """Return whether a process has died, or has ended by itself."""
        return self.is_dead(name) or self.lives[name].ended_at is not None

    def ended_without_database(self, name: str) -> bool:
        """Return whether a process could not write as it ended."""
        ended_at = self.lives[name].ended_at
        if ended_at is None:
            return False
        troubles = [*self.lives[name].troubles, *self.lives[""].troubles]
        return any(
            trouble.kind != "suspended" and trouble.since <= ended_at <= trouble.until for trouble in troubles
        )

    def trouble(self, name: str, seconds: float, kind: str) -> None:
        """Note what keeps a process, or all with the name "", from giving a sign of life for a while."""
        now = self.time()
        self.lives[name].troubles.append(Trouble(now, now + seconds, kind))

    def silence(self, name: str, since: float) -> float:
        """Return for how many seconds a process may have been silent from an instant until now."""
        now = self.time()
        troubles = [*self.lives[name].troubles, *self.lives[""].troubles]
        return sum(trouble.weight(since, now) for trouble in troubles)

    def was_silent_for(self, name: str, lease: float) -> bool:
        """Return whether a process may have been silent for a lease until now.

        Its last sign may have come a third of a lease before its trouble began, and timers drift a little.
        """
        return self.silence(name, self.time() - 1.5 * lease) >= 0.5 * lease

    def longest_without_database(self, name: str, since: float) -> float:
        """Return for how long a process had no database without a break, of the time since an instant."""
        now = self.time()
        longest = 0.0
        end = since
        begin = since
        troubles = [*self.lives[name].troubles, *self.lives[""].troubles]
        for trouble in sorted(troubles, key=lambda trouble: trouble.since):
            if trouble.until < since:
                continue
            if trouble.since > end:
                begin = trouble.since
            end = max(end, trouble.until)
            longest = max(longest, min(end, now) - begin)
        return longest
