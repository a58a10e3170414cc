"""`arena admin` with backups: what its commands print, and how they end."""

import asyncio
import json
import shutil
import sqlite3
from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest

from arena.rounds.round import play_round
from tests.arena.record.downgraded import of_version
from tests.builders import NOW
from tests.opened_record import opened_record
from tests.program.in_process import answered, invoke
from tests.records.full_record import build
from tests.records.little_world import LittleVenue, a_world, begun_live, says

CONFIG = """\
database: season.db
backup: {folder: saved, keep: 2}
markets: {venue: simulator}
agents: [{kind: market}]
"""


run = partial(invoke, "admin")
told = partial(answered, "admin")


@pytest.fixture(scope="module")
def week(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a record of one week."""
    path = tmp_path_factory.mktemp("week") / "season.db"
    build(path, 1).close()
    return path


@pytest.fixture
def here(week: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a working folder with a config and a record."""
    monkeypatch.chdir(tmp_path)
    shutil.copy(week, tmp_path)
    (tmp_path / "config.yaml").write_text(CONFIG, "utf-8")
    return tmp_path


def test_a_backup_goes_to_the_folder_of_the_config_and_the_newest_stay(here: Path) -> None:
    old = [here / "saved" / f"season-2020010{day}T000000Z.db" for day in (1, 2)]
    for path in old:
        made = told("backup", str(path))
        assert made["gone"] == []
    made = told("backup")
    assert made["file"].startswith("saved/season-")
    assert (here / made["file"]).stat().st_size == made["bytes"]
    assert made["gone"] == ["saved/season-20200101T000000Z.db"]
    assert made["counts"]["turns"] == 3
    assert len(made["state_hash"]) == 64
    said = run("backup", "mine.db").output
    assert said.startswith("mine.db: ")
    assert f"State hash {made['state_hash']}" in said


def test_the_drill_that_a_backup_suggests_works_beside_the_record(here: Path) -> None:
    following = run("backup", "my move.db", "--database", "season.db").output.splitlines()[-1]
    assert following.endswith("arena admin restore 'my move.db' --database drill.db")
    assert run("restore", "my move.db", "--database", "drill.db").exit_code == 0


def test_a_record_that_is_named_needs_no_config(here: Path) -> None:
    (here / "config.yaml").unlink()
    assert told("backup", "--database", "season.db")["file"].startswith("backups/season-")


@pytest.mark.parametrize("file", ["nowhere.db", "config.yaml"])
def test_a_restore_of_no_backup_suggests_no_command_on_the_new_record(here: Path, file: str) -> None:
    refused = run("restore", file, "--database", "new.db")
    assert refused.exit_code == 1
    assert "--database new.db" not in refused.output


def test_a_restore_says_where_the_former_record_is(here: Path) -> None:
    saved = told("backup", "mine.db")
    refused = told("restore", "mine.db", status=1)["error"]
    assert refused["code"] == "exists"
    assert "--force" in refused["mend"]
    done = told("restore", "mine.db", "--force")
    assert done["restored"] == str(here / "season.db")
    assert (here / done["aside"]).name.startswith("season-until-")
    assert {key: done[key] for key in ("state_hash", "counts", "schema")} == {
        key: saved[key] for key in ("state_hash", "counts", "schema")
    }
    said = run("restore", "mine.db", "--database", "new.db").output
    assert "verify --database new.db" in said
    assert said.startswith("new.db is restored from mine.db and verified. 1 cohort, 1 round, 3 turns, ")


def test_an_upgrade_makes_a_backup_first(week: Path, here: Path, older_version: str) -> None:
    (here / "season.db").unlink()
    of_version(week, "season.db", older_version)
    asked = invoke("admin", "verify", "--json")
    assert json.loads(asked.stdout)["error"]["mend"] == "`arena admin backup --upgrade` brings it up to date"
    done = told("backup", "--upgrade")
    assert (done["from"], done["to"] > older_version) == (older_version, True)
    assert told("backup", "new.db")["schema"] == done["to"]
    assert told("restore", done["backup"], "--database", "again.db")["from_schema"] == older_version
    nothing, following = run("backup", "--upgrade").output.splitlines()
    assert nothing == f"Nothing to do: the schema is {done['to']}, the newest."
    assert following.endswith("arena admin verify")
    assert told("backup", "--upgrade") == {
        "from": done["to"],
        "to": done["to"],
        "backup": None,
        "queue": False,
    }


def test_an_upgrade_makes_its_backup_in_the_folder_of_backups(here: Path) -> None:
    refused = told("backup", "mine.db", "--upgrade", status=64)["error"]
    assert "not into a file" in refused["message"]
    assert not (here / "mine.db").exists()


def test_of_a_record_that_can_not_be_upgraded_nothing_is_touched(
    week: Path, here: Path, older_version: str
) -> None:
    """The upgrade is tried on the backup first."""
    (here / "season.db").unlink()
    of_version(week, "season.db", older_version)
    with sqlite3.connect("season.db") as database:
        database.execute("UPDATE mark SET value = value + 1")
    database.close()
    assert told("backup", "--upgrade", status=1)["error"]["code"] == "differs"
    with sqlite3.connect("season.db") as database:
        assert database.execute("SELECT version_num FROM alembic_version").fetchone() == (older_version,)
    database.close()


def test_a_record_that_was_moved_without_its_backups_says_that_they_are_not_here(here: Path) -> None:
    with opened_record(here / "season.db") as record:
        record.put_job("backup", NOW, NOW, NOW, note="season-20260104T120000Z.db")
    missing = "backup       2026-01-04 12:00 UTC ("
    shown = next(line for line in invoke("status").output.splitlines() if line.startswith(missing))
    assert shown.endswith("; its file is not here")

    told("backup")
    shown = next(line for line in invoke("status").output.splitlines() if line.startswith("backup "))
    assert "not here" not in shown


def test_the_age_of_quotes_counts_from_the_newest_instant_of_a_record_with_its_own_time(here: Path) -> None:
    said = run("prune", "--older-than", "1d", "--dry-run").output
    assert said.startswith("The record has a time of its own: ages count from its newest instant, 2026-01-")
    found = told("prune", "--older-than", "1d", "--dry-run")
    assert found["older_than"].startswith("2026-01-")
    assert found["later"] > 0


def test_the_age_of_quotes_counts_from_the_newest_instant_of_a_rehearsal_on_a_live_venue(here: Path) -> None:
    with opened_record(here / "live.db") as record:
        stored = begun_live(record, "ann")
        asyncio.run(play_round(stored, 1, a_world(LittleVenue(), {"ann": says("0.7")}), record))
    named = ("prune", "--older-than", "1d", "--dry-run", "--database", "live.db")
    assert told(*named)["older_than"] > (NOW - timedelta(days=1)).isoformat()
    with opened_record(here / "live.db") as record:
        record.put_job("rehearsal", NOW, NOW, NOW)
    assert told(*named)["older_than"] == (NOW - timedelta(days=1)).isoformat()


def test_a_copy_says_both_places_and_the_hash(here: Path) -> None:
    done = told("backup", "sqlite:///new.db")
    assert (done["from"], done["to"]) == (str(here / "season.db"), "new.db")
    assert told("backup", "--database", "new.db", "mine.db")["state_hash"] == done["state_hash"]
    assert told("backup", "sqlite:///new.db", status=1)["error"]["code"] == "exists"
    assert run("backup", "sqlite:///newer.db").output.startswith(
        f"newer.db holds all of {here / 'season.db'}: verified"
    )
