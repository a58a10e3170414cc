"""Hard stops on spending: a call is made only if its worst case still fits every limit."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, time
from typing import Literal

from markets.millionths import ONE

Scope = Literal["round", "agent", "day", "arena"]
WHAT: dict[Scope, str] = {
    "round": "this round's",
    "agent": "this agent's",
    "day": "today's",
    "arena": "the arena's",
}
"""Whose money a limit is about: of one cohort's round, of one agent in one cohort, of a day, of all."""
MEND = "set `price` for this agent, which counts from the next cohort on"
Purse = tuple[Scope, int]
Sums = Mapping[Scope, int]


@dataclass(frozen=True, slots=True)
class Payer:
    """Whose turn a call belongs to: the round and the entrant, by their keys in the record.

    `token` is that of the claim under which the turn is played; None where it needs none.
    """

    round_id: int
    entrant_id: int
    token: int | None = None

    def purse(self, scope: Scope) -> Purse:
        """What a limit is counted by."""
        return scope, {"round": self.round_id, "agent": self.entrant_id}.get(scope, 0)


@dataclass(frozen=True, slots=True)
class Budget:
    """Limits in millionths of a dollar: on a single call, and by scope; none where nothing is said."""

    call: int | None = None
    limits: Mapping[Scope, int] = field(default_factory=dict)

    def too_dear(self, worst: int | None) -> str | None:
        """Why a call that costs `worst` at most can never be made, whatever was spent; None if it may."""
        if self.call is None and not self.limits:
            return None
        if worst is None:
            return f"the model's price is unknown, so no budget can hold: {MEND}"
        if self.call is not None and worst > self.call:
            return f"a call may cost {_dollars(worst)}, over the budget of {_dollars(self.call)} a call"
        return None

    def spent_up(self, worst: int, spent: Sums) -> str | None:
        """Why a call that costs `worst` at most can't be made any more; None if it may."""
        for scope, limit in self.limits.items():
            if spent[scope] + worst > limit:
                whose = f"{_dollars(spent[scope])} of {WHAT[scope]} {_dollars(limit)}"
                return f"a call may cost {_dollars(worst)}, and {whose} is spent"
        return None

    def short(self, worst: int, spent: Sums, held: Sums) -> Scope | None:
        """The limit that a call may break if all that is `held` for calls under way is spent as well.

        They mostly cost less than they may: it is worth waiting for them.
        """
        for scope, limit in self.limits.items():
            if spent[scope] + held[scope] + worst > limit:
                return scope
        return None


def _dollars(amount: int) -> str:
    return f"${amount / ONE:,.4f}"


def midnight(at: datetime) -> datetime:
    """When the day of an instant began, in UTC: what a day's budget is counted from."""
    return datetime.combine(at.astimezone(UTC).date(), time(), UTC)
