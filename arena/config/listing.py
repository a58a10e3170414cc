"""Lists every key that a config may hold, and writes the settings of a config: both from the classes."""

from collections.abc import Iterator
from dataclasses import dataclass
from inspect import getdoc
from io import StringIO
from textwrap import indent, wrap
from typing import Any

from pydantic import BaseModel
from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap

from agents.registry import kind, kinds
from arena.config.extensions import SOURCES, VENUES
from arena.config.field_types import as_plain
from arena.config.key_schema import describe_keys, python_only
from arena.config.lineup import NOT_SHARED
from arena.config.model import Config
from arena.config.sections import FixedSections, RulesBlock
from markets.registry import load

ASK = """\
Defaults for every agent with a model. In an agent's own block each of these keys takes
precedence."""
AGENTS = """\
Who plays: a list of blocks, each with a `kind` (`llm` by default), a `name` (1 to 64 letters, digits or
`. _ / : -`; by default the model's, else the kind's) and the settings of that kind. Where agents have
several operators, `owner: NAME` keeps one's many agents from raising the bar of another's."""
REQUIRED = {"venue": "polymarket"}
"""Values for keys without a default, in the list of all keys."""
WIDTH = 100


@dataclass(frozen=True, slots=True)
class KeyRow:
    """One key: what it takes, its default as a config has it (None where unset), and its meaning."""

    name: str
    takes: str
    default: Any
    required: bool
    meaning: str


@dataclass(frozen=True, slots=True)
class SectionRows:
    """A block of keys, by its place in the file; the keys outside every block have none."""

    path: tuple[str, ...]
    about: str
    keys: tuple[KeyRow, ...]


def key_rows(model: type[BaseModel], skip: tuple[str, ...] = ()) -> tuple[KeyRow, ...]:
    """Return the keys of a model in their order, without those that are blocks of their own.

    The key `owner` is left out, which every agent's block takes, as it takes `name`.
    """
    described = describe_keys(model)
    hidden = {*skip, *python_only(model), "owner"}
    rows = []

    for name, field in model.model_fields.items():
        key = field.alias or name
        extra = field.json_schema_extra
        takes_one_row = isinstance(extra, dict) and extra.get("inline")
        is_own_section = section_of(field.annotation) and not takes_one_row
        if key in hidden or is_own_section:
            continue

        takes, unit = described[key]
        default = None if field.is_required() else field.get_default(call_default_factory=True)
        row = KeyRow(key, takes, as_plain(default, unit), field.is_required(), field.description or "")
        rows.append(row)

    return tuple(rows)


def section_of(annotation: object) -> type[BaseModel] | None:
    """Return the block that a field holds; None if it holds a value."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return None


def sections() -> Iterator[SectionRows]:
    """Yield every block of a config but the agents', in the order of the file."""
    yield SectionRows((), "", key_rows(FixedSections))
    choices = {choice.section: choice for choice in (VENUES, SOURCES)}

    for name, section in _inner_blocks(FixedSections):
        yield SectionRows((name,), str(getdoc(section)), key_rows(section))
        for inner_name, block in _inner_blocks(section):
            yield SectionRows((name, inner_name), str(getdoc(block)), key_rows(block))

        for adapter in choices[name].names() if name in choices else ():
            settings = load(choices[name].package, adapter).Settings
            if settings.model_fields:
                yield SectionRows((name, adapter), str(getdoc(settings)), key_rows(settings))

    yield SectionRows(("ask",), ASK, key_rows(kind("llm").settings, skip=NOT_SHARED))


def _inner_blocks(model: type[BaseModel]) -> Iterator[tuple[str, type[BaseModel]]]:
    """Yield the blocks within a block, by their keys."""
    for name, field in model.model_fields.items():
        block = section_of(field.annotation)
        if block is not None:
            yield field.alias or name, block


def every_key() -> str:
    """Return a valid config in which every key stands with its meaning and its default."""
    config = CommentedMap()
    for section in sections():
        block = config
        for depth, name in enumerate(section.path):
            if name not in block:
                block[name] = CommentedMap()
                about = section.about.partition("\n\n")[0]
                _comment(block, name, ["", *wrap(about, WIDTH)], depth)
            block = block[name]

        for row in section.keys:
            block[row.name] = REQUIRED.get(row.name, row.default)
            meaning = f"{row.meaning} Takes {row.takes}."
            _comment(block, row.name, wrap(meaning, WIDTH), len(section.path))

    agents = []
    for name in kinds():
        keys = {row.name: row.default for row in key_rows(kind(name).settings)}
        agents.append({"kind": name, **keys})

    config["agents"] = [{"kind": "market"}]
    _comment(config, "agents", ["", *wrap(AGENTS, WIDTH)], 0)
    return yaml_text(config) + "# Every kind, with its keys:\n" + indent(yaml_text(agents), "# ")


def _comment(block: CommentedMap, key: str, lines: list[str], depth: int) -> None:
    """Write lines of a comment above a key."""
    block.yaml_set_comment_before_after_key(key, before="\n".join(lines), indent=2 * depth)


def effective(config: Config) -> dict[str, Any]:
    """Return the settings in effect, defaults included, as plain data. What is not set is left out."""
    settings: dict[str, Any] = {"database": config.database, "seed": config.seed}
    for name, _ in _inner_blocks(FixedSections):
        settings[name] = settings_data(getattr(config, name))

    settings["markets"][config.markets.venue] = settings_data(config.venue_settings)
    evidence = settings_data(config.evidence_settings)
    if evidence:
        settings["evidence"][config.evidence.source] = evidence
    start = config.cohorts.rules_block.start_from
    rules = RulesBlock.model_construct(start_from=start, **config.cohorts.rules.model_dump())
    settings["cohorts"]["rules"] = settings_data(rules)
    settings["heads"] = as_plain(config.heads)

    settings["agents"] = []
    for agent in config.agents:
        own = settings_data(agent.settings)
        settings["agents"].append({"name": agent.name, "kind": agent.kind, **own})
    return {name: value for name, value in settings.items() if value not in ({}, None)}


def settings_data(model: BaseModel) -> dict[str, Any]:
    """Return a block's settings as a config has them."""
    described = describe_keys(type(model))
    hidden = python_only(type(model))
    settings = {}

    for name, field in type(model).model_fields.items():
        if name in hidden:
            continue

        key = field.alias or name
        value = getattr(model, name)
        if isinstance(value, BaseModel):
            plain = settings_data(value)
        else:
            _takes, unit = described[key]
            plain = as_plain(value, unit)
        if plain not in (None, "", {}):
            settings[key] = plain
    return settings


def yaml_text(data: object) -> str:
    """Return plain data as the text of a config.

    >>> print(yaml_text({"start": "sun 00:00", "name": "12", "of": [], "first": {"a": 0.5}}), end="")
    start: sun 00:00
    name: '12'
    of: []
    first:
      a: 0.5
    """
    yaml = YAML()
    yaml.default_flow_style = False
    yaml.width = WIDTH

    text = StringIO()
    yaml.dump(data, text)
    return text.getvalue()
