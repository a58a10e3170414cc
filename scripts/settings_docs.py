"""Writes docs/agents.md and docs/config.md from the settings; with --check it only says what drifted."""

import sys
from collections.abc import Container, Iterator
from inspect import getdoc
from pathlib import Path
from types import ModuleType

from pydantic import BaseModel
from pydantic.fields import FieldInfo

import agents.kinds
import agents.research
import arena.config
import markets.venues
from agents.model import ModelSettings
from agents.registry import kind, kinds
from arena.config.field_types import as_written
from arena.config.lineup import NOT_SHARED
from arena.config.sections import FixedSections
from arena.config.validation import describe_keys
from markets.registry import load, names

ROOT = Path(__file__).resolve().parent.parent
MADE = "`make docs` writes this page from the code."
TABLE = "| key | what it takes | default | meaning |\n| --- | --- | --- | --- |"
BLOCKS = {"markets": markets.venues, "evidence": agents.research}
"""Sections with a block for each file of a package."""
ASK = """\
Defaults for every agent with a model. Each of these keys may also stand in an agent's own block, and counts
before this one there."""
AGENTS = """\
Who plays: a list of blocks, each with a `kind` (`llm` where nothing is said), a `name` (1 to 64 letters,
digits or `. _ / : -`; by default the model's, else the kind's) and the settings of that kind.
[Agents](agents.md) has them all."""


def agents_page() -> str:
    """What every kind does, in the words of its own file, and all that can be set of it."""
    intro = words_of(agents.kinds).partition("\n\n")[2]
    parts = [f"# Agents\n\n{intro}\n\n{MADE}"]
    for name in kinds():
        agent_kind = kind(name)
        parts.append(f"## {name}\n\n{agent_kind.page}")
        own = agent_kind.settings.__annotations__ if issubclass(agent_kind.settings, ModelSettings) else None
        parts.append(table(agent_kind.settings, None if name == "llm" else own))
        if own is not None and name != "llm":
            parts.append("Beside these it takes every setting of a model, as [llm](#llm) has them.")
    return "\n\n".join([*filter(None, parts), ""])


def config_page() -> str:
    """Every section and every key of a config, with an example of each section."""
    single = [key for key, field in FixedSections.model_fields.items() if not section_of(field.annotation)]
    parts = [f"# config.yaml\n\n{words_of(arena.config).partition(chr(10) * 2)[2]}\n\n{MADE}"]
    parts += ["## The arena", example(*single), table(FixedSections, single)]
    for key, field in FixedSections.model_fields.items():
        if section := section_of(field.annotation):
            parts += [f"## {key}", str(getdoc(section)), example(key), *tables(section, key)]
        if key in BLOCKS:
            parts += blocks(key, BLOCKS[key])
    shared = [key for key in kind("llm").settings.model_fields if key not in NOT_SHARED]
    parts += ["## ask", ASK, example("ask"), table(kind("llm").settings, shared)]
    parts += ["## agents", AGENTS, example("agents")]
    return "\n\n".join([*parts, ""])


def blocks(section: str, package: ModuleType) -> Iterator[str]:
    """What can be set of each venue and each source of evidence, in the block of its name."""
    for name in names(Path(package.__path__[0])):
        settings = load(package.__name__, name).Settings
        if settings.model_fields:
            yield f"### {section}.{name}\n\n{getdoc(settings)}"
            yield table(settings)


def tables(section: type[BaseModel], place: str) -> Iterator[str]:
    """A section's table, and after it those of the blocks within."""
    yield table(section)
    for name, field in section.model_fields.items():
        if inner := section_of(field.annotation):
            yield f"### {place}.{field.alias or name}\n\n{getdoc(inner)}"
            yield table(inner)


def table(model: type[BaseModel], only: Container[str] | None = None) -> str:
    """The keys of a model in their order; nothing where there are none."""
    takes, rows = describe_keys(model), []
    for name, field in model.model_fields.items():
        key = field.alias or name
        if only is None or key in only:
            words, unit = takes[key]
            cells = (f"`{key}`", words, default(field, unit), field.description or "")
            rows.append(f"| {' | '.join(map(cell, cells))} |")
    return "\n".join([TABLE, *rows]) if rows else ""


def default(field: FieldInfo, unit: str) -> str:
    """What holds where the key is not there."""
    if field.is_required():
        return "it has to be there"
    value = field.get_default(call_default_factory=True)
    if isinstance(value, BaseModel):
        return "as below"
    text = as_written(value, unit)
    return f"`{text}`" if text else "not set"


def cell(text: str) -> str:
    return " ".join(text.replace("|", "\\|").split())


def section_of(annotation: object) -> type[BaseModel] | None:
    return annotation if isinstance(annotation, type) and issubclass(annotation, BaseModel) else None


def example(*sections: str) -> str:
    """What the config that comes with the package says in these sections, without its comments."""
    kept, inside = [], False
    for line in (ROOT / "config.yaml").read_text(encoding="utf-8").splitlines():
        if line and not line.startswith((" ", "#")):
            inside = line.partition(":")[0] in sections
        if inside and line.strip() and not line.lstrip().startswith("#"):
            kept.append(line)
    return "\n".join(["```yaml", *kept, "```"])


def words_of(module: ModuleType) -> str:
    return str(getdoc(module))


PAGES = {"agents.md": agents_page, "config.md": config_page}

if __name__ == "__main__":
    for name, page in PAGES.items():
        path = ROOT / "docs" / name
        if sys.argv[1:] != ["--check"]:
            path.write_text(page(), encoding="utf-8")
        elif not path.exists() or path.read_text(encoding="utf-8") != page():
            sys.exit(f"docs/{name} is not what the code says: 'make docs' writes it anew.")
