"""Turns the name of a model into an agent's block of a config, with its provider or server and its price.

Any model can be named, whether or not its price is known.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from agents.llm.local_servers import (
    LOCAL_PROVIDERS,
    ModelServer,
    is_local,
    models_text,
    no_server_text,
    whole_address,
)
from agents.model import ModelSettings
from agents.model_table.cost import price_for, price_of
from agents.providers import DEMO, is_known, named_provider, near_name, no_provider, provider_of
from arena.errors import ArenaError
from markets.millionths import ONE

CALLS_BEFORE_STOP = 10
"""The number of calls without a known price after which the tightest limit of the budget is reached."""
HIGHEST_PRICE = 1_000_000
DIGIT = re.compile(r"\d")
ADDRESS = re.compile(r"https?://[^\s/]+")

Block = dict[str, Any]
"""The keys of an agent in a config, with or without its name."""
Price = tuple[float, float]
"""Dollars per million tokens in and out."""


class User(Protocol):
    """Asks the user at a terminal what can't be found out about a model."""

    def address(self, name: str) -> str | None:
        """Return the address of the server of a model; None if the user gives none."""
        ...

    def is_meant(self, given: str, near: str) -> bool:
        """Ask whether the model of a similar name is meant."""
        ...

    def price(self, model: str) -> Price | None:
        """Return the price of a model; None if the user doesn't know it."""
        ...


@dataclass(frozen=True, slots=True)
class ModelOptions:
    """How the models to add are reached, and the user to ask about them, if any."""

    base_url: str | None = None
    key_env: str | None = None
    reasoning: str | None = None
    price: Price | None = None
    user: User | None = None


def model_blocks(models: Sequence[str], options: ModelOptions, servers: Sequence[ModelServer]) -> list[Block]:
    """Return the keys of an agent for each model, without its name: the model, its server and its price.

    `servers` are those of this machine. A base URL is for the models that name no provider, or for all where
    each names one. Raise `ArenaError` if a model can't be found, and nobody is there to be asked for its
    server.
    """
    without_provider = [model for model in models if named_provider(model) is None]
    blocks = []
    for given in models:
        names_provider = given not in without_provider
        if options.base_url is None or (without_provider and names_provider):
            model, base_url = _resolved_model(given, options, servers)
            blocks.append(_block(model, base_url, options))
        else:
            model = given if names_provider else f"openai/{given}"
            blocks.append(_block(model, server_address(options.base_url), options))

    return blocks


def _block(model: str, base_url: str | None, options: ModelOptions) -> Block:
    """Return the keys of an agent that plays a model at a server, or at its provider."""
    keys = {
        "model": model,
        "base_url": base_url,
        "api_key_env": options.key_env,
        "reasoning": options.reasoning,
    }
    block: Block = {key: value for key, value in keys.items() if value is not None}

    price = options.price
    if price is not None:
        check_price(price)
    elif is_unpriced(block):
        if base_url is not None and is_local(base_url):
            price = (0, 0)
        elif options.user is not None:
            price = options.user.price(model)

    if price is not None:
        block["price"] = {"input": price[0], "output": price[1]}
    return block


def server_address(typed: str) -> str:
    """Return the full address of a server as typed by the user; raise `ArenaError` for an invalid one."""
    try:
        address = whole_address(typed)
    except ValueError:
        address = ""
    if not ADDRESS.match(address):
        raise ArenaError("wrong_address", f"{typed} is no address of a server", "such as http://host:8000/v1")
    return address


def check_price(price: Price) -> None:
    """Raise `ArenaError` for a price that a config would refuse."""
    if not all(0 <= dollars <= HIGHEST_PRICE for dollars in price):
        raise ArenaError("wrong_price", f"a price is from 0 to {HIGHEST_PRICE:,}", "such as --price 0.5 1.5")


def _resolved_model(
    given: str, options: ModelOptions, servers: Sequence[ModelServer]
) -> tuple[str, str | None]:
    """Return the model meant by a name, and the address of its server unless it is a provider's."""
    provider, _, name = given.partition("/")
    if given.startswith(DEMO):
        return given, None
    if provider in LOCAL_PROVIDERS and name:
        return f"openai/{name}", LOCAL_PROVIDERS[provider].base_url

    served = None if is_provided(given) else _served_model(given, servers)
    if served is not None:
        return served

    given = _without_typo(given, options)
    if is_provided(given):
        return given, None

    name = given.removeprefix("openai/")
    address = None if options.user is None else options.user.address(name)
    if address is not None:
        return f"openai/{name}", address

    # A name that no file settles is refused at once: litellm takes seconds to say the same.
    if not is_known(given) or provider_of(given) is None:
        message = f"{no_server_text()}; {no_provider(given)}"
        if servers:
            message = f"{given} is not there; {models_text(servers)}; {no_provider(given)}"
        raise ArenaError("unknown_model", message, "on a server of your own: --base-url URL")

    return given, None


def _served_model(given: str, servers: Sequence[ModelServer]) -> tuple[str, str] | None:
    """Return a model as named by one of the servers, and that server's address; None if none has it."""
    bare = given.removeprefix("openai/")
    for server in servers:
        for name in (given, bare, f"{bare}:latest"):
            if name in server.models:
                return f"openai/{name}", server.base_url
    return None


def is_provided(model: str) -> bool:
    """Tell whether a provider other than OpenAI is named, or the table has the model."""
    return price_of(model) is not None or named_provider(model) not in (None, "openai")


def _without_typo(given: str, options: ModelOptions) -> str:
    """Return the model, or a known one of a similar name if the user agrees.

    Names with other numbers are other models, perhaps too new to be known.
    """
    if options.price is not None:
        return given

    similar = near_name(given)
    if similar is None or DIGIT.findall(similar) != DIGIT.findall(given):
        return given
    if options.user is None:
        hint = f"did you mean {similar}? A model that is too new for the table needs --price IN OUT"
        raise ArenaError("unknown_model", f"{given} is not known", hint)

    return similar if options.user.is_meant(given, similar) else given


def is_unpriced(block: Block) -> bool:
    """Tell whether the price of an agent's model is unknown."""
    if block["model"].startswith(DEMO) or "price" in block:
        return False
    return price_for(ModelSettings(model=block["model"], base_url=block.get("base_url"))) is None


def is_free(block: Block) -> bool:
    """Tell whether calls of an agent cost nothing."""
    return block["model"].startswith(DEMO) or block.get("price") == {"input": 0, "output": 0}


def with_fixed_call_costs(blocks: Sequence[Block], limits: Mapping[str, int]) -> list[Block]:
    """Return the agents, with a fixed cost per call where the price is not known yet.

    The tightest limit, in millionths, then stops these agents after `CALLS_BEFORE_STOP` calls.
    """
    if not limits:
        return list(blocks)

    # What each limit leaves for a call, if so many calls are to reach it.
    shares = []
    for scope, limit in limits.items():
        calls = 1 if scope == "call" else CALLS_BEFORE_STOP
        shares.append(limit // calls)

    cents = min(shares) * 100 // ONE
    fixed_cost = {"max_cost": max(cents, 1) / 100}
    return [block | fixed_cost if is_unpriced(block) else block for block in blocks]


def unpriced_sentences(blocks: Sequence[Block]) -> list[str]:
    """Return a sentence on each agent whose price is not known."""
    sentences = []
    for block in blocks:
        if "max_cost" in block and "price" not in block:
            counts_as = f"each call counts ${block['max_cost']:.2f} toward the budget"
            fill_in = "until you fill in its `price` in the config"
            sentences.append(f"The price of {block['model']} is not known: {counts_as} {fill_in}")
    return sentences


def named_blocks(
    blocks: Sequence[Block], taken: Mapping[str, str | None], name: str | None = None
) -> list[Block]:
    """Return the blocks, each under the name given or else its model's; `taken` has the models by name.

    Raise `ArenaError` if a name is taken.
    """
    models_by_name = dict(taken)
    named = []
    for block in blocks:
        model = block["model"]
        default_name = model.rpartition("/")[2]
        if models_by_name.get(default_name, model) != model:  # taken by another model
            default_name = model

        named_block: Block = {"name": name or default_name} | block
        if named_block["name"] in models_by_name:
            message = f"an agent {named_block['name']} already exists, and nothing is overwritten"
            raise ArenaError("exists", message, "under another name: arena add MODEL --name NAME")
        models_by_name[named_block["name"]] = model
        named.append(named_block)
    return named
