"""The program's frame: help at once, expected errors in a line or two, and nothing of ours hidden."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from typer.core import TyperGroup
from typer.main import get_command

from arena.cli.main import COMMANDS, FORMER, LoadedCommands, app
from arena.cli.output import progress
from tests.program.running import loaded

ROOT = Path(__file__).parents[3]


def arena(
    *words: str, cwd: Path = ROOT, env: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """The program, run from the checkout in a process of its own, with an environment without keys.

    Where other packages come first it is started afresh.
    """
    bare = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "COLUMNS": "100", **(env or {})}
    if bare["PYTHONPATH"] == str(ROOT):
        return loaded().run(cwd, words, bare)
    command = [sys.executable, "-P", "-m", "arena.cli.main", *words]
    return subprocess.run(command, cwd=cwd, env=bare, capture_output=True, text=True, timeout=60)


def commands(group: TyperGroup, path: str = "arena") -> Iterator[tuple[str, Any]]:
    """Every command with its whole name, and every group before those in it."""
    for name, command in group.commands.items():
        yield f"{path} {name}", command
        if isinstance(command, TyperGroup):
            yield from commands(command, f"{path} {name}")


def test_every_command_says_what_it_does_shows_an_example_and_what_comes_next() -> None:
    program = get_command(app)
    assert isinstance(program, TyperGroup)
    known = dict(commands(program))
    assert {"arena init", "arena check", "arena run --sync"} <= set(known)
    families = {f"arena {name}": places for name, places in COMMANDS.items() if isinstance(places, dict)}
    for family, places in {"arena": COMMANDS, **families}.items():
        for name, listed in LoadedCommands(places).listed().items():
            first, *_ = known[f"{family} {name}"].help.split("\n\n")
            assert first == listed.help.split("\n\n")[0], "what is read without loading it"
    for name, command in known.items():
        assert command.help, name
        assert "docs/" not in command.help, f"{name}: an installed package has no docs"
        assert f"Example: {name}" in command.help, name
        if name != "arena dashboard":  # the end of the road: it runs until it is stopped
            assert "Next: " in command.help, name
            options = [word for option in command.params for word in option.opts]
            assert "--json" in options or isinstance(command, TyperGroup), name


def test_what_is_in_brackets_is_part_of_the_help() -> None:
    program = get_command(app)
    assert isinstance(program, TyperGroup)
    bracketed = {
        name: [
            words
            for text in (command.help, *(getattr(option, "help", None) for option in command.params))
            for words in re.findall(r"\S*\[\w+\S*", text or "")
        ]
        for name, command in commands(program)
    }
    assert bracketed["arena outside mcp"] == ['"paper-arena[mcp]".']
    for name, found in bracketed.items():
        told = arena(*name.split()[1:], "--help").stdout if found else ""
        assert [words for words in found if words not in told] == [], name


def test_no_command_needs_what_is_optional_before_it_is_asked_for_it() -> None:
    files = sorted(path.stem for path in (ROOT / "arena/cli").glob("[!_]*.py"))
    lines = [f"import arena.cli.{file}" for file in files]
    code = "\n".join([*lines, "import sys", "print(*sys.modules)"])
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert not {"mcp", "procrastinate", "prometheus_client", "psycopg"} & {*done.stdout.split()}


@pytest.mark.parametrize("words", [("run",), ("admin", "backup", "--upgrade")])
def test_help_fills_its_lines_in_a_narrow_terminal(words: tuple[str, ...]) -> None:
    told = arena(*words, "--help", env={"COLUMNS": "80"}).stdout.partition("╭")[0]
    lines = [line.strip() for line in told.splitlines()]
    for line, following in pairwise(lines):
        if line and following:
            assert len(f" {line} {following.split()[0]}") > 79, line


def test_the_version_is_told() -> None:
    assert arena("--version").stdout.startswith("arena")


def test_an_expected_error_is_two_lines_without_a_traceback_and_exit_status_1(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text("kept", "utf-8")
    done = arena("init", str(tmp_path))
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.splitlines() == [
        f"{tmp_path}/config.yaml already exists",
        "→ choose another folder, or move it away",
    ]


@pytest.mark.parametrize(("typed", "now"), FORMER.items())
def test_a_command_of_before_says_what_it_is_called_now(typed: str, now: str, tmp_path: Path) -> None:
    done = arena(*typed.split()[1:], "--json", cwd=tmp_path)
    assert (done.returncode, json.loads(done.stdout)["error"]["mend"]) == (64, f"it is now {now}")
    words = now.partition(",")[0].split()[1:]
    is_known = arena(*(word for word in words if word.islower()), "--help", cwd=tmp_path)
    assert is_known.returncode == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("board", "--cohort", "x"), "Invalid value for '--cohort': expected a whole number"),
        (("statsu",), "No such command 'statsu'. Did you mean 'status'?"),
        (("board", "sharp"), "sharp has to be compared with another agent"),
        (("board", "--columns", "skull"), "there is no column 'skull'; did you mean skill?"),
        (
            ("board", "--by", "price", "--provisional"),
            "--by, --provisional and --metaculus can't be combined",
        ),
    ],
)
def test_a_wrong_command_line_is_told_in_text_or_json_with_a_status_of_its_own(
    built: Path, words: tuple[str, ...], message: str
) -> None:
    line = ("--database", str(built), *words)
    text, data = arena(*line), arena(*line, "--json")
    assert (text.returncode, text.stdout, text.stderr.splitlines()[0]) == (64, "", message)
    assert (data.returncode, data.stderr) == (64, "")
    assert json.loads(data.stdout)["error"]["message"] == message


def test_a_reader_that_stops_reading_ends_the_program_quietly(built: Path) -> None:
    ours, theirs = os.pipe()
    os.close(ours)
    line = [sys.executable, "-m", "arena.cli.main", "board", "--database", str(built)]
    done = subprocess.run(line, cwd=ROOT, stdout=theirs, stderr=subprocess.PIPE, text=True, timeout=60)
    os.close(theirs)
    assert (done.returncode, done.stderr) == (141, "")


def test_no_bar_is_drawn_where_there_is_no_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    with progress("Playing") as moved:
        moved(1, 2)
    assert capsys.readouterr() == ("", "")
