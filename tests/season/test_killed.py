"""A season that is killed and resumed ends as if nothing had happened, and pays for nothing twice."""

import json
import sqlite3
from pathlib import Path
from random import Random
from time import sleep
from typing import Any

from agents.model import Message
from markets.canonical import digest
from tests.season.running import arena_json, provider, start

TIMES = 5
COMPLETE = ("cohort", "entrant", "snapshot", "call", "turn", "fill", "entry", "resolution", "round")


def rows_of(database: Path) -> dict[str, list[tuple[Any, ...]]]:
    """The complete rows of every table of facts, with their ids."""
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


def stored_questions(rows: dict[str, list[tuple[Any, ...]]], database: Path) -> set[str]:
    """The questions whose answers are in the record, named as the provider's log names them."""
    if not rows:
        return set()
    with sqlite3.connect(database) as connection:
        calls = connection.execute(
            "SELECT model, messages, seed FROM call WHERE error_code IS NULL"
        ).fetchall()
    return {
        digest([model, [Message(**message) for message in json.loads(messages)], seed])
        for model, messages, seed in calls
    }


def asked_in(log: Path) -> list[str]:
    return [json.loads(line)["hash"] for line in log.read_text("utf-8").splitlines()] if log.exists() else []


def test_killed_five_times_it_ends_in_the_hash_of_an_unbroken_run(tmp_path: Path, thorough: bool) -> None:
    rounds = ["--rounds", "20" if thorough else "6"]
    log, database, chance = tmp_path / "requests", tmp_path / "killed.db", Random("when to kill")
    words = ["demo", "--headless", *rounds, "--resume", "--database", str(database)]
    with provider(log) as url:
        whole = arena_json(
            tmp_path, "demo", "--headless", *rounds, "--database", "whole.db", ARENA_DEMO_PROVIDER=url
        )
        asked_by_whole = asked_in(log)
        kept: dict[str, list[tuple[Any, ...]]] = {}
        for _ in range(TIMES):
            stored, asked = stored_questions(kept, database), len(asked_in(log))
            run = start(tmp_path, *words, ARENA_DEMO_PROVIDER=url)
            sleep(chance.uniform(0.5, 0.6 * whole["seconds"]))
            run.kill()
            run.wait()
            assert not stored & set(asked_in(log)[asked:]), "a stored answer was asked for again"
            found = rows_of(database)
            for table, rows in kept.items():
                assert found[table][: len(rows)] == rows, f"complete rows of {table} changed"
            kept = found
        stored, asked = stored_questions(kept, database), len(asked_in(log))
        resumed = arena_json(tmp_path, *words, ARENA_DEMO_PROVIDER=url)
        assert not stored & set(asked_in(log)[asked:])
    assert resumed["state_hash"] == whole["state_hash"]
    assert resumed["calls"] == whole["calls"] == len(asked_by_whole)
    again = asked_in(log)[len(asked_by_whole) :]
    in_flight = TIMES * 4
    assert len(again) <= len(asked_by_whole) + in_flight, "only calls cut off by a kill may be made once more"
    assert arena_json(tmp_path, "verify", "--database", str(database)) == {"ok": True, "differences": []}
