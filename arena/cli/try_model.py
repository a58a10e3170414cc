"""`arena try`: what a model's probabilities are worth, by resolved questions, within two minutes."""

import os
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from shlex import quote
from typing import Any

import typer

from agents.llm import close, make_ask
from agents.llm.local_servers import ModelServer, find_servers
from agents.providers import DEMO
from arena.calls.budget_warnings import rounded_dollars
from arena.cli.agents_add import require_key
from arena.cli.init import keyed_models
from arena.cli.model_choice import (
    LISTED,
    Block,
    ModelOptions,
    model_blocks,
    models_of,
    server_address,
    servers_here,
    unanswered_ports,
)
from arena.cli.options import Options
from arena.cli.output import interruptible, plain, prints_aside, program, progress, run_async, shortened
from arena.cli.page import print_error
from arena.cli.try_report import LONGEST_EXAMPLE, report_lines, trial_data, trial_page
from arena.clock import timer
from arena.config.environment import KEYS, environment
from arena.errors import ArenaError
from arena.rounds.quick_trial import (
    MOST,
    QuickTrial,
    asking_cost,
    asking_settings,
    questions_to_ask,
)
from markets.millionths import ONE

NO_FILE_NAME = r"[^\w.-]+"
INTERRUPTED = "interrupted by Ctrl-C"


def try_one(
    chosen: Options,
    model: str | None,
    base_url: str | None,
    key_env: str | None,
    price: tuple[float, float] | None,
    released: datetime | None,
    minutes: float,
    yes: bool,
) -> None:
    """Ask a model, and show what came of it."""
    environ = environment(Path(), os.environ)
    os.environ.update(environ)
    asking = not chosen.json and sys.stdin.isatty()
    options = ModelOptions(base_url, key_env, price=price, asking=asking)
    settings = asking_settings(choose_model(model, options, environ))
    name = settings.model
    if settings.base_url is not None:
        name = name.removeprefix("openai/")
    require_key(settings, environ, Path(".env"))

    day = released and released.date()
    questions = questions_to_ask(day)
    most = agree_on_cost(name, asking_cost(settings, questions), asking, yes)
    trial = QuickTrial(settings, make_ask(settings, timer, environ), questions, most, 60 * minutes, timer)
    ask_questions(name, trial)
    if not trial.answers:
        raise no_answers(name, trial)

    told = trial_data(plain(name), trial, day, next_step(name, options))
    told["page"] = write_page(name, told)
    chosen.answer(told, report_lines)
    if trial.ended == INTERRUPTED:
        raise typer.Exit(130)
    if trial.ended or told["page"] is None:
        raise typer.Exit(2)


def choose_model(name: str | None, options: ModelOptions, environ: Mapping[str, str]) -> Block:
    """Return the model of that name, or the one that is found or picked, as an agent has it in a config.

    Raise `ArenaError` if there is no such model, or none at all, or several and nobody to pick one.
    """
    if name is not None and name.startswith(DEMO):
        raise ArenaError("unknown_model", f"{name} plays only the simulator", f"{program()} demo")

    if options.base_url is None:
        servers = servers_here(idle=True)
    else:
        named = ModelServer("the server", server_address(options.base_url))
        servers = run_async(find_servers([named], environ.get(options.key_env or "", "")))
    if name is None:
        found: dict[str, str | None] = {}
        for server in servers:
            found |= dict.fromkeys((f"openai/{model}" for model in server.models), server.base_url)
        if options.base_url is None:
            found |= dict.fromkeys(keyed_models(environ))

        if not found:
            raise none_found(servers, options.base_url, environ)
        name = picked(found, options.asking)
        options = replace(options, base_url=found[name])

    (block,) = model_blocks((name,), options)
    require_served(block, servers)
    return block


def require_served(block: Block, servers: Sequence[ModelServer]) -> None:
    """Raise `ArenaError` if a model's server is one of these, and doesn't have the model."""
    served = block["model"].removeprefix("openai/")
    for server in servers:
        if server.base_url == block.get("base_url") and not {served, f"{served}:latest"} & {*server.models}:
            words = f"{served} is not there; {models_of([server])}"
            raise ArenaError("unknown_model", words, f"{program()} try {next(iter(server.models), 'MODEL')}")


def picked(found: Mapping[str, str | None], asking: bool) -> str:
    """Return the only model, or the one that the person at the terminal picks."""
    models = list(found)
    names = [model.removeprefix("openai/") if found[model] else model for model in models]
    if len(models) == 1:
        return models[0]
    if not asking:
        words = f"{len(models)} models found: {', '.join(names[:LISTED])}"
        raise ArenaError("several_models", words, f"name one: {program()} try {names[0]}")

    for place, model in enumerate(models):
        print(f"{place + 1:>3}  {names[place]}  {found[model] or 'with its key'}")
    number = 0
    while not 1 <= number <= len(models):
        number = typer.prompt("Which one", 1, type=int)
    return models[number - 1]


def none_found(
    servers: Sequence[ModelServer], base_url: str | None, environ: Mapping[str, str]
) -> ArenaError:
    """Return the error where there is neither a server with a model nor a model with a key."""
    if servers:
        names = ", ".join(server.name for server in servers)
        return ArenaError("no_model", f"{names} runs without a model", "load one, then run this again")
    if base_url is not None:
        hint = "check the address and that it runs; an OpenAI-compatible one mostly ends in /v1"
        return ArenaError("no_server", f"no list of models comes from {base_url}/models", hint)

    unanswered = unanswered_ports()
    for provider, variables in KEYS.items():
        if any(environ.get(variable) for variable in variables):
            words = f"{unanswered}; there is a key for {provider}"
            return ArenaError("no_model", words, f"name the model: {program()} try {provider}/MODEL")
    hint = (
        "start one (ollama run qwen3:8b) and run this again, "
        f"or set a key (ANTHROPIC_API_KEY) and run {program()} try anthropic/claude-sonnet-5"
    )
    return ArenaError("no_server", f"{unanswered}, and no provider's key is set", hint)


def agree_on_cost(name: str, cost: tuple[int, int] | None, asking: bool, yes: bool) -> int | None:
    """Return the amount in millionths of a dollar at which asking stops; None if the price is unknown.

    Raise `ArenaError` if nobody agrees to it. What is free needs no yes.
    """
    question = f"The price of {name} is unknown: {MOST} questions can't be estimated, nor stopped in time"
    hint = "--price IN OUT: dollars per million tokens; or add --yes"
    most = None
    if cost is not None:
        expected, most = cost
        amounts = f"about {rounded_dollars(expected)}, at most ${most / ONE:,.4f}"
        question = f"Up to {MOST} questions to {name}: {amounts}"
        hint = "add --yes to ask"

    if yes or most == 0:
        return most
    if not asking:
        raise ArenaError("not_confirmed", question, hint)
    if not typer.confirm(f"{question}. Ask?", default=cost is not None):
        raise ArenaError("stopped", "nothing was asked", hint)
    return most


def ask_questions(name: str, trial: QuickTrial) -> None:
    """Ask all of it, or as much as is answered before Ctrl-C is pressed."""

    async def ask() -> None:
        try:
            await trial.run()
        finally:
            await close()

    try:
        with interruptible(INTERRUPTED, ""), prints_aside(), progress(f"Asking {name}", MOST) as trial.moved:
            run_async(ask())
    except ArenaError as error:
        if error.code != "interrupted":
            raise
        trial.ended = INTERRUPTED


def no_answers(name: str, trial: QuickTrial) -> ArenaError:
    """Return the error for a trial in which nothing could be used, with the reason."""
    from arena.cli.check_live import HINTS

    if trial.ended == INTERRUPTED:
        return ArenaError("interrupted", f"stopped before {name} answered", "run it again", status=130)

    code, _, message = plain(trial.fault).partition(": ")
    words = f"{name} gave no usable answer: {shortened(message, LONGEST_EXAMPLE)}"
    return ArenaError(code, words, HINTS.get(code, "try another model; a slow one needs more --minutes"))


def next_step(name: str, options: ModelOptions) -> str:
    """Return the command by which the model plays an arena of its own."""
    words = [program(), "init", "my-arena", "--model", quote(name)]
    if options.base_url is not None:
        words += ["--base-url", quote(options.base_url)]
    if options.key_env is not None:
        words += ["--key-env", options.key_env]
    if options.price is not None:
        words += ["--price", *(f"{dollars:g}" for dollars in options.price)]
    return " ".join([*words, "--yes"])


def write_page(name: str, told: Mapping[str, Any]) -> Path | None:
    """Write the page about a model, and return where; None if that can't be done, which is said."""
    page = Path(f"try-{re.sub(NO_FILE_NAME, '-', name)}.html")
    try:
        page.write_text(trial_page(told), "utf-8")
    except OSError as error:
        words = f"{page} can't be written: {error.strerror}"
        print_error(ArenaError("not_writable", words, "run it in another folder"), as_json=False)
        return None
    return page
