"""Which questions have been paid for: by the record, and by the provider's own log."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from agents.model import Message
from markets.hashes import digest


def stored_questions(database: Path) -> set[str]:
    """Return the questions whose answers are in the record, named as the provider's log names them."""
    if not database.exists():
        return set()
    with closing(sqlite3.connect(database)) as connection:
        if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'call'").fetchone():
            return set()
        calls = connection.execute(
            "SELECT model, messages, seed FROM call WHERE error_code IS NULL"
        ).fetchall()
    return {question(model, json.loads(messages), seed) for model, messages, seed in calls}


def question(model: str, messages: list[dict[str, Any]], seed: int) -> str:
    """Return the name of a question, as the demo's provider notes it."""
    return digest([model, [Message(**each) for each in messages], seed])


def asked_in(log: Path) -> list[str]:
    """Return the questions in a log of the demo's provider."""
    return [json.loads(line)["hash"] for line in log.read_text("utf-8").splitlines()] if log.exists() else []
