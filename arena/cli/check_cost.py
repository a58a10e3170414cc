"""What a cohort would cost, as commands have it and as JSON: amounts in dollars."""

from collections.abc import Mapping
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from arena.calls.estimate import Usage
from arena.cli.output import attributes, exact, prints_aside, run_async
from arena.clock import now
from arena.config import Config
from arena.rounds.line_up_cost import LineUpCost, UsageBounds, UsageBySpan, line_up_cost

if TYPE_CHECKING:
    from arena.record.queries.calls import RecentUsage


def cost_of(config: Config, number: int, usage: "Mapping[str, RecentUsage]") -> LineUpCost:
    """Return what cohort `number` would use, agent by agent and in all, and what a budget would stop."""
    with prints_aside():
        return run_async(line_up_cost(config, number, usage, now().date()))


def cost_data(cost: LineUpCost) -> dict[str, Any]:
    """Return what a cohort would use, for JSON."""
    agents = []
    for estimate in cost.estimates:
        spans = spans_data(cost.by_agent[estimate.agent])
        call = {"call_usd": exact(estimate.first.cost), "from_turns": estimate.turns}
        agents.append({"agent": estimate.agent, "trouble": estimate.trouble or None} | spans | call)

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
    """Return what is used in a round, a cohort and a month; nothing where that is unknown."""
    data: dict[str, Any] = {}
    if spans is not None:
        for span in fields(spans):
            bounds: UsageBounds = getattr(spans, span.name)
            uses = {}
            for bound in fields(bounds):
                uses[bound.name] = usage_data(getattr(bounds, bound.name))
            data[span.name] = uses
    return data


def usage_data(used: Usage) -> dict[str, Any]:
    """Return a usage for JSON."""
    return attributes(used, "calls", "tokens_in", "tokens_out") | {"usd": exact(used.cost)}


def month_data(spans: UsageBySpan | None) -> dict[str, float | None] | None:
    """Return the dollars of a month: the low, the expected and the high; None where they are unknown."""
    if spans is None:
        return None
    month = spans.month
    return {bound.name: exact(getattr(month, bound.name).cost) for bound in fields(month)}
