"""Writes the pages of docs/ that come from the code; with --check it only says which of them drifted.

docs/agents.md and config.md come from settings, cli.md from the program's own help, data.md from the tables
of an export, and the rules in scoring.md from their docstrings.
"""

import math
import re
import sys
from collections.abc import Container, Iterator, Mapping
from importlib import import_module
from inspect import getdoc
from pathlib import Path
from types import ModuleType
from typing import Any

import typer
from pydantic import BaseModel
from pydantic.fields import FieldInfo

import agents.kinds
import agents.research
import arena.config
import markets.venues
from agents.model import ModelSettings
from agents.registry import kind, kinds
from arena.cli.main import app
from arena.config.field_types import as_written
from arena.config.lineup import NOT_SHARED
from arena.config.sections import FixedSections
from arena.config.validation import describe_keys
from arena.exports.dictionary import data_page
from markets.registry import load, names

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
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


WIDTH = 100
HEAD = "# The command line\n\nWhat `arena --help` says, command by command. `make docs` writes this page.\n"


def commands(command: Any, path: str, parent: Any = None) -> Iterator[tuple[str, str]]:
    """Every command under this one with its help, in the order in which help lists them."""
    command.rich_markup_mode = None  # plain text: no boxes, no colour
    size = {"terminal_width": WIDTH, "max_content_width": WIDTH}
    context = command.context_class(command, info_name=path.rsplit(maxsplit=1)[-1], parent=parent, **size)
    yield path, command.get_help(context)
    for name in command.list_commands(context) if hasattr(command, "list_commands") else ():
        child = command.get_command(context, name)
        if not child.hidden:
            yield from commands(child, f"{path} {name}", context)


def cli_page() -> str:
    """Every command with its help."""
    app._add_completion = False  # these options only say how to complete a word
    listed = commands(typer.main.get_command(app), "arena")
    parts = [f"## {path}\n\n```\n{help_text}\n```\n" for path, help_text in listed]
    return "\n".join([HEAD, *parts])


FOLDER = ROOT / "arena" / "scores" / "rules"
BEGIN = (
    "<!-- From here to the end mark `make docs` writes this page from the files in arena/scores/rules. -->\n"
)
END = "<!-- The end mark. -->\n"
CODE = re.compile(r"`([^`\n]+)`")


def chapters() -> list[list[str]]:
    """The name of every folder and those of its rules, in reading order; "" is arena/scores/rules itself."""
    folders = [path.parent.name for path in FOLDER.glob("*/__init__.py")]
    return [[name, *rules(name)] for name in ("", *in_order(folders, ""))]


def rules(folder: str) -> list[str]:
    """A folder's files, but for those that only help them."""
    files = [path.stem for path in (FOLDER / folder).glob("*.py") if not path.stem.startswith("_")]
    return [f"{folder}.{name}".lstrip(".") for name in in_order(files, folder)]


def in_order(names: list[str], folder: str) -> list[str]:
    """Names as their folder's docstring comes to them, and at the end those that it leaves out."""
    modules = [code.partition(".")[0] for code in CODE.findall(text_of(folder))]
    return sorted(names, key=lambda name: (modules.index(name) if name in modules else len(modules), name))


def text_of(name: str) -> str:
    return words_of(import_module(f"arena.scores.rules.{name}".rstrip(".")))


def written() -> str:
    """Everything between the two marks: what there is, and then each folder with its rules."""
    every = chapters()
    titles = {name: opening(text_of(name))[0] for chapter in every for name in chapter}
    contents = []
    for folder, *own in every:
        inner = ", ".join(link(titles[name], titles[name]) for name in own)
        contents.append(f"- {link(titles[folder], titles[folder])}: {inner}")
    parts = ["\n".join(contents)]
    for folder, *own in every:
        parts += [chapter_of(folder, titles), *(rule(name, titles) for name in own)]
    return "\n" + "\n\n".join(parts) + "\n\n"


def chapter_of(folder: str, titles: Mapping[str, str]) -> str:
    """What a folder is about."""
    title, lead, rest = opening(text_of(folder))
    parts = [f"## {title}", shown(lead, folder, titles), shown(rest, folder, titles)]
    return "\n\n".join(filter(None, parts))


def rule(name: str, titles: Mapping[str, str]) -> str:
    """A rule's docstring under its own heading, and the words for its values."""
    title, lead, rest = opening(text_of(name))
    place = f"`{name.replace('.', '/')}.py`"
    parts = re.sub(r"^- ([^:\n]+):", r"- **\1:**", shown(rest, name, titles), flags=re.MULTILINE)
    return f"### {title}\n\n{shown(lead, name, titles)} ({place})\n\n{parts}{bands(name)}"


def bands(name: str) -> str:
    """What a rule calls its values, each word with the value from which on it holds."""
    words = []
    for floor, word in getattr(import_module(f"arena.scores.rules.{name}"), "BANDS", ()):
        edge = round(floor, 9) if math.isfinite(floor) else floor
        since = f"{'from' if edge == floor else 'above'} {edge:g}".replace("-", "−")
        words.append(word if floor == -math.inf else f"{word} {since}")
    return f"\n- **Bands:** {', '.join(words)}." if words else ""


def opening(text: str) -> tuple[str, str, str]:
    """The name that a docstring begins with, the rest of its first line, and all that follows.

    >>> opening("Win rate: how often.\\n\\n- Formula: wins.")
    ('Win rate', 'How often.', '- Formula: wins.')
    """
    first, _, rest = text.partition("\n")
    title, _, lead = re.sub(r"[:;,] |\.$", "\n", first, count=1).partition("\n")
    return title, lead[:1].upper() + lead[1:], rest.strip()


def shown(text: str, name: str, titles: Mapping[str, str]) -> str:
    """Text as Markdown, a paragraph a line: rules become links, and no star of a formula goes missing."""
    pieces = CODE.split(re.sub(r"(?<!\n)\n(?!\n|- ) *", " ", text))
    pieces[::2] = [re.sub(r"(\*|<(?=\S))", r"\\\1", piece) for piece in pieces[::2]]
    for place in range(1, len(pieces), 2):
        meant = rule_called(pieces[place], name, titles)
        pieces[place] = link(f"`{pieces[place]}`", titles[meant]) if meant else f"`{pieces[place]}`"
    return "".join(pieces)


def rule_called(code: str, name: str, titles: Mapping[str, str]) -> str | None:
    """The rule or folder that a word in the docstring of another one means: a neighbour before others."""
    first, *more = code.split(".")
    folder = name.partition(".")[0]
    for meant in (f"{folder}.{first}", ".".join([first, *more[:1]]), first):
        if meant in titles:
            return None if meant in (name, folder) else meant
    return None


def link(text: str, title: str) -> str:
    """A link to a heading of this page, by the anchor that GitHub gives it."""
    anchor = re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-")
    return f"[{text}](#{anchor})"


def scoring_page() -> str:
    """The page with its rules as they should be, and all around them as it is."""
    text = (DOCS / "scoring.md").read_text(encoding="utf-8")
    before, begin, made = text.partition(BEGIN)
    _, end, after = made.partition(END)
    if not (begin and end):
        sys.exit(f"docs/scoring.md has lost one of its marks: put back the lines\n{BEGIN}{END}")
    return f"{before}{BEGIN}{written()}{END}{after}"


PAGES = {
    "agents.md": agents_page,
    "config.md": config_page,
    "cli.md": cli_page,
    "data.md": data_page,
    "scoring.md": scoring_page,
}

if __name__ == "__main__":
    drifted = []
    for name, page in PAGES.items():
        path, text = DOCS / name, page()
        if sys.argv[1:] != ["--check"]:
            path.write_text(text, encoding="utf-8")
        elif not path.exists() or path.read_text(encoding="utf-8") != text:
            drifted.append(f"docs/{name}")
    if drifted:
        sys.exit(f"{', '.join(drifted)}: not what the code says. 'make docs' writes them anew.")
