"""What a cohort would cost, as commands have it and as JSON: amounts in dollars."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from arena.cli.output import attributes, exact, prints_aside, run_async
from arena.clock import now
from arena.config import Config
from arena.rounds.line_up_cost import LineUpCost, UsageBySpan, line_up_cost

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
    """Return what is used in a round, a cohort and a month, for JSON; nothing where that is unknown."""
    if spans is None:
        return {}
    data = asdict(spans)
    for bounds in data.values():
        for used in bounds.values():
            used["usd"] = exact(used.pop("cost"))
    return data


def month_data(spans: UsageBySpan | None) -> dict[str, float | None] | None:
    """Return the dollars of a month: the low, the expected and the high; None where they are unknown."""
    if spans is None:
        return None
    return {bound: used["usd"] for bound, used in spans_data(spans)["month"].items()}
