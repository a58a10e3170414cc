"""Adding models to the config as agents, each after one real question."""

import os
from collections.abc import Mapping, Sequence
from operator import itemgetter
from typing import Any

from arena.calls.budget_warnings import rounded_dollars
from arena.calls.probe import Probe, ProbeAnswer
from arena.cli.check_cost import cost_data, cost_of, month_data, month_text
from arena.cli.check_next import joining_text
from arena.cli.model_choice import agree
from arena.cli.output import Data, exact, plain, prints_aside, progress, run_async, typed
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
    config: Config, blocks: Sequence[Block], asking: bool, yes: bool
) -> tuple[dict[str, ProbeAnswer], list[dict[str, str]]]:
    """Ask each model one question once the user agrees to the cost; return good answers and failures."""
    with prints_aside():
        probes = run_async(probes_of(config, [block["name"] for block in blocks]))

    environ = environment(config.folder, os.environ)
    for probe in probes.values():
        require_key(probe.settings, environ, config.folder / ".env", "; or add it with --no-probe")
    confirm(config, probes, asking, yes)
    with prints_aside(), progress(f"Asking {', '.join(probes)}"):
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


def confirm(config: Config, probes: Mapping[str, Probe], asking: bool, yes: bool) -> None:
    """Ask the user to accept the cost of the questions; raise `ArenaError` unless they do."""
    if yes or all(probe.worst == 0 for probe in probes.values()):
        return

    likely = 0
    by_agent = cost_of(config, 1, {}).by_agent
    for name in probes:
        spans = by_agent.get(name)
        if spans is not None:
            likely += spans.round.expected.cost or 0

    worst = sum(probe.worst or 0 for probe in probes.values())
    questions = "One question" if len(probes) == 1 else f"{len(probes)} models a question each"
    shown = count_text(config.markets.show, "sample market")
    offer = f"{questions} of {shown}: about ${likely / ONE:,.2f}, at most {rounded_dollars(worst)}"
    agree(offer, asking, "add --yes to ask, or --no-probe to add without a question")


def added_data(
    config: Config,
    blocks: Sequence[Block],
    answers: Mapping[str, ProbeAnswer],
    failed: Sequence[Mapping[str, str]],
) -> dict[str, Any]:
    """Return the agents added, their monthly cost, and the budget's warnings, for JSON."""
    models = {agent.name: agent.model for agent in config.agents if agent.model is not None}
    begun = read_begun(config.database, models)
    cost = cost_of(config, len(begun.cohorts) + 1, begun.usage)
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
                "asked_usd": answer and exact(answer.call.cost),
                "missing_key": missing.get(name),
                "month_usd": month_data(cost.by_agent.get(name)),
            }
        )

    names = [block["name"] for block in blocks]
    warnings = cost_data(cost)["warnings"]
    return {
        "added": added,
        "failed": list(failed),
        "joins": joining_text(config, begun, ()) or None,
        "unpriced": unpriced_sentences(blocks),
        "models": len(cost.estimates),
        "month_usd": month_data(cost.total),
        "warnings": [warning for warning in warnings if warning["agent"] in (None, *names)],
    }


def added_page(data: Data) -> Page:
    """Yield what was measured and written, the monthly cost, and any problems."""
    added = data["added"]
    for agent in filter(itemgetter("measured"), added):
        yield f"{agent['agent']} {measured_text(agent['measured'])}."

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
    yield from troubles(data)
    yield f"Next: {typed('check')}"


def troubles(data: Data) -> Page:
    """Yield the models not added, the budget's warnings and the missing keys."""
    for failure in data["failed"]:
        yield f"Not added, {failure['model']}: {plain(failure['message'])}\n→ {failure['mend']}"
    for warning in data["warnings"]:
        yield f"Warning: {warning['message']}\n→ {warning['mend']}"
    for agent in data["added"]:
        if agent["missing_key"]:
            yield f"{agent['agent']} waits for {agent['missing_key']}: set it here or in .env."


def measured_text(measured: Data) -> str:
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
