"""Cohorts: who starts when, what is frozen, whose turn depends on whose, and when it is over."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Literal, Protocol

from arena.record.model.cohort import Cohort, Entrant
from markets.hashes import digest


def seed_for(*parts: object) -> int:
    """A seed of 31 bits from anything that names it: the same on every machine.

    >>> seed_for("arena", 1) == seed_for("arena", 1) != seed_for("arena", 2)
    True
    """
    return int(digest([str(part) for part in parts])[:8], 16) >> 1


ADDRESS_KEY = "base_url"


def play_waves(entrants: Sequence[Entrant]) -> list[list[Entrant]]:
    """The line-up in the order it can play: each entrant after those it is `of`, else in line-up order."""
    left, done, waves = list(entrants), set[str](), list[list[Entrant]]()
    while left:
        ready = [entrant for entrant in left if done.issuperset(forecast_sources(entrant.settings))]
        if not ready:
            names = ", ".join(entrant.name for entrant in left)
            raise ValueError(f"these agents depend on each other, or on an agent that doesn't exist: {names}")
        waves.append(ready)
        done.update(entrant.name for entrant in ready)
        left = [entrant for entrant in left if entrant.name not in done]
    return waves


def forecast_sources(settings: Mapping[str, Any]) -> tuple[str, ...]:
    """The agents whose forecasts an agent with these settings is made from."""
    of = settings.get("of", ())
    return (of,) if isinstance(of, str) else tuple(of)


CohortState = Literal["playing", "paused", "stopped", "tracked", "ended"]
"""What a cohort is doing: it decides, doesn't for now, never will again, need not any more, or is over."""


class StartedCohort(Protocol):
    """A cohort, and what became of it so far."""

    @property
    def cohort(self) -> Cohort: ...

    @property
    def ended_at(self) -> datetime | None: ...

    @property
    def paused_at(self) -> datetime | None: ...

    @property
    def stopped_at(self) -> datetime | None: ...


def newest_numbers(cohorts: Iterable[StartedCohort], at: datetime, keep: int) -> set[int]:
    """The numbers of the newest cohorts, whatever became of them: older ones decide no more."""
    begun = ((one.cohort.starts_at, one.cohort.number) for one in cohorts if one.cohort.starts_at <= at)
    return {number for _, number in sorted(begun)[-keep:]}


def cohort_state(one: StartedCohort, newest: Collection[int], to_come: bool = True) -> CohortState:
    """What a cohort is doing, by the numbers of the newest and whether it has a round left `to_come`."""
    if one.ended_at is not None:
        return "ended"
    if one.stopped_at is not None:
        return "stopped"
    if one.cohort.number not in newest or not to_come:
        return "tracked"
    return "playing" if one.paused_at is None else "paused"


def deciding_numbers(cohorts: Iterable[StartedCohort], at: datetime, keep: int) -> set[int]:
    """The numbers of the cohorts that decide as their rounds come: the newest, not paused, not stopped."""
    every = list(cohorts)
    newest = newest_numbers(every, at, keep)
    return {one.cohort.number for one in every if cohort_state(one, newest) == "playing"}


def next_round_number(
    cohort: Cohort, done: Mapping[int, bool], looked: datetime | None, since: datetime | None
) -> int | None:
    """The number of the round that a cohort decides next; None when none is left.

    `done` has the rounds that have begun. At the time of its newest snapshot, `looked`, only a round that has
    begun goes on, and what was to be decided before `since` was missed.
    """
    for number in range(1, cohort.rounds + 1):
        at = cohort.calendar.time(number)
        begun = number in done or looked is None or at > looked
        if begun and not done.get(number, False) and (since is None or at >= since):
            return number
    return None
