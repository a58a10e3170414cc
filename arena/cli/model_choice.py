"""Models that somebody names on the command line: where they are served, and what has to be asked."""

from collections.abc import Sequence

import typer

from agents.llm import local_servers
from agents.llm.local_servers import ModelServer, find_servers
from arena.cli.output import run_async
from arena.config.model_blocks import (
    HIGHEST_PRICE,
    Block,
    ModelOptions,
    Price,
    check_price,
    is_provided,
    model_blocks,
    server_address,
)
from arena.errors import ArenaError


class TerminalAsker:
    """Asks the person at the terminal what can't be found out about a model."""

    def address(self, name: str) -> str | None:
        """Return the address of the server that has a model; None for none."""
        example = local_servers.USUAL_SERVERS[-1].base_url
        question = f"Base URL of the server that has {name}, such as {example} (Enter: none)"
        typed = str(typer.prompt(question, "", show_default=False)).strip()
        return server_address(typed) if typed else None

    def is_meant(self, given: str, near: str) -> bool:
        """Tell whether the model of nearly that name is meant."""
        return typer.confirm(f"{given} is not known. Use {near}?", True)

    def price(self, model: str) -> Price | None:
        """Return the price of a model; None if it is not known."""
        price = "dollars per million tokens in and out, such as 0.5 1.5"
        question = f"Price of {model}, {price} (Enter: not known)"
        while True:
            typed = str(typer.prompt(question, "", show_default=False)).split()
            if not typed:
                return None
            try:
                price_in, price_out = map(float, typed)
                check_price((price_in, price_out))
            except (ValueError, ArenaError):
                print(f"Two numbers from 0 to {HIGHEST_PRICE:,} are needed, such as 0.5 1.5.")
            else:
                return price_in, price_out


def agree(offer: str, asking: bool, hint: str, *, default: bool = True) -> None:
    """Return once the person at the terminal agrees to what is offered; raise `ArenaError` without a yes."""
    if not asking:
        raise ArenaError("not_confirmed", offer, hint)
    if not typer.confirm(f"{offer}. Ask?", default):
        raise ArenaError("stopped", "nothing was asked", hint)


def options_of(
    asking: bool,
    base_url: str | None,
    key_env: str | None,
    price: Price | None,
    reasoning: str | None = None,
) -> ModelOptions:
    """Return how models are reached; what the options leave open is asked for if somebody is there."""
    asker = TerminalAsker() if asking else None
    return ModelOptions(base_url, key_env, reasoning, price, asker)


def named_models(models: Sequence[str], options: ModelOptions) -> list[Block]:
    """Return the keys of an agent for each model; servers of this machine are looked at if they may have one.

    Raise `ArenaError` if a model can't be found.
    """
    servers = []
    if options.base_url is None and not all(map(is_provided, models)):
        servers = servers_at()
    return model_blocks(tuple(dict.fromkeys(models)), options, servers)


def served_models(base_url: str | None = None, key: str = "") -> list[str]:
    """Return the models of these servers, by name."""
    models = list[str]()
    for server in servers_at(base_url, key):
        models += server.models
    return models


def servers_at(base_url: str | None = None, key: str = "") -> list[ModelServer]:
    """Return the servers that have a model: on the usual ports of this machine, or the one at an address."""
    servers: Sequence[ModelServer] = local_servers.USUAL_SERVERS
    if base_url is not None:
        servers = [ModelServer("the server", server_address(base_url))]
    return [server for server in run_async(find_servers(servers, key)) if server.models]
