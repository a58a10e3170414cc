"""Adding models to the config as agents, each after one real question."""

import asyncio
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import typer

from agents.model import ModelSettings, model_settings
from agents.providers import provider_of
from agents.registry import kind
from arena.calls.budget_warnings import rounded_dollars
from arena.calls.probe import Probe, ProbeAnswer, ask_probe, probe_of
from arena.cli.check_cost import cost_of
from arena.cli.check_live import HINTS, local_asks
from arena.cli.check_next import joining_text, read_begun
from arena.cli.model_choice import Block, ModelOptions, model_blocks, price_words, with_stops
from arena.cli.output import Data, exact, plain, prints_aside, progress, run_async, shortened, typed
from arena.config import Config
from arena.config.editing import block_lines
from arena.config.environment import environment, missing_key, missing_keys
from arena.errors import ArenaError, count_text
from arena.rounds.adapters import kind_inputs

KEY_PAGES = {
    "anthropic": "platform.claude.com/settings/keys",
    "deepseek": "platform.deepseek.com/api_keys",
    "gemini": "aistudio.google.com/apikey",
    "groq": "console.groq.com/keys",
    "mistral": "console.mistral.ai/api-keys",
    "openai": "platform.openai.com/api-keys",
    "openrouter": "openrouter.ai/settings/keys",
    "xai": "console.x.ai",
}
"""Where a provider gives out keys."""
UNCHANGED = "the config was not changed"


def new_blocks(config: Config, models: Sequence[str], name: str | None, choice: ModelOptions) -> list[Block]:
    """Return a block for each model, under a name that is free."""
    taken = {agent.name: agent.model for agent in config.agents}
    named = list[Block]()
    for keys in model_blocks(tuple(dict.fromkeys(models)), choice):
        model = keys["model"]
        block: Block = {"name": name or free_name(model, taken)} | keys
        if block["name"] in taken:
            message = f"an agent {block['name']} already exists, and nothing is overwritten"
            raise ArenaError("exists", message, "--name NAME adds the model under another name")
        taken[block["name"]] = model
        named.append(block)

    return with_stops(named, config.budget.limits)


def free_name(model: str, taken: Mapping[str, str | None]) -> str:
    """Return the last part of a model's name, or all of it where another model has that."""
    short = model.rpartition("/")[2]
    return model if taken.get(short, model) != model else short


def check_keys(config: Config, blocks: Sequence[Block]) -> None:
    """Raise `ArenaError` if a model can't be asked because its key is missing."""
    environ = environment(config.folder, os.environ)
    for block in blocks:
        settings = ModelSettings(
            model=block["model"], base_url=block.get("base_url"), api_key_env=block.get("api_key_env")
        )
        require_key(settings, environ, config.folder / ".env", "; or add it with --no-probe")


def require_key(settings: ModelSettings, environ: Mapping[str, str], file: Path, otherwise: str = "") -> None:
    """Raise `ArenaError` if the key of a model is missing: which variable, where from, where to."""
    variable = missing_key(settings, environ)
    if not variable:
        return

    hint = f"write {variable}=… into {file}"
    page = KEY_PAGES.get(provider_of(settings.model) or "")
    if page:
        hint += f" (from {page})"
    hint += otherwise
    raise ArenaError("no_key", f"{variable} is not set, and {settings.model} needs it", hint)


def probe_all(
    config: Config, blocks: Sequence[Block], asking: bool, yes: bool
) -> tuple[dict[str, ProbeAnswer], list[dict[str, str]]]:
    """Ask each model, if whoever pays agrees; return good answers by agent, and the faults of the others."""
    names = {block["name"] for block in blocks}
    models = {}
    for agent in config.agents:
        model = model_settings(agent.settings)
        if agent.name in names and model is not None:
            models[agent.name] = model

    with prints_aside():
        probes = run_async(probes_of(config, models))
    confirm(config, probes, asking, yes)
    with prints_aside(), progress(f"Asking {', '.join(probes)}"):
        answers = run_async(probe_answers(config, probes))

    good = {}
    failed = []
    for name, answer in answers.items():
        fault = fault_of(answer)
        if fault:
            failed.append({"agent": name, "model": probes[name].settings.model, **fault})
        else:
            good[name] = answer
    return good, failed


async def probes_of(config: Config, models: Mapping[str, ModelSettings]) -> dict[str, Probe]:
    """Return the question for each agent's model."""
    given = kind_inputs(config, config.prompts)
    llm = kind("llm", config.extensions("kinds"))
    return {name: await probe_of(llm.agent(model, given), model, config) for name, model in models.items()}


async def probe_answers(config: Config, probes: Mapping[str, Probe]) -> dict[str, ProbeAnswer]:
    """Return each model's answer, all asked at once."""
    async with local_asks(config) as asks:
        answers = await asyncio.gather(*(ask_probe(probe, asks(probe.settings)) for probe in probes.values()))
        return dict(zip(probes, answers, strict=True))


def confirm(config: Config, probes: Mapping[str, Probe], asking: bool, yes: bool) -> None:
    """Ask whether the questions may cost what they do; raise `ArenaError` without a yes."""
    if yes or all(probe.worst == 0 for probe in probes.values()):
        return

    likely = 0.0
    for estimate in cost_of(config, 1, {})["agents"]:
        if estimate["agent"] in probes and estimate["trouble"] is None:
            likely += estimate["round"]["expected"]["usd"] or 0
    worst = sum(probe.worst or 0 for probe in probes.values())
    questions = "one question" if len(probes) == 1 else f"{len(probes)} models a question each"
    shown = count_text(config.markets.show, "sample market")
    offer = f"{questions} of {shown}: about ${likely:,.2f}, at most {rounded_dollars(worst)}"
    if not asking:
        raise ArenaError("not_confirmed", f"it would ask {offer}", "add --yes to ask, or --no-probe")
    if not typer.confirm(f"Ask {offer}?", True):
        message = f"nothing was asked; {UNCHANGED}"
        raise ArenaError("stopped", message, "--no-probe adds without a question")


def fault_of(answer: ProbeAnswer) -> dict[str, str]:
    """Return why an answer is none to play by; nothing where it is one."""
    error = answer.call.error
    if error is not None:
        return {"code": error.code, "message": error.message, "mend": HINTS.get(error.code, "")}
    if answer.answered:
        return {}

    reply = shortened(answer.call.reply or "", 80)
    message = f"no forecast in its answer can be used ({answer.call.finish or 'no end'}): {reply}"
    mend = "try another prompt, or another model"
    return {"code": answer.decision.status, "message": message, "mend": mend}


def added_data(
    config: Config,
    blocks: Sequence[Block],
    answers: Mapping[str, ProbeAnswer],
    failed: Sequence[Mapping[str, str]],
) -> dict[str, Any]:
    """Return what was added, what it costs a month, and what a budget has against it."""
    cost = cost_of(config, 1, {})
    months = {estimate["agent"]: month_dollars(estimate.get("month")) for estimate in cost["agents"]}
    missing = missing_keys(config.agents, environment(config.folder, os.environ))
    names = [block["name"] for block in blocks]
    added = []
    for name, block in zip(names, blocks, strict=True):
        answer = answers.get(name)
        added.append(
            {
                "agent": name,
                "model": block["model"],
                "lines": block_lines(block),
                "measured": block.get("measured"),
                "asked_usd": answer and exact(answer.call.cost),
                "missing_key": missing.get(name),
                "month_usd": months.get(name),
            }
        )

    return {
        "added": added,
        "failed": list(failed),
        "joins": joining_text(config, read_begun(config.database, {}), ()) or None,
        "unpriced": [sentence for sentence in map(price_words, blocks) if sentence],
        "models": len(months),
        "month_usd": cost["total"] and month_dollars(cost["total"]["month"]),
        "warnings": [warning for warning in cost["warnings"] if warning["agent"] in (None, *names)],
    }


def month_dollars(month: Data | None) -> dict[str, Any] | None:
    """Return the dollars of a month's costs, the low, the expected and the high; None if there are none."""
    return None if month is None else {end: used["usd"] for end, used in month.items()}


def added_page(data: Data) -> Iterator[str]:
    """Yield what was measured, what was written, what it costs, and what is wrong."""
    added = data["added"]
    measured = [agent for agent in added if agent["measured"]]
    yield from (f"{agent['agent']} {measured_text(agent['measured'])}." for agent in measured)
    yield f"Added to {data['config']}:"
    for agent in added:
        yield from (f"  {line}" for line in agent["lines"])
    for agent in added:
        yield f"{agent['agent']} a month: {month_text(agent['month_usd'])}."
    if data["month_usd"] and data["models"] > len(added):
        yield f"All models a month: {month_text(data['month_usd'])}."
    yield from (f"{sentence}." for sentence in (*data["unpriced"], data["joins"]) if sentence)
    yield from troubles(data)
    yield f"Next: {typed('check')}"


def troubles(data: Data) -> Iterator[str]:
    """Yield what was not added, what a budget has against it, and which keys are missing."""
    for failure in data["failed"]:
        yield f"Not added, {failure['model']}: {plain(failure['message'])}\n→ {failure['mend']}"
    for warning in data["warnings"]:
        yield f"Warning: {warning['message']}\n→ {warning['mend']}"
    for agent in data["added"]:
        if agent["missing_key"]:
            yield f"{agent['agent']} waits for {agent['missing_key']}: set it here or in .env."


def measured_text(measured: Data) -> str:
    """Return what one question measured of a model."""
    text = (
        "answered {answered} of {markets} markets in {seconds:g} s: {tokens_in:,} tokens in, "
        "{tokens_out:,} out"
    ).format_map(measured)
    if measured["thinking"]:
        text += f" ({measured['thinking']:,} of thinking)"
    if measured["usd"] is not None:
        text += f", ${measured['usd']:,.4f}"
    return text


def month_text(usd: Mapping[str, float | None] | None) -> str:
    """Return the dollars of a month in words."""
    if usd is None:
        return "unknown"
    low = usd["low"]
    high = usd["high"]
    most = "no known limit" if high is None else f"${high:,.2f}"
    if low is None or usd["expected"] is None:
        return f"unknown, because its price is unknown; {most} at the most"
    if high == 0:
        return "free"
    return f"${usd['expected']:,.2f} expected, ${low:,.2f} at the least, {most} at the most"
