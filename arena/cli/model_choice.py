"""How a model that somebody names becomes an agent of the config: its provider or server, and its price.

`arena init` and `arena add` do it alike: any model can be named, whether or not its price is known.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import typer

from agents.llm.local_servers import (
    LOCAL_PROVIDERS,
    USUAL_SERVERS,
    ModelServer,
    find_servers,
    is_local,
    whole_address,
)
from agents.model import ModelSettings
from agents.model_table.cost import price_for, price_of
from agents.providers import DEMO, is_known, named_provider, near_name, no_provider, provider_of
from arena.cli.output import Data, run_async
from arena.errors import ArenaError
from markets.millionths import ONE

LISTED = 12
"""How many models of a server a message names."""
CALLS_BEFORE_STOP = 10
"""So many calls without a known price reach the tightest limit of the budget."""
HIGHEST_PRICE = 1_000_000
DIGIT = re.compile(r"\d")
ADDRESS = re.compile(r"https?://[^\s/]+")

Block = dict[str, Any]


@dataclass(frozen=True, slots=True)
class ModelOptions:
    """How models are reached that are to be added, and whether somebody is there to be asked."""

    base_url: str | None = None
    key_env: str | None = None
    reasoning: str | None = None
    price: tuple[float, float] | None = None
    asking: bool = False


def model_blocks(models: Sequence[str], options: ModelOptions) -> list[Block]:
    """Return the keys of an agent for each model, without its name: the model, its server and its price.

    A base URL is for the models that name no provider, or for all where each names one. Raise if a model
    can't be found, and nobody is there to be asked for its server.
    """
    bare = [model for model in models if named_provider(model) is None]
    blocks = []
    for model in models:
        base_url = options.base_url if model in bare or not bare else None
        blocks.append(_model_block(model, base_url, options))

    return blocks


def _model_block(given: str, base_url: str | None, options: ModelOptions) -> Block:
    """Return the keys of an agent that plays a model."""
    if base_url is None:
        model, base_url = _found_model(given, options)
    else:
        model = given if named_provider(given) else f"openai/{given}"
        base_url = server_address(base_url)

    keys = {
        "model": model,
        "base_url": base_url,
        "api_key_env": options.key_env,
        "reasoning": options.reasoning,
    }
    block: Block = {key: value for key, value in keys.items() if value is not None}
    price = _price(block, options)
    if price is not None:
        block["price"] = {"input": price[0], "output": price[1]}

    return block


def server_address(typed: str) -> str:
    """Return the whole address of a server that a user names. Raise `ArenaError` if there can't be one."""
    try:
        address = whole_address(typed)
    except ValueError:
        address = ""
    if not ADDRESS.match(address):
        raise ArenaError("wrong_address", f"{typed} is no address of a server", "such as http://host:8000/v1")
    return address


def _found_model(given: str, options: ModelOptions) -> tuple[str, str | None]:
    """Return the model that is meant by a name, and the address of its server if it is no provider's."""
    provider, _, name = given.partition("/")
    if given.startswith(DEMO):
        return given, None
    if provider in LOCAL_PROVIDERS and name:
        return f"openai/{name}", LOCAL_PROVIDERS[provider].base_url

    servers = [] if _is_provided(given) else servers_at()
    found = _served(given, servers)
    if found is not None:
        return found

    given = _without_typo(given, options)
    if _is_provided(given):
        return given, None

    name = given.removeprefix("openai/")
    address = _typed_address(name) if options.asking else None
    if address is not None:
        return f"openai/{name}", address

    # A name that no file settles is refused at once: litellm takes seconds to say the same.
    if not is_known(given) or provider_of(given) is None:
        raise _unknown(given, servers)

    return given, None


def _served(given: str, servers: Sequence[ModelServer]) -> tuple[str, str] | None:
    """Return a model as one of the servers has it, and that server's address; None if none has it."""
    bare = given.removeprefix("openai/")
    for server in servers:
        for name in (given, bare, f"{bare}:latest"):
            if name in server.models:
                return f"openai/{name}", server.base_url
    return None


def _is_provided(model: str) -> bool:
    """Tell whether a provider other than OpenAI is named, or the table has the model."""
    return price_of(model) is not None or named_provider(model) not in (None, "openai")


def _unknown(model: str, servers: Sequence[ModelServer]) -> ArenaError:
    """Return the error for a model that nobody is known to have, with those on this machine."""
    words = f"{unanswered_ports()}; {no_provider(model)}"
    if servers:
        words = f"{model} is not there; {models_of(servers)}; {no_provider(model)}"
    return ArenaError("unknown_model", words, "on a server of your own: --base-url URL")


def servers_at(base_url: str | None = None, key: str = "") -> list[ModelServer]:
    """Return the servers that have a model: on the usual ports of this machine, or the one at an address."""
    servers: Sequence[ModelServer] = USUAL_SERVERS
    if base_url is not None:
        servers = [ModelServer("the server", server_address(base_url))]
    return [server for server in run_async(find_servers(servers, key)) if server.models]


def models_of(servers: Sequence[ModelServer]) -> str:
    """Return which models the servers have, in words."""
    lists = []
    for server in servers:
        more = f" and {len(server.models) - LISTED} more" if len(server.models) > LISTED else ""
        names = ", ".join(server.models[:LISTED]) or "none"
        lists.append(f"{server.name} ({server.base_url}) has: {names}{more}")
    return "; ".join(lists)


def unanswered_ports() -> str:
    """Return that no server on this machine has a model, with the ports that were tried."""
    tried = ", ".join(f"{server.name} {server.port}" for server in USUAL_SERVERS)
    return f"no model is served on this machine (tried {tried})"


def _typed_address(name: str) -> str | None:
    """Return the address of the server that the user says has a model; None for none."""
    words = f"Base URL of the server that has {name}, such as {USUAL_SERVERS[2].base_url} (Enter: none)"
    typed = str(typer.prompt(words, "", show_default=False)).strip()
    return server_address(typed) if typed else None


def _without_typo(given: str, options: ModelOptions) -> str:
    """Return the model, or the known one of nearly that name if the user agrees.

    Names with other numbers are other models, perhaps too new to be known.
    """
    near = None if options.price is not None else near_name(given)
    if near is None or DIGIT.findall(near) != DIGIT.findall(given):
        return given
    if not options.asking:
        hint = f"did you mean {near}? A model that is too new for the table needs --price IN OUT"
        raise ArenaError("unknown_model", f"{given} is not known", hint)

    return near if typer.confirm(f"{given} is not known. Use {near}?", True) else given


def _price(block: Block, options: ModelOptions) -> tuple[float, float] | None:
    """Return the price to be written; None where the table has it, or where nobody knows it yet."""
    if options.price is not None:
        return _possible_price(options.price)
    if not is_unpriced(block):
        return None
    if "base_url" in block and is_local(block["base_url"]):
        return (0, 0)
    if not options.asking:
        return None

    model = block["model"]
    words = f"Price of {model}, dollars per million tokens in and out, such as 0.5 1.5 (Enter: not known)"
    while True:
        typed = str(typer.prompt(words, "", show_default=False)).split()
        if not typed:
            return None
        try:
            price_in, price_out = map(float, typed)
            return _possible_price((price_in, price_out))
        except (ValueError, ArenaError):
            print(f"Two numbers from 0 to {HIGHEST_PRICE:,} are needed, such as 0.5 1.5.")


def _possible_price(price: tuple[float, float]) -> tuple[float, float]:
    """Return a price as it is. Raise `ArenaError` if a config takes no such price."""
    if not all(0 <= dollars <= HIGHEST_PRICE for dollars in price):
        raise ArenaError("wrong_price", f"a price is from 0 to {HIGHEST_PRICE:,}", "such as --price 0.5 1.5")
    return price


def is_unpriced(block: Data) -> bool:
    """Tell whether nobody knows what a call of an agent costs."""
    if block["model"].startswith(DEMO) or "price" in block:
        return False
    return price_for(ModelSettings(model=block["model"], base_url=block.get("base_url"))) is None


def is_free(block: Data) -> bool:
    """Tell whether calls of an agent cost nothing."""
    return block["model"].startswith(DEMO) or block.get("price") == {"input": 0, "output": 0}


def with_stops(blocks: Sequence[Block], limits: Mapping[str, int]) -> list[Block]:
    """Return the agents, with what a call counts for in the budget where its price is not known yet.

    The tightest limit, in millionths, then stops these agents after `CALLS_BEFORE_STOP` calls.
    """
    unpriced = [block for block in blocks if is_unpriced(block)]
    if not unpriced or not limits:
        return list(blocks)

    shares = [limit if scope == "call" else limit // CALLS_BEFORE_STOP for scope, limit in limits.items()]
    cents = max(min(shares) * 100 // ONE, 1)
    return [block | {"max_cost": cents / 100} if block in unpriced else block for block in blocks]


def price_words(block: Data) -> str:
    """Return what the user should know of an agent whose price is not known; nothing for others."""
    if "max_cost" not in block or "price" in block:
        return ""
    return (
        f"The price of {block['model']} is not known: each call counts ${block['max_cost']:.2f} toward the "
        "budget until you fill in its `price` in the config"
    )
