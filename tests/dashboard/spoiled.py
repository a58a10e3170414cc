"""A season with what a venue and a model may send at worst: texts, sizes and changes of mind."""

import shutil
import sqlite3
from datetime import UTC, datetime
from pathlib import Path

from agents.model import Call, CallError, Message, Prompt
from tests.opened_record import opened_record

AT = datetime(2026, 1, 4, 12, tzinfo=UTC)
LATER = "2026-03-15T00:00:00.000000Z"
TEXT = (
    "<script>alert(1)</script> ![x](http://203.0.113.9/a.png) [y](http://203.0.113.9/) $\\frac{a}{b}$ "
    "**b** :fire: <img src=http://203.0.113.9/b.png>"
)
"""What Markdown, HTML and formulas make something of, if they are let."""
SECRETLY_LONG = "long " * 20_000
REFUSED = CallError("rate_limit", f"slow down {TEXT}", True)


def spoiled(season: Path, folder: Path) -> tuple[Path, str]:
    """Return a copy of a season, and the id of its most traded market, whose page and end have changed.

    In round 1 of cohort 1 the `constant` agent has called a model three times: one was refused, one
    answered with TEXT, one at length.
    """
    database = folder / "spoiled.db"
    shutil.copy(season, database)
    with sqlite3.connect(database) as plain:
        (market,) = plain.execute(
            "SELECT fill.market_id FROM fill JOIN resolution USING (market_id) "
            "GROUP BY 1 ORDER BY count(*) DESC, 1 LIMIT 1"
        ).fetchone()
        plain.execute(
            "INSERT INTO market_version (market_id, version, at, event_id, question, rules, category, "
            "opens_at, closes_at, tick, fee_rate, min_shares, story, hash) "
            "SELECT market_id, version + 1, ?, event_id, ?, ?, category, "
            "opens_at, closes_at, 1000, fee_rate, min_shares, story, 'h' FROM market_version "
            "WHERE market_id = ? ORDER BY version DESC LIMIT 1",
            (LATER, f"Q {TEXT}", f"R {TEXT} {SECRETLY_LONG}", market),
        )
        plain.execute(
            "INSERT INTO resolution (market_id, version, known_at, learnt_at, payout, source, hash) "
            "SELECT market_id, version + 1, ?, ?, 250000, ?, 'h' FROM resolution WHERE market_id = ?",
            (LATER, LATER, f"S {TEXT}", market),
        )
    _call(database)
    return database, str(market)


def _call(database: Path) -> None:
    with sqlite3.connect(database) as plain:
        round_id, entrant_id = plain.execute(
            "SELECT round.id, entrant.id FROM round JOIN cohort ON cohort.id = round.cohort_id "
            "JOIN entrant ON entrant.cohort_id = cohort.id "
            "WHERE cohort.number = 1 AND round.number = 1 AND entrant.name = 'constant'"
        ).fetchone()
    asked = Prompt((Message("system", f"rules {TEXT}"), Message("user", f"markets {SECRETLY_LONG}")))
    answers = (
        Call(asked, None, error=REFUSED, latency_ms=10),
        Call(asked, f"answer {TEXT}", "stop", "made-up-1", "f1", "schema", 1_234, 567, 1_500, 2_500),
        Call(asked, SECRETLY_LONG, "length", "made-up-1", "f1", "json", 10, 20, None, 100),
    )
    with opened_record(database) as record:
        for attempt, call in enumerate(answers, 1):
            record.add_call(round_id, entrant_id, attempt, call, AT)
