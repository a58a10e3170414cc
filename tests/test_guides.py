"""The tutorial and the recipes do what they show: every block is typed, in the order of its page.

A block `console` has commands after `$` and what they print, where `…` stands for any text. A block under
the name of a file is that file. A block `sh` can't be played here, as it installs or asks the network: its
commands must be ones that the program takes, as must those of every other page.
"""

import ast
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from itertools import takewhile
from pathlib import Path
from typing import Any

import pytest
import typer
from ruamel.yaml import YAML

from arena.cli.main import app
from arena.config import load
from tests.once import made_once
from tests.program.command_line import ROOT
from tests.program.running import arena, simulated_config
from tests.provider.local_model import local_model
from tests.records.demo import SIX_ROUNDS, six_rounds
from tests.trusted import trust_all

DOCS = ROOT / "docs"
PACKAGES = ("markets", "portfolio", "agents", "arena", "dashboard")
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(DOCS.glob("*.md"))]
TUTORIAL, RECIPES = ((DOCS / name).read_text("utf-8") for name in ("tutorial.md", "recipes.md"))
BLOCK = re.compile(r"(?:^`([^`\n]+)`:\n\n)?^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
BLOCK_WITHOUT_NAME = re.compile(r"^```\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^\$ (.+)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)
INSTALLS = "arena --install-completion"
"""What would change this machine even if it is only read."""
SERVER = "http://127.0.0.1:8000/v1"
"""Where the pages say that a model is served."""


def sections(page: str) -> dict[str, str]:
    """Return the text under each heading of the second level."""
    parts = re.split(r"^## (.+)\n", page, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def pattern(shown: str) -> str:
    """Return what matches a text as it is laid out in any width; `…` is any text."""
    parts = [r"\s+".join(map(re.escape, part.split())) for part in shown.split("…")]
    return r"\s*" + r"\s*.*?\s*".join(parts) + r"\s*"


class Shell:
    """Somebody who types what a page shows, at 80 columns, beside a server of models."""

    def __init__(self, folder: Path, url: str) -> None:
        self.folder = folder
        self.url = url

    def check_steps(self, text: str) -> None:
        """Write each file and type each command, and compare what is printed."""
        for name, language, body in BLOCK.findall(text):
            if name:
                path = self.folder / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(body.replace(SERVER, self.url), "utf-8")
            elif language == "console":
                for line, shown in COMMAND.findall(body):
                    said = self.typed(line)
                    said = said.replace(self.url, SERVER)
                    assert re.fullmatch(pattern(shown), said, re.DOTALL), f"$ {line}\n{said}"

    def typed(self, line: str) -> str:
        """Return what a line prints."""
        words = shlex.split(line.replace(SERVER, self.url), comments=True)
        if words[0] == "cd":
            self.folder = self.folder / words[1]
            return ""

        if words[0] != "arena":
            done = subprocess.run(
                line, shell=True, cwd=self.folder, capture_output=True, text=True, check=True
            )
            return done.stdout

        # As after an installation: a program that is not on the path is named by its file.
        path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
        answer = arena(self.folder, *words[1:], COLUMNS="80", PATH=path)
        assert answer.returncode == 0, f"$ {line}\n{answer.stdout}{answer.stderr}"
        return answer.stdout + answer.stderr


@pytest.fixture
def url() -> Iterator[str]:
    """Serve a model that answers at once, and yield its address."""
    with local_model(1_000_000, lambda _seconds: None) as server:
        yield server.url


def test_the_tutorial_does_what_it_shows(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, url: str
) -> None:
    demo = f"$ arena {' '.join(SIX_ROUNDS)} --database tour.db\n"
    assert demo in TUTORIAL
    shutil.copy(six_rounds(tmp_path_factory) / "demo.db", tmp_path / "tour.db")
    first, played, rest = TUTORIAL.partition(demo)
    Shell(tmp_path, url).check_steps(first + played.replace(demo, "") + rest.partition("```")[2])


def first_round(folders: pytest.TempPathFactory) -> Path:
    """Return the folder in which the recipes begin: that of the tutorial after its first round."""

    def make(folder: Path) -> None:
        arena(folder, "init", "my-arena", "--venue", "simulator", "--yes")
        config = folder / "my-arena" / "config.yaml"
        config.write_text(re.sub(r"start: 20[\d-]+", "start: 2026-01-04", config.read_text("utf-8")), "utf-8")
        arena(folder / "my-arena", "run", "--round")

    return made_once("arena of the tutorial", folders, make) / "my-arena"


@pytest.mark.parametrize("name", sections(RECIPES))
def test_a_recipe_does_what_it_shows(
    name: str, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, url: str
) -> None:
    folder = tmp_path / "my-arena"
    shutil.copytree(first_round(tmp_path_factory), folder)
    Shell(folder, url).check_steps(sections(RECIPES)[name])


def test_there_are_twelve_recipes_and_each_is_short() -> None:
    assert len(sections(RECIPES)) == 12
    words = {name: len(BLOCK.sub("", text).split()) for name, text in sections(RECIPES).items()}
    assert {name: count for name, count in words.items() if count > 150} == {}


def blocks(page: Path, wanted: str) -> list[str]:
    """Return the blocks of a page that are in a language."""
    return [body for _, language, body in BLOCK.findall(page.read_text("utf-8")) if language == wanted]


def command_lines(page: Path) -> list[str]:
    """Return every command of ours that the blocks of a page have."""
    lines = []
    for body in blocks(page, "sh"):
        found = re.findall(r"(?:^|&& |-L 1 )(arena .+?)(?= &&|  #|$)", body, re.MULTILINE)
        lines += [line for line in found if "…" not in line and not line.startswith(INSTALLS)]
    return lines


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_program_takes_every_command_of_a_page(page: Path) -> None:
    for line in command_lines(page):
        words = shlex.split(line, comments=True)
        words = list(takewhile(lambda word: word not in {">>", "<", "|"}, words[1:]))
        command: Any = typer.main.get_command(app)
        context = command.context_class(command, info_name="arena")
        while hasattr(command, "list_commands") and words and words[0] in command.list_commands(context):
            command = command.get_command(context, words[0])
            context = command.context_class(command, info_name=words.pop(0), parent=context)

        # It raises a usage error for an argument or an option that the command doesn't have.
        assert command.make_context(line, words, parent=context.parent).command is command


def test_the_folder_of_questions_on_its_page_has_no_fault(tmp_path: Path) -> None:
    shell = Shell(tmp_path, SERVER)
    shell.check_steps((DOCS / "questions.md").read_text("utf-8"))
    assert ". is valid (questions and resolutions)" in shell.typed("arena check .")


def test_the_tool_on_the_page_of_tools_is_one(tmp_path: Path) -> None:
    (code,) = blocks(DOCS / "tools.md", "python")
    (tmp_path / "extensions" / "tools").mkdir(parents=True)
    (tmp_path / "extensions" / "tools" / "offered.py").write_text(code, "utf-8")
    agent = "{name: sharp, model: demo/sharp, tools: [offered], price: {input: 1, output: 4}}"
    simulated_config(tmp_path, agent)
    rows = arena(tmp_path, "show", "turn", "sharp", "--play", "--trust-extensions", "--json")
    assert rows.returncode == 0, rows.stdout


def test_the_page_of_exports_reads_one(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(first_round(tmp_path_factory), tmp_path, dirs_exist_ok=True)
    for words in ("season", "lines --format json"):
        assert arena(tmp_path, "share", "export", *words.split()).returncode == 0
    shutil.copy(tmp_path / "lines" / "turns.jsonl", tmp_path / "season")
    monkeypatch.chdir(tmp_path)
    (code,) = blocks(DOCS / "data.md", "python")
    exec(compile(code, "docs/data.md", "exec"), {})


def test_the_readme_shows_the_answer_of_the_demo_as_its_help_does() -> None:
    shown = BLOCK_WITHOUT_NAME.findall(BLOCK.sub("", (ROOT / "README.md").read_text("utf-8")))[0]
    helps = [arena(ROOT, command, "--help", COLUMNS="100").stdout for command in ("demo", "board")]
    rows = {" ".join(line.split()) for line in shown.splitlines()}
    for text in helps:
        sample = text.partition("Example: ")[2].partition("Options:")[0].partition("Arguments:")[0]
        named = [" ".join(line.split()) for line in sample.splitlines() if "$" in line or "ranks" in line]
        assert len(named) >= 3
        assert set(named) <= rows
    assert shown.splitlines()[0].rstrip("… ") in " ".join(helps[1].split())


EVERY = [page.name for page in PAGES]
WITH_PYTHON = ("data", "money", "news", "outside", "python", "recipes", "tools", "universe")
READERS = {
    "sh": EVERY,
    "yaml": EVERY,
    "console": ["tutorial.md", "recipes.md"],
    "python": [f"{name}.md" for name in WITH_PYTHON],
    "json": ["bundles.md", "outside.md", "watching.md"],
    "csv": ["bundles.md", "questions.md", "recipes.md"],
    "jinja": ["recipes.md"],
    "text": ["api.md", "watching.md"],
}
"""Which pages have blocks of a language that a test plays, reads or makes."""


def test_every_block_is_of_a_kind_that_is_tried_on_its_page() -> None:
    for page in PAGES:
        for _, language, _ in BLOCK.findall(page.read_text("utf-8")):
            assert page.name in READERS[language], f"{page.name}: {language}"


def config_blocks() -> Iterator[Any]:
    """Yield each part of a config that a page shows, with the page's name; those of recipes are played."""
    for page in PAGES:
        for name, language, body in BLOCK.findall(page.read_text("utf-8")):
            if language == "yaml" and not name and not body.startswith("services:"):
                yield pytest.param(body, id=f"{page.name}: {body.splitlines()[0]}")


@pytest.mark.parametrize("block", list(config_blocks()))
def test_a_part_of_a_config_on_a_page_can_be_loaded(block: str, tmp_path: Path) -> None:
    (tmp_path / "news").mkdir()
    (tmp_path / "publish.sh").touch()
    agents = [{"kind": "market"}, {"name": "eve", "model": "openai/local", "base_url": "http://127.0.0.1:1"}]
    config = {"markets": {"venue": "simulator"}, "agents": agents} | YAML().load(block)
    path = tmp_path / "config.yaml"
    YAML().dump(config, path)
    environment = {"ARENA_WEBHOOK": "https://hook.example"}
    assert load(path, environment, beside=True, allow=trust_all).agents


MESSAGES = re.findall(
    r"^\|`([^`]+)` \|[^|]+ \|[^|]+\|$", (DOCS / "messages.md").read_text("utf-8"), re.MULTILINE
)


def texts(tree: ast.AST) -> Iterator[str]:
    """Yield each text of a program, a value that is put into it as `…`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            yield "".join(str(part.value) if isinstance(part, ast.Constant) else "…" for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value.replace("{}", "…")


@pytest.fixture(scope="module")
def program_texts() -> list[str]:
    """Return every text that the program could print."""
    files = [path for name in PACKAGES for path in (ROOT / name).rglob("*.py")]
    return [text for path in files for text in texts(ast.parse(path.read_text("utf-8")))]


def says(text: str, parts: Sequence[str]) -> bool:
    """Tell whether these parts stand in a text one after another."""
    end = 0
    for part in parts:
        begin = text.find(part, end)
        if begin < 0:
            return False
        end = begin + len(part)
    return True


def test_the_page_has_the_messages_that_users_meet() -> None:
    assert len(MESSAGES) >= 25


@pytest.mark.parametrize("message", MESSAGES)
def test_a_message_on_the_page_is_one_of_the_program(message: str, program_texts: list[str]) -> None:
    assert any(says(text, message.split("…")) for text in program_texts)
