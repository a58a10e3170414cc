"""Hard stops on spending: a call is made only if its worst case still fits every limit."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Collection, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Literal

from agents.model import Ask, Call, CallError, Prompt
from arena.asking import BROKEN, BrokenOff
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


@dataclass(frozen=True, slots=True)
class Payer:
    """Whose turn a call belongs to: the round and the entrant, by their keys in the record."""

    round_id: int
    entrant_id: int

    def purse(self, scope: Scope) -> tuple[Scope, int]:
        """What a limit is counted by."""
        return scope, {"round": self.round_id, "agent": self.entrant_id}.get(scope, 0)


@dataclass
class Budget:
    """Limits in millionths of a dollar, none for a scope that isn't there.

    `spent` tells what stored calls have cost a payer, by scope. `reserved` is what calls under way may
    cost at most: a call that would fit without them waits until they have cost what they do.
    """

    spent: Callable[[Payer, Collection[Scope]], Mapping[Scope, int]]
    call: int | None = None
    limits: Mapping[Scope, int] = field(default_factory=dict)
    reserved: Counter[tuple[Scope, int]] = field(default_factory=Counter)
    given_back: asyncio.Event = field(default_factory=asyncio.Event)

    @asynccontextmanager
    async def room(self, payer: Payer, worst: int | None) -> AsyncIterator[str | None]:
        """Hold `worst` back while a call is made. Gives None, or why the call must not be made."""
        while True:
            spent = self.spent(payer, self.limits) if self.limits else {}
            refusal = self._refusal(worst, spent)
            if refusal is not None or self._fits(payer, worst or 0, spent):
                break
            self.given_back.clear()
            await self.given_back.wait()
        held = {} if refusal is not None else {payer.purse(scope): worst or 0 for scope in self.limits}
        self.reserved.update(held)
        try:
            yield refusal
        finally:
            self.reserved.subtract(held)
            self.given_back.set()

    def _refusal(self, worst: int | None, spent: Mapping[Scope, int]) -> str | None:
        """Why a call that costs `worst` at most can't be made any more, or None if it may."""
        if self.call is None and not self.limits:
            return None
        if worst is None:
            return f"the model's price is unknown, so no budget can hold: {MEND}"
        if self.call is not None and worst > self.call:
            return f"a call may cost {_dollars(worst)}, over the budget of {_dollars(self.call)} a call"
        for scope, limit in self.limits.items():
            if spent[scope] + worst > limit:
                whose = f"{_dollars(spent[scope])} of {WHAT[scope]} {_dollars(limit)}"
                return f"a call may cost {_dollars(worst)}, and {whose} is spent"
        return None

    def _fits(self, payer: Payer, worst: int, spent: Mapping[Scope, int]) -> bool:
        """Whether a call fits even if all that are under way cost as much as they may."""
        return all(
            spent[scope] + self.reserved[payer.purse(scope)] + worst <= limit
            for scope, limit in self.limits.items()
        )


def budgeted(ask: Ask, budget: Budget, payer: Payer, worst_case: Callable[[Prompt], int | None]) -> Ask:
    """`ask`, but a call that could break a limit is refused instead of made."""

    async def asked(prompt: Prompt) -> Call:
        worst = worst_case(prompt)
        async with budget.room(payer, worst) as refusal:
            if refusal is not None:
                return Call(prompt, None, cost=0, error=CallError("budget", refusal, retry=False))
            try:
                return replace(await ask(prompt), worst=worst)
            except asyncio.CancelledError as error:
                raise BrokenOff(Call(prompt, None, worst=worst, error=BROKEN)) from error

    return asked


def _dollars(amount: int) -> str:
    return f"${amount / ONE:,.4f}"
