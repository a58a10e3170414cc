"""Writes the rules in docs/scoring.md from their docstrings; with --check it only says if they drifted."""

import math
import re
import sys
from collections.abc import Mapping
from importlib import import_module
from inspect import getdoc
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "arena" / "scores" / "rules"
PAGE = ROOT / "docs" / "scoring.md"
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
    return str(getdoc(import_module(f"arena.scores.rules.{name}".rstrip("."))))


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


def page(text: str) -> str:
    """The page with its rules as they should be, and all around them as it is."""
    before, begin, made = text.partition(BEGIN)
    _, end, after = made.partition(END)
    if not (begin and end):
        sys.exit(f"docs/scoring.md has lost one of its marks: put back the lines\n{BEGIN}{END}")
    return f"{before}{BEGIN}{written()}{END}{after}"


if __name__ == "__main__":
    now = PAGE.read_text(encoding="utf-8")
    if sys.argv[1:] != ["--check"]:
        PAGE.write_text(page(now), encoding="utf-8")
    elif page(now) != now:
        sys.exit("docs/scoring.md is not what the docstrings of the rules say: 'make docs' writes it anew.")
