"""Hard stops on spending: a call is made only if its worst case still fits."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from agents.model import Ask, Call, CallError, Prompt
from markets.millionths import ONE


@dataclass
class Budget:
    """Limits in millionths of a dollar, None for none. `reserved` is held by calls under way.

    `spent_today` tells what stored calls have cost since 00:00 UTC.
    """

    spent_today: Callable[[], int]
    call: int | None = None
    day: int | None = None
    reserved: int = 0

    def refusal(self, worst: int | None) -> str | None:
        """Why a call that costs `worst` at most must not be made, or None if it may."""
        if self.call is None and self.day is None:
            return None
        if worst is None:
            return "the model's price is unknown, so no budget can hold: set `price` for this agent"
        if self.call is not None and worst > self.call:
            return f"a call may cost {_dollars(worst)}, over the budget of {_dollars(self.call)} a call"
        if self.day is None:
            return None
        used = self.spent_today() + self.reserved
        if used + worst > self.day:
            return (
                f"a call may cost {_dollars(worst)} and {_dollars(used)} of today's "
                f"{_dollars(self.day)} is spent or reserved"
            )
        return None


def budgeted(ask: Ask, budget: Budget, worst_case: Callable[[Prompt], int | None]) -> Ask:
    """`ask`, but a call that could break a limit is refused instead of made."""

    async def asked(prompt: Prompt) -> Call:
        worst = worst_case(prompt)
        refusal = budget.refusal(worst)
        if refusal is not None:
            return Call(prompt, None, cost=0, error=CallError("budget", refusal, retry=False))
        budget.reserved += worst or 0
        try:
            return replace(await ask(prompt), worst=worst)
        finally:
            budget.reserved -= worst or 0

    return asked


def _dollars(amount: int) -> str:
    return f"${amount / ONE:,.4f}"
