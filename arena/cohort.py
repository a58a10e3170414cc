"""Cohorts: who starts when, what is frozen, whose turn depends on whose, and when it is over."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from arena.model import Cohort, Entrant
from markets.canonical import digest


def number_at(cohort: Cohort, at: datetime) -> int | None:
    """The number of the round that a cohort decides at that time; None when it decides nothing then.

    Rounds count from 1.
    """
    passed = at - cohort.starts_at
    if passed < timedelta() or passed % cohort.every:
        return None
    number = passed // cohort.every + 1
    return number if number <= cohort.rounds else None


def seed_for(*parts: object) -> int:
    """A seed of 31 bits from anything that names it: the same on every machine.

    >>> seed_for("arena", 1) == seed_for("arena", 1) != seed_for("arena", 2)
    True
    """
    return int(digest([str(part) for part in parts])[:8], 16) >> 1


def waves(entrants: Sequence[Entrant]) -> list[list[Entrant]]:
    """The line-up in the order it can play: each entrant after those it is `of`, else in line-up order."""
    left, done, found = list(entrants), set[str](), list[list[Entrant]]()
    while left:
        ready = [entrant for entrant in left if done.issuperset(leaders(entrant.settings))]
        if not ready:
            names = ", ".join(entrant.name for entrant in left)
            raise ValueError(f"these agents wait for one another or for one that isn't there: {names}")
        found.append(ready)
        done.update(entrant.name for entrant in ready)
        left = [entrant for entrant in left if entrant.name not in done]
    return found


def leaders(settings: Mapping[str, Any]) -> tuple[str, ...]:
    """The agents whose forecasts an agent with these settings is made from."""
    of = settings.get("of", ())
    return (of,) if isinstance(of, str) else tuple(of)


def deciding(cohorts: Iterable[Cohort], at: datetime, keep: int) -> set[int]:
    """The numbers of the newest cohorts, which go on deciding; older ones are only tracked."""
    begun = sorted(cohort.number for cohort in cohorts if cohort.starts_at <= at)
    return set(begun[-keep:])
