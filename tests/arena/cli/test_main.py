"""The program's frame: help at once, expected errors in a line or two, and nothing of ours hidden."""

import json
import os
import re
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from inspect import cleandoc
from itertools import takewhile
from pathlib import Path
from typing import Any

import pytest
from typer.core import TyperGroup
from typer.main import get_command

from arena.cli.main import app
from arena.cli.output import progress
from arena.cli.surface import former_commands
from tests.program.running import loaded

ROOT = Path(__file__).parents[3]


def arena(
    *words: str, cwd: Path = ROOT, env: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run the program from the checkout in a process of its own, with an environment without keys.

    Where other packages come first it is started afresh.
    """
    bare = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "COLUMNS": "100", **(env or {})}
    if bare["PYTHONPATH"] == str(ROOT):
        return loaded().run(cwd, words, bare)
    command = [sys.executable, "-P", "-m", "arena.cli.main", *words]
    return subprocess.run(command, cwd=cwd, env=bare, capture_output=True, text=True, timeout=60)


def below(group: TyperGroup, name: str) -> Any:
    """Return the command of that name in a group."""
    return group.get_command(group.context_class(group), name)


def commands(group: TyperGroup, path: str = "arena") -> Iterator[tuple[str, Any]]:
    """Yield every command with its whole name, and every group before its members."""
    for name in group.commands:
        command = below(group, name)
        yield f"{path} {name}", command
        if isinstance(command, TyperGroup):
            yield from commands(command, f"{path} {name}")


PROGRAM = get_command(app)
assert isinstance(PROGRAM, TyperGroup)
ALL = dict(commands(PROGRAM))
LEAVES = {name: command for name, command in ALL.items() if not isinstance(command, TyperGroup)}


def help_of(name: str, columns: int = 80) -> str:
    """Return what --help of a command prints in a terminal of this many columns."""
    done = arena(*name.split()[1:], "--help", env={"COLUMNS": str(columns)})
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("words", [("--database", "", "status"), ("status", "--database", "")])
def test_an_empty_database_is_not_that_of_the_config(words: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text("markets: {venue: simulator}\nagents: [{kind: market}]\n")

    done = arena(*words, cwd=tmp_path)

    assert done.returncode != 0
    assert "--database is empty" in done.stderr


def test_the_surface_is_small() -> None:
    assert len(LEAVES) <= 34
    assert [name.removeprefix("arena ") for name in ALL if name.count(" ") == 1] == [
        *("demo", "try", "init", "add", "check"),
        *("run", "status"),
        *("board", "show", "dashboard", "score", "share"),
        *("admin", "study", "outside"),
    ]


@pytest.mark.parametrize("name", ALL)
def test_help_fits_one_screen_and_teaches(name: str) -> None:
    text = help_of(name)
    lines = text.splitlines()
    assert len(lines) <= 40
    assert max(map(len, lines)) <= 80
    assert lines[2] == textwrap.shorten(ALL[name].help.split("\n\n")[0], 200)
    assert len(lines[2]) <= 66, "it stands in a list, in one line"
    assert "docs/" not in text, "an installed package has no docs"
    assert f"Example: {name}" in text
    assert max(map(len, help_of(name, 120).splitlines())) <= 100
    if name in LEAVES:
        assert sample_of(ALL[name].help), "a sample of its output"
        options = [word for option in ALL[name].params for word in option.opts]
        assert "--json" in options or name == "arena dashboard", "it runs until it is stopped"


def sample_of(text: str) -> tuple[str, list[str]] | None:
    """Return the example of a help text that shows its output, and the lines of that output."""
    found = re.search(
        r"^Example: arena (.+)\n\n((?:    .*\n|\n(?=    ))+)", cleandoc(text) + "\n", re.MULTILINE
    )
    return found and (found[1], [line.removeprefix("    ") for line in found[2].splitlines()])


def test_a_list_of_commands_says_what_they_say_themselves() -> None:
    for family, command in [("arena", PROGRAM), *ALL.items()]:
        if isinstance(command, TyperGroup):
            text = " ".join(help_of(family).split())
            for name in command.commands:
                first = " ".join(cleandoc(str(below(command, name).help)).split("\n\n")[0].split())
                assert f"{name} {first}" in text


TEXTS = ("*.md", "*.py", "*.yaml", "*.html", "*.sh", "*.service", "Makefile")
OLD = re.compile(
    rf"(?<!from )(?<![\w.-])arena ({'|'.join(former_commands())})(?=[`”'\" ]|$)(?! *=)", re.MULTILINE
)
TYPED = re.compile(r"\barena((?: [a-z]+)+)((?: [^\s`”\"'|)]+)*)")


def written() -> dict[str, str]:
    """Return the texts of the project that name commands, without those about former versions."""
    listed = subprocess.run(["git", "ls-files", *TEXTS], cwd=ROOT, capture_output=True, text=True, check=True)
    left_out = ("CHANGELOG.md", "arena/cli/surface.py", "tests/arena/cli/test_main.py")
    return {name: (ROOT / name).read_text("utf-8") for name in listed.stdout.split() if name not in left_out}


def test_no_text_names_a_command_of_before_or_an_option_that_is_not_there() -> None:
    wrong = []
    for name, text in written().items():
        wrong += [f"{name}: arena {old}" for old in OLD.findall(text)]
        for words, more in TYPED.findall(text):
            path = "arena" + words
            while path not in ALL and " " in path:
                path = path.rpartition(" ")[0]
            if path in LEAVES:
                known = {"--help", *(word for option in ALL[path].params for word in option.opts)}
                options = [word for word in more.split() if re.fullmatch("--[a-z-]+", word)]
                wrong += [f"{name}: {path} {word}" for word in options if word not in known]
    assert wrong == []


def test_what_is_in_brackets_is_part_of_the_help() -> None:
    assert '"paper-arena[mcp]"' in help_of("arena outside mcp")


def test_help_comes_at_once() -> None:
    """By what it loads: the libraries that take most of a second to load are not among it."""
    heavy = {"sqlmodel", "sqlalchemy", "numpy", "httpx", "litellm", "rich", "yaml", "streamlit"}
    code = "import sys\nfrom arena.cli.main import app\ntry:\n    app(prog_name='arena')\nfinally:\n    "
    code += "print(*sys.modules, file=sys.stderr)"
    for name in LEAVES:
        line = [sys.executable, "-c", code, *name.split()[1:], "--help"]
        done = subprocess.run(line, cwd=ROOT, capture_output=True, text=True, check=True)
        assert heavy & {*done.stderr.split()} == set(), name


def test_alone_it_prints_three_lines() -> None:
    told = arena().stdout.splitlines()
    assert [line.split()[:2] for line in told] == [["arena", "demo"], ["arena", "try"], ["arena", "score"]]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_completes_words(shell: str, tmp_path: Path) -> None:
    typed = {"COMP_WORDS": "arena sh", "COMP_CWORD": "1"}
    if shell != "bash":
        typed = {"_TYPER_COMPLETE_ARGS": "arena sh", "_TYPER_COMPLETE_FISH_ACTION": "get-args"}
    told = arena(cwd=tmp_path, env={"_ARENA_COMPLETE": f"complete_{shell}", **typed}).stdout
    assert "show" in told
    assert "share" in told
    assert "demo" not in told


def test_no_command_needs_what_is_optional_before_it_is_asked_for_it() -> None:
    files = sorted({path.stem for path in (ROOT / "arena/cli").glob("[!_]*.py")} - {"worker"})
    lines = [f"import arena.cli.{file}" for file in files]
    code = "\n".join([*lines, "import sys", "print(*sys.modules)"])
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert not {"mcp", "procrastinate", "prometheus_client", "psycopg"} & {*done.stdout.split()}


def test_the_version_is_told() -> None:
    assert arena("--version").stdout.startswith("arena")


def test_an_expected_error_is_two_lines_without_a_traceback_and_exit_status_1(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text("kept", "utf-8")
    done = arena("init", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.splitlines() == [
        "config.yaml already exists",
        "→ choose another folder, or move it away",
    ]


@pytest.mark.parametrize(("typed", "now"), former_commands().items())
def test_a_command_of_before_says_what_it_is_called_now(typed: str, now: str, tmp_path: Path) -> None:
    done = arena(*typed.split(), "--json", cwd=tmp_path)
    assert (done.returncode, json.loads(done.stdout)["error"]["mend"]) == (64, f"it is now arena {now}")
    words = list(takewhile(str.islower, now.partition(",")[0].split()))
    name = max((x for x in ALL if f"arena {' '.join(words)} ".startswith((f"{x} ", f"{x}s "))), key=len)
    options = [word for option in ALL[name].params for word in option.opts]
    assert [word for word in now.split() if word.startswith("--") and word not in options] == []


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("board", "--cohort", "x"), "Invalid value for '--cohort': expected a whole number"),
        (("demo", "--port", "99999"), "Invalid value for '--port': expected less than or equal to 65535"),
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
    text = arena(*line)
    data = arena(*line, "--json")
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
