"""`arena verify`: what it prints, and how it ends."""

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from arena.cli.main import Commands, arena
from arena.cli.verify import verify
from tests.arena.store.build import build

app = typer.Typer(cls=Commands, pretty_exceptions_enable=False)
app.callback()(arena)
app.command()(verify)


def run(*arguments: str) -> Any:
    """What the command line answers."""
    return CliRunner().invoke(app, ["verify", *arguments])


@pytest.fixture
def record(tmp_path: Path) -> Path:
    """A record of one week."""
    build(tmp_path / "record.db", 1).close()
    return tmp_path / "record.db"


def corrupt(record: Path) -> None:
    database = sqlite3.connect(record)
    database.execute("UPDATE mark SET value = value + 1 WHERE entrant_id = 2")
    database.commit()
    database.close()


def test_a_good_record(record: Path) -> None:
    answer = run("--database", str(record), "--json")
    assert (answer.exit_code, json.loads(answer.stdout)) == (0, {"ok": True, "differences": []})
    answer = run("--database", str(record))
    assert answer.exit_code == 0
    assert "agrees with itself" in answer.stdout


def test_a_bad_record(record: Path) -> None:
    corrupt(record)
    answer = run("--database", str(record), "--json")
    assert answer.exit_code == 1
    key, why = "cohort 1, bob, 2026-01-04T12:00:00.000000Z", "so say the ledger and the snapshot"
    difference = {
        "table": "mark",
        "key": key,
        "field": "value",
        "found": 194_445_293,
        "expected": 194_445_292,
        "why": why,
        "message": f"mark ({key}): value is 194445293 and should be 194445292: {why}",
    }
    assert json.loads(answer.stdout) == {"ok": False, "differences": [difference]}
    answer = run("--database", str(record))
    assert answer.exit_code == 1
    assert "194445293" in answer.stdout
    assert "1 difference" in answer.stdout


def test_no_record(tmp_path: Path) -> None:
    answer = run("--database", str(tmp_path / "none.db"), "--json")
    assert answer.exit_code == 1
    assert json.loads(answer.stdout)["error"]["code"] == "no_record"
