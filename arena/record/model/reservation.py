"""What a call needs before it is made, across processes: room at its provider, and money for its worst case.

Limits on spending are hard: a call is made only if its worst case still fits every one of them.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, time
from typing import Literal

from agents.model import CallError
from arena.record.model.lease import Hold
from markets.millionths import ONE

Scope = Literal["round", "agent", "day", "arena"]
SCOPE_WORDS: dict[Scope, str] = {
    "round": "this round's",
    "agent": "this agent's",
    "day": "today's",
    "arena": "the arena's",
}
"""Whose money a limit is about: of one cohort's round, of one agent in one cohort, of a day, of all."""
PRICE_HINT = "set `price` or `max_cost` for this agent; it takes effect with the next cohort"
BudgetKey = tuple[Scope, int]
ScopeSums = Mapping[Scope, int]


@dataclass(frozen=True, slots=True)
class Payer:
    """Whose turn a call belongs to: the round and the entrant, by their keys in the record.

    `token` is that of the claim under which the turn is played; None where it needs none.
    """

    round_id: int
    entrant_id: int
    token: int | None = None

    def budget_key(self, scope: Scope) -> BudgetKey:
        """Return the key by which a limit is counted."""
        return scope, {"round": self.round_id, "agent": self.entrant_id}.get(scope, 0)


@dataclass(frozen=True, slots=True)
class Budget:
    """Limits in millionths of a dollar: on a single call, and by scope; none where nothing is said."""

    call: int | None = None
    limits: Mapping[Scope, int] = field(default_factory=dict)

    def refusal_by_cost(self, worst: int | None) -> str | None:
        """Return why a call that costs `worst` at most can never be made; None if it may."""
        if self.call is None and not self.limits:
            return None
        if worst is None:
            return f"what a call can cost is unknown, so no budget can be enforced: {PRICE_HINT}"
        if self.call is not None and worst > self.call:
            return f"a call may cost {_dollars(worst)}, over the budget of {_dollars(self.call)} a call"
        return None

    def refusal_by_spending(self, worst: int, spent: ScopeSums) -> str | None:
        """Return why a call that costs `worst` at most can't be made any more; None if it may."""
        for scope, limit in self.limits.items():
            if spent[scope] + worst > limit:
                spent_text = f"{_dollars(spent[scope])} of {SCOPE_WORDS[scope]} {_dollars(limit)}"
                return f"a call may cost {_dollars(worst)}, and {spent_text} is spent"
        return None

    def scope_at_risk(self, worst: int, spent: ScopeSums, held: ScopeSums) -> Scope | None:
        """Return the limit that a call may break if all that is `held` for calls under way is spent as well.

        They mostly cost less than they may: it is worth waiting for them.
        """
        for scope, limit in self.limits.items():
            if spent[scope] + held[scope] + worst > limit:
                return scope
        return None


def _dollars(amount: int) -> str:
    return f"${amount / ONE:,.4f}"


def midnight(at: datetime) -> datetime:
    """Return when the day of an instant began, in UTC: what a day's budget is counted from."""
    return datetime.combine(at.astimezone(UTC).date(), time(), UTC)


FIRST_PAUSE = 1.0
"""Seconds of a pause after a rate limit that names no wait."""
SHORT_PAUSE = 60.0
"""A pause of so many seconds at most is held for the whole provider: a throttle is often the provider's."""
LONGEST_PAUSE = 1_800.0
"""Nobody waits longer than so many seconds for a rate limit: a longer one means that a quota is used up."""
LONGEST_WAIT = 120.0
"""Seconds that a provider in trouble may ask to be left alone for, so that it is still asked again."""


@dataclass(frozen=True, slots=True)
class ReservationRequest:
    """A call that is to be made: who pays, where it goes, what it costs at most, who makes it and when."""

    payer: Payer
    provider: str
    worst: int | None
    holder: str
    made_at: datetime
    model: str = ""


@dataclass(frozen=True, slots=True)
class ReservationTerms:
    """What calls are held to: the budget, calls at once at one provider, and which others count as lost."""

    budget: Budget
    per_provider: int
    is_over: Callable[[Hold], bool]
    timed: bool = True
    """Whether a provider's pause takes time, which on a pretended clock it doesn't."""


@dataclass(frozen=True, slots=True)
class Reservation:
    """A call may be made: the key of its reservation, and for how many more the provider has room.

    `narrow` says that it has less room than it could have, because it was asked too much; `limited` that the
    model met a rate limit and has not answered since.
    """

    id: int
    provider: str
    most: int
    free: int
    narrow: bool
    model: str = ""
    limited: bool = False


@dataclass(frozen=True, slots=True)
class ProviderBusy:
    """The provider has no room now: others have it all, or it is to be left alone for `pause` seconds."""

    pause: float | None = None


@dataclass(frozen=True, slots=True)
class ModelPaused:
    """The model is to be left alone for so many seconds; others of its provider may be asked."""

    seconds: float


@dataclass(frozen=True, slots=True)
class BudgetHeld:
    """The money is held for calls under way, which may cost less."""

    scope: Scope


@dataclass(frozen=True, slots=True)
class CallRefused:
    """The call must not be made any more: the money is spent, or the turn was taken over by another."""

    why: str
    taken_over: bool = False


ReservationAnswer = Reservation | ProviderBusy | ModelPaused | BudgetHeld | CallRefused


def check_budget(
    budget: Budget, worst: int | None, spent: ScopeSums, held: ScopeSums
) -> CallRefused | BudgetHeld | None:
    """Return the budget's refusal or hold of a call; None if it fits even with all held money spent."""
    refusal = budget.refusal_by_spending(worst or 0, spent)
    if refusal is not None:
        return CallRefused(refusal)
    scope = budget.scope_at_risk(worst or 0, spent, held)
    return None if scope is None else BudgetHeld(scope)


@dataclass(frozen=True, slots=True)
class Pause:
    """For how many seconds no call is made after one that met a limit: to its model, or its provider."""

    seconds: float
    whole_provider: bool


@dataclass(frozen=True, slots=True)
class PausedCalls:
    """A model that is left alone, or a whole provider, and for how many seconds more."""

    name: str
    seconds: float


def pause_after(error: CallError | None, model_is_limited: bool) -> Pause | None:
    """Return the pause that a call's error asks for; None if it asks for none, or for one that nobody waits.

    Most limits are those of one model, but a short throttle may be the whole provider's, and must not be
    answered by the calls of its other models. So a short wait holds for the provider, but only once: a model
    that is still `model_is_limited` after it has a limit of its own.
    """
    if error is None or not (error.code == "rate_limit" or error.wait):
        return None

    seconds = error.wait or FIRST_PAUSE
    longest = LONGEST_PAUSE if error.code == "rate_limit" else LONGEST_WAIT
    if seconds > longest:
        return None

    return Pause(seconds, whole_provider=seconds <= SHORT_PAUSE and not model_is_limited)


def final_error(error: CallError) -> CallError:
    """Return the error to record: a rate limit too long to wait out is recorded as a used-up quota."""
    if error.code != "rate_limit" or (error.wait or 0.0) <= LONGEST_PAUSE:
        return error
    return replace(error, code="quota", retry=False)
