"""Holds the house to its size: the figures of [tool.house] in pyproject.toml are ceilings.

python scripts/check_size.py            # only what is over; exit status 1
python scripts/check_size.py --list     # every figure beside its ceiling
"""

import ast
import io
import re
import subprocess
import sys
import tokenize
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

from arena.cli.main import app

ROOT = Path(__file__).resolve().parent.parent
PRODUCT = {".py", ".css", ".html", ".mako", ".sh", ".sql"}
TEXTS = ("agents/prompts/", "arena/")
"""Where Markdown is part of the product: prompts, and what an export says of itself."""
MADE = {
    "docs/agents.md",
    "docs/cli.md",
    "docs/config.md",
    "docs/data.md",
    "docs/glossary.md",
    "docs/performance.md",
    "docs/scoring.md",
}
"""Pages that `make docs` and `make bench` write."""
SILENT = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT}
"""Tokens that say nothing to the machine, or only how others hang together."""
KEY = re.compile(r"^\|`", re.MULTILINE)


def tracked() -> list[Path]:
    """Every file that belongs to the project."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True)
    return [path for name in listed.stdout.split("\0") if name and (path := ROOT / name).is_file()]


def is_product(path: Path) -> bool:
    name = path.relative_to(ROOT).as_posix()
    if name.startswith(("tests/", "docs/")):
        return False
    return path.suffix in PRODUCT or (path.suffix == ".md" and name.startswith(TEXTS))


def lines(paths: list[Path]) -> int:
    return sum(len(path.read_text(encoding="utf-8").splitlines()) for path in paths)


def words(paths: list[Path]) -> int:
    return sum(len(path.read_text(encoding="utf-8").split()) for path in paths)


def code_lines(path: Path) -> int:
    """Lines that say something to the machine: no blanks, no comments, no docstrings."""
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".py":
        return sum(1 for line in text.splitlines() if line.strip())
    numbers = {
        line
        for token in tokenize.generate_tokens(io.StringIO(text).readline)
        if token.type not in SILENT and token.string
        for line in range(token.start[0], token.end[0] + 1)
    }
    return len(numbers - set(documented(ast.parse(text))))


def documented(tree: ast.AST) -> Iterator[int]:
    """The lines of docstrings, those below a constant included."""
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Expr)
            and isinstance(node.value, ast.Constant)
            and isinstance(node.value.value, str)
        ):
            yield from range(node.lineno, (node.end_lineno or node.lineno) + 1)


def leaf_commands(command: Any, context: Any = None) -> int:
    """How many commands can be typed, those in families included."""
    context = command.context_class(command, info_name="arena", parent=context)
    if not hasattr(command, "list_commands"):
        return 1
    children = (command.get_command(context, name) for name in command.list_commands(context))
    return sum(leaf_commands(child, context) for child in children if not child.hidden)


def measured() -> dict[str, int]:
    """Every figure that has a ceiling."""
    files = tracked()
    product = [path for path in files if is_product(path)]
    tests = [path for path in files if path.is_relative_to(ROOT / "tests") and path.suffix == ".py"]
    pages = [path for path in files if path.suffix == ".md" and path.is_relative_to(ROOT / "docs")]
    by_hand = [path for path in pages if path.relative_to(ROOT).as_posix() not in MADE] + [ROOT / "README.md"]
    return {
        "product_lines": lines(product),
        "product_code_lines": sum(map(code_lines, product)),
        "test_lines": lines(tests),
        "commands": leaf_commands(typer.main.get_command(app)),
        "config_keys": len(KEY.findall((ROOT / "docs" / "config.md").read_text(encoding="utf-8"))),
        "words_by_hand": words(by_hand),
        "words_generated": words([ROOT / name for name in MADE]),
    }


def over(figures: dict[str, int], ceilings: dict[str, int]) -> list[str]:
    """What is larger than it may be, in words."""
    return [
        f"{name} is {figures[name]:,}, and the ceiling in pyproject.toml is {most:,}: "
        "make room by saying less, or raise it and say why in the changelog."
        for name, most in ceilings.items()
        if figures[name] > most
    ]


if __name__ == "__main__":
    house = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["house"]
    now = measured()
    if sys.argv[1:] == ["--list"]:
        print("\n".join(f"{name:20} {now[name]:>7,} of {most:>7,}" for name, most in house.items()))
    if wrong := over(now, house):
        sys.exit("\n".join(wrong))
