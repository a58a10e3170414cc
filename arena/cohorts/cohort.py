"""Cohorts: who starts when, what is frozen, whose turn depends on whose, and when it is over."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Literal, Protocol

from arena.record.model.cohort import Cohort, Entrant
from markets.hashes import digest


def seed_for(*parts: object) -> int:
    """Derive a seed of 31 bits from the parts: equal parts give the same seed on every machine.

    >>> seed_for("arena", 1) == seed_for("arena", 1) != seed_for("arena", 2)
    True
    """
    hexadecimal = digest(list(map(str, parts)))
    return int(hexadecimal[:8], 16) >> 1


ADDRESS_KEY = "base_url"


def play_waves(entrants: Sequence[Entrant]) -> list[list[Entrant]]:
    """Arrange the entrants in waves that can play one after another, each in the order of the line-up.

    An entrant plays in a later wave than those it is made from. Raises ValueError where agents depend on each
    other in a circle, or on one that doesn't exist.
    """
    unplaced = list(entrants)
    placed_names = set[str]()
    waves = []

    while unplaced:
        ready = []
        waiting = []
        for entrant in unplaced:
            if placed_names.issuperset(forecast_sources(entrant.settings)):
                ready.append(entrant)
            else:
                waiting.append(entrant)

        if not ready:
            names = ", ".join(entrant.name for entrant in unplaced)
            raise ValueError(f"these agents depend on each other, or on an agent that doesn't exist: {names}")

        waves.append(ready)
        for entrant in ready:
            placed_names.add(entrant.name)
        unplaced = waiting

    return waves


def entrants_by_name(entrants: Iterable[Entrant]) -> dict[str, Entrant]:
    """Return entrants by their names, in the order of the line-up."""
    return {entrant.name: entrant for entrant in entrants}


def forecast_sources(settings: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the names of the agents whose forecasts an agent with these settings combines."""
    sources = settings.get("of", ())
    if isinstance(sources, str):
        return (sources,)
    return tuple(sources)


CohortState = Literal["playing", "paused", "stopped", "tracked", "ended"]
"""What a cohort is doing.

A playing cohort decides, a paused one doesn't for now, and a stopped one never will again. A tracked one has
nothing left to decide but isn't over yet, and an ended one is.
"""


class StartedCohort(Protocol):
    """A cohort, and when it ended, was paused and was stopped; None for what has not happened."""

    @property
    def cohort(self) -> Cohort: ...

    @property
    def ended_at(self) -> datetime | None: ...

    @property
    def paused_at(self) -> datetime | None: ...

    @property
    def stopped_at(self) -> datetime | None: ...


def newest_cohort_numbers(cohorts: Iterable[StartedCohort], at: datetime, keep: int) -> set[int]:
    """Return the numbers of the `keep` newest cohorts that have started by an instant.

    Paused, stopped and ended cohorts count too. Older cohorts decide no more.
    """
    starts_and_numbers = []
    for started in cohorts:
        cohort = started.cohort
        if cohort.starts_at <= at:
            starts_and_numbers.append((cohort.starts_at, cohort.number))

    starts_and_numbers.sort()
    return {number for _, number in starts_and_numbers[-keep:]}


def cohort_state(
    started: StartedCohort, newest_numbers: Collection[int], has_round_left: bool = True
) -> CohortState:
    """Return the state of a cohort, given the newest cohorts and whether it has a round left."""
    if started.ended_at is not None:
        return "ended"
    if started.stopped_at is not None:
        return "stopped"
    if started.cohort.number not in newest_numbers or not has_round_left:
        return "tracked"
    if started.paused_at is not None:
        return "paused"
    return "playing"


def deciding_cohort_numbers(cohorts: Iterable[StartedCohort], at: datetime, keep: int) -> set[int]:
    """Return the numbers of the cohorts that decide: the newest, unless paused or stopped."""
    started_cohorts = list(cohorts)
    newest = newest_cohort_numbers(started_cohorts, at, keep)
    deciding = set()

    for started in started_cohorts:
        if cohort_state(started, newest) == "playing":
            deciding.add(started.cohort.number)

    return deciding


def next_round_number(
    cohort: Cohort,
    done_by_number: Mapping[int, bool],
    newest_snapshot_at: datetime | None,
    missed_before: datetime | None,
) -> int | None:
    """Return the number of the round that a cohort decides next; None if none is left.

    `done_by_number` says of each round that has begun whether it is complete. A round that has not begun by
    the time of the cohort's newest snapshot never will. Rounds before `missed_before` were missed.
    """
    for number in range(1, cohort.rounds + 1):
        if done_by_number.get(number, False):
            continue

        at = cohort.calendar.time(number)
        if missed_before is not None and at < missed_before:
            continue

        # Up to the newest snapshot only a round that has begun goes on: the cohort was merely tracked then.
        has_begun = number in done_by_number
        if has_begun or newest_snapshot_at is None or at > newest_snapshot_at:
            return number

    return None
