"""Cohorts as their operator sees them: what each is doing, and when one that is started by hand may start."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from arena.cohort import State, newest, next_number, state
from arena.due import SHORT
from arena.errors import ArenaError
from arena.model import Cohort
from arena.store.accounts import read_profits
from arena.store.asked import read_rounds
from arena.store.frame import Connection
from arena.store.overview import read_looked, read_open
from arena.store.read import StoredCohort, StoredRound, cohorts
from arena.timetable import WEEK, WINDOW, Plan

MINUTE = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class Glance:
    """A cohort at a glance: what it is doing, its rounds so far, when it decides next.

    `open` counts positions; `profits` are those of its agents by the newest mark, in millionths.
    """

    stored: StoredCohort
    state: State
    rounds: tuple[StoredRound, ...]
    next_at: datetime | None
    open: int
    profits: Mapping[str, int]

    @property
    def cohort(self) -> Cohort:
        """What it froze."""
        return self.stored.cohort

    @property
    def done(self) -> int:
        """How many of its rounds are over."""
        return sum(round.done for round in self.rounds)


def glances(connection: Connection, keep: int, now: datetime) -> list[Glance]:
    """All cohorts, oldest first, of which the newest `keep` decide, as of the clock.

    In a made-up or recorded world time is that of the newest snapshot.
    """
    known, looked = cohorts(connection), read_looked(connection)
    rounds, held, profits = read_rounds(connection), read_open(connection), read_profits(connection)
    latest = max(looked.values(), default=None)
    found = []
    for stored in known:
        live, own = stored.cohort.stamp == "live", rounds.get(stored.id, [])
        since = now - WINDOW if live else latest
        begun = {round.number: round.done for round in own}
        number = next_number(stored.cohort, begun, looked.get(stored.id), since)
        at = max(stored.cohort.starts_at, now if live else latest or stored.cohort.starts_at)
        doing = state(stored, newest(known, at, keep), number is not None)
        coming = stored.cohort.decides_at(number) if number is not None and doing == "playing" else None
        made = profits.get(stored.cohort.number, {})
        found.append(Glance(stored, doing, tuple(own), coming, held[stored.id], made))
    return found


def start_by_hand(
    plan: Plan, known: Sequence[StoredCohort], looked: datetime | None, live: bool, now: datetime
) -> datetime:
    """When a cohort starts that is started now; `looked` is the time of the newest snapshot.

    With a live venue that is now, to the minute; else the next decision time.
    """
    if live:
        minute = now.replace(second=0, microsecond=0)
        return minute if looked is None or looked <= minute else minute + MINUTE
    if looked is None:
        return plan.first
    return plan.next_after(looked) or max(looked, *(each.cohort.starts_at for each in known)) + WEEK


def check_start(
    at: datetime, known: Sequence[StoredCohort], looked: datetime | None, live: bool, now: datetime
) -> None:
    """A start that another cohort has, or at which nothing can be decided any more, is a mistake."""
    for stored in known:
        if stored.cohort.starts_at == at:
            message = f"cohort {stored.cohort.number} starts on {at:{SHORT}} already"
            raise ArenaError("same_start", message, "name another time: --at TIME")
    if live and at < max(now.replace(second=0, microsecond=0), looked or at):
        message = f"{at:{SHORT}} is over: prices as they were then are not to be had"
        raise ArenaError("too_late", message, "leave out --at to start one now")
    if not live and looked is not None and at <= looked:
        message = f"{at:{SHORT}} is over: the season was played until {looked:{SHORT}}"
        raise ArenaError("too_late", message, "leave out --at to start one at the next decision")
