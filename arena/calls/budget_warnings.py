"""Where a budget would stop a line-up, said before anything is spent, by how often its cohorts decide."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from decimal import ROUND_CEILING, Decimal
from fractions import Fraction

from agents.model_table.cost import cost
from arena.calls.estimate import Estimate, Usage, total_usage
from arena.cohorts.schedule import TICK
from arena.config.sections import CENTURY, BudgetSection, CohortsSection
from arena.record.model.calendar import SUNDAY, WEEK, Calendar
from markets.millionths import ONE, decimal

MONTH = timedelta(days=30.4)
DAY = timedelta(days=1)
SECOND = timedelta(seconds=1)


@dataclass(frozen=True, slots=True)
class RoundCounts:
    """Rounds in which one cohort decides, all cohorts in a month of 30.4 days, and all on the busiest day."""

    cohort: int
    month: Fraction
    day: int


def round_counts(cohorts: CohortsSection, number: int = 1) -> RoundCounts:
    """That of cohort `number` and of those that play beside it, one more each week.

    Only the newest `keep_deciding` decide, so a cohort stops when so many newer ones have started.
    A month is one in full swing, or the whole season where that has fewer rounds.
    """
    rounds, keep, count = cohorts.rounds, cohorts.keep_deciding, cohorts.count
    calendar = _calendar(cohorts)
    overtaken = calendar.until(calendar.first + min(keep * WEEK, CENTURY) - TICK).count or 0
    if count is None:
        return RoundCounts(overtaken, overtaken * _ratio(MONTH, WEEK), _busiest(cohorts))
    a_week = min(Fraction(overtaken if count > keep else rounds), count * _ratio(WEEK, cohorts.decide.every))
    in_all = max(0, count - keep) * overtaken + min(count, keep) * rounds
    mine = rounds if count - number < keep else overtaken
    return RoundCounts(mine, min(a_week * _ratio(MONTH, WEEK), Fraction(in_all)), _busiest(cohorts))


def _calendar(cohorts: CohortsSection) -> Calendar:
    """The rounds of a cohort that the schedule starts, wherever in time."""
    return cohorts.decide.calendar(cohorts.start.on_or_after(SUNDAY), cohorts.rounds)


def _ratio(time: timedelta, other: timedelta) -> Fraction:
    return Fraction(time // SECOND, other // SECOND)


def _busiest(cohorts: CohortsSection) -> int:
    """The most rounds of all cohorts on one day (UTC): those of one in its first week, one in its second …"""
    most = min(cohorts.keep_deciding, cohorts.count or cohorts.keep_deciding)
    calendar = _calendar(cohorts)
    days = Counter((calendar.time(number) - SUNDAY) // DAY for number in range(1, cohorts.rounds + 1))
    onward = Counter[int]()
    for day in range(max(days), -1, -1):
        onward[day] = days[day] + onward[day + 7]
    return max(onward[day] - onward[day + 7 * most] for day in days)


CENT = ONE // 100
PER_SCOPE = {"round": "a round", "agent": "a cohort", "day": "a day", "arena": "one cohort"}
"""What a limit is held against, in words."""


@dataclass(frozen=True, slots=True)
class LineUpWarning:
    """One thing that is wrong with a line-up: a stable code, whose calls, what would happen, what to change.

    A budget's are `refused` for calls that are never made, `stops` and `may_stop` for runs that end early.
    """

    code: str
    scope: str
    agent: str
    message: str
    hint: str


def budget_warnings(
    estimates: Sequence[Estimate], calendar: RoundCounts, budget: BudgetSection
) -> list[LineUpWarning]:
    """All of them, the surest first."""
    warnings = [warning for one in estimates for warning in _of_calls(one, budget)]
    warnings += list(_of_sums(estimates, calendar, budget))
    order = ("refused", "stops", "may_stop")
    return sorted(warnings, key=lambda warning: order.index(warning.code))


def _of_calls(one: Estimate, budget: BudgetSection) -> Iterator[LineUpWarning]:
    """A call whose worst case is over any limit is refused, whatever it would have cost."""
    if not budget.limits:
        return
    scope, limit = min(budget.limits.items(), key=lambda item: item[1])
    first, again = one.first.cost or 0, one.again.cost or 0
    if first > limit:
        words = (
            f"a call of {one.agent} may cost {rounded_dollars(first)}, "
            f"over budget.{scope} of {rounded_dollars(limit)}: "
        )
        words += "no call would be made"
        yield LineUpWarning("refused", scope, one.agent, words, _smaller(one, limit, scope))
    elif again > limit:
        words = f"a retry after an unusable answer of {one.agent} may cost {rounded_dollars(again)}, over "
        words += f"budget.{scope} of {rounded_dollars(limit)}: it would not be made"
        yield LineUpWarning("may_stop", scope, one.agent, words, _raised(again, scope))


def _smaller(one: Estimate, limit: int, scope: str) -> str:
    """What makes the call fit: more money, a shorter answer, or if not even that, a shorter question."""
    raised = _raised(one.first.cost or 0, scope)
    left = limit - (cost(one.price, one.first.tokens_in, 0) or 0)
    fits = int(left / Decimal(repr(one.price.output))) if one.price and one.price.output else 0
    if fits < one.low.tokens_out // max(one.low.calls, 1):
        return f"{raised}, or show fewer markets in a call (markets.show, or batch)"
    return f"{raised}, or the agent's max_tokens to {fits:,} at most"


def _raised(amount: int, scope: str) -> str:
    return f"set budget.{scope} to {rounded_dollars(-(-amount // CENT) * CENT)} or more"


def _of_sums(
    estimates: Sequence[Estimate], calendar: RoundCounts, budget: BudgetSection
) -> Iterator[LineUpWarning]:
    bounds = {one.agent: one.bounds for one in estimates}
    low, likely = (total_usage(both[place] for both in bounds.values()) for place in (0, 1))
    cohort, day = Fraction(calendar.cohort), Fraction(calendar.day)
    yield from _of_sum("round", "", low, likely, budget.round)
    for one in estimates:
        least, usual = (use.times(cohort) for use in bounds[one.agent])
        yield from _of_sum("agent", one.agent, least, usual, budget.agent)
    yield from _of_sum("day", "", low.times(day), likely.times(day), budget.day)
    yield from _of_sum("arena", "", low.times(cohort), likely.times(cohort), budget.arena)


def _of_sum(scope: str, agent: str, low: Usage, likely: Usage, limit: int | None) -> Iterator[LineUpWarning]:
    """Over the limit at the least, calls are stopped for sure; as expected, they may be."""
    if limit is None or low.cost is None or likely.cost is None or likely.cost <= limit:
        return
    stops = low.cost > limit
    whose = f"{PER_SCOPE[scope]} of {agent}" if agent else PER_SCOPE[scope]
    costs, amount = ("costs at least", low.cost) if stops else ("is expected to cost", likely.cost)
    ends = "calls past it are not made" if stops else "calls past it would not be made"
    words = (
        f"{whose} {costs} {rounded_dollars(amount)}, over budget.{scope} of {rounded_dollars(limit)}: {ends}"
    )
    yield LineUpWarning("stops" if stops else "may_stop", scope, agent, words, _raised(likely.cost, scope))


def rounded_dollars(amount: int) -> str:
    """An amount of money, rounded up: to a cent from ten cents on, below to two figures that count.

    >>> rounded_dollars(12_345_678), rounded_dollars(171_200), rounded_dollars(21), rounded_dollars(0)
    ('$12.35', '$0.18', '$0.000021', '$0.00')
    """
    exact = decimal(amount)
    places = 2 if not amount else min(max(1 - exact.adjusted(), 2), 6)
    return f"${exact.quantize(Decimal(1).scaleb(-places), ROUND_CEILING):,f}"
