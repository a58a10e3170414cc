"""The cost of a cohort, in words and as JSON: amounts in dollars."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from agents.providers import DEMO
from arena.cli.output import Data, attributes, from_millionths, prints_to_stderr, run_async
from arena.cli.table import UNKNOWN
from arena.clock import now
from arena.config import Config
from arena.rounds.line_up_cost import LineUpCost, UsageBySpan, line_up_cost
from markets.millionths import decimal

FREE = "free"
NO_LIMIT = "none"
PER = {
    "call": "a call",
    "round": "a round",
    "agent": "an agent and cohort",
    "day": "a day",
    "arena": "in all",
}
"""The span of each limit of the budget, in words."""

if TYPE_CHECKING:
    from arena.record.queries.calls import RecentUsage


def cost_of(config: Config, number: int, usage: "Mapping[str, RecentUsage]") -> LineUpCost:
    """Return the estimated use of cohort `number`, by agent and in total, and the budget's warnings."""
    with prints_to_stderr():
        return run_async(line_up_cost(config, number, usage, now().date()))


def cost_data(cost: LineUpCost) -> dict[str, Any]:
    """Return the estimated use of a cohort, for JSON."""
    agents = []
    for estimate in cost.estimates:
        spans = spans_data(cost.by_agent.get(estimate.agent))
        first_call = {
            "call_usd": from_millionths(estimate.first.cost),
            "from_turns": estimate.turns,
            "forecasts": estimate.forecasts,
        }
        agents.append({"agent": estimate.agent, "trouble": estimate.trouble or None} | spans | first_call)

    warnings = []
    for warning in cost.warnings:
        data = attributes(warning, "code", "scope", "message")
        warnings.append(data | {"agent": warning.agent or None, "mend": warning.hint})

    counts = cost.counts
    return {
        "rounds": {"cohort": counts.cohort, "month": round(float(counts.month), 2), "day": counts.day},
        "agents": agents,
        "total": spans_data(cost.total) or None,
        "warnings": warnings,
    }


def spans_data(spans: UsageBySpan | None) -> dict[str, Any]:
    """Return the use of a round, a cohort and a month, for JSON; empty if it is unknown."""
    if spans is None:
        return {}

    data = asdict(spans)
    for bounds in data.values():
        for usage in bounds.values():
            usage["usd"] = from_millionths(usage.pop("cost"))
    return data


def month_data(spans: UsageBySpan | None) -> dict[str, float | None] | None:
    """Return the low, expected and high dollars of a month; None if they are unknown."""
    if spans is None:
        return None

    month = spans_data(spans)["month"]
    return {bound: usage["usd"] for bound, usage in month.items()}


def costs_text(
    month: Mapping[str, float | None] | None, budget: Mapping[str, int | None], models: Sequence[str]
) -> str:
    """Return the monthly cost of all models, and the limits of the budget."""
    if not models:
        return "nothing: no agent uses a model"

    text = month_text(month)
    limits = limits_text(budget)
    if limits != NO_LIMIT:
        text += f"; stopped at {limits}"
    elif text != FREE:
        text += "; no budget limits it"
    if all(model.startswith(DEMO) for model in models):
        text += " (made-up prices: demo models are free)"
    return text


def limits_text(budget: Mapping[str, int | None]) -> str:
    """Return the limits of a budget in words."""
    limits = [f"${decimal(limit):,.2f} {PER[scope]}" for scope, limit in budget.items() if limit is not None]
    return ", ".join(limits) or NO_LIMIT


def month_text(usd: Mapping[str, float | None] | None) -> str:
    """Return the monthly cost in words, as expected (low–high) where that is known.

    >>> month_text({"low": 0.013, "expected": 0.21, "high": None})
    'about $0.21 (0.013–?) a month'
    """
    if usd is None:
        return "unknown"
    high = usd["high"]
    if high == 0:
        return FREE

    text = bounds_text(**usd)
    if text != UNKNOWN:
        return f"about ${text} a month"
    return "unknown" if high is None else f"unknown, at most ${high:,.2f} a month"


def dollars_text(costs: Data) -> str:
    """Return the dollars of a row's costs: expected (low–high)."""
    return bounds_text(costs["low"]["usd"], costs["expected"]["usd"], costs["high"]["usd"])


def bounds_text(low: float | None, expected: float | None, high: float | None) -> str:
    """Return a cost as expected (low–high): `0.21 (0.013–0.27)`.

    An unknown cost is a dash, an unknown upper bound `?`.
    """
    if low is None or expected is None:
        return UNKNOWN

    low_text = money_text(low)
    high_text = "?" if high is None else money_text(high)
    if low_text == high_text:
        return low_text
    return f"{money_text(expected)} ({low_text}–{high_text})"


def money_text(usd: float) -> str:
    """Return dollars: two figures below ten cents, whole dollars from a hundred, cents between.

    >>> money_text(0.0131), money_text(0.263), money_text(12.3), money_text(1234.5), money_text(0)
    ('0.013', '0.26', '12.30', '1,234', '0')
    """
    if usd == 0:
        return "0"
    if usd >= 100:
        return f"{usd:,.0f}"

    # Below ten cents, add decimals until two significant figures show.
    places = 2
    while usd < 0.1 and places < 6 and usd * 10**places < 9.95:
        places += 1
    return f"{usd:.{places}f}"
