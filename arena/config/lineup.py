"""The `agents` list: each block by its kind's own settings, its name, and whose forecasts it needs."""

import re
from collections.abc import Mapping, Set
from graphlib import CycleError, TopologicalSorter
from typing import Any

from pydantic_core import PydanticCustomError

from agents.model import ModelSettings
from arena.config.code import UnloadedSettings
from arena.config.document import Document
from arena.config.errors import Key, quoted_value, suggestion
from arena.config.extensions import kind_named
from arena.config.field_types import DURATION, seconds
from arena.config.model import AgentConfig
from arena.config.validation import validate

NAME = r"(?!.*/\.{0,2}(?:/|$))[A-Za-z0-9_][A-Za-z0-9._/:-]{0,63}"
NAME_MEANT = "a name of 1 to 64 letters, digits or . _ / : -, unlike a path or an option"
OWN_KEYS = ("kind", "name")
MARKET_NAME = "market"
"""The name that the leaderboard gives the market: only agents of that kind may bear it."""
NOT_SHARED = ("model", "price", "measured", "owner")
PARTWISE = {"context"}
"""Blocks of `ask` of which an agent may set one key and keep the others."""
DURATIONS = {"timeout", "wait"}
"""The settings of kinds that are durations."""

Block = Mapping[str, Any]


def read_agents(document: Document) -> dict[int, AgentConfig]:
    """The agents by their place in the list; what is wrong with the others is noted."""
    blocks = document.get("agents")
    if not isinstance(blocks, list) or not blocks:
        document.add(
            ("agents",), quoted_value(blocks), "a list with at least one agent, such as `- kind: market`"
        )
        return {}
    shared = _shared(document)
    agents: dict[int, AgentConfig] = {}
    for place, block in enumerate(blocks):
        key: Key = ("agents", place)
        if not isinstance(block, dict):
            document.add(
                key, quoted_value(block), "a block such as `kind: market` or `model: anthropic/MODEL`"
            )
        elif (agent := _agent(document, key, block, shared)) is not None:
            agents[place] = agent
    names = _names(document, blocks)
    _check_of(document, agents, names)
    _check_cycles(document, agents)
    return agents


def _shared(document: Document) -> Block:
    """The `ask` block's good keys, each held against the settings of the kind `llm`."""
    ask = document.get("ask")
    if ask is None:
        return {}
    llm = kind_named(document, ("ask",), "llm")
    if not isinstance(ask, dict):
        document.add(("ask",), quoted_value(ask), "a block of keys and values")
    if llm is None or not isinstance(ask, dict):
        return {}
    good = {}
    for name, value in _in_seconds(document, ("ask",), ask, {"timeout"}).items():
        if name in NOT_SHARED:
            document.add(("ask", name), name, f"`{name}` in a block under agents",
                         "this key belongs to an agent: move it to a block under agents")  # fmt: skip
        elif validate(llm.settings, {"model": "any/model", name: value}, document, ("ask",)) is not None:
            good[name] = value
    return good


def _agent(document: Document, key: Key, block: Block, shared: Block) -> AgentConfig | None:
    name = block.get("kind", "llm")
    if not isinstance(name, str):
        document.add((*key, "kind"), quoted_value(name), "the name of a kind of agent")
        return None
    kind = kind_named(document, (*key, "kind"), name)
    if kind is None:
        return None
    own = {k: value for k, value in block.items() if k not in OWN_KEYS}
    if kind.settings is UnloadedSettings:
        return AgentConfig(_name(block), kind.name, UnloadedSettings(unloaded=own), document.line(key))
    inherited = {}
    own = _in_seconds(document, key, own, DURATIONS & kind.settings.model_fields.keys())
    if issubclass(kind.settings, ModelSettings):
        inherited = {k: value for k, value in shared.items() if k in kind.settings.model_fields}
    for part in PARTWISE & inherited.keys() & own.keys():
        if isinstance(inherited[part], dict) and isinstance(own[part], dict):
            own[part] = inherited[part] | own[part]
    settings = validate(kind.settings, inherited | own, document, key, OWN_KEYS)
    if settings is None:
        return None
    return AgentConfig(_name(block), kind.name, settings, document.line(key))


def _in_seconds(document: Document, key: Key, block: Block, names: Set[str]) -> dict[str, Any]:
    """The block with its durations, which are written "120s", as numbers."""
    result = dict(block)
    for name in sorted(names & block.keys()):
        try:
            result[name] = seconds(block[name])
        except PydanticCustomError:
            document.add((*key, name), quoted_value(block[name]), DURATION)
            del result[name]
    return result


def _source(block: Block) -> str | None:
    """The key that an agent is named by: its own name, else its model, else its kind."""
    return next((key for key in ("name", "model", "kind") if key in block), None)


def _name(block: Block) -> str:
    return str(block.get(_source(block) or "", ""))


def _names(document: Document, blocks: list[Any]) -> list[str]:
    """All names, each good and met once, or it is noted; names of broken blocks are known too."""
    first: dict[str, int] = {}
    for place, block in enumerate(blocks):
        source = _source(block) if isinstance(block, dict) else None
        if source is None or (source != "name" and not isinstance(block[source], str)):
            continue
        name, key = _name(block), ("agents", place, source)
        if not isinstance(block[source], str) or not re.fullmatch(NAME, name):
            found, remedy = quoted_value(block[source]), "" if source == "name" else ". Add a `name`"
            document.add(key, found, NAME_MEANT, f"found {found}, expected {NAME_MEANT}{remedy}")
        elif name in first:
            other = f"agents[{first[name]}] on line {document.line(('agents', first[name]))}"
            words = f'the name "{name}" is taken by {other}. Give this agent another `name`'
            document.add(key, quoted_value(name), "a unique name", words)
        elif name == MARKET_NAME and block.get("kind", "llm") != MARKET_NAME:
            words = (
                f'the name "{MARKET_NAME}" is reserved for the kind {MARKET_NAME}. '
                "Give this agent another `name`"
            )
            document.add(key, quoted_value(name), "another name", words)
        first.setdefault(name, place)
    return list(first)


def _check_of(document: Document, agents: Mapping[int, AgentConfig], names: list[str]) -> None:
    for place, agent in agents.items():
        for number, name in enumerate(agent.of):
            if name not in names:
                key: Key = ("agents", place, "of")
                key = (*key, number) if (*key, number) in document.lines else key
                meant, words = suggestion(name, names)
                document.add(
                    key, quoted_value(name), meant, f"there is no agent {quoted_value(name)}. {words}"
                )


def _check_cycles(document: Document, agents: Mapping[int, AgentConfig]) -> None:
    """Note each ring of agents that wait for one another, at the first of them in the list."""
    places = {agent.name: place for place, agent in reversed(list(agents.items()))}
    waiting = {agent.name: [name for name in agent.of if name in places] for agent in agents.values()}
    while waiting:
        try:
            TopologicalSorter(waiting).prepare()
            return
        except CycleError as error:
            ring = error.args[1][:0:-1]  # each waits for the next
        first = ring.index(min(ring, key=places.__getitem__))
        circle = " → ".join([*ring[first:], *ring[: first + 1]])
        document.add(("agents", places[ring[first]], "of"), circle, "agents that don't depend on each other",
                     f"these agents depend on each other: {circle}")  # fmt: skip
        waiting = {name: of for name, of in waiting.items() if name not in ring}
