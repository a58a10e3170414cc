"""Where a budget would stop a line-up, said before anything is spent."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal
from fractions import Fraction

from agents.cost import cost
from arena.calendar import Calendar
from arena.config.model import Budget
from arena.estimate import Estimate, Use, total
from markets.millionths import ONE, decimal

CENT = ONE // 100
A = {
    "round": "a round",
    "agent": "a cohort",
    "day": "a day",
    "arena": "one cohort",
}
"""What a limit is held against, in words."""


@dataclass(frozen=True, slots=True)
class Warning:
    """One thing that a budget would stop: a stable code, whose calls, what would happen, what to change.

    `refused` are calls that are never made; `stops` and `may_stop` runs that end before they are whole.
    """

    code: str
    scope: str
    agent: str
    message: str
    mend: str


def warnings(found: Sequence[Estimate], calendar: Calendar, budget: Budget) -> list[Warning]:
    """All of them, the surest first."""
    told = [warning for one in found for warning in _of_calls(one, budget)]
    told += list(_of_sums(found, calendar, budget))
    order = ("refused", "stops", "may_stop")
    return sorted(told, key=lambda warning: order.index(warning.code))


def _of_calls(one: Estimate, budget: Budget) -> Iterator[Warning]:
    """A call whose worst case is over any limit is refused, whatever it would have cost."""
    if not budget.limits:
        return
    scope, limit = min(budget.limits.items(), key=lambda item: item[1])
    first, again = one.first.cost or 0, one.again.cost or 0
    if first > limit:
        words = f"a call of {one.agent} may cost {dollars(first)}, over budget.{scope} of {dollars(limit)}: "
        words += "none would be made"
        yield Warning("refused", scope, one.agent, words, _smaller(one, limit, scope))
    elif again > limit:
        words = f"the repeat of an unusable answer of {one.agent} may cost {dollars(again)}, over "
        words += f"budget.{scope} of {dollars(limit)}: it would not be made"
        yield Warning("may_stop", scope, one.agent, words, _raised(again, scope))


def _smaller(one: Estimate, limit: int, scope: str) -> str:
    """What makes the call fit: more money, a shorter answer, or if not even that, a shorter question."""
    raised = _raised(one.first.cost or 0, scope)
    left = limit - (cost(one.price, one.first.tokens_in, 0) or 0)
    fits = int(left / Decimal(repr(one.price.output))) if one.price and one.price.output else 0
    if fits < one.low.tokens_out // max(one.low.calls, 1):
        return f"{raised}, or show fewer markets in a call (markets.show, or batch)"
    return f"{raised}, or the agent's max_tokens to {fits:,} at most"


def _raised(amount: int, scope: str) -> str:
    return f"set budget.{scope} to {dollars(-(-amount // CENT) * CENT)} or more"


def _of_sums(found: Sequence[Estimate], calendar: Calendar, budget: Budget) -> Iterator[Warning]:
    low, high = total(one.low for one in found), total(one.high for one in found)
    cohort, day = Fraction(calendar.cohort), Fraction(calendar.day)
    yield from _of_sum("round", "", low, high, budget.round)
    for one in found:
        yield from _of_sum("agent", one.agent, one.low.times(cohort), one.high.times(cohort), budget.agent)
    yield from _of_sum("day", "", low.times(day), high.times(day), budget.day)
    yield from _of_sum("arena", "", low.times(cohort), high.times(cohort), budget.arena)


def _of_sum(scope: str, agent: str, low: Use, high: Use, limit: int | None) -> Iterator[Warning]:
    """Over the limit at the least, calls are stopped for sure; at the most, they may be."""
    if limit is None or low.cost is None or high.cost is None or high.cost <= limit:
        return
    stops = low.cost > limit
    whose = f"{A[scope]} of {agent}" if agent else A[scope]
    costs = f"costs {dollars(low.cost)} at least" if stops else f"may cost {dollars(high.cost)}"
    ends = "calls past it are not made" if stops else "calls past it would not be made"
    words = f"{whose} {costs}, over budget.{scope} of {dollars(limit)}: {ends}"
    yield Warning("stops" if stops else "may_stop", scope, agent, words, _raised(high.cost, scope))


def dollars(amount: int) -> str:
    """An amount of money, rounded up: to a cent from ten cents on, below to two figures that count.

    >>> dollars(12_345_678), dollars(171_200), dollars(21), dollars(0)
    ('$12.35', '$0.18', '$0.000021', '$0.00')
    """
    exact = decimal(amount)
    places = 2 if not amount else min(max(1 - exact.adjusted(), 2), 6)
    return f"${exact.quantize(Decimal(1).scaleb(-places), ROUND_CEILING):,f}"
