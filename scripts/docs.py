"""Write the pages of docs/ that come from the code; with --check only name those that have drifted.

docs/agents.md and config.md come from settings, cli.md from the program's own help, data.md from the tables
of an export, the rules in scoring.md and the API from docstrings, the proofs in venues.md and providers.md
from the cassettes of the package, and llms.txt from the pages of the site.
"""

import ast
import json
import math
import re
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from inspect import getdoc, isfunction, signature
from itertools import pairwise
from pathlib import Path
from textwrap import indent, wrap
from types import ModuleType
from typing import Any

import typer

import agents.kinds
import arena.config
from agents.model import ModelSettings
from agents.registry import kind, kinds
from arena.cassettes.cassette import read_cassette
from arena.cassettes.proofs import Proof, add_newer, proofs_in, shipped_files
from arena.cli.main import app
from arena.config.listing import AGENTS, KeyRow, key_rows, sections
from arena.exports.dictionary import data_page
from markets.venue import VENUE_PAGES

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
MADE = "`make docs` writes this page from the code."
GLOSSARY = f"# Glossary\n\n{MADE}\n\n|word |meaning|\n|---|---|"
TABLE = "|key |takes |default |meaning|\n|---|---|---|---|"
SHORT = {
    r"^an? |^the ": "",
    r'^duration .*"every 6 hours".*|^"weekly".*': "schedule",
    r'(duration) such as "120s".*': r"\1",
    r"^(dollars|dollars a share),.*": r"\1",
    r"^(text|list of text) of (?:a length|1 to 200).*": r"\1",
    r"whole number": "integer",
    r" and less than 9,.*": "",
    r"of more than ": "above ",
    r"of at least ": "from ",
    r"from ([\d.,]+) to ([\d.,]+)": r"\1–\2",
    r"number (?=\d)|one of |^part of the \w+, such as [\d.]+, ?|(?<=list) of text": "",
    r"true or false": "boolean",
    r"^(block(?= w)|date|weekday and a time|address( and a port)?|name)\b.*": r"\1",
}
"""What a key takes, as the head of config.md explains it once."""
BREAK = "\n\n"


def agents_page() -> str:
    """Return the page of all kinds of agent: what each file says of its kind, and all its settings."""
    parts = [f"# Agents\n\n{words_of(agents.kinds).partition(BREAK)[2]}\n\n{MADE}"]
    shared = {row.name for section in sections() if section.path == ("ask",) for row in section.keys}
    for name in kinds():
        agent_kind = kind(name)
        asks = issubclass(agent_kind.settings, ModelSettings)
        rows = key_rows(agent_kind.settings)
        parts.append(f"## {name}\n\n{agent_kind.page}")
        parts.append(table([row for row in rows if not asks or row.name not in shared]))
        if asks:
            which = "every key" if shared <= {row.name for row in rows} else "those that reach a model"
            parts.append(f"Beside these it takes {which} of [ask](config.md#ask), each for itself.")
    return "\n\n".join([*filter(None, parts), ""])


def config_page() -> str:
    """Return the page of every section and every key of a config."""
    parts = [f"# config.yaml\n\n{words_of(arena.config).partition(BREAK)[2]}\n\n{MADE}"]
    for section in sections():
        title = f"{'#' * min(len(section.path) + 1, 3)} {'.'.join(section.path)}"
        head = f"{title}\n\n{section.about}" if section.path else "## The arena"
        parts += [head, table(section.keys)]
    parts.append(f"## agents\n\n{AGENTS} [Agents](agents.md) has them all.")
    return "\n\n".join([*filter(None, parts), ""])


def table(rows: Sequence[KeyRow]) -> str:
    """Return the keys of a block as a table, or nothing if there are none."""
    lines = [f"|`{row.name}` |{takes(row)} |{default(row)} |{cell(row.meaning)}|" for row in rows]
    return "\n".join([TABLE, *lines]).replace("| |", "||") if lines else ""


def default(row: KeyRow) -> str:
    """Return the value of a key that is left out, as a cell."""
    if row.required:
        return "required"
    if row.default in (None, ""):
        return ""
    return f"`{row.default if isinstance(row.default, str) else json.dumps(row.default)}`"


def takes(row: KeyRow) -> str:
    """Return what a key takes, in few words."""
    text = row.takes
    for long, short in SHORT.items():
        text = re.sub(long, short, text)
    return cell(text)


def cell(text: str) -> str:
    return " ".join(text.replace("|", "\\|").split())


def words_of(module: ModuleType) -> str:
    return str(getdoc(module))


WIDTH = 100
HEAD = """\
# The command line

What `arena COMMAND --help` says, command by command. `make docs` writes this page.
"""
SKIPPED = re.compile(r"^(?:Usage|Next|  Also): .*(?:\n(?!\n).*)*\n\n", re.MULTILINE)
"""What a page needs no repetition of: how each command is typed is its heading."""


def commands(command: Any, path: str, parent: Any = None) -> Iterator[tuple[str, str]]:
    """Yield every command under this one with its help, in the order in which help lists them."""
    size = {"terminal_width": WIDTH, "max_content_width": WIDTH}
    context = command.context_class(command, info_name=path.rsplit(maxsplit=1)[-1], parent=parent, **size)
    yield path, command.get_help(context)
    for name in command.list_commands(context) if hasattr(command, "list_commands") else ():
        yield from commands(command.get_command(context, name), f"{path} {name}", context)


def cli_page() -> str:
    """Return the page of every command with its help."""
    parts = []
    for path, help_text in commands(typer.main.get_command(app), "arena"):
        usage = help_text.partition("\n")[0].removeprefix("Usage: ").replace(" [OPTIONS]", "")
        kept = SKIPPED.sub("", f"{help_text}\n\n").rstrip("\n")
        if usage != path and not usage.endswith(" COMMAND"):
            kept = f"{usage}\n\n{kept}"
        parts.append(f"## {path}\n\n{indent(kept, ' ' * 4)}\n")
    return "\n".join([HEAD, *parts])


FOLDER = ROOT / "arena" / "scores" / "rules"
BEGIN = (
    "<!-- From here to the end mark `make docs` writes this page from the files in arena/scores/rules. -->\n"
)
END = "<!-- The end mark. -->\n"
CODE = re.compile(r"`([^`\n]+)`")
SCALE = re.compile(r"^- Direction: (.*)\.\n- Range: (.*)(?=\.$)", re.MULTILINE)
"""Direction and range are one line of the page."""
FOR_AUTHORS = f"{BREAK}A file in this folder is a rule"
"""With these words a folder's docstring begins to tell how a rule is written, which the page leaves out."""
ITEMS = ("Formula", "Direction", "Range", "Limits", "Source")
"""What the page says of a rule; edge cases stay in its file."""


def rules(folder: str) -> list[str]:
    """Return the rules that a folder's docstring names, in its order; its other files are helpers."""
    files = [path.stem for path in (FOLDER / folder).glob("*.py")]
    return [f"{folder}.{name}".lstrip(".") for name in in_order(files, folder)]


def in_order(names: list[str], folder: str) -> list[str]:
    """Return the names that the folder's docstring mentions, in its order."""
    modules = list(dict.fromkeys(CODE.findall(text_of(folder))))
    return [name for name in modules if name in names]


def text_of(name: str) -> str:
    return words_of(import_module(f"arena.scores.rules.{name}".rstrip(".")))


def written() -> str:
    """Return everything between the two marks: each folder with its rules."""
    folders = [path.parent.name for path in FOLDER.glob("*/__init__.py")]
    every = [[name, *rules(name)] for name in ("", *in_order(folders, ""))]
    titles = {name: opening(text_of(name))[0] for chapter in every for name in chapter}
    parts = []
    for folder, *own in every:
        parts += [chapter_of(folder, titles), *(rule(name, titles) for name in own)]
    return "\n" + "\n\n".join(parts) + "\n\n"


def chapter_of(folder: str, titles: Mapping[str, str]) -> str:
    """Return what a folder is about, without the last paragraph, which only lists its rules."""
    title, lead, rest = opening(text_of(folder))
    about = rest.partition(FOR_AUTHORS)[0].rpartition(BREAK)[0]
    parts = [f"## {title}", shown(lead, folder, titles), shown(about, folder, titles)]
    return "\n\n".join(filter(None, parts))


def rule(name: str, titles: Mapping[str, str]) -> str:
    """Return a rule's docstring under its own heading, with the words for its values."""
    title, lead, rest = opening(text_of(name))
    place = f"`{name.replace('.', '/')}.py`"
    items = [line for line in shown(rest, name, titles).splitlines() if line[2:].partition(":")[0] in ITEMS]
    parts = SCALE.sub(r"- Scale: \2; \1", "\n".join(items))
    parts = re.sub(r"^(- Scale: (.*)); (?:none|\2)(?=\.$)", r"\1", parts, flags=re.MULTILINE)
    parts = re.sub(r"^- ([^:\n]+):", r"\n**\1:**", parts, flags=re.MULTILINE)
    return f"### {title}\n\n{shown(lead, name, titles)} ({place})\n{parts}{bands(name)}"


def bands(name: str) -> str:
    """Return the words for a rule's values, each with the value at which it begins."""
    words = []
    for floor, word in getattr(import_module(f"arena.scores.rules.{name}"), "BANDS", ()):
        edge = round(floor, 9) if math.isfinite(floor) else floor
        since = f"{'from' if edge == floor else 'above'} {edge:g}".replace("-", "−")
        words.append(word if floor == -math.inf else f"{word} {since}")
    return f"\n\n**Bands:** {', '.join(words)}." if words else ""


def opening(text: str) -> tuple[str, str, str]:
    """Split a docstring into the name it begins with, the rest of its first line, and all that follows.

    >>> opening("Win rate: how often.\\n\\n- Formula: wins.")
    ('Win rate', 'How often.', '- Formula: wins.')
    """
    first, _, rest = text.partition("\n")
    title, _, lead = re.sub(r"[:;,] |\.$", "\n", first, count=1).partition("\n")
    return title, lead[:1].upper() + lead[1:], rest.strip()


def shown(text: str, name: str, titles: Mapping[str, str]) -> str:
    """Format text as Markdown, one line a paragraph, with links to rules and escaped stars."""
    pieces = CODE.split(re.sub(r"(?<!\n)\n(?!\n|- ) *", " ", text))
    pieces[::2] = [re.sub(r"(\*|<(?=\S))", r"\\\1", piece) for piece in pieces[::2]]
    for place in range(1, len(pieces), 2):
        meant = rule_called(pieces[place], name, titles)
        pieces[place] = link(f"`{pieces[place]}`", titles[meant]) if meant else f"`{pieces[place]}`"
    return "".join(pieces)


def rule_called(code: str, name: str, titles: Mapping[str, str]) -> str | None:
    """Return the rule or folder that a docstring of another one mentions, neighbours first."""
    first, *more = code.split(".")
    folder = name.partition(".")[0]
    for meant in (f"{folder}.{first}", ".".join([first, *more[:1]]), first):
        if meant in titles:
            return None if meant in (name, folder) else meant
    return None


def link(text: str, title: str) -> str:
    """Return a link to a heading of this page, by the anchor that GitHub gives it."""
    anchor = re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-")
    return f"[{text}](#{anchor})"


def scoring_page() -> str:
    """Return the page of scoring with the rules as they are now; the rest of it stays."""
    return marked_page("scoring.md", BEGIN, written())


def marked_page(name: str, begin: str, made: str) -> str:
    """Return a page with this text between its marks; the rest of it stays."""
    before, found, rest = (DOCS / name).read_text(encoding="utf-8").partition(begin)
    _, end, after = rest.partition(END)
    if not (found and end):
        sys.exit(f"docs/{name} has lost one of its marks: put back the lines\n{begin}{END}")
    return f"{before}{begin}{made}{END}{after}"


PROVED = "<!-- From here to the end mark `make docs` writes this page from arena/cassettes/shipped. -->\n"
NOT_OURS = "Recorded by others, not by this project, as the files say: {}."


def proofs() -> tuple[dict[str, Proof], dict[str, Proof]]:
    """Return the newest proofs of venues and of providers in the cassettes of the package."""
    venues: dict[str, Proof] = {name: Proof(name) for name in VENUE_PAGES}
    providers: dict[str, Proof] = {}
    for path in shipped_files():
        cassette = read_cassette(path)
        names = {tape.venue for tape in cassette.venues}
        for proof in proofs_in(cassette, path, cassette.taken):
            add_newer(venues if proof.name in names else providers, [proof])
    return venues, providers


def proof_table(newest: Mapping[str, Proof], head: str) -> str:
    """Return a table of when each was last recorded, and what could be read of it."""
    lines = [f"|{head} |last proved |what was read|", "|---|---|---|"]
    for name, proof in newest.items():
        lines.append(f"|{name} |{proof.on or 'never'} |{', '.join(proof.shows) or 'nothing yet'}|")
    text = "\n" + "\n".join(lines) + "\n\n"
    foreign = [name for name, proof in newest.items() if proof.source]
    if foreign:
        text += f"{NOT_OURS.format(', '.join(foreign))}\n\n"
    return text


def venues_page() -> str:
    """Return the page of venues with the newest proof of each."""
    titles = {name: title for name, (title, *_) in VENUE_PAGES.items()}
    newest = {titles[name]: proof for name, proof in proofs()[0].items()}
    return marked_page("venues.md", PROVED, proof_table(newest, "venue"))


def providers_page() -> str:
    """Return the page of providers with the newest proof of each."""
    newest = proofs()[1]
    made = "\nNo provider's answer has been recorded yet.\n\n"
    if newest:
        made = proof_table(newest, "provider") + "Of the others no answer has been recorded.\n\n"
    return marked_page("providers.md", PROVED, made)


def glossary_page() -> str:
    """Return the page of every word of the glossary."""
    words = tomllib.loads((ROOT / "dashboard" / "assets" / "glossary.toml").read_text(encoding="utf-8"))
    rows = [f"|{word} |{meaning}|" for word, meaning in words.items()]
    return "\n".join([GLOSSARY, *rows, ""])


API_HEAD = f"""\
# API

{MADE} Money, shares, prices and probabilities are whole millionths, times are in UTC. An extension
imports everything from `arena.extend`, which has most names of the two models too.
[From Python](python.md) and the [recipes](recipes.md#write-an-agent-in-python) show them at work.
"""
API = {"arena": "arena.exports.api", "markets.model": "", "portfolio.model": "", "arena.extend": ""}
"""The modules of the page in order, each with the one in which its names are at home, if another."""
READ_BY_HAND = ("open_record", "score", "Change", "Season")
"""What is to be said of `arena`: what it exports, and what `open_record` gives."""
ALIAS_HOMES = ("agents.model", "agents.evidence", "markets.model", "markets.venue", "portfolio.model")
API_WIDTH = 100


def api_page() -> str:
    """Return every name that a program or an extension may import, under the first module that has it."""
    parts = [API_HEAD]
    shown_before: set[int] = set()
    for name, home in API.items():
        module = import_module(home or name)
        parts.append(f"## {name}\n")
        for entry in READ_BY_HAND if home else public_names(module):
            value = getattr(module, entry)
            if id(value) not in shown_before:
                shown_before.add(id(value))
                parts.append(api_entry(entry, value, module))
    return "\n".join(parts)


def public_names(module: ModuleType) -> list[str]:
    """Return the names that a module lists in `__all__`, else those it defines."""
    own = [
        name for name in vars(module) if getattr(getattr(module, name), "__module__", "") == module.__name__
    ]
    return list(getattr(module, "__all__", [name for name in own if not name.startswith("_")]))


def api_entry(name: str, value: Any, module: ModuleType) -> str:
    """Return a name's signature and docstring without examples, and a class's members."""
    text = str(getdoc(value) or "").partition("\n\n>>>")[0]
    if not isinstance(value, type) and not isfunction(value):
        return f"### {name}\n\n{alias_text(name, module)}\n"

    parts = [f"### {name}\n\n```text\n{call_text(name, value)}\n```\n\n{text}\n"]
    if isinstance(value, type):
        methods = {key: own for key, own in vars(value).items() if key[0] != "_" and is_member(own)}
        rows = [f"|`{method_text(key, own)}` |{first_words(own)}|" for key, own in methods.items()]
        parts += ["|member |meaning|\n|---|---|\n" + "\n".join(rows) + "\n"] if rows else []
    return "\n".join(parts)


def is_member(value: Any) -> bool:
    """Tell whether an attribute of a class is a method or a property with a docstring."""
    return (isfunction(value) or isinstance(value, property)) and getdoc(value) is not None


def first_words(value: Any) -> str:
    """Return the first paragraph of a docstring, as a cell."""
    return cell(str(getdoc(value)).partition(BREAK)[0])


def method_text(name: str, value: Any) -> str:
    """Return a method with the names of its arguments, or a property by its name alone."""
    if not isfunction(value):
        return name
    arguments = [argument for argument in signature(value).parameters if argument != "self"]
    return f"{name}({', '.join(arguments)})"


def call_text(name: str, value: Any) -> str:
    """Return the signature of a class or function, wrapped."""
    try:
        text = str(signature(value))
    except (TypeError, ValueError):
        text = "()"
    plain = re.sub(r"<[^<>]*>", "…", text)  # a default that has no text of its own, such as a function
    called = name + re.sub(r"\b(?:\w+\.)+(?=[A-Za-z])", "", plain).partition(" -> ")[0]
    lines = wrap(called, API_WIDTH, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False)
    return "\n".join(lines)


def alias_text(name: str, module: ModuleType) -> str:
    """Return an alias with the docstring below it, from whichever module defines it."""
    homes = [module, *(import_module(home) for home in ALIAS_HOMES)]
    for home in homes:
        body = ast.parse(Path(str(home.__file__)).read_text(encoding="utf-8")).body
        for line, following in pairwise(body):
            if isinstance(line, ast.Assign) and ast.unparse(line.targets[0]) == name:
                told = following.value if isinstance(following, ast.Expr) else None
                words = str(told.value) if isinstance(told, ast.Constant) else ""
                return f"`{ast.unparse(line)}`\n\n{words}".rstrip()
    sys.exit(f"{name} of {module.__name__} is neither a class, a function nor an alias")


SITE_SECTION = re.compile(r"^  - ([^:]+): \[(.*)\]$", re.MULTILINE)
"""A section of the site's pages in mkdocs.yml."""
FIRST_SENTENCE = re.compile(r"^[A-Z`].*?[.:](?=\s|$)", re.MULTILINE | re.DOTALL)
BESIDE_DOCS = {"index.md": "README.md", "contributing.md": "CONTRIBUTING.md", "changes.md": "CHANGELOG.md"}
FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
PAGE_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")


def llms_page() -> str:
    """Return every page of the site in a line, for language models that read a site by its `llms.txt`."""
    parts = ["# Paper Arena", f"> {first_sentence(ROOT / 'README.md')}"]
    for section, pages in SITE_SECTION.findall((ROOT / "mkdocs.yml").read_text(encoding="utf-8")):
        lines = [f"## {section}", ""]
        for name in pages.split(", "):
            path = ROOT / BESIDE_DOCS[name] if name in BESIDE_DOCS else DOCS / name
            title = path.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ")
            about = first_sentence(path)
            lines.append(f"- [{title}]({name.removesuffix('.md')}.html){': ' * bool(about)}{about}")
        parts.append("\n".join(lines))
    return "\n\n".join(parts) + "\n"


def first_sentence(path: Path) -> str:
    """Return the first sentence of a page after its title, without links, or nothing if there is none."""
    text = FENCED.sub("", path.read_text(encoding="utf-8").partition("\n")[2])
    found = FIRST_SENTENCE.search(text)
    if found is None:
        return ""
    return PAGE_LINK.sub(r"\1", cell(found[0])).rstrip(".:") + "."


PAGES = {
    "agents.md": agents_page,
    "config.md": config_page,
    "cli.md": cli_page,
    "data.md": data_page,
    "glossary.md": glossary_page,
    "scoring.md": scoring_page,
    "api.md": api_page,
    "venues.md": venues_page,
    "providers.md": providers_page,
    "llms.txt": llms_page,  # the last: it quotes the others
}

if __name__ == "__main__":
    drifted = []
    for name, page in PAGES.items():
        path = DOCS / name
        text = page()
        if sys.argv[1:] != ["--check"]:
            path.write_text(text, encoding="utf-8")
        elif not path.exists() or path.read_text(encoding="utf-8") != text:
            drifted.append(f"docs/{name}")
    if drifted:
        sys.exit(f"{', '.join(drifted)}: not what the code says. 'make docs' writes them anew.")
