"""A program of anyone's as an agent, by the command line: its answers are kept, and verified."""

import sys
from pathlib import Path

import pytest

from tests.program.rehearsal import rows
from tests.program.running import AGREES, arena, arena_json, demo_config

PROGRAM = """\
import json, os, sys
view = json.load(sys.stdin)
with open("asked", "a") as file:
    file.write(f"{view['round']}\\n")
if view["round"] == 2:
    sys.exit("no idea")
offered = [m for m in view["markets"] if m["offered"] and m["price"] is not None]
json.dump({
    "version": 1,
    "forecasts": [{"market": m["market"], "options": {"yes": 0.9 * m["price"]}} for m in offered],
    "bets": [{"market": m["market"], "option": "no", "amount": 60, "reason": "dear"} for m in offered[:2]],
    "sales": [{"market": "nowhere", "option": "yes"}],
}, sys.stdout)
"""
LINE_UP = f"""\
  - kind: market
  - {{kind: command, name: prog, command: [{sys.executable}, -S, prog.py], timeout: 60s}}
  - {{kind: command, name: prose, command: [echo, I would rather not say]}}
  - {{kind: command, name: nowhere, command: [./nowhere]}}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("command")
    demo_config(folder, LINE_UP, count=1, show=5)
    (folder / "prog.py").write_text(PROGRAM, "utf-8")
    for _ in range(3):
        arena(folder, "run", "--round")
    return folder


def test_its_turns_are_played_and_say_what_was_wrong(folder: Path) -> None:
    turns = "turn JOIN entrant e ON e.id = entrant_id"
    statuses = rows(folder, f"SELECT status FROM {turns} ORDER BY name, turn.id", "demo.db")
    assert [status for (status,) in statuses] == [
        *["played"] * 3, *["failed"] * 3, "played", "failed", "played", *["malformed"] * 3
    ]  # fmt: skip
    assert rows(folder, "SELECT count(*) FROM fill", "demo.db") == [(4,)]
    assert rows(folder, "SELECT count(*) FROM turn WHERE note LIKE '%status 1: no idea'", "demo.db") == [(1,)]
    assert (folder / "asked").read_text().split() == ["1", "2", "3"]


def test_verify_reads_its_answers_again(folder: Path) -> None:
    found = arena_json(folder, "admin", "verify")
    assert found.items() >= AGREES.items()
    assert not any("command" in words for words in found["unproved"])


def test_an_answer_that_is_in_is_not_asked_for_again(folder: Path) -> None:
    arena(folder, "run", "--round", "--at", "2026-01-04T00:00Z")
    assert (folder / "asked").read_text().split() == ["1", "2", "3"]


def test_the_forms_are_printed() -> None:
    for name in ("view", "decision", "result"):
        assert arena_json(Path.cwd(), "outside", "desk", "--schema", name)["type"] == "object"
    wrong = arena(Path.cwd(), "outside", "desk", "--schema", "answer")
    assert wrong.returncode == 64
    assert "'answer' is not one of" in wrong.stderr
