"""Which model `arena try` asks, and what asking it costs: found on this machine, or named, and agreed to."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import typer

from agents.llm.local_servers import USUAL_SERVERS, ModelServer, find_servers, is_local, with_models
from agents.model import ModelSettings, TokenPrice
from agents.providers import DEMO, is_known, named_provider, no_provider
from arena.calls.budget_warnings import rounded_dollars
from arena.cli.agents_add import KEY_PAGES
from arena.cli.init import packaged_models
from arena.cli.output import program, run_async
from arena.config.environment import KEYS, missing_key
from arena.errors import ArenaError, count_text
from arena.rounds.past_questions import AskingCost
from markets.millionths import ONE

LOCAL_PREFIXES = ("ollama/", "ollama_chat/", "lm_studio/", "hosted_vllm/", "llamafile/")
"""What litellm writes before the names of models on this machine."""
LISTED = 12
"""How many models a message names."""


@dataclass(frozen=True, slots=True)
class TriedModel:
    """A model to try: its name for people, and how it is reached.

    `name` is what its server calls it, `model` what litellm does. The model of a server on this machine costs
    nothing.
    """

    name: str
    model: str
    base_url: str | None = None
    key_variable: str | None = None

    @property
    def price(self) -> TokenPrice | None:
        """Return its price where that follows from where it is."""
        if self.base_url is not None and is_local(self.base_url):
            return TokenPrice(input=0, output=0)
        return None


def choose_model(
    name: str | None, base_url: str | None, key_variable: str | None, environ: Mapping[str, str], asking: bool
) -> TriedModel:
    """Return the model of that name, or else one that is found: the only one, or the one that is picked.

    Raise `ArenaError` if there is no such model, or none at all.
    """
    if base_url is not None:
        return _at_address(name, base_url, key_variable, environ, asking)

    servers = run_async(find_servers(USUAL_SERVERS))
    found = [_on_server(server, model, key_variable) for server in servers for model in server.models]
    if name is None:
        found += [TriedModel(model, model) for model in _models_with_keys(environ)]
        if not found:
            raise _nothing_found(servers, environ)
        return _picked(found, asking)

    served = _named(name, found)
    if served is not None:
        return served
    if name.startswith(DEMO):
        raise ArenaError("unknown_model", f"{name} plays only the simulator", f"{program()} demo")
    if name.startswith(LOCAL_PREFIXES) or not is_known(name):
        raise _not_served(name, servers)
    return TriedModel(name, name, None, key_variable)


def check_key(settings: ModelSettings, environ: Mapping[str, str]) -> None:
    """Raise `ArenaError` if the key of a model is missing, with the variable that should hold it."""
    variable = missing_key(settings, environ)
    if not variable:
        return
    page = KEY_PAGES.get(settings.model.partition("/")[0], "")
    source = f" (from {page})" if page else ""
    hint = f"export {variable}=…{source}, or write it into .env here"
    raise ArenaError("no_key", f"{variable} is not set, and {settings.model} needs it", hint)


def agree_on_cost(name: str, count: int, cost: AskingCost | None, asking: bool, yes: bool) -> int | None:
    """Return the amount in millionths of a dollar at which asking stops; None if the price is unknown.

    Raise `ArenaError` if nobody agrees to it. What is free needs no yes.
    """
    if cost is not None and cost.most == 0:
        return 0

    if cost is None:
        question = (
            f"The price of {name} is unknown: {count} questions can't be estimated, nor stopped in time"
        )
        hint = "--price IN OUT: dollars per million tokens; or add --yes"
    else:
        about = f"about {rounded_dollars(cost.expected)}"
        question = f"Up to {count} questions to {name}: {about}, at most ${cost.most / ONE:,.4f}"
        hint = "add --yes to ask"
    if asking and not yes:
        if not typer.confirm(f"{question}. Ask?", default=cost is not None):
            raise ArenaError("stopped", "nothing was asked", hint)
    elif not yes:
        raise ArenaError("not_confirmed", question, hint)
    return None if cost is None else cost.most


def _at_address(
    name: str | None, base_url: str, key_variable: str | None, environ: Mapping[str, str], asking: bool
) -> TriedModel:
    """Return the model on the server of an address, which need not list its models if one is named."""
    address = ModelServer("the server", base_url)
    server = run_async(with_models(address, environ.get(key_variable or "", "")))
    if server is None:
        if name is None:
            hint = "check the address and that it runs; an OpenAI-compatible one mostly ends in /v1"
            raise ArenaError("no_server", f"no list of models comes from {base_url}/models", hint)
        model = name if named_provider(name) else f"openai/{name}"
        return TriedModel(name, model, base_url, key_variable)

    found = [_on_server(server, model, key_variable) for model in server.models]
    if name is None and found:
        return _picked(found, asking)
    served = None if name is None else _named(name, found)
    if served is None:
        raise _not_served(name or "a model", [server])
    return served


def _on_server(server: ModelServer, model: str, key_variable: str | None) -> TriedModel:
    """Return a model of a server; what its server calls it is sent as it is."""
    return TriedModel(model, f"openai/{model}", server.base_url, key_variable)


def _named(name: str, found: Sequence[TriedModel]) -> TriedModel | None:
    """Return the model of that name on a server, with or without what litellm or Ollama adds to it."""
    bare = name
    for prefix in (*LOCAL_PREFIXES, "openai/"):
        bare = bare.removeprefix(prefix)
    for wanted in (name, bare, f"{bare}:latest"):
        for model in found:
            if model.name == wanted:
                return model
    return None


def _models_with_keys(environ: Mapping[str, str]) -> list[str]:
    """Return the models of the config that comes with the package whose keys are set."""
    return [name for name in packaged_models() if not missing_key(ModelSettings(model=name), environ)]


def _picked(found: Sequence[TriedModel], asking: bool) -> TriedModel:
    """Return the only model, or the one that the person at the terminal picks."""
    if len(found) == 1:
        return found[0]
    names = ", ".join(model.name for model in found[:LISTED])
    if not asking:
        words = f"{count_text(len(found), 'model')} found: {names}"
        raise ArenaError("several_models", words, f"name one: {program()} try {found[0].name}")

    for number, model in enumerate(found, 1):
        print(f"{number:>3}  {model.name}  {model.base_url or 'with its key'}")
    while True:
        number = int(typer.prompt("Which one", default=1, type=int))
        if 1 <= number <= len(found):
            return found[number - 1]


def _not_served(name: str, servers: Sequence[ModelServer]) -> ArenaError:
    """Return the error for a model that no server has, with those that there are."""
    if not servers:
        why = "" if name.startswith(LOCAL_PREFIXES) else f"; {no_provider(name)}"
        return ArenaError("unknown_model", f"{_ports()}{why}", _next_steps())
    lists = []
    for server in servers:
        more = f" and {len(server.models) - LISTED} more" if len(server.models) > LISTED else ""
        names = ", ".join(server.models[:LISTED]) or "none"
        lists.append(f"{server.name} ({server.base_url}) has: {names}{more}")
    first = next((model for server in servers for model in server.models), "PROVIDER/MODEL")
    return ArenaError("unknown_model", f"{name} is not there; {'; '.join(lists)}", f"{program()} try {first}")


def _nothing_found(servers: Sequence[ModelServer], environ: Mapping[str, str]) -> ArenaError:
    """Return the error where there is neither a server with a model nor a model with a key."""
    if servers:
        names = ", ".join(server.name for server in servers)
        return ArenaError("no_model", f"{names} runs without a model", "load one, then run this again")
    keys = [name for name, variables in KEYS.items() if any(environ.get(each) for each in variables)]
    if keys:
        words = f"{_ports()}; there is a key for {', '.join(keys)}"
        return ArenaError("no_model", words, f"name the model: {program()} try {keys[0]}/MODEL")
    return ArenaError("no_server", f"{_ports()}, and no provider's key is set", _next_steps())


def _ports() -> str:
    tried = ", ".join(f"{server.name} {server.port}" for server in USUAL_SERVERS)
    return f"no model server answers on this machine (tried {tried})"


def _next_steps() -> str:
    start = "start one (ollama run qwen3:8b) and run this again"
    return f"{start}, or set a key (ANTHROPIC_API_KEY) and run {program()} try anthropic/claude-sonnet-5"
