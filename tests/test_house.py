"""The rules of the house that no linter holds."""

import ast
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("markets", "portfolio", "agents", "arena", "dashboard")
PLUG_INS = {
    "markets/venues": "venues",
    "portfolio/fills": "fills",
    "agents/kinds": "kinds",
    "agents/prompts": "prompts",
    "agents/research": "research",
    "agents/tools": "tools",
    "arena/scores/rules": "scoring",
    "dashboard/views": "views",
}
SLOW = ("litellm", "streamlit", "pandas", "asyncio", "sqlalchemy", "sqlmodel", "numpy", "pydantic", "ruamel")
ANSWERED_ANEW = ("arena/cli", "arena/record", "arena/verify", "arena/scores/rules", "dashboard", *PLUG_INS)
"""Folders whose modules are named for what they show, keep, check or measure: a subject of another folder."""
ONE_EACH = {"__init__", "errors", "evidence", "model", "registry", "season", "table", "world", "write"}
"""Module names that stand once in a package, or in a room: its nouns, its errors, how it is written."""
UNSEEDED = {"Random", "default_rng", "RandomState"}
LIBM = {"exp", "expm1", "log", "log2", "log10", "log1p", "pow", "sin", "cos", "tan", "tanh", "erf"}
TEXTS = {".py", ".md", ".toml", ".yaml", ".yml", ".lock", ".sh", ".mako", ".example", ".ini", ".cfg", ""}


def sources(*packages: str) -> list[Path]:
    """Return every Python file of the packages."""
    return sorted(path for name in packages for path in (ROOT / name).rglob("*.py"))


@cache
def nodes(path: Path) -> list[ast.AST]:
    """Return all nodes of a file's syntax tree."""
    return list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))


def calls(path: Path) -> Iterator[tuple[str, str, ast.Call]]:
    """Yield each call in a file as (owner, name, node): `time.time()` is ("time", "time", …)."""
    for node in nodes(path):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            yield ast.unparse(node.func.value).split(".")[-1], node.func.attr, node
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            yield "", node.func.id, node


def imported(path: Path, module: str) -> set[str]:
    """Return the names that a file imports from a module by `from module import …`."""
    return {
        a.name for n in nodes(path) if isinstance(n, ast.ImportFrom) and n.module == module for a in n.names
    }


def place(path: Path, node: ast.AST) -> str:
    return f"{path.relative_to(ROOT)}:{getattr(node, 'lineno', 0)}"


def python(code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a few lines in a process of their own."""
    return subprocess.run([sys.executable, "-c", code, *arguments], cwd=ROOT, capture_output=True, text=True)


def texts() -> list[Path]:
    """Return every text that belongs to the project, and nothing that a run leaves behind."""
    found = []
    for folder, inner, files in os.walk(ROOT):
        inner[:] = [
            n for n in inner if n == ".ci" or not (n.startswith((".", "__")) or n in ("build", "dist"))
        ]
        found += [Path(folder, name) for name in files if Path(name).suffix in TEXTS]
    return sorted(path for path in found if path.name not in (".env", ".git"))


def test_chance_is_always_seeded() -> None:
    unseeded = [
        place(path, node)
        for path in sources(*PACKAGES)
        for _, name, node in calls(path)
        if name in UNSEEDED and not node.args and not node.keywords
    ]
    assert unseeded == []


def test_no_libm_on_the_way_into_the_record() -> None:
    """The last digit of `math.log` differs between machines, so only scores and views may use it."""
    on_the_way = [p for p in sources("markets", "portfolio", "agents", "arena") if "rules" not in p.parts]
    used = [
        place(path, node)
        for path in on_the_way
        for owner, name, node in calls(path)
        if name in LIBM and owner in ("math", "np", "numpy")
    ]
    taken = [str(path.relative_to(ROOT)) for path in on_the_way if imported(path, "math") & LIBM]
    assert used + taken == []


def test_a_class_name_stands_for_one_class() -> None:
    """A plug-in's `Settings` and a tool's `Arguments` apart, so that a name leads to its class."""
    classes = Counter(
        node.name
        for path in sources(*PACKAGES)
        for node in nodes(path)
        if isinstance(node, ast.ClassDef) and node.name not in ("Settings", "Arguments")
    )
    assert {name for name, count in classes.items() if count > 1} == set()


def test_a_module_name_stands_for_one_subject() -> None:
    """Where modules have a name in common, one is the thing itself and the others show, keep or check it."""
    things = [
        path.relative_to(ROOT).with_suffix("")
        for path in sources(*PACKAGES)
        if not any(path.is_relative_to(ROOT / folder) for folder in ANSWERED_ANEW)
    ]
    names = Counter(path.name for path in things)
    assert {name for name, count in names.items() if count > 1 and name not in ONE_EACH} == set()


COMMANDS = """
import sys
from arena.cli.main import main
try:
    for line in sys.argv[1:]:
        sys.argv[:] = ["arena", *line.split()]
        try:
            main()
        except SystemExit as end:
            assert not end.code
finally:
    print("LOADED", *sys.modules)
"""
"""Each argument is a command line."""


def test_help_loads_no_slow_library() -> None:
    played = python(COMMANDS, "--help")
    shown, _, loaded = played.stdout.rpartition("LOADED ")
    assert "Usage" in shown, played.stderr
    assert set(SLOW) & set(loaded.split()) == set()


def test_the_tables_are_loaded_only_where_a_record_is_opened(tmp_path: Path) -> None:
    arena = tmp_path / "arena"
    played = python(COMMANDS, f"init {arena} --venue simulator", f"check --config {arena}/config.yaml")
    shown, _, loaded = played.stdout.rpartition("LOADED ")
    assert played.returncode == 0, played.stderr
    assert shown
    assert {"arena.record.schema.fields", "sqlmodel", "sqlalchemy.orm"} & set(loaded.split()) == set()
    assert {import_module("arena.record.record").__name__, "sqlmodel"} <= sys.modules.keys()


@pytest.mark.parametrize("folder", PLUG_INS)
def test_a_plug_in_folder_has_a_contract_test(folder: str) -> None:
    assert (ROOT / folder).is_dir()
    assert (ROOT / "tests" / "contract" / f"test_{PLUG_INS[folder]}.py").is_file()


def test_no_machine_and_no_registry_is_named() -> None:
    machine = re.compile(r"(?<![\w.$}/])/(?:root|work|home|Users|opt|mnt)/\w")
    registry = re.compile(r"pypi\.org|pythonhosted|registry\.npmjs|--(?:extra-)?index-url [^-]")
    named = [
        f"{path.relative_to(ROOT)}: {line.strip()[:80]}"
        for path in texts()
        if path != Path(__file__)
        for line in path.read_text(encoding="utf-8").splitlines()
        if machine.search(line) or registry.search(line)
    ]
    assert named == []
