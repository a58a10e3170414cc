"""Adding models to the config as agents, each after one real question."""

import os
from collections.abc import Mapping, Sequence
from operator import itemgetter
from typing import Any

from arena.calls.budget_warnings import rounded_dollars
from arena.calls.probe import Probe, ProbeAnswer
from arena.cli.check_cost import cost_data, cost_of, month_data, month_text
from arena.cli.check_next import joining_text
from arena.cli.model_choice import confirm_offer
from arena.cli.output import Data, command_line, from_millionths, plain, prints_to_stderr, progress, run_async
from arena.cli.page import Page
from arena.config import Config
from arena.config.editing import block_lines
from arena.config.environment import environment, missing_keys, require_key
from arena.config.model_blocks import Block, unpriced_sentences
from arena.errors import count_text
from arena.operations.coming_cohort import read_begun
from arena.rounds.live_check import probe_answers, probe_trouble, probes_of
from markets.millionths import ONE


def probe_all(
    config: Config, blocks: Sequence[Block], can_ask_user: bool, agreed: bool
) -> tuple[dict[str, ProbeAnswer], list[dict[str, str]]]:
    """Ask each model one question once the user agrees to the cost; return good answers and failures."""
    with prints_to_stderr():
        probes = run_async(probes_of(config, [block["name"] for block in blocks]))

    environ = environment(config.folder, os.environ)
    for probe in probes.values():
        require_key(probe.settings, environ, config.folder / ".env", "; or add it with --no-probe")
    confirm_cost(config, probes, can_ask_user, agreed)
    with prints_to_stderr(), progress(f"Asking {', '.join(probes)}"):
        answers = run_async(probe_answers(config, probes))

    good = {}
    failed = []
    for name, answer in answers.items():
        trouble = probe_trouble(answer)
        if trouble is None:
            good[name] = answer
        else:
            failed.append({"agent": name, "model": probes[name].settings.model, **trouble.as_dict()})
    return good, failed


def confirm_cost(config: Config, probes: Mapping[str, Probe], can_ask_user: bool, agreed: bool) -> None:
    """Ask the user to accept the cost of the questions; raise `ArenaError` unless they do."""
    is_free = all(probe.worst == 0 for probe in probes.values())
    if agreed or is_free:
        return

    # The expected cost of a question is that of the agent's part of a round.
    expected = 0
    usage_by_agent = cost_of(config, 1, {}).by_agent
    for name in probes:
        usage = usage_by_agent.get(name)
        if usage is not None:
            expected += usage.round.expected.cost or 0

    most = sum(probe.worst or 0 for probe in probes.values())
    questions = "One question" if len(probes) == 1 else f"{len(probes)} models a question each"
    shown = count_text(config.markets.show, "sample market")
    offer = f"{questions} of {shown}: about ${expected / ONE:,.2f}, at most {rounded_dollars(most)}"
    confirm_offer(offer, can_ask_user, "add --yes to ask, or --no-probe to add without a question")


def added_data(
    config: Config,
    blocks: Sequence[Block],
    answers: Mapping[str, ProbeAnswer],
    failed: Sequence[Mapping[str, str]],
) -> dict[str, Any]:
    """Return the agents added, their monthly cost, and the budget's warnings, for JSON."""
    models = {agent.name: agent.model for agent in config.agents if agent.model is not None}
    begun = read_begun(config.database, models)
    cost = cost_of(config, len(begun.cohorts) + 1, begun.usage)  # that of the next cohort
    missing = missing_keys(config.agents, environment(config.folder, os.environ))

    added = []
    for block in blocks:
        name = block["name"]
        answer = answers.get(name)
        added.append(
            {
                "agent": name,
                "model": block["model"],
                "lines": block_lines(block),
                "measured": block.get("measured"),
                "asked_usd": answer and from_millionths(answer.call.cost),
                "missing_key": missing.get(name),
                "month_usd": month_data(cost.by_agent.get(name)),
            }
        )

    # Warnings of the added agents, and those of no agent in particular.
    agents_to_warn_of = (None, *(block["name"] for block in blocks))
    warnings = cost_data(cost)["warnings"]
    return {
        "added": added,
        "failed": list(failed),
        "joins": joining_text(config, begun, ()) or None,
        "unpriced": unpriced_sentences(blocks),
        "models": len(cost.estimates),
        "month_usd": month_data(cost.total),
        "warnings": [warning for warning in warnings if warning["agent"] in agents_to_warn_of],
    }


def added_page(data: Data) -> Page:
    """Yield what was measured and written, the monthly cost, and any problems."""
    added = data["added"]
    for agent in filter(itemgetter("measured"), added):
        yield f"{agent['agent']} {probe_result_text(agent['measured'])}."

    yield f"Added to {data['config']}:"
    for agent in added:
        for line in agent["lines"]:
            yield f"  {line}"

    for agent in added:
        yield f"{agent['agent']}: {month_text(agent['month_usd'])}."
    if data["month_usd"] and data["models"] > len(added):
        yield f"All models: {month_text(data['month_usd'])}."
    for sentence in filter(None, (*data["unpriced"], data["joins"])):
        yield f"{sentence}."
    yield from trouble_lines(data)
    yield f"Next: {command_line('check')}"


def trouble_lines(data: Data) -> Page:
    """Yield the models not added, the budget's warnings and the missing keys."""
    for failure in data["failed"]:
        yield f"Not added, {failure['model']}: {plain(failure['message'])}\n→ {failure['mend']}"
    for warning in data["warnings"]:
        yield f"Warning: {warning['message']}\n→ {warning['mend']}"
    for agent in data["added"]:
        if agent["missing_key"]:
            yield f"{agent['agent']} waits for {agent['missing_key']}: set it in the environment or .env."


def probe_result_text(measured: Data) -> str:
    """Return a sentence on how a model answered the probe."""
    text = (
        "answered {answered} of {markets} markets in {seconds:g} s: {tokens_in:,} tokens in, "
        "{tokens_out:,} out"
    ).format_map(measured)
    if measured["thinking"]:
        text += f" ({measured['thinking']:,} of thinking)"
    if measured["usd"] is not None:
        text += f", ${measured['usd']:,.4f}"
    return text
