"""What a call needs before it is made, across processes: room at its provider, money for its worst case."""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from agents.model import CallError
from arena.record.model.budget import Budget, Payer, Scope, Sums

FIRST_PAUSE = 1.0
"""Seconds that a provider is left alone for when it had too many calls and doesn't say for how long."""
LONGEST_PAUSE = 120.0


@dataclass(frozen=True, slots=True)
class ReservationRequest:
    """A call that is to be made: who pays, where it goes, what it costs at most, who makes it and when."""

    payer: Payer
    provider: str
    worst: int | None
    holder: str
    made_at: datetime


@dataclass(frozen=True, slots=True)
class ReservationTerms:
    """What calls are held to: the budget, calls at once at one provider, how long a lost call has a place."""

    budget: Budget
    per_provider: int
    lease: timedelta
    is_gone: Callable[[str], bool]


@dataclass(frozen=True, slots=True)
class Reservation:
    """A call may be made: the key of its reservation, and for how many more the provider has room.

    `narrow` says that it has less room than it could have, because it was asked too much.
    """

    id: int
    provider: str
    most: int
    free: int
    narrow: bool


@dataclass(frozen=True, slots=True)
class ProviderBusy:
    """The provider has no room now: others have it all, or it is to be left alone for `pause` seconds."""

    pause: float | None = None


@dataclass(frozen=True, slots=True)
class BudgetHeld:
    """The money is held for calls under way, which may cost less."""

    scope: Scope


@dataclass(frozen=True, slots=True)
class CallRefused:
    """The call must not be made any more: the money is spent, or the turn was taken over by another."""

    why: str
    taken_over: bool = False


ReservationAnswer = Reservation | ProviderBusy | BudgetHeld | CallRefused


def weigh(budget: Budget, worst: int | None, spent: Sums, held: Sums) -> CallRefused | BudgetHeld | None:
    """What a budget says to a call, or None: it fits, even if all that is held is spent as well."""
    if (why := budget.spent_up(worst or 0, spent)) is not None:
        return CallRefused(why)
    scope = budget.short(worst or 0, spent, held)
    return None if scope is None else BudgetHeld(scope)


class ReservationBook(Protocol):
    """Where calls under way are written down, for all who share the limits."""

    def reserve(self, wish: ReservationRequest, terms: ReservationTerms) -> ReservationAnswer:
        """A place for a call, or why there is none."""

    def lose(self, place: Reservation) -> None:
        """A call ended without being kept: it takes no room any more, and goes on counting as spent."""

    def renew_places(self, places: Collection[int], length: timedelta) -> None:
        """These calls are still under way."""


def pause_for(error: CallError | None) -> float | None:
    """For how many seconds a provider is left alone after a call that ended so; None: it needs no rest."""
    if error is None or not (error.code == "rate_limit" or error.wait):
        return None
    return min(error.wait or FIRST_PAUSE, LONGEST_PAUSE)
