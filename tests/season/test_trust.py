"""Opening somebody else's folder runs none of its code; playing there asks once, by path and content."""

import json
import os
import pty
from collections.abc import Iterator
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest
from typer.testing import CliRunner

from arena.cli.main import app
from arena.cli.surface import COMMANDS, Places
from tests.program.running import loaded

CONFIG = """\
markets: {venue: simulator, show: 3, simulator: {start: 2026-01-04, weeks: 3, markets: 10, events: 3}}
cohorts: {rounds: 1, count: 1}
agents:
  - {kind: market}
  - {kind: evil, secret: 3}
  - {name: mine, kind: python, function: own:decide}
  - {kind: naive}
"""
PLAYED = "".join(line for line in CONFIG.splitlines(True) if "evil" not in line and "own" not in line)
EVIL = "from pathlib import Path\nPath({canary!r}).write_text('it ran')\nraise RuntimeError('evil')\n"
GOOD = """\
from agents.model import Decision, KindSettings

class Settings(KindSettings):
    secret: int = 0

def agent(settings, given):
    async def decide(view, ask):
        return Decision()
    return decide
"""
ASKING = (
    "check",
    "run",
    "run --once",
    "run --round",
    "show turn evil --play",
    "admin cohort start",
)
"""Command lines that may run extensions: they need a trusted folder."""
OTHERS_ASKING = ("demo", "run --worker", "study replay past", "study forecastbench run")
"""The same, of commands that need more than a folder, or play a world of their own."""
VENUE_READERS = ("run --sync", "study bundle recorded --fresh")
"""Command lines that ask a venue, which may be an extension of a trusted folder."""
SLOW = ("share site site", "share report -o season.html")
"""Commands that wait for a server, or draw pages in a process of their own that reads no config."""
READING = (
    *VENUE_READERS,
    *SLOW,
    "try demo/sharp",
    "init elsewhere --model openai/gpt-5.4 --yes",
    "add demo/sharp --no-probe",
    "check recorded",
    "run --list",
    "status",
    "status --incidents",
    "board",
    "board market naive",
    "show agents",
    "show agent evil",
    "show cohorts",
    "show cohort 1",
    "show cohort 1 --head",
    "show markets",
    "show market none",
    "show positions",
    "show prompt",
    "show config",
    "dashboard --port 1 --behind-proxy",
    "score forecasts.csv",
    "share export exported",
    "admin cohort end 1",
    "admin cohort pause 1",
    "admin settle none",
    "admin verify",
    "admin backup",
    "admin restore none.db",
    "admin prune",
    "study whatif market",
    "study bundle recorded",
    "study forecastbench file",
    "study forecastbench board",
    "outside desk --key market",
    "outside desk --schema view",
    "outside mcp",
)
"""Command lines that run nothing of a folder."""


def every_command(places: Places, before: str = "") -> Iterator[str]:
    """Yield the commands of the surface, each with the words before it."""
    for name, place in places.items():
        if isinstance(place, str):
            yield f"{before}{name}"
        else:
            yield from every_command(place, f"{before}{name} ")


def test_every_command_is_here() -> None:
    lines = [f"{line} " for line in (*ASKING, *OTHERS_ASKING, *READING)]
    missing = [name for name in every_command(COMMANDS) if not any(x.startswith(f"{name} ") for x in lines)]
    assert missing == []


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the record of one round."""
    path = tmp_path_factory.mktemp("played")
    (path / "config.yaml").write_text(PLAYED, "utf-8")
    done = CliRunner().invoke(app, ["run", "--round", "--config", str(path / "config.yaml")])
    assert done.exit_code == 0, done.output
    return path


@pytest.fixture
def folder(played: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return somebody else's folder, whose extensions leave a trace, and a record of one round."""
    copytree(played, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("ARENA_TRUST_EXTENSIONS")
    (tmp_path / "config.yaml").write_text(CONFIG, "utf-8")
    (tmp_path / "forecasts.csv").write_text("question,agent,probability,outcome\nq1,me,0.7,yes\n", "utf-8")
    (tmp_path / "extensions" / "kinds").mkdir(parents=True)
    evil = EVIL.format(canary=str(tmp_path / "canary"))
    shadows = ("json.py", "streamlit.py", "dashboard.py", "sitecustomize.py")
    for name in ("extensions/evil.py", "own.py", *shadows):
        (tmp_path / name).write_text(evil, "utf-8")
    return tmp_path


@pytest.mark.parametrize("name", READING)
def test_a_command_that_only_reads_runs_nothing(
    folder: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("arena.cli.dashboard.serve", lambda *_: None)  # it serves until it is stopped
    done = CliRunner().invoke(app, name.split())
    assert not (folder / "canary").exists(), done.output
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    assert "can't be loaded" not in done.output


@pytest.mark.parametrize(
    "words",
    [["admin", "verify"], ["status"], ["show", "agents"], ["board"], ["show", "cohort", "1", "next"]],
)
def test_what_is_read_is_read_all_the_same(folder: Path, words: list[str]) -> None:
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    named = ("show", "status")  # the agents of the config, by their names alone
    assert ("evil" in done.output) == (words[0] in named)
    assert not (folder / "canary").exists()


@pytest.mark.parametrize("name", ASKING)
def test_a_command_that_plays_needs_a_trusted_folder(folder: Path, name: str) -> None:
    done = CliRunner().invoke(app, name.split())
    assert done.exit_code == 64, done.output
    assert not (folder / "canary").exists()
    for told in (str(folder), "file extensions/evil.py", "file own.py", "--trust-extensions"):
        assert told in done.output.replace("\n", " ")


def trusted(folder: Path, *words: str) -> int:
    return CliRunner().invoke(app, ["check", "--config", str(folder / "config.yaml"), *words]).exit_code


def good(folder: Path) -> Path:
    for name in ("extensions/evil.py", "own.py"):
        (folder / name).write_text(GOOD + "\ndef decide(view, ask): ...\n", "utf-8")
    return folder


@pytest.mark.parametrize(("answer", "status"), [("y\n", 0), ("n\n", 64), ("\n", 64)])
def test_a_terminal_is_asked(folder: Path, answer: str, status: int) -> None:
    ours, theirs = pty.openpty()
    os.write(ours, answer.encode())
    ended = loaded().in_terminal(good(folder), Path(os.ttyname(theirs)), "check").wait()
    os.close(theirs)
    shown = os.read(ours, 100_000).decode()
    os.close(ours)
    assert ended == status, shown
    assert "file extensions/evil.py" in shown
    assert "Run it from now on, until it changes?" in shown
    assert trusted(folder) == status


def test_trust_is_kept_by_path_and_content(folder: Path) -> None:
    good(folder)
    assert [trusted(folder), trusted(folder, "--trust-extensions"), trusted(folder)] == [64, 0, 0]
    kept = folder / "home" / "paper-arena" / "trusted.json"
    assert kept.stat().st_mode & 0o777 == 0o600
    assert kept.parent.stat().st_mode & 0o777 == 0o700
    moved = folder.rename(folder.with_name(f"{folder.name}-moved"))
    assert trusted(moved) == 64
    link = moved.with_name(f"{folder.name}")
    link.symlink_to(moved)
    assert trusted(link) == 64  # by where it really is


LOUD = (
    f"from pathlib import Path\nPath({{canary!r}}).write_text('it ran')\n{GOOD}\ndef decide(view, ask): ...\n"
)


@pytest.fixture(scope="module")
def begun(played: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the record in which a second cohort has started, with extensions that work."""
    path = tmp_path_factory.mktemp("begun")
    copytree(played, path, dirs_exist_ok=True)
    add_loud_code(path)
    done = CliRunner().invoke(app, ["admin", "cohort", "start", "--config", str(path / "config.yaml")])
    assert done.exit_code == 0, done.output
    return path


def add_loud_code(path: Path) -> None:
    """Write a config with extensions that work, and leave a trace where they are loaded."""
    (path / "config.yaml").write_text(CONFIG, "utf-8")
    (path / "extensions").mkdir(exist_ok=True)
    for name in ("extensions/evil.py", "own.py"):
        (path / name).write_text(LOUD.format(canary=str(path / "canary")), "utf-8")


@pytest.fixture
def loud(folder: Path, begun: Path) -> Path:
    """Return a trusted folder with a record that its working extensions, which leave a trace, have played."""
    copytree(begun, folder, dirs_exist_ok=True)
    add_loud_code(folder)
    assert trusted(folder, "--trust-extensions") == 0
    (folder / "canary").unlink()
    return folder


@pytest.mark.parametrize("name", [line for line in READING if line not in (*VENUE_READERS, *SLOW)])
def test_reading_in_a_trusted_folder_runs_nothing_either(
    loud: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("arena.cli.dashboard.serve", lambda *_: None)  # it serves until it is stopped
    done = CliRunner().invoke(app, name.split())
    assert not (loud / "canary").exists(), done.output
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception


def compared() -> tuple[dict[str, Any], str]:
    """Return how the second cohort differs from the next, as JSON and in words."""
    command = ["show", "cohort", "2", "next"]
    data = CliRunner().invoke(app, [*command, "--json"])
    text = CliRunner().invoke(app, command)
    assert (data.exit_code, text.exit_code) == (0, 0)
    return json.loads(data.stdout), text.stdout


def test_settings_of_extensions_are_compared_where_they_may_be_loaded(loud: Path) -> None:
    same, text = compared()
    assert (same["same"], same["not_compared"]) == (True, [])
    assert "nothing has changed" in text

    changed = (loud / "config.yaml").read_text("utf-8").replace("secret: 3", "secret: 4")
    (loud / "config.yaml").write_text(changed, "utf-8")
    assert "evil: secret: 4, was 3" in compared()[1]


def test_settings_of_extensions_are_not_guessed_where_they_may_not(loud: Path) -> None:
    (loud / "extensions" / "evil.py").write_text(EVIL.format(canary=str(loud / "canary")), "utf-8")
    changes, text = compared()
    assert changes["not_compared"] == ["evil"]
    assert (changes["same"], changes["agents"]["changed"], changes["prompts"]) == (False, {}, {})
    assert "not trusted to run its extensions: evil" in " ".join(text.split())
    assert not (loud / "canary").exists()


CHANGES = {
    "a file that changed": ("extensions/evil.py", GOOD + "x = 1\n"),
    "a function that changed": ("own.py", "def decide(view, ask): pass\n"),
    "a new file in a folder below": ("extensions/kinds/deep/other.py", ""),
    "a compiled file": ("extensions/__pycache__/evil.cpython-311.pyc", "x"),
    "a library": ("extensions/fast.so", "x"),
    "a command": ("config.yaml", CONFIG + "heads: [cat]\n"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_what_is_new_or_has_changed_is_asked_again(folder: Path, change: str) -> None:
    assert trusted(good(folder), "--trust-extensions") == 0
    name, text = CHANGES[change]
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text, "utf-8")
    assert trusted(folder) == 64
    assert trusted(folder, "--trust-extensions") == 0


def test_two_configs_of_a_folder_are_both_trusted(folder: Path) -> None:
    good(folder)
    other = folder / "other.yaml"
    other.write_text(PLAYED + "heads: [cat]\n", "utf-8")
    for words in (["--config", "other.yaml"], []):
        assert CliRunner().invoke(app, ["check", "--trust-extensions", *words]).exit_code == 0
    assert CliRunner().invoke(app, ["check", "--config", "other.yaml"]).exit_code == 0


@pytest.mark.parametrize("text", ["", "[]", '{"version": 1, "folders": {"x": 3}}', "\xff", "[" * 100_000])
def test_a_broken_file_of_trust_trusts_nothing(folder: Path, text: str) -> None:
    assert trusted(good(folder), "--trust-extensions") == 0
    kept = folder / "home" / "paper-arena" / "trusted.json"
    kept.write_text(text, "latin-1")
    done = CliRunner().invoke(app, ["check", "--json"])
    assert (done.exit_code, json.loads(done.output)["error"]["code"]) == (64, "trust_unreadable")
    assert CliRunner().invoke(app, ["admin", "verify"]).exit_code == 0


def test_a_file_of_trust_that_others_can_write_is_refused(folder: Path) -> None:
    assert trusted(good(folder), "--trust-extensions") == 0
    (folder / "home" / "paper-arena" / "trusted.json").chmod(0o666)
    assert "others can write it" in CliRunner().invoke(app, ["check"]).output


@pytest.mark.parametrize(
    ("named", "status"), [(".", 64), ("{folder}", 0), ("/x:{folder}", 0), ("{folder}/x", 64)]
)
def test_a_variable_names_trusted_folders(
    folder: Path, monkeypatch: pytest.MonkeyPatch, named: str, status: int
) -> None:
    monkeypatch.setenv("ARENA_TRUST_EXTENSIONS", named.format(folder=folder))
    assert trusted(good(folder)) == status
