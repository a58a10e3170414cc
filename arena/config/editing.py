"""Adds agents to a config file written by hand, keeping its comments and layout."""

import json
import os
import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from arena.config.errors import ConfigErrors
from arena.config.loader import load
from arena.config.model import Config
from arena.errors import ArenaError

Block = Mapping[str, Any]
"""An agent's keys and values: texts, numbers, and blocks of these."""
_PLAIN = re.compile(r"[A-Za-z](?:[\w./:-]*\w)?|[0-9]+[smh]|[0-9]{4}-[0-9]{2}-[0-9]{2}")
_RESERVED = ("true", "false", "yes", "no", "on", "off", "null", "y", "n")
PRICE_NOTE = "# price: {input: 0.00, output: 0.00}   # dollars per million tokens, by the provider's page"
HINT = "add the model to the list `agents` by hand"


def block_lines(block: Block) -> list[str]:
    """Return a block as an item of a list, with a line for each key.

    >>> block_lines({"name": "a", "timeout": "90s", "price": {"input": 1}})
    ['- name: a', '  timeout: 90s', '  price: {input: 1}']

    A model without a known price gets a comment in place of the price.
    """
    lines = []

    for key, value in block.items():
        lines.append(f"{key}: {_one_line_yaml(value)}")
        if key == "max_cost" and "price" not in block:
            lines[-1] += "   # dollars that a call counts until `price` is set"
            lines.append(PRICE_NOTE)

    first, *others = lines
    return [f"- {first}", *(f"  {line}" for line in others)]


def _one_line_yaml(value: Any) -> str:
    """Return a value on one line.

    >>> _one_line_yaml({"model": "openai/gpt-5.6", "name": "no", "seconds": 1.5, "price": None})
    '{model: openai/gpt-5.6, name: "no", seconds: 1.5, price: null}'
    """
    if isinstance(value, Mapping):
        pairs = [f"{key}: {_one_line_yaml(inner)}" for key, inner in value.items()]
        return f"{{{', '.join(pairs)}}}"
    if isinstance(value, str) and _PLAIN.fullmatch(value) and value.lower() not in _RESERVED:
        return value
    return json.dumps(value, ensure_ascii=False)


def with_agents(text: str, blocks: Sequence[Block]) -> str:
    """Return the text of a config with more agents at the end of its list."""
    root = YAML(typ="safe", pure=True).compose(text)
    agents: SequenceNode = next(value for key, value in root.value if key.value == "agents")
    if agents.flow_style:  # a list in brackets
        closing_bracket = agents.end_mark.index - 1
        items = ", ".join(map(_one_line_yaml, blocks))
        return f"{text[:closing_bracket]}, {items}{text[closing_bracket:]}"

    newline = "\r\n" if "\r\n" in text else "\n"
    lines = text.splitlines(keepends=True)
    if not lines[-1].endswith(("\n", "\r")):
        lines[-1] += newline

    indent = " " * agents.start_mark.column
    new_lines = chain.from_iterable(map(block_lines, blocks))
    added = [f"{indent}{line}{newline}" for line in new_lines]
    after_list = 1 + max(_last_lines(agents))
    return "".join([*lines[:after_list], *added, *lines[after_list:]])


def _last_lines(node: Node) -> Iterator[int]:
    """Yield the lines, counted from 0, on which the parts of a node end."""
    if isinstance(node, MappingNode) and not node.flow_style:
        for child in chain.from_iterable(node.value):
            yield from _last_lines(child)
    elif isinstance(node, SequenceNode) and not node.flow_style:
        for child in node.value:
            yield from _last_lines(child)
    else:
        # A text in block style ends where the next line begins.
        is_block_text = isinstance(node, ScalarNode) and node.style in ("|", ">")
        yield node.end_mark.line - is_block_text


@contextmanager
def edited(path: Path, blocks: Sequence[Block]) -> "Iterator[EditedConfig]":
    """Write a config with more agents beside its file, and yield it. Only `keep` replaces the file."""
    path = path.resolve()
    data = path.read_bytes()
    unchanged = load(path)
    text = with_agents(data.decode("utf-8"), blocks)

    descriptor, name = tempfile.mkstemp(prefix=".", suffix=".yaml", dir=path.parent)
    spare = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(text.encode("utf-8"))
            file.flush()
            os.fsync(file.fileno())

        try:
            config = load(spare)
        except ConfigErrors as errors:
            raise ConfigErrors(replace(mistake, file=str(path)) for mistake in errors.errors) from errors

        expected_names = [agent.name for agent in unchanged.agents]
        expected_names += [str(block["name"]) for block in blocks]
        if [agent.name for agent in config.agents] != expected_names:
            raise ArenaError("not_editable", f"{path.name} has a layout to which agents can't be added", HINT)
        yield EditedConfig(path, data, spare, config)
    finally:
        spare.unlink(missing_ok=True)


@dataclass(frozen=True, slots=True)
class EditedConfig:
    """A changed config in the file `spare`, which can replace the file at `path`."""

    path: Path
    before: bytes
    spare: Path
    config: Config

    def keep(self) -> None:
        """Replace the file atomically; raise `ArenaError` if it was changed meanwhile."""
        if self.path.read_bytes() != self.before:
            message = f"{self.path.name} was changed meanwhile, so nothing was written"
            raise ArenaError("changed", message, HINT)

        shutil.copymode(self.path, self.spare)
        self.spare.replace(self.path)
