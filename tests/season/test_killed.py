"""A season that is killed and resumed ends as if nothing had happened, and pays for nothing twice."""

import sqlite3
from pathlib import Path
from random import Random
from shutil import copytree
from time import sleep
from typing import Any

from tests.program.command_line import ROOT
from tests.program.running import AGREES, arena_json, loaded, provider
from tests.records.demo import small_demo
from tests.season.paid import asked_in, stored_questions

COMPLETE = ("cohort", "entrant", "snapshot", "call", "turn", "fill", "entry", "resolution", "round")


def rows_of(database: Path) -> dict[str, list[tuple[Any, ...]]]:
    """Return the complete rows of every table of facts, with their ids."""
    if not database.exists():
        return {}
    with sqlite3.connect(database) as connection:
        known = {
            name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        }
        return {
            table: connection.execute(
                f"SELECT id, * FROM {table} WHERE {_complete(table)} ORDER BY id"
            ).fetchall()
            for table in COMPLETE
            if table in known
        }


def _complete(table: str) -> str:
    return {"cohort": "ended_at IS NOT NULL", "round": "done = 1"}.get(table, "1 = 1")


MANY_QUESTIONS = """\
markets: {venue: simulator, show: 12, simulator: {start: 2026-01-04, weeks: 8, markets: 60, events: 20}}
cohorts: {rounds: 2, count: 1, corrected_within: 8d}
agents:
  - {name: three, model: demo/sharp, samples: 3}
  - {name: parts, model: demo/hasty, batch: 5}
  - {name: blind, model: demo/sharp, prices: after, samples: 2}
  - {kind: crowd, of: [three, parts, blind]}
"""
AT_ONCE = 6
"""The questions of MANY_QUESTIONS that can be under way at one time."""


def test_killed_again_and_again_it_ends_in_the_hash_of_an_unbroken_run(
    tmp_path: Path, thorough: bool
) -> None:
    """Five times in a whole season with THOROUGH=1, three times in the beginning of a small one otherwise."""
    if thorough:
        check_ends_as_if_unbroken(tmp_path, [], times=5, at_once=4)
    else:
        season = ["--rounds", "2", "--config", str(small_demo(tmp_path))]
        check_ends_as_if_unbroken(tmp_path, season, times=3, at_once=4)


def test_samples_parts_and_stages_are_picked_up_where_they_were_broken_off(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text(MANY_QUESTIONS, "utf-8")
    check_ends_as_if_unbroken(tmp_path, ["--config", "config.yaml"], times=3, at_once=AT_ONCE)


OWN_QUESTIONS = """\
markets: {venue: questions, questions: {folder: questions}}
cohorts: {first: 2026-01-04, rounds: 2, count: 1, corrected_within: 8d}
agents:
  - {name: three, model: demo/sharp, samples: 3}
  - {name: blind, model: demo/sharp, prices: after, samples: 2}
"""


def test_a_folder_of_questions_is_picked_up_in_the_middle_of_a_round(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text(OWN_QUESTIONS, "utf-8")
    copytree(ROOT / "examples" / "questions", tmp_path / "questions")
    check_ends_as_if_unbroken(tmp_path, ["--config", "config.yaml"], times=3, at_once=5)


def check_ends_as_if_unbroken(folder: Path, season: list[str], times: int, at_once: int) -> None:
    """Play a season whole, then again with kills in between, and hold the two against each other."""
    log = folder / "requests"
    database = folder / "killed.db"
    chance = Random("when to kill")
    words = ["demo", "--headless", *season, "--resume", "--database", str(database)]
    with provider(log) as url:
        whole = arena_json(
            folder, "demo", "--headless", *season, "--database", "whole.db", ARENA_DEMO_PROVIDER=url
        )
        asked_by_whole = asked_in(log)
        kept: dict[str, list[tuple[Any, ...]]] = {}
        for _ in range(times):
            stored = stored_questions(database)
            asked = len(asked_in(log))
            run = loaded().start(folder, *words, ARENA_DEMO_PROVIDER=url)
            sleep(chance.uniform(0, 1.5 / times) * whole["seconds"])
            run.kill()
            assert not stored & set(asked_in(log)[asked:]), "a stored answer was asked for again"
            found = rows_of(database)
            for table, rows in kept.items():
                assert found[table][: len(rows)] == rows, f"complete rows of {table} changed"
            kept = found
        stored = stored_questions(database)
        asked = len(asked_in(log))
        resumed = arena_json(folder, *words, ARENA_DEMO_PROVIDER=url)
        assert not stored & set(asked_in(log)[asked:])
    assert resumed["state_hash"] == whole["state_hash"]
    assert resumed["calls"] == whole["calls"] == len(asked_by_whole)
    again = asked_in(log)[len(asked_by_whole) :]
    most = len(asked_by_whole) + times * at_once
    assert len(again) <= most, "only calls cut off by a kill may be made once more"
    assert arena_json(folder, "admin", "verify", "--database", str(database)).items() >= AGREES.items()
