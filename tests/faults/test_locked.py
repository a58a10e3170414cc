"""Another process holds the record for longer than one can wait: that is said, and nothing is lost."""

import json
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from arena.cli.main import app
from arena.errors import ArenaError
from arena.verify.content import verified_content
from tests.faults.little import hash_of, play, write_config
from tests.opened_record import OpenedRecord, new_record, opened_record, wait_at_most
from tests.rows import read_only

HOLD = """\
import sqlite3, sys
held = sqlite3.connect(sys.argv[1], isolation_level=None)
held.execute("BEGIN IMMEDIATE")
print("held", flush=True)
sys.stdin.readline()
"""


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody waits for half a minute here."""
    wait_at_most(100, monkeypatch)


@pytest.fixture
def held(tmp_path: Path) -> Iterator[Path]:
    """A record of a season that another process is writing into."""
    write_config(tmp_path)
    path = tmp_path / "season.db"
    new_record(path)
    words = [sys.executable, "-c", HOLD, str(path)]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "held\n"
        yield path
        other.communicate("let go\n")


def test_a_round_says_so_and_is_played_when_the_other_has_let_go(held: Path) -> None:
    words = [
        "run",
        "--round",
        "--config",
        str(held.parent / "config.yaml"),
        "--database",
        str(held),
        "--json",
    ]
    answer = CliRunner().invoke(app, words)
    assert answer.exit_code == 1
    assert json.loads(answer.stdout)["error"] == {
        "code": "locked",
        "message": f"{held} is in use by another process",
        "mend": "try again when it has finished",
    }


def test_a_wait_for_another_process_is_told_before_it_is_over(
    held: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with pytest.raises(ArenaError, match="is in use by another process"):
        new_record(held)
    assert caplog.messages == [f"{held} is in use by another process; waiting up to 0 s"]


def test_a_season_that_is_shut_out_in_the_midst_of_it_goes_on_later(
    whole: tuple[Path, str], tmp_path: Path
) -> None:
    write_config(tmp_path)
    path, seen = tmp_path / "season.db", 0
    with (
        opened_record(path) as record,
        closing(sqlite3.connect(path, isolation_level=None)) as other,
    ):
        real = OpenedRecord.add_turns

        def shut_out(record: OpenedRecord, *words: Any) -> object:
            nonlocal seen
            seen += 1
            if seen == 3:
                other.execute("BEGIN IMMEDIATE")
            return real(record, *words)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(OpenedRecord, "add_turns", shut_out)
            with pytest.raises(ArenaError) as caught:
                play(record, tmp_path)
        assert caught.value.code == "locked"
        other.execute("ROLLBACK")
        play(record, tmp_path)
    assert hash_of(path) == whole[1]


def test_who_only_reads_is_not_shut_out(held: Path) -> None:
    with read_only(held) as connection:
        assert verified_content(connection, held).counts["rounds"] == 0
    made = CliRunner().invoke(app, ["admin", "backup", str(held.parent / "b.db"), "--database", str(held)])
    assert made.exit_code == 0


def test_a_restore_leaves_it_alone(held: Path) -> None:
    with sqlite3.connect(held.parent / "b.db") as copy, sqlite3.connect(held) as source:
        source.backup(copy)
    copy.close()
    source.close()
    words = ["restore", str(held.parent / "b.db"), "--force", "--database", str(held), "--json"]
    answer = CliRunner().invoke(app, ["admin", *words])
    assert answer.exit_code == 1
    assert json.loads(answer.stdout)["error"]["code"] == "locked"
