"""The estimated cost of a cohort, by agent and in total, and the faults of its models."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from fractions import Fraction
from typing import TYPE_CHECKING

from agents.model import DeskSettings, model_settings
from agents.model_table.capabilities import model_faults
from agents.providers import near_model
from arena.calls.budget_warnings import (
    LineUpWarning,
    RoundCounts,
    budget_warnings,
    most_spent,
    round_counts,
)
from arena.calls.estimate import Estimate, Usage, estimate_lineup, total_usage
from arena.cohorts.schedule import PLAY_WINDOW
from arena.config import Config
from arena.rounds.adapters import kind_inputs
from portfolio.quotes import duration_text

if TYPE_CHECKING:
    from arena.record.queries.calls import RecentUsage

NEAR = 0.75
"""The part of the time between rounds, or of that in which one may be played, that agents may take."""


@dataclass(frozen=True, slots=True)
class UsageBounds:
    """The low, expected and high use of agents."""

    low: Usage
    expected: Usage
    high: Usage


@dataclass(frozen=True, slots=True)
class UsageBySpan:
    """The use of agents in a round, a cohort and a month, limited by the budget."""

    round: UsageBounds
    cohort: UsageBounds
    month: UsageBounds


@dataclass(frozen=True, slots=True)
class LineUpCost:
    """The estimated use of a cohort, by agent and in total, as far as no estimate has failed."""

    counts: RoundCounts
    estimates: tuple[Estimate, ...]
    by_agent: Mapping[str, UsageBySpan]
    total: UsageBySpan | None
    warnings: tuple[LineUpWarning, ...]


async def line_up_cost(
    config: Config, number: int, usage: "Mapping[str, RecentUsage]", today: date
) -> LineUpCost:
    """Return what cohort `number` would use, and what is amiss with it.

    `usage` is what agents used in their newest turns, by name.
    """
    fresh = await estimate_lineup(config, kind_inputs(config, config.prompts))
    estimates = [estimate.as_played(usage.get(estimate.agent)) for estimate in fresh]
    counts = round_counts(config.cohorts, number)
    stops = most_spent(counts, config.budget)
    by_agent = {}
    for estimate in estimates:
        if not estimate.trouble:
            bounds = UsageBounds(estimate.low, estimate.expected, estimate.high)
            by_agent[estimate.agent] = _usage_by_span(bounds, counts, stops)

    total = None
    if len(by_agent) == len(estimates):
        bounds = UsageBounds(
            total_usage(estimate.low for estimate in estimates),
            total_usage(estimate.expected for estimate in estimates),
            total_usage(estimate.high for estimate in estimates),
        )
        total = _usage_by_span(bounds, counts, stops)

    warnings = [
        *_model_warnings(config, estimates, today),
        *_unknown_models(config),
        *_long_waits(config),
        *budget_warnings(estimates, counts, config.budget),
    ]
    return LineUpCost(counts, tuple(estimates), by_agent, total, tuple(warnings))


def _usage_by_span(
    round_bounds: UsageBounds, counts: RoundCounts, stops: Mapping[str, int | None]
) -> UsageBySpan:
    """Return the use in each span from that of a round; no cost is above that at which the budget `stops`."""
    rounds_by_span = {"round": Fraction(1), "cohort": Fraction(counts.cohort), "month": counts.month}
    spans = {}
    for span, rounds in rounds_by_span.items():
        stop = stops[span]
        bounds = []
        for round_usage in (round_bounds.low, round_bounds.expected, round_bounds.high):
            usage = round_usage.times(rounds)
            if usage.cost is not None and stop is not None:
                usage = replace(usage, cost=min(usage.cost, stop))
            bounds.append(usage)
        spans[span] = UsageBounds(*bounds)

    return UsageBySpan(**spans)


def _model_warnings(config: Config, estimates: Sequence[Estimate], today: date) -> Iterator[LineUpWarning]:
    """Yield warnings about settings that agents' models don't support, the certain faults first."""
    estimate_faults = {estimate.agent: estimate.faults for estimate in estimates}
    faults = []
    for agent in config.agents:
        model = model_settings(agent.settings)
        if model is not None:
            own_faults = (*model_faults(model, today), *estimate_faults.get(agent.name, ()))
            faults += [(agent.name, fault) for fault in own_faults]

    faults.sort(key=lambda named: not named[1].certain)
    for name, fault in faults:
        code = "cannot_answer" if fault.certain else "may_not_answer"
        yield LineUpWarning(code, "model", name, f"{name}: {fault.message}", fault.hint)


def _unknown_models(config: Config) -> Iterator[LineUpWarning]:
    """Yield warnings about models that may be misspelt: litellm only knows a similar name."""
    for agent in config.agents:
        model = model_settings(agent.settings)
        if model is None or model.base_url is not None or model.price is not None:
            continue
        near = near_model(model.model)
        if near:
            message = f"the model of {agent.name} is unknown to litellm: {model.model}"
            hint = f"Did you mean {near}? If it is new, `price` says what it costs"
            yield LineUpWarning("unknown_model", "model", agent.name, message, hint)


def _long_waits(config: Config) -> Iterator[LineUpWarning]:
    """Yield agents from outside that are waited for so long that rounds after theirs may be late, or missed.

    Cohorts that decide at one time play one after the other.
    """
    cohorts = config.cohorts
    deciding = min(cohorts.keep_deciding, cohorts.count or cohorts.keep_deciding)
    longest_wait = min(PLAY_WINDOW, cohorts.decide.every) * NEAR
    for agent in config.agents:
        if not isinstance(agent.settings, DeskSettings):
            continue
        wait = timedelta(seconds=agent.settings.wait)
        if wait * deciding > longest_wait:
            times = f" for each of {deciding} cohorts" if deciding > 1 else ""
            message = (
                f"{agent.name} may take {duration_text(wait)}{times}, and rounds come every "
                f"{duration_text(cohorts.decide.every)}: later turns are played late, or skipped "
                f"{duration_text(PLAY_WINDOW)} after the round's time"
            )
            hint = f"set its `wait` to at most {duration_text(longest_wait / deciding)}, or decide less often"
            yield LineUpWarning("long_wait", "model", agent.name, message, hint)
