"""`arena add`: a model becomes an agent of the config, after one real question."""

import asyncio
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import typer

from agents.model import ModelSettings, model_settings
from agents.providers import provider_of
from agents.registry import kind
from arena.calls.budget_warnings import rounded_dollars
from arena.calls.probe import Probe, ProbeAnswer, ask_probe, measured_keys, probe_of
from arena.cli.check import cost_of
from arena.cli.check_next import joining_text, read_begun
from arena.cli.model_choice import Block, ModelOptions, model_blocks, price_words, with_stops
from arena.cli.options import DEFAULT, Options, argument, command, flag, option
from arena.cli.output import exact, interruptible, plain, prints_aside, progress, run_async, shortened, typed
from arena.cli.page import print_text
from arena.clock import now
from arena.config import Config
from arena.config.editing import block_lines, edited
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


@command("config", "json")
def add(
    chosen: Options,
    models: list[str] = argument("MODEL...", "PROVIDER/MODEL, as litellm names it."),
    name: str | None = option("The agent's name, if not the model's.", "NAME"),
    base_url: str | None = option("The server, if not the provider's own.", "URL"),
    key_env: str | None = option("The variable that holds the key.", "VARIABLE"),
    reasoning: str | None = option("The reasoning effort.", "EFFORT"),
    price: tuple[float, float] | None = option(
        "Dollars per million tokens in and out, if unknown.", "IN OUT"
    ),
    no_probe: bool = flag("Ask no question."),
    yes: bool = flag("Don't ask before money is spent.", "--yes", "-y"),
) -> None:
    """Add models to the config as agents, each after one real question, and show what they cost a month.

    The question shows as many sample markets as a round; its measurements are written next to the model. A
    model without a usable answer is not added; the exit status is then 2, or 1 if none was added.

    Example: arena add anthropic/claude-sonnet-5

    Next: arena check
    """
    path, config = chosen.config or DEFAULT, chosen.load()
    asking = not (yes or chosen.json) and sys.stdin.isatty()
    choice = ModelOptions(base_url, key_env, reasoning, price, asking)
    if name is not None and len(models) > 1:
        raise ArenaError("one_name", "--name is for one model", "add the models one by one")
    with interruptible(f"stopped; {UNCHANGED}", "a question in progress may still be charged"):
        blocks = new_blocks(config, models, name, choice)
        answers: dict[str, ProbeAnswer] = {}
        failed: list[dict[str, str]] = []
        if not no_probe:
            check_keys(config, blocks)
            with edited(path, blocks) as planned:
                answers, failed = probe_all(planned.config, blocks, choice.asking, yes)
            blocks = [
                block | measured_keys(answers[block["name"]], now().date())
                for block in blocks
                if block["name"] in answers
            ]
        if not blocks:
            words = "; ".join(f"{one['model']}: {one['message']}" for one in failed)
            raise ArenaError("not_added", f"{words}; {UNCHANGED}", failed[0]["mend"])
        with edited(path, blocks) as planned:
            data = data_of(planned.config, blocks, answers, failed) | {"config": str(path)}
            planned.keep()
    chosen.answer(data, say)
    if failed:
        raise typer.Exit(2)


def new_blocks(config: Config, models: Sequence[str], name: str | None, choice: ModelOptions) -> list[Block]:
    """Return a block for each model, under a name that is free."""
    taken = {agent.name: agent.model for agent in config.agents}
    named = list[Block]()
    for keys in model_blocks(tuple(dict.fromkeys(models)), choice):
        model = keys["model"]
        block: Block = {"name": name or free_name(model, taken)} | keys
        if block["name"] in taken:
            words = f"an agent {block['name']} already exists, and nothing is overwritten"
            raise ArenaError("exists", words, "--name NAME adds the model under another name")
        taken[block["name"]] = model
        named.append(block)

    return with_stops(named, config.budget.limits)


def free_name(model: str, taken: Mapping[str, str | None]) -> str:
    """The last part of a model's name, or all of it where another model has that."""
    short = model.rpartition("/")[2]
    return model if taken.get(short, model) != model else short


def check_keys(config: Config, blocks: Sequence[Block]) -> None:
    """Refuse what can't be asked: say which variable is missing, where it goes, and who gives it out."""
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

    page = KEY_PAGES.get(provider_of(settings.model) or "")
    source = f" (from {page})" if page else ""
    hint = f"write {variable}=… into {file}{source}{otherwise}"
    raise ArenaError("no_key", f"{variable} is not set, and {settings.model} needs it", hint)


def probe_all(
    config: Config, blocks: Sequence[Block], asking: bool, yes: bool
) -> tuple[dict[str, ProbeAnswer], list[dict[str, str]]]:
    """Ask each model its question, if whoever pays agrees; good answers by agent, and others' faults."""
    names = {block["name"] for block in blocks}
    found = [(each, model_settings(each.settings)) for each in config.agents if each.name in names]
    models = {each.name: model for each, model in found if model is not None}
    with prints_aside():
        probes = run_async(_probes(config, models))
    _confirm(config, probes, asking, yes)
    label = "Asking " + (next(iter(probes)) if len(probes) == 1 else count_text(len(probes), "model"))
    with prints_aside(), progress(label):
        answers = run_async(_answers(config, probes))
    faults = {name: _fault(answer) for name, answer in answers.items()}
    failed = [
        {"agent": name, "model": probes[name].settings.model, **fault}
        for name, fault in faults.items()
        if fault
    ]
    return {name: answer for name, answer in answers.items() if not faults[name]}, failed


async def _probes(config: Config, models: Mapping[str, ModelSettings]) -> dict[str, Probe]:
    given = kind_inputs(config, config.prompts)
    llm = kind("llm", config.extensions("kinds"))
    return {name: await probe_of(llm.agent(model, given), model, config) for name, model in models.items()}


async def _answers(config: Config, probes: Mapping[str, Probe]) -> dict[str, ProbeAnswer]:
    from arena.cli.check_live import local_asks

    async with local_asks(config) as asks:
        every = (ask_probe(probe, asks(probe.settings)) for probe in probes.values())
        return dict(zip(probes, await asyncio.gather(*every), strict=True))


def _confirm(config: Config, probes: Mapping[str, Probe], asking: bool, yes: bool) -> None:
    """Say what the questions cost, and refuse to ask them without a yes; those that are free need none."""
    if all(probe.worst == 0 for probe in probes.values()):
        return
    estimates = {one["agent"]: one for one in cost_of(config, 1, {})["agents"] if one["trouble"] is None}
    likely = sum(estimates[name]["round"]["expected"]["usd"] or 0 for name in probes if name in estimates)
    worst = sum(probe.worst or 0 for probe in probes.values())
    many = "one question" if len(probes) == 1 else f"{len(probes)} models a question each"
    shown = count_text(config.markets.show, "sample market")
    words = f"{many} of {shown}: about ${likely:,.2f}, at most {rounded_dollars(worst)}"
    if asking:
        if not typer.confirm(f"Ask {words}?", True):
            raise ArenaError(
                "stopped", f"nothing was asked; {UNCHANGED}", "--no-probe adds without a question"
            )
    elif not yes:
        raise ArenaError("not_confirmed", f"it would ask {words}", "add --yes to ask, or --no-probe")


def _fault(answer: ProbeAnswer) -> dict[str, str]:
    """Why an answer is none to play by; nothing where it is one."""
    from arena.cli.check_live import HINTS

    error, reply = answer.call.error, answer.call.reply or ""
    if error is not None:
        return {"code": error.code, "message": error.message, "mend": HINTS.get(error.code, "")}
    if answer.answered:
        return {}
    words = (
        f"no forecast in its answer can be used ({answer.call.finish or 'no end'}): {shortened(reply, 80)}"
    )
    return {"code": answer.decision.status, "message": words, "mend": "try another prompt, or another model"}


def data_of(
    config: Config,
    blocks: Sequence[Block],
    answers: Mapping[str, ProbeAnswer],
    failed: Sequence[Mapping[str, str]],
) -> dict[str, Any]:
    """What was added, what it costs a month, and what a budget has against it."""
    cost = cost_of(config, 1, {})
    months = {one["agent"]: one.get("month") for one in cost["agents"]}
    missing = missing_keys(config.agents, environment(config.folder, os.environ))
    names = [block["name"] for block in blocks]

    def dollars(month: Any) -> dict[str, Any] | None:
        return month and {end: month[end]["usd"] for end in month}

    return {
        "added": [
            {
                "agent": name,
                "model": block["model"],
                "lines": block_lines(block),
                "measured": block.get("measured"),
                "asked_usd": exact(answers[name].call.cost) if name in answers else None,
                "missing_key": missing.get(name),
                "month_usd": dollars(months.get(name)),
            }
            for name, block in zip(names, blocks, strict=True)
        ],
        "failed": list(failed),
        "joins": joining_text(config, read_begun(config.database, {}), ()) or None,
        "unpriced": [words for block in blocks if (words := price_words(block))],
        "models": len(months),
        "month_usd": cost["total"] and dollars(cost["total"]["month"]),
        "warnings": [one for one in cost["warnings"] if one["agent"] in (None, *names)],
    }


def say(found: Mapping[str, Any]) -> None:
    """Print what was measured, what was written, and what it costs."""
    added = found["added"]
    for one in added:
        if one["measured"]:
            print(f"{one['agent']} {_measured(one['measured'])}.")
    print(f"Added to {found['config']}:")
    print("\n".join(f"  {line}" for one in added for line in one["lines"]))
    for one in added:
        print_text(f"{one['agent']} a month: {_month(one['month_usd'])}.")
    if found["month_usd"] and found["models"] > len(added):
        print_text(f"All models a month: {_month(found['month_usd'])}.")
    for words in (*found["unpriced"], *filter(None, [found["joins"]])):
        print_text(f"{words}.")
    _say_troubles(found)
    print(f"Next: {typed('check')}            # who plays from the next cohort on")


def _say_troubles(found: Mapping[str, Any]) -> None:
    for each in found["failed"]:
        print(f"Not added, {each['model']}: {plain(each['message'])}\n→ {each['mend']}")
    for each in found["warnings"]:
        print(f"Warning: {each['message']}\n→ {each['mend']}")
    for one in found["added"]:
        if one["missing_key"]:
            print(f"{one['agent']} waits for {one['missing_key']}: set it here or in .env.")


def _measured(at: Mapping[str, Any]) -> str:
    cost = "" if at["usd"] is None else f", ${at['usd']:,.4f}"
    thinking = f" ({at['thinking']:,} of thinking)" if at["thinking"] else ""
    tokens = f"{at['tokens_in']:,} tokens in, {at['tokens_out']:,} out{thinking}{cost}"
    return f"answered {at['answered']} of {at['markets']} markets in {at['seconds']:g} s: {tokens}"


def _month(usd: Mapping[str, float | None] | None) -> str:
    if usd is None:
        return "unknown"
    low, high = usd["low"], usd["high"]
    most = "no known limit" if high is None else f"${high:,.2f}"
    if low is None or usd["expected"] is None:
        return f"unknown, because its price is unknown; {most} at the most"
    if not high and high is not None:
        return "free"
    return f"${usd['expected']:,.2f} expected, ${low:,.2f} at the least, {most} at the most"
