"""A year of `arena run` with all that may befall it, and the same one killed again and again: one hash."""

from pathlib import Path
from random import Random
from typing import Any

import pytest

from arena.record.schema.database import newest_schema_version, open_read_only, reading, schema_version
from tests.program.forked import Forks
from tests.program.rehearsal import content, rows
from tests.season.yearlong import A_YEAR, NEW, OLD, SOME_WEEKS, Stage, Year, kills, staged


def test_some_weeks_with_every_mishap_end_in_a_record_that_agrees(tmp_path: Path, forked: Forks) -> None:
    """What is killed in the midst of it: see tests/season/test_run_process.py."""
    with staged(SOME_WEEKS, forked.start) as stage:
        stage.play(tmp_path / "whole")
        befell(stage, content(tmp_path / "whole"))


@pytest.mark.thorough
def test_some_weeks_with_every_mishap_end_in_one_hash_killed_or_not(tmp_path: Path, forked: Forks) -> None:
    play_twice(SOME_WEEKS, 2, tmp_path, forked)


@pytest.mark.thorough
def test_a_year_with_every_mishap_ends_in_one_hash_killed_or_not(tmp_path: Path, forked: Forks) -> None:
    play_twice(A_YEAR, 10, tmp_path, forked)


def play_twice(year: Year, deaths: int, folder: Path, forked: Forks) -> None:
    """Play a year as it comes, and then with so many kills."""
    with staged(year, forked.start) as stage:
        stage.play(folder / "whole")
        asked = len(stage.provider.log)
        whole = content(folder / "whole")
        befell(stage, whole)
        stage.play(folder / "killed", kills(year, deaths, Random("when to kill")), Random("how much later"))
        assert stage.lives == 4 + deaths
        again = len(stage.provider.log) - 2 * asked
    assert content(folder / "killed") == whole
    assert again <= 2 * deaths, "of two models, only calls cut off by a kill may be made once more"


def befell(stage: Stage, found: dict[str, Any]) -> None:
    """All that was to happen has left its traces, and none of it a difference."""
    year, folder = stage.year, stage.folder
    assert found["differences"] == []
    assert (found["cohorts"], found["rounds"]) == (year.cohorts, year.cohorts * year.rounds)
    assert all(ended for _, ended in found["ended"])
    with open_read_only(str(folder / "arena.db")) as engine, reading(engine) as connection:
        assert schema_version(connection) == newest_schema_version()
    assert len(list((folder / "backups").iterdir())) == 1, "the one before the record was carried over"
    late = "SELECT count(*) FROM round JOIN snapshot ON snapshot.id = snapshot_id WHERE taken_at > round.at"
    assert rows(folder, late) > [(0,)], "the venue was down at a round's time"
    said = " ".join(words for (words,) in rows(folder, "SELECT DISTINCT error_message FROM call") if words)
    assert "was retired" in said
    assert "closed for now" in said
    of_the_last = "SELECT name FROM entrant WHERE cohort_id = (SELECT max(id) FROM cohort)"
    names = {name for (name,) in rows(folder, of_the_last)}
    assert (NEW in names, OLD in names) == (True, False)
    corrected = "SELECT count(*) FROM resolution WHERE version > 1"
    reversed_ = "SELECT count(*) FROM entry WHERE kind = 'reverse'"
    assert rows(folder, corrected) > [(0,)] < rows(folder, reversed_), "the venue took its word back"
