"""Models named on the command line: where they are served, and what has to be asked of the user."""

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

import typer

from agents.llm import local_servers
from agents.llm.local_servers import LISTED, ModelServer, find_servers, no_server_text
from agents.providers import named_provider
from arena.cli.output import run_async
from arena.cli.page import print_page
from arena.config.model_blocks import (
    Block,
    ModelOptions,
    Price,
    check_price,
    is_provided,
    model_blocks,
    server_address,
)
from arena.config.new_folder import keyed_models
from arena.errors import ArenaError

T = TypeVar("T")


class TerminalUser:
    """Asks the user at the terminal what can't be found out about a model."""

    def address(self, name: str) -> str | None:
        """Return the address of the server of a model; None if the user gives none."""
        example = local_servers.USUAL_SERVERS[-1].base_url
        question = f"Base URL of the server that has {name}, such as {example} (Enter: none)"
        return ask_until_valid(question, "", lambda typed: server_address(typed) if typed else None)

    def is_meant(self, given: str, near: str) -> bool:
        """Ask whether the model of a similar name is meant."""
        return typer.confirm(f"{given} is not known. Use {near}?", True)

    def price(self, model: str) -> Price | None:
        """Return the price of a model; None if the user doesn't know it."""
        price = "dollars per million tokens in and out, such as 0.5 1.5"
        return ask_until_valid(f"Price of {model}, {price} (Enter: not known)", "", typed_price)


def typed_price(typed: str) -> Price | None:
    """Return a typed price, None if nothing was typed; raise `ArenaError` unless it is two numbers."""
    if not typed:
        return None
    try:
        price_in, price_out = map(float, typed.split())
    except ValueError as error:
        raise ArenaError("wrong_price", "two numbers are needed", "such as 0.5 1.5") from error
    check_price((price_in, price_out))
    return price_in, price_out


def ask_until_valid(question: str, default: str | None, read: Callable[[str], T]) -> T:
    """Return the value read from the user's answer, asking again while `read` raises `ArenaError`."""
    while True:
        typed = str(typer.prompt(question, default, show_default=bool(default))).strip()
        try:
            return read(typed)
        except ArenaError as error:
            print_page([error.message, f"→ {error.hint}"])
        if default:
            # After an unusable answer, Enter no longer takes the default.
            default = None


def confirm_offer(offer: str, can_ask: bool, hint: str, *, default: bool = True) -> None:
    """Ask the user to agree to an offer; raise `ArenaError` unless they do."""
    if not can_ask:
        raise ArenaError("not_confirmed", offer, hint)
    if not typer.confirm(f"{offer}. Ask?", default):
        raise ArenaError("stopped", "nothing was asked", hint)


def model_options(
    can_ask: bool,
    base_url: str | None,
    key_env: str | None,
    price: Price | None,
    reasoning: str | None = None,
) -> ModelOptions:
    """Return the options for models; if `asking`, the user is asked for what they leave open."""
    user = TerminalUser() if can_ask else None
    return ModelOptions(base_url, key_env, reasoning, price, user)


def named_models(models: Sequence[str], options: ModelOptions) -> list[Block]:
    """Return an agent's keys for each model, looking at this machine's servers if one may have it.

    Raise `ArenaError` if a model can't be found.
    """
    may_be_local = models
    if options.base_url is not None:
        # All others are at that address, so only those that name a provider are still to be found.
        may_be_local = list(filter(named_provider, models))

    servers = []
    if not all(map(is_provided, may_be_local)):
        servers = find_servers_with_models()
    return model_blocks(tuple(dict.fromkeys(models)), options, servers)  # each model once


def find_or_pick_model(options: ModelOptions, environ: Mapping[str, str]) -> str:
    """Return the only model found by the servers and keys here, or the one that the user picks.

    Raise `ArenaError` if there is none, or if there are several and no user to pick one.
    """
    names = list[str]()
    key = environ.get(options.key_env or "", "")
    for server in find_servers_with_models(options.base_url, key):
        names += server.models

    if options.base_url is None:
        names += keyed_models(environ)
        nothing_found = f"{no_server_text()}, and no known model has its key"
    else:
        nothing_found = f"no list of models comes from {options.base_url}/models"
    if not names:
        hint = "start a server (ollama run qwen3:8b), or name a model: anthropic/claude-sonnet-5, …"
        raise ArenaError("no_model", nothing_found, hint)
    if len(names) == 1:
        return names[0]

    found = f"{len(names)} models found: {', '.join(names[:LISTED])}"
    if options.user is None:
        raise ArenaError("several_models", found, f"name one, such as {names[0]}")
    return str(typer.prompt(f"{found}. Which one", names[0]))


def find_servers_with_models(base_url: str | None = None, key: str = "") -> list[ModelServer]:
    """Return the servers with a model, on the usual ports of this machine or at an address."""
    to_try: Sequence[ModelServer] = local_servers.USUAL_SERVERS
    if base_url is not None:
        to_try = [ModelServer("the server", server_address(base_url))]
    return [server for server in run_async(find_servers(to_try, key)) if server.models]
