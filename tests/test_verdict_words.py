"""No surface forms a verdict of its own: who is better is worded in arena/scores/verdict.py alone."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SURFACES = ("dashboard", "arena/cli", "arena/exports", "arena/operations")
WORDS = (
    "forecasts better than",
    "better than the market price",
    "told apart",
    "beats the market",
    "proven",
    "too close to call",
)
"""What only a verdict says."""
ALLOWED = frozenset(
    {
        ("arena/cli/commands/results.py", "forecasts better than"),  # --help, of what the command is for
        ("arena/cli/commands/results.py", "told apart"),  # its sample of an answer
        ("arena/cli/commands/start.py", "forecasts better than"),  # a sample of what the demo prints
        ("arena/cli/commands/start.py", "told apart"),
    }
)
"""Texts that use such a word for something else, each as its file and the word."""


def literals(source: str, *, with_help: bool) -> Iterator[str]:
    """Yield all strings of a program; those that stand alone only where --help shows them."""
    tree = ast.parse(source)
    notes = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if not isinstance(node, ast.Constant) or (id(node) in notes and not with_help):
            continue
        if isinstance(node.value, str):
            yield " ".join(node.value.split()).casefold()


def verdict_words(source: str, *, with_help: bool = False) -> set[str]:
    texts = list(literals(source, with_help=with_help))
    return {word for word in WORDS if any(re.search(rf"\b{word}\b", text) for text in texts)}


def words_of_file(file: str) -> set[str]:
    """Return the words of a file; for the command line with its docstrings, which are its --help."""
    source = (ROOT / file).read_text(encoding="utf-8")
    if file.endswith(".toml"):
        source = repr(source)
    return verdict_words(source, with_help=file.startswith("arena/cli/"))


@pytest.mark.parametrize("surface", SURFACES)
def test_no_surface_forms_a_verdict(surface: str) -> None:
    paths = [*(ROOT / surface).rglob("*.py"), *(ROOT / surface).rglob("*.toml")]
    files = [str(path.relative_to(ROOT)) for path in sorted(paths)]
    assert files
    assert not {(file, word) for file in files for word in words_of_file(file)} - ALLOWED


def test_such_words_are_found_wherever_they_stand() -> None:
    assert verdict_words('x = f"{a} forecasts better\\n   than {b}"') == {"forecasts better than"}
    of_help = 'def f():\n    """Who is Proven."""'
    assert verdict_words(of_help, with_help=True) == {"proven"}
    assert verdict_words(of_help) == verdict_words("proven = 'unproven'") == set()


def test_every_allowed_text_is_still_there() -> None:
    assert all(word in words_of_file(file) for file, word in ALLOWED)


def test_no_page_calls_references_by_another_name() -> None:
    files = sorted((ROOT / "dashboard").rglob("*.py"))
    assert files
    texts = [
        (file.name, text) for file in files for text in literals(file.read_text("utf-8"), with_help=False)
    ]
    texts += [(file.name, file.read_text("utf-8")) for file in (ROOT / "dashboard/assets").glob("*.toml")]
    assert [(name, text) for name, text in texts if "baselines" in text] == []
