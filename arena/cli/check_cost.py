"""What a cohort would cost, agent by agent, and what its models can't do: estimates for `arena check`."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from agents.model import DeskSettings, model_settings
from agents.model_table.capabilities import model_faults
from agents.providers import near_model
from arena.calls.budget_warnings import LineUpWarning, budget_warnings, most_spent, round_counts
from arena.calls.estimate import Estimate, Usage, estimate_lineup, total_usage
from arena.cli.output import attributes, exact, prints_aside, run_async
from arena.clock import now
from arena.cohorts.schedule import PLAY_WINDOW
from arena.config import Config
from arena.rounds.adapters import kind_inputs
from portfolio.quotes import duration_text

if TYPE_CHECKING:
    from arena.record.queries.calls import RecentUsage

ENDS = ("low", "expected", "high")
NEAR = 0.75
"""The part of the time between rounds, or of that in which one may be played, that agents may take."""


def cost_of(config: Config, number: int, usage: "Mapping[str, RecentUsage]") -> dict[str, Any]:
    """Return what cohort `number` would use, agent by agent and in all, and what a budget would stop."""
    with prints_aside():
        fresh = run_async(estimate_lineup(config, kind_inputs(config, config.prompts)))
    estimates = [estimate.as_played(usage.get(estimate.agent)) for estimate in fresh]
    times = round_counts(config.cohorts, number)
    lengths = {"round": Fraction(1), "cohort": Fraction(times.cohort), "month": times.month}
    stops = most_spent(times, config.budget)

    def spans(low: Usage, expected: Usage, high: Usage) -> dict[str, Any]:
        costs = dict[str, Any]()
        for span, rounds in lengths.items():
            stop = stops[span]
            ends = zip(ENDS, (low, expected, high), strict=True)
            costs[span] = {end: usage_data(used.times(rounds), stop) for end, used in ends}
        return costs

    agents = []
    for estimate in estimates:
        costs = {} if estimate.trouble else spans(estimate.low, estimate.expected, estimate.high)
        costs |= {"call_usd": exact(estimate.first.cost), "from_turns": estimate.turns}
        agents.append({"agent": estimate.agent, "trouble": estimate.trouble or None} | costs)

    total = None
    if not any(estimate.trouble for estimate in estimates):
        low, expected, high = (total_usage(getattr(one, end) for one in estimates) for end in ENDS)
        total = spans(low, expected, high)

    warnings = []
    for warning in (*line_up_warnings(config, estimates), *budget_warnings(estimates, times, config.budget)):
        data = attributes(warning, "code", "scope", "message")
        warnings.append(data | {"agent": warning.agent or None, "mend": warning.hint})
    return {
        "rounds": {"cohort": times.cohort, "month": round(float(times.month), 2), "day": times.day},
        "agents": agents,
        "total": total,
        "warnings": warnings,
    }


def usage_data(used: Usage, stop: int | None) -> dict[str, Any]:
    """Return a usage as data; it costs no more than the budget allows, which stops the calls past that."""
    cost = used.cost
    if cost is not None and stop is not None:
        cost = min(cost, stop)
    return attributes(used, "calls", "tokens_in", "tokens_out") | {"usd": exact(cost)}


def line_up_warnings(config: Config, estimates: Sequence[Estimate]) -> Iterator[LineUpWarning]:
    """Yield what agents' models can't do, the certain faults first, then what may be amiss with them."""
    too_long = {estimate.agent: estimate.faults for estimate in estimates}
    faults = []
    for agent in config.agents:
        model = model_settings(agent.settings)
        if model is not None:
            found = (*model_faults(model, now().date()), *too_long.get(agent.name, ()))
            faults += [(agent.name, fault) for fault in found]

    for name, fault in sorted(faults, key=lambda named: not named[1].certain):
        code = "cannot_answer" if fault.certain else "may_not_answer"
        yield LineUpWarning(code, "model", name, f"{name}: {fault.message}", fault.hint)
    yield from unknown_models(config)
    yield from long_waits(config)


def unknown_models(config: Config) -> Iterator[LineUpWarning]:
    """Yield models that may be misspelt: litellm doesn't know them, but one of nearly that name."""
    for agent in config.agents:
        model = model_settings(agent.settings)
        if model is None or model.base_url is not None or model.price is not None:
            continue
        near = near_model(model.model)
        if near:
            message = f"the model of {agent.name} is unknown to litellm: {model.model}"
            hint = f"Did you mean {near}? If it is new, `price` says what it costs"
            yield LineUpWarning("unknown_model", "model", agent.name, message, hint)


def long_waits(config: Config) -> Iterator[LineUpWarning]:
    """Yield agents from outside that are waited for so long that rounds after theirs may be late, or missed.

    Cohorts that decide at one time play one after the other.
    """
    cohorts = config.cohorts
    deciding = min(cohorts.keep_deciding, cohorts.count or cohorts.keep_deciding)
    most = min(PLAY_WINDOW, cohorts.decide.every) * NEAR
    for agent in config.agents:
        if not isinstance(agent.settings, DeskSettings):
            continue
        wait = timedelta(seconds=agent.settings.wait)
        if wait * deciding > most:
            times = f" for each of {deciding} cohorts" if deciding > 1 else ""
            message = (
                f"{agent.name} may take {duration_text(wait)}{times}, and rounds come every "
                f"{duration_text(cohorts.decide.every)}: later turns are played late, or skipped "
                f"{duration_text(PLAY_WINDOW)} after the round's time"
            )
            hint = f"set its `wait` to at most {duration_text(most / deciding)}, or decide less often"
            yield LineUpWarning("long_wait", "model", agent.name, message, hint)
