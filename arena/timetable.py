"""When cohorts start and when they decide."""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import datetime, timedelta

from arena.model import Cohort

WEEK = timedelta(weeks=1)
WINDOW = timedelta(hours=6)
"""How long after a live round's prices were looked at a turn may still be played on them."""


@dataclass(frozen=True, slots=True)
class Plan:
    """The config's part in a season: when cohorts start, when they decide, and who they are.

    A cohort starts every week from `first` on, `count` of them or without end. `freeze` makes the one
    of a number and a time, with the texts of its prompts by hash. Those that have `begun` decide when they
    have frozen it, whatever the config says by now, and so do those that were started by hand.
    """

    first: datetime
    decide: timedelta
    rounds: int
    count: int | None
    keep_deciding: int
    freeze: Callable[[int, datetime], tuple[Cohort, dict[str, str]]]
    begun: tuple[Cohort, ...] = ()

    def starting(self, at: datetime) -> int | None:
        """The number of the cohort that starts at that time, if one does."""
        passed = at - self.first
        if passed < timedelta() or passed % WEEK:
            return None
        number = passed // WEEK + 1
        return number if self.count is None or number <= self.count else None

    def decision_times(self, until: datetime | None = None) -> list[datetime]:
        """The times at which some cohort decides; a plan without end needs a bound."""
        whole = self.count
        if until is not None:
            begun = max(0, (until - self.first) // WEEK + 1)
            whole = begun if whole is None else min(whole, begun)
        if whole is None:
            raise ValueError("cohorts start without end here: say until when")
        known = {cohort.starts_at for cohort in self.begun}
        starts = (self.first + number * WEEK for number in range(whole))
        fresh = [start for start in starts if start not in known]
        times = {start + number * self.decide for start in fresh for number in range(self.rounds)}
        times.update(x.decides_at(number) for x in self.begun for number in range(1, x.rounds + 1))
        return sorted(at for at in times if until is None or at <= until)

    def next_after(self, at: datetime) -> datetime | None:
        """The first decision time after an instant, if there is one."""
        longest = max([self.decide, *(cohort.every for cohort in self.begun)])
        ahead = [cohort.starts_at for cohort in self.begun if cohort.starts_at > at]
        until = max([at, self.first, *ahead]) + longest + WEEK
        return next((time for time in self.decision_times(until) if time > at), None)


def next_start(
    plan: Plan,
    begun: Collection[datetime],
    newest: datetime | None,
    live: bool,
    now: datetime,
    catch_up: str = "none",
) -> datetime | None:
    """When the next cohort starts, None if none will. `begun` are earlier starts, `newest` was played last.

    A live start is open for as long as its round may be played; of those that were missed after the last one,
    all are made late, or the latest, or none.
    """
    start, last = plan.first, max(begun, default=None)
    while plan.starting(start) is not None:
        late = last is None or start > last
        late = late and (catch_up == "all" or (catch_up == "latest" and now - start < WEEK))
        to_come = late or now - start <= WINDOW if live else newest is None or start > newest
        if to_come and start not in begun:
            return start
        start += WEEK
    return None
