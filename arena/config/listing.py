"""Every key that a config may hold, and the settings of one written out: both made from the classes."""

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
from arena.config.lineup import NOT_SHARED
from arena.config.model import Config
from arena.config.sections import FixedSections, RulesBlock
from arena.config.validation import describe_keys, python_only
from markets.registry import load

ASK = """\
Defaults for every agent with a model. In an agent's own block each of these keys takes
precedence."""
AGENTS = """\
Who plays: a list of blocks, each with a `kind` (`llm` by default), a `name` (1 to 64 letters, digits or
`. _ / : -`; by default the model's, else the kind's) and the settings of that kind. Where agents have
several operators, `owner: NAME` keeps one's many agents from raising the bar of another's."""
REQUIRED = {"venue": "polymarket"}
"""What stands for keys without a default where all keys are listed."""
BREAK = "\n\n"
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
    """The keys of a model in their order, without those that are blocks of their own.

    Nor is `owner` among them, which every agent's block takes, as it takes `name`.
    """
    takes, rows, hidden = describe_keys(model), [], {*skip, *python_only(model), "owner"}
    for name, field in model.model_fields.items():
        key = field.alias or name
        extra = field.json_schema_extra
        inline = isinstance(extra, dict) and extra.get("inline")  # a block that is told of in one line
        if key in hidden or (section_of(field.annotation) and not inline):
            continue
        words, unit = takes[key]
        value = None if field.is_required() else field.get_default(call_default_factory=True)
        plain = as_plain(value, unit)
        rows.append(KeyRow(key, words, plain, field.is_required(), field.description or ""))
    return tuple(rows)


def section_of(annotation: object) -> type[BaseModel] | None:
    """The block that a field holds, where it holds one."""
    return annotation if isinstance(annotation, type) and issubclass(annotation, BaseModel) else None


def sections() -> Iterator[SectionRows]:
    """Every block of a config but the agents', in the order of the file."""
    yield SectionRows((), "", key_rows(FixedSections))
    for name, field in FixedSections.model_fields.items():
        if section := section_of(field.annotation):
            yield SectionRows((name,), str(getdoc(section)), key_rows(section))
            for inner_name, inner in section.model_fields.items():
                if block := section_of(inner.annotation):
                    yield SectionRows((name, inner.alias or inner_name), str(getdoc(block)), key_rows(block))
            for choice in (choice for choice in (VENUES, SOURCES) if choice.section == name):
                for adapter in choice.names():
                    settings = load(choice.package, adapter).Settings
                    if settings.model_fields:
                        yield SectionRows((name, adapter), str(getdoc(settings)), key_rows(settings))
    yield SectionRows(("ask",), ASK, key_rows(kind("llm").settings, skip=NOT_SHARED))


def every_key() -> str:
    """A whole config in which every key stands with its meaning and its default; it is itself valid."""
    whole = CommentedMap()
    for path, about, rows in ((section.path, section.about, section.keys) for section in sections()):
        block = whole
        for depth, name in enumerate(path):
            if name not in block:
                block[name] = CommentedMap()
                words = _comment(f"\n{about.partition(BREAK)[0]}")
                block.yaml_set_comment_before_after_key(name, before=words, indent=2 * depth)
            block = block[name]
        for row in rows:
            block[row.name] = REQUIRED.get(row.name, row.default)
            words = _comment(f"{row.meaning} Takes {row.takes}.")
            block.yaml_set_comment_before_after_key(row.name, before=words, indent=2 * len(path))
    agents = [
        {"kind": name, **{row.name: row.default for row in key_rows(kind(name).settings)}} for name in kinds()
    ]
    whole["agents"] = [{"kind": "market"}]
    whole.yaml_set_comment_before_after_key("agents", before=_comment(f"\n{AGENTS}"))
    return yaml_text(whole) + "# Every kind, with its keys:\n" + indent(yaml_text(agents), "# ")


def _comment(text: str) -> str:
    return "\n".join(line for part in text.split("\n", 1) for line in (wrap(part, WIDTH) or [""]))


def effective(config: Config) -> dict[str, Any]:
    """What holds with this config, defaults included, as plain data; what is unset is left out."""
    found: dict[str, Any] = {"database": config.database, "seed": config.seed}
    for name, field in FixedSections.model_fields.items():
        if section_of(field.annotation):
            found[name] = settings_data(getattr(config, name))
    found["markets"][config.markets.venue] = settings_data(config.venue_settings)
    if block := settings_data(config.evidence_settings):
        found["evidence"][config.evidence.source] = block
    start = config.cohorts.rules_block.start_from
    rules = RulesBlock.model_construct(**{"start_from": start, **config.cohorts.rules.model_dump()})
    found["cohorts"]["rules"] = settings_data(rules)
    if config.heads is not None:
        found["heads"] = config.heads
    found["agents"] = [
        {"name": agent.name, "kind": agent.kind, **settings_data(agent.settings)} for agent in config.agents
    ]
    return {name: value for name, value in found.items() if value != {}}


def settings_data(model: BaseModel) -> dict[str, Any]:
    """A block's settings as a config has them."""
    takes, found, hidden = describe_keys(type(model)), {}, python_only(type(model))
    for name, field in type(model).model_fields.items():
        key, value = field.alias or name, getattr(model, name)
        if name in hidden:
            continue
        plain = settings_data(value) if isinstance(value, BaseModel) else as_plain(value, takes[key][1])
        if plain not in (None, "", {}):
            found[key] = plain
    return found


def yaml_text(data: object) -> str:
    """Plain data as the text of a config.

    >>> print(yaml_text({"start": "sun 00:00", "name": "12", "of": [], "first": {"a": 0.5}}), end="")
    start: sun 00:00
    name: '12'
    of: []
    first:
      a: 0.5
    """
    yaml, text = YAML(), StringIO()
    yaml.default_flow_style, yaml.width = False, WIDTH
    yaml.dump(data, text)
    return text.getvalue()
