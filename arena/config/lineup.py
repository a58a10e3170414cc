"""Reads the list `agents`: each agent's name, its settings by its kind, and the agents that it needs."""

import re
from collections.abc import Mapping, Set
from graphlib import CycleError, TopologicalSorter
from typing import Any

from pydantic import BaseModel
from pydantic_core import PydanticCustomError

from agents.model import KindSettings, ModelSettings
from agents.registry import kind
from arena.config.code import UnloadedSettings
from arena.config.document import Document
from arena.config.errors import Key, quoted_value, suggestion
from arena.config.extensions import kind_named
from arena.config.field_types import DURATION, seconds
from arena.config.model import AgentConfig
from arena.config.validation import validate

NAME = r"(?!.*/\.{0,2}(?:/|$))[A-Za-z0-9_][A-Za-z0-9._/:-]{0,63}"
NAME_MEANT = "a name of 1 to 64 letters, digits or . _ / : - that looks like neither a path nor an option"
OWN_KEYS = ("kind", "name")
MARKET_NAME = "market"
"""The market's name on the leaderboard, reserved for agents of that kind."""
COMMUNITY_NAME = "community"
"""The name of the median of all agents on the leaderboard, which no agent may have."""
NOT_SHARED = ("model", "price", "measured", "owner")
PARTWISE = {"context"}
"""Blocks of `ask` of which an agent may set one key and keep the others."""
DURATIONS = {"timeout", "wait"}
"""The settings of kinds that are durations."""

Block = Mapping[str, Any]


def read_agents(document: Document) -> dict[int, AgentConfig]:
    """Return the agents by their index in the list. Note the mistakes in the blocks of the others."""
    blocks = document.get("agents")
    if not isinstance(blocks, list) or not blocks:
        meant = "a list with at least one agent, such as `- kind: market`"
        document.add_error(("agents",), quoted_value(blocks), meant)
        return {}

    shared = _settings_for_all(document)
    agents = {}
    for index, block in enumerate(blocks):
        key: Key = ("agents", index)
        if not isinstance(block, dict):
            meant = "a block such as `kind: market` or `model: anthropic/MODEL`"
            document.add_error(key, quoted_value(block), meant)
            continue

        agent = _read_agent(document, key, block, shared)
        if agent is not None:
            agents[index] = agent

    names = _check_names(document, blocks)
    _check_needed_agents(document, agents, names)
    _check_cycles(document, agents)
    return agents


def _settings_for_all(document: Document) -> Block:
    """Return the valid keys of the `ask` block. Note what the settings of the kind `llm` do not take."""
    ask = document.get("ask")
    if ask is None:
        return {}
    if not isinstance(ask, dict):
        document.add_error(("ask",), quoted_value(ask), "a block of keys and values")
        return {}

    llm = kind("llm").settings
    shared = {}
    for name, value in _with_durations_in_seconds(document, ("ask",), ask, {"timeout"}).items():
        if name in NOT_SHARED:
            meant = f"`{name}` in a block under agents"
            message = "this key belongs to an agent: move it to a block under agents"
            document.add_error(("ask", name), name, meant, message)
        elif validate(llm, {"model": "any/model", name: value}, document, ("ask",)) is not None:
            shared[name] = value
    return shared


def _read_agent(document: Document, key: Key, block: Block, shared: Block) -> AgentConfig | None:
    """Return the agent of a block; None, with the mistakes noted, if there are any."""
    kind_name = block.get("kind", "llm")
    if not isinstance(kind_name, str):
        document.add_error((*key, "kind"), quoted_value(kind_name), "the name of a kind of agent")
        return None

    agent_kind = kind_named(document, (*key, "kind"), kind_name)
    if agent_kind is None:
        return None

    model = agent_kind.settings
    own = {name: value for name, value in block.items() if name not in OWN_KEYS}
    settings: KindSettings | None
    if model is UnloadedSettings:
        settings = UnloadedSettings(unloaded=own)
    else:
        own = _with_durations_in_seconds(document, key, own, DURATIONS & model.model_fields.keys())
        if issubclass(model, ModelSettings):
            own = _inherit(own, shared, model)
        settings = validate(model, own, document, key, OWN_KEYS)

    if settings is None:
        return None
    return AgentConfig(_agent_name(block), agent_kind.name, settings, document.line(key))


def _inherit(own: Block, shared: Block, model: type[BaseModel]) -> dict[str, Any]:
    """Return an agent's settings, with those of `ask` that it leaves out and its kind knows."""
    settings = {name: value for name, value in shared.items() if name in model.model_fields}

    for name, value in own.items():
        inherited = settings.get(name)
        settings[name] = value
        if name in PARTWISE and isinstance(inherited, dict) and isinstance(value, dict):
            settings[name] = inherited | value
    return settings


def _with_durations_in_seconds(document: Document, key: Key, block: Block, names: Set[str]) -> dict[str, Any]:
    """Return a block with its durations, which are written "120s", in seconds."""
    result = dict(block)
    for name in sorted(names & block.keys()):
        try:
            result[name] = seconds(block[name])
        except PydanticCustomError:
            document.add_error((*key, name), quoted_value(block[name]), DURATION)
            del result[name]
    return result


def _naming_key(block: Block) -> str | None:
    """Return the key that names an agent: its name, else its model, else its kind."""
    return next((key for key in ("name", "model", "kind") if key in block), None)


def _agent_name(block: Block) -> str:
    """Return an agent's name; empty if its block has no key that names it."""
    return str(block.get(_naming_key(block) or "", ""))


def _check_names(document: Document, blocks: list[Any]) -> list[str]:
    """Return all names, also of faulty blocks; note names that are invalid, taken or reserved."""
    first_index: dict[str, int] = {}

    for index, block in enumerate(blocks):
        naming_key = _naming_key(block) if isinstance(block, dict) else None
        if naming_key is None or (naming_key != "name" and not isinstance(block[naming_key], str)):
            continue  # noted already

        name = _agent_name(block)
        key: Key = ("agents", index, naming_key)
        quoted = quoted_value(block[naming_key])
        if not isinstance(block[naming_key], str) or not re.fullmatch(NAME, name):
            remedy = "" if naming_key == "name" else ". Add a `name`"
            document.add_error(key, quoted, NAME_MEANT, f"found {quoted}, expected {NAME_MEANT}{remedy}")
        elif name in first_index:
            other = f"agents[{first_index[name]}] on line {document.line(('agents', first_index[name]))}"
            message = f'the name "{name}" is taken by {other}. Give this agent another `name`'
            document.add_error(key, quoted, "a unique name", message)
        elif name == MARKET_NAME and block.get("kind", "llm") != MARKET_NAME:
            message = f'the name "{name}" is reserved for the kind {name}. Give this agent another `name`'
            document.add_error(key, quoted, "another name", message)
        elif name == COMMUNITY_NAME:
            message = f'the name "{name}" is reserved for the median of all. Give this agent another `name`'
            document.add_error(key, quoted, "another name", message)
        first_index.setdefault(name, index)

    return list(first_index)


def _check_needed_agents(document: Document, agents: Mapping[int, AgentConfig], names: list[str]) -> None:
    """Note each name under `of` that no agent has."""
    for index, agent in agents.items():
        for number, name in enumerate(agent.of):
            if name in names:
                continue

            key: Key = ("agents", index, "of")
            if (*key, number) in document.lines:  # an item of a list has a line of its own
                key = (*key, number)
            meant, hint = suggestion(name, names)
            quoted = quoted_value(name)
            document.add_error(key, quoted, meant, f"there is no agent {quoted}. {hint}")


def _check_cycles(document: Document, agents: Mapping[int, AgentConfig]) -> None:
    """Note each cycle of agents that wait for one another, at the first of them in the list."""
    indexes: dict[str, int] = {}
    waiting_for: dict[str, tuple[str, ...]] = {}
    for index, agent in agents.items():
        indexes.setdefault(agent.name, index)
        waiting_for[agent.name] = agent.of

    # The sorter reports one cycle at a time: remove it and look for the next.
    while True:
        try:
            TopologicalSorter(waiting_for).prepare()
            return
        except CycleError as error:
            cycle = error.args[1][:0:-1]  # each waits for the next

        start = cycle.index(min(cycle, key=indexes.__getitem__))
        path = " → ".join([*cycle[start:], *cycle[: start + 1]])
        message = f"these agents depend on each other: {path}"
        key = ("agents", indexes[cycle[start]], "of")
        document.add_error(key, path, "agents that don't depend on each other", message)
        for name in cycle:
            del waiting_for[name]
