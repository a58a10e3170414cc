"""A season in which every word from outside is a hostile one."""

import json
import shutil
import sqlite3
from itertools import cycle
from pathlib import Path

import pytest

from agents.model import Call, CallError, Message, Prompt
from arena.scores.refresh import refresh_cache
from markets.venue import QuarantinedRecord
from tests.builders import NOW
from tests.dashboard.payloads import HOSTILE_TEXTS
from tests.once import made_once
from tests.opened_record import opened_record
from tests.records.seasons import shared_season

TOGETHER = "\n".join(text for text in HOSTILE_TEXTS if len(text) < 200)
"""All that are short, in one text."""
TEXTS = {
    "forecast": ("reason",),
    "resolution": ("source",),
    "rejection": ("message",),
}
"""Whose columns hold words from outside."""
GUARDS = "SELECT name FROM sqlite_master WHERE type = 'trigger'"


def hostile(folders: pytest.TempPathFactory) -> Path:
    """Return a season with hostile texts everywhere, computed once for all processes and only read.

    In round 1 of cohort 1 the `constant` agent has asked a model, which answered with all of them.
    """
    season = shared_season(folders)
    return made_once("hostile", folders, lambda folder: _make(season, folder)) / "hostile.db"


def _make(season: Path, folder: Path) -> None:
    database = folder / "hostile.db"
    shutil.copy(season, database)
    with sqlite3.connect(database) as plain:
        for (guard,) in plain.execute(GUARDS).fetchall():
            plain.execute(f"DROP TRIGGER {guard}")
        for table, columns in TEXTS.items():
            _spoil(plain, table, columns)
        _spoil_markets(plain)
        _spoil_turns(plain)
        plain.execute("DELETE FROM rollup")
        place = plain.execute(
            "SELECT round.id, entrant.id FROM round JOIN cohort ON cohort.id = round.cohort_id "
            "JOIN entrant ON entrant.cohort_id = cohort.id "
            "WHERE cohort.number = 1 AND round.number = 1 AND entrant.name = 'constant'"
        ).fetchone()
    plain.close()
    _ask_and_note(database, *place)
    with opened_record(database) as record:
        refresh_cache(record, NOW)


def _spoil(plain: sqlite3.Connection, table: str, columns: tuple[str, ...]) -> None:
    """Replace one text after another, all columns of a row with the same."""
    rows = [row for (row,) in plain.execute(f"SELECT rowid FROM {table} ORDER BY rowid")]
    values = ", ".join(f"{column} = ?1" for column in columns)
    texts = zip(cycle(HOSTILE_TEXTS), rows, strict=False)
    plain.executemany(f"UPDATE {table} SET {values} WHERE rowid = ?2", texts)


def _spoil_markets(plain: sqlite3.Connection) -> None:
    """Spoil each market's question and rules with one text, its category with another, using all texts."""
    known = plain.execute("SELECT DISTINCT market_id FROM market_version ORDER BY 1")
    markets = [market for (market,) in known]
    far = len(HOSTILE_TEXTS) - len(markets)
    texts = dict(zip(markets, zip(HOSTILE_TEXTS, HOSTILE_TEXTS[far:], strict=False), strict=False))
    plain.executemany(
        "UPDATE market_version SET question = ?1, rules = ?1, category = ?2 WHERE market_id = ?3",
        [(*pair, market) for market, pair in texts.items()],
    )


def _spoil_turns(plain: sqlite3.Connection) -> None:
    """Spoil the notes of turns, and the reasons of their orders."""
    for row, orders in plain.execute("SELECT id, orders FROM turn").fetchall():
        found = json.loads(orders)
        for wish, text in zip(_wishes(found), cycle(HOSTILE_TEXTS), strict=False):
            wish["reason"] = text
        plain.execute("UPDATE turn SET note = ?, orders = ? WHERE id = ?", (TOGETHER, json.dumps(found), row))


def _wishes(found: object) -> list[dict[str, str]]:
    if isinstance(found, dict):
        inner = [wish for value in found.values() for wish in _wishes(value)]
        return [found, *inner] if "reason" in found else inner
    return [wish for value in found for wish in _wishes(value)] if isinstance(found, list) else []


def _ask_and_note(database: Path, round_id: int, entrant_id: int) -> None:
    """Write calls of a model, and everything that goes wrong at a venue."""
    asked = Prompt((Message("system", TOGETHER), Message("user", HOSTILE_TEXTS[-4])))
    refused = CallError("rate_limit", TOGETHER, True)
    answers = (
        Call(asked, None, error=refused, latency_ms=10),
        Call(
            asked,
            TOGETHER,
            "stop",
            HOSTILE_TEXTS[1],
            HOSTILE_TEXTS[0],
            "schema",
            1,
            1,
            1,
            1,
            thinking=TOGETHER,
            citations=HOSTILE_TEXTS,
            host=HOSTILE_TEXTS[2],
        ),
    )
    with opened_record(database) as record:
        record.add_incident("venue_down", "simulator", TOGETHER)
        for attempt, call in enumerate(answers, 1):
            record.add_call(round_id, entrant_id, attempt, call)
        asides = [
            QuarantinedRecord("simulator", text[:80], "market", "bad_price", text, text)
            for text in HOSTILE_TEXTS
        ]
        record.quarantine(asides, NOW)
