"""`arena init` makes a folder in which `arena check` finds all well, from answers or from options."""

import json
import os
import pty
import subprocess
import sys
from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from arena.config import load
from arena.config.new_folder import NewArena, make_folder
from arena.errors import ArenaError
from tests.arena.cli.test_main import ROOT, arena
from tests.arena.config_files import write

WEDNESDAY = datetime(2026, 3, 4, 23, 59, tzinfo=UTC)
DEMO = NewArena("simulator", ({"model": "demo/sharp"}, {"model": "demo/hasty"}), None)
FILES = [".env.example", ".gitignore", "arena.service", "config.yaml"]
KEYS = {"ANTHROPIC_API_KEY": "canary", "OPENAI_API_KEY": "canary"}


def test_without_a_terminal_it_takes_the_models_whose_keys_are_there(tmp_path: Path) -> None:
    folder = tmp_path / "my arena" / "first"
    made = arena("init", str(folder), env=KEYS)
    assert made.returncode == 0, made.stderr
    assert "arena check --live" in made.stdout
    assert sorted(path.name for path in folder.iterdir()) == FILES
    config = load(folder / "config.yaml", KEYS, beside=True)
    assert [agent.name for agent in config.agents] == [
        "claude-sonnet-5", "gpt-6-sol", "crowd", "market", "constant",
    ]  # fmt: skip
    assert config.agents[2].of == ("claude-sonnet-5", "gpt-6-sol")
    assert (config.markets.venue, config.budget.day) == ("polymarket", 4_600_000)
    assert f'ReadWritePaths="{folder}"' in (folder / "arena.service").read_text("utf-8")
    assert "canary" not in made.stdout + "".join(path.read_text("utf-8") for path in folder.iterdir())


def test_options_choose_venue_models_and_money(tmp_path: Path) -> None:
    words = (
        "--venue",
        "manifold",
        "--model",
        "openai/gpt-5.4",
        "--model",
        "azure/gpt-5.4",
        "--budget",
        "100",
    )
    found = json.loads(arena("init", "a", *words, "--json", cwd=tmp_path).stdout)
    low, high = found.pop("month_usd")
    assert 0 < low < high
    assert found == {
        "venue": "manifold",
        "models": ["openai/gpt-5.4", "azure/gpt-5.4"],
        "missing": ["OPENAI_API_KEY", "AZURE_API_KEY"],
        "day_usd": 23.02,
        "folder": "a",
        "made": ["config.yaml", ".env.example", ".gitignore", "arena.service"],
        "kept": [],
        "unpriced": [],
    }
    config = load(tmp_path / "a" / "config.yaml")
    assert [agent.name for agent in config.agents][:2] == ["gpt-5.4", "azure/gpt-5.4"]
    assert config.budget.day == 23_020_000


def test_a_simulated_arena_plays_at_once_in_the_folder_one_is_in(tmp_path: Path) -> None:
    made = arena("init", "--yes", "--venue", "simulator", cwd=tmp_path)
    assert "made-up prices: demo models are free" in made.stdout
    assert made.returncode == 0, made.stderr
    assert "cd " not in made.stdout
    checked = arena("check", cwd=tmp_path)
    assert checked.returncode == 0, checked.stderr
    for word in (
        "demo/sharp",
        "realistic",
        "up to 40 a round from simulator",
        "$10,000",
        "arena run --round\n",
        "models are free",
    ):
        assert word in checked.stdout
    played = arena("run", "--round", "--json", cwd=tmp_path)
    assert played.returncode == 0, played.stdout


@pytest.mark.parametrize("words", ["init a --venue simulator", "try --base-url http://127.0.0.1:9/v1"])
def test_with_a_closed_standard_input_nobody_is_asked(tmp_path: Path, words: str) -> None:
    line = f"exec {sys.executable} -P -m arena.cli.main {words} <&-"
    bare = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT)}
    done = subprocess.run(["sh", "-c", line], cwd=tmp_path, env=bare, capture_output=True, text=True)
    assert "Traceback" not in done.stderr
    assert (done.returncode == 0) == ("init" in words), done.stderr


def test_in_a_terminal_it_asks_three_things(tmp_path: Path) -> None:
    write(tmp_path, "GEMINI_API_KEY=canary\n", ".env")
    answers = ("kalsi", "kalshi", "demo/sharp", "", "gemini/gemini-3.8-flash", "52")
    shown = typed(tmp_path, *(f"{answer}\n" for answer in answers))
    for words in (
        "there is no venue 'kalsi'",
        "demo/sharp can't forecast real markets",
        "or simulator (offline) [polymarket]",
        "Keys found: GEMINI_API_KEY",
        "[gemini/gemini-3.8-flash]",
        "Dollars a month for all of them [20.0]",
    ):
        assert words in shown
    assert "arena run" in shown.rpartition("Next:")[2]
    config = load(tmp_path / "config.yaml")
    assert (config.markets.venue, config.agents[0].model) == ("kalshi", "gemini/gemini-3.8-flash")
    assert config.budget.day == 11_970_000


def typed(folder: Path, *answers: str) -> str:
    """Return what `arena init` shows in a terminal in which these answers are typed."""
    ours, theirs = pty.openpty()
    os.write(ours, "".join(answers).encode())
    bare = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "TERM": "dumb"}
    words = [sys.executable, "-P", "-m", "arena.cli.main", "init"]
    done = subprocess.run(words, cwd=folder, env=bare, stdin=theirs, capture_output=True, text=True)
    os.close(theirs)
    os.close(ours)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_new_folders_world_starts_this_week(tmp_path: Path) -> None:
    make_folder(tmp_path, WEDNESDAY, DEMO)
    config = load(tmp_path / "config.yaml")
    assert config.venue_settings.model_dump()["start"] == date(2026, 3, 1)
    assert config.budget.limits == {}


def test_it_overwrites_nothing(tmp_path: Path) -> None:
    write(tmp_path, "mine\n", ".gitignore")
    made, kept = make_folder(tmp_path, WEDNESDAY, DEMO)
    assert (sorted(made), kept) == ([".env.example", "arena.service", "config.yaml"], [".gitignore"])
    assert (tmp_path / ".gitignore").read_text("utf-8") == "mine\n"
    assert (tmp_path / ".env.example").stat().st_mode & 0o777 == 0o600, "its copy holds keys"
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    again = arena("init", str(tmp_path), "--json")
    assert (again.returncode, json.loads(again.stdout)["error"]) == (1, {
        "code": "exists",
        "message": f"{tmp_path}/config.yaml already exists",
        "mend": "choose another folder, or move it away",
    })  # fmt: skip
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


@pytest.mark.parametrize(
    ("model", "said"),
    [
        ("anthropc/claude-sonnet-5", "did you mean anthropic/claude-sonnet-5?"),
        ("anthropic/claude-sonet-5", "did you mean anthropic/claude-sonnet-5?"),
        ("demo/sharp", "demo/sharp can't forecast real markets"),
        ("openai/a, b", "is not a model"),
    ],
)
def test_a_model_that_cannot_play_is_refused_before_anything_is_made(
    tmp_path: Path, model: str, said: str
) -> None:
    done = arena("init", "a", "--model", model, cwd=tmp_path)
    assert (done.returncode, list(tmp_path.iterdir())) == (1, [])
    assert said in done.stderr


def test_where_no_folder_can_be_made_it_says_so(tmp_path: Path) -> None:
    path = write(tmp_path, "a file", "taken")
    for folder in (path, path / "below"):
        with pytest.raises(ArenaError) as caught:
            make_folder(folder, WEDNESDAY, DEMO)
        assert caught.value.code == "not_writable"
        assert str(path) in caught.value.message


def test_the_template_of_keys_has_a_line_for_each_key_that_a_model_names(tmp_path: Path) -> None:
    models = ({"model": "openai/a", "api_key_env": "KEY_A"}, {"model": "openai/b", "api_key_env": "KEY_A"})
    make_folder(tmp_path, WEDNESDAY, NewArena("kalshi", models, None))
    lines = (tmp_path / ".env.example").read_text("utf-8").splitlines()
    assert (lines.count("# KEY_A="), lines.count("# OPENAI_API_KEY=")) == (1, 1)
