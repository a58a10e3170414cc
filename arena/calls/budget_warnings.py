"""Warnings about a budget that would stop a line-up, before anything is spent."""

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
    """Rounds in which one cohort decides, all cohorts in a month of 30.4 days, and all on the busiest day.

    `days` are those of a month on which any cohort decides.
    """

    cohort: int
    month: Fraction
    day: int
    days: Fraction = Fraction(0)


def round_counts(cohorts: CohortsSection, number: int = 1) -> RoundCounts:
    """Return the rounds of cohort `number` and of those that play beside it, one more each week.

    Only the newest `keep_deciding` decide, so a cohort stops when so many newer ones have started. The month
    is one in full swing, or the whole season if that has fewer rounds.
    """
    rounds = cohorts.rounds
    keep = cohorts.keep_deciding
    count = cohorts.count
    calendar = _calendar(cohorts)
    busiest_day = _busiest_day(cohorts)
    weekdays = {day % 7 for day in _rounds_by_day(cohorts)}
    days_a_month = len(weekdays) * _ratio(MONTH, WEEK)

    # A cohort starts each week, so after `keep` weeks it is no longer among the newest.
    overtaken_at = calendar.first + min(keep * WEEK, CENTURY)
    until_overtaken = calendar.until(overtaken_at - TICK).count or 0
    if count is None:
        rounds_a_month = until_overtaken * _ratio(MONTH, WEEK)
        return RoundCounts(until_overtaken, rounds_a_month, busiest_day, days_a_month)

    # In full swing some cohort is in each week of its life, so all rounds of a cohort are played in a week.
    decisions_a_week = count * _ratio(WEEK, cohorts.decide.every)
    most_a_week = until_overtaken if count > keep else rounds
    rounds_a_month = min(Fraction(most_a_week), decisions_a_week) * _ratio(MONTH, WEEK)

    overtaken_cohorts = max(0, count - keep)
    season = Fraction(overtaken_cohorts * until_overtaken + min(count, keep) * rounds)
    is_overtaken = count - number >= keep
    own_rounds = until_overtaken if is_overtaken else rounds
    return RoundCounts(own_rounds, min(rounds_a_month, season), busiest_day, min(days_a_month, season))


def _calendar(cohorts: CohortsSection) -> Calendar:
    """Return the rounds of a cohort that the schedule starts, wherever in time."""
    return cohorts.decide.calendar(cohorts.start.on_or_after(SUNDAY), cohorts.rounds)


def _ratio(time: timedelta, other: timedelta) -> Fraction:
    """Return the ratio of two durations."""
    return Fraction(time // SECOND, other // SECOND)


def _rounds_by_day(cohorts: CohortsSection) -> Counter[int]:
    """Return the rounds of a cohort by the day (UTC), counted from a Sunday."""
    calendar = _calendar(cohorts)
    return Counter((calendar.time(number) - SUNDAY) // DAY for number in range(1, cohorts.rounds + 1))


def _busiest_day(cohorts: CohortsSection) -> int:
    """Return the most rounds of all cohorts on one day (UTC): one in its first week, one in its second …"""
    cohorts_at_once = min(cohorts.keep_deciding, cohorts.count or cohorts.keep_deciding)
    rounds_on = _rounds_by_day(cohorts)

    # The rounds of a day and of the same weekday in all later weeks.
    rounds_from = Counter[int]()
    for day in range(max(rounds_on), -1, -1):
        rounds_from[day] = rounds_on[day] + rounds_from[day + 7]

    # Cohorts that started in successive weeks are in successive weeks of their life on the same day.
    return max(rounds_from[day] - rounds_from[day + 7 * cohorts_at_once] for day in rounds_on)


def most_spent(counts: RoundCounts, budget: BudgetSection) -> dict[str, int | None]:
    """Return the most that the budget lets all agents spend in a round, a cohort and a month; None: no limit.

    >>> from arena.config.sections import BudgetSection
    >>> most_spent(RoundCounts(5, Fraction(20), 5, Fraction(4)), BudgetSection(day=10, round=3))
    {'round': 3000000, 'cohort': 15000000, 'month': 40000000}
    """
    day_limits = {"round": Fraction(1), "month": counts.days}
    round_limits = {"round": Fraction(1), "cohort": Fraction(counts.cohort), "month": counts.month}
    most_by_span: dict[str, int | None] = {}
    for span, rounds in round_limits.items():
        limits = [] if budget.arena is None else [budget.arena]
        if budget.round is not None:
            limits.append(int(budget.round * rounds))
        if budget.day is not None and span in day_limits:
            limits.append(int(budget.day * day_limits[span]))
        most_by_span[span] = min(limits, default=None)

    return most_by_span


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
    estimates: Sequence[Estimate], counts: RoundCounts, budget: BudgetSection
) -> list[LineUpWarning]:
    """Return all warnings, the surest first."""
    warnings = list[LineUpWarning]()
    for estimate in estimates:
        warnings += _call_warnings(estimate, budget)
    warnings += _scope_warnings(estimates, counts, budget)

    order = ("refused", "stops", "may_stop")
    return sorted(warnings, key=lambda warning: order.index(warning.code))


def _call_warnings(estimate: Estimate, budget: BudgetSection) -> Iterator[LineUpWarning]:
    """Yield warnings about calls whose worst case exceeds a limit, which are always refused."""
    if not budget.limits:
        return

    agent = estimate.agent
    scope, lowest_limit = min(budget.limits.items(), key=lambda item: item[1])
    over = f"over budget.{scope} of {rounded_dollars(lowest_limit)}"
    first_cost = estimate.first.cost or 0
    repeat_cost = estimate.again.cost or 0
    if first_cost > lowest_limit:
        text = f"a call of {agent} may cost {rounded_dollars(first_cost)}, {over}: no call would be made"
        yield LineUpWarning("refused", scope, agent, text, _hint_for_call(estimate, lowest_limit, scope))
    elif repeat_cost > lowest_limit:
        text = (
            f"a retry after an unusable answer of {agent} may cost {rounded_dollars(repeat_cost)}, {over}: "
            "it would not be made"
        )
        yield LineUpWarning("may_stop", scope, agent, text, _raise_hint(repeat_cost, scope))


def _hint_for_call(estimate: Estimate, limit: int, scope: str) -> str:
    """Return how to make a call fit: more money, a shorter answer, or otherwise a shorter question."""
    raise_hint = _raise_hint(estimate.first.cost or 0, scope)
    price = estimate.price
    fitting_tokens = 0
    if price is not None and price.output:
        left_for_answer = limit - (cost(price, estimate.first.tokens_in, 0) or 0)
        fitting_tokens = int(left_for_answer / Decimal(repr(price.output)))

    usual_tokens = estimate.low.tokens_out // max(estimate.low.calls, 1)
    if fitting_tokens < usual_tokens:
        return f"{raise_hint}, or show fewer markets in a call (markets.show, or batch)"
    return f"{raise_hint}, or the agent's max_tokens to {fitting_tokens:,} at most"


def _raise_hint(amount: int, scope: str) -> str:
    """Return the hint to raise a limit to an amount, rounded up to a cent."""
    cents_rounded_up = -(-amount // CENT)
    return f"set budget.{scope} to {rounded_dollars(cents_rounded_up * CENT)} or more"


def _scope_warnings(
    estimates: Sequence[Estimate], counts: RoundCounts, budget: BudgetSection
) -> Iterator[LineUpWarning]:
    """Yield warnings about limits that all calls of a round, an agent, a day or a cohort exceed together."""
    low = total_usage([estimate.bounds[0] for estimate in estimates])
    likely = total_usage([estimate.bounds[1] for estimate in estimates])
    rounds_of_cohort = counts.cohort
    rounds_of_day = counts.day

    yield from _sum_warnings("round", "", low, likely, budget.round)
    for estimate in estimates:
        own_low, own_likely = estimate.bounds
        yield from _sum_warnings(
            "agent",
            estimate.agent,
            own_low.times(rounds_of_cohort),
            own_likely.times(rounds_of_cohort),
            budget.agent,
        )
    yield from _sum_warnings("day", "", low.times(rounds_of_day), likely.times(rounds_of_day), budget.day)
    yield from _sum_warnings(
        "arena", "", low.times(rounds_of_cohort), likely.times(rounds_of_cohort), budget.arena
    )


def _sum_warnings(
    scope: str, agent: str, low: Usage, likely: Usage, limit: int | None
) -> Iterator[LineUpWarning]:
    """Yield a warning if calls are expected to exceed a limit, or certainly will."""
    if limit is None or low.cost is None or likely.cost is None:
        return
    if likely.cost <= limit:
        return

    whose = f"{PER_SCOPE[scope]} of {agent}" if agent else PER_SCOPE[scope]
    over = f"over budget.{scope} of {rounded_dollars(limit)}: calls past it"
    if low.cost > limit:
        code = "stops"
        text = f"{whose} costs at least {rounded_dollars(low.cost)}, {over} are not made"
    else:
        code = "may_stop"
        text = f"{whose} is expected to cost {rounded_dollars(likely.cost)}, {over} would not be made"
    yield LineUpWarning(code, scope, agent, text, _raise_hint(likely.cost, scope))


def rounded_dollars(amount: int) -> str:
    """Return an amount of money, rounded up: to a cent from ten cents on, below to two significant figures.

    >>> rounded_dollars(12_345_678), rounded_dollars(171_200), rounded_dollars(21), rounded_dollars(0)
    ('$12.35', '$0.18', '$0.000021', '$0.00')
    """
    exact = decimal(amount)
    places = 2
    if amount:
        # Two significant figures, but at least whole cents and at most the millionths that there are.
        places_of_two_figures = 1 - exact.adjusted()
        places = min(max(places_of_two_figures, 2), 6)
    return f"${exact.quantize(Decimal(1).scaleb(-places), ROUND_CEILING):,f}"
