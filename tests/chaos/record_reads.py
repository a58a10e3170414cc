"""What a record of a simulated season says, read past all faults."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from arena.verify import verify
from tests.rows import hash_seen, read_only


class Broken(AssertionError):
    """Something happened that must never happen."""


def ask_file(file: Path, query: str) -> list[tuple[Any, ...]]:
    """Return the rows of a query; none where the record does not exist yet."""
    if not file.exists():
        return []

    with closing(sqlite3.connect(f"{file.as_uri()}?mode=ro", uri=True)) as connection:
        try:
            return connection.execute(query).fetchall()
        except sqlite3.OperationalError:
            return []


def stored_questions(file: Path) -> set[str]:
    """Return the questions whose answers are in the record."""
    questions = set()
    query = "SELECT messages, seed, stage, sample FROM call WHERE error_code IS NULL"
    for messages, *rest in ask_file(file, query):
        contents = [message["content"] for message in json.loads(messages)]
        questions.add(json.dumps([contents, *rest]))
    return questions


def count_ended_cohorts(file: Path) -> int:
    """Return how many cohorts are settled to the end."""
    rows = ask_file(file, "SELECT count(*) FROM cohort WHERE ended_at IS NOT NULL")
    return rows[0][0] if rows else 0


def state_of(file: Path) -> str:
    """Return the state hash of a record; raise `Broken` if it does not verify."""
    with read_only(file) as connection:
        differences = verify(connection)
        if differences:
            raise Broken(f"verify: {differences[0]}")

        return hash_seen(connection)
