"""The chain of heads made anew over a record that was changed, as only someone with the file in hand can."""

import json
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sqlalchemy import Connection

from arena.record.write.heads import begin_chain, read_heads_after
from arena.verify import Differences, find
from tests.builders import NOW
from tests.oracles.chain import facts_of_round, late_calls
from tests.oracles.heads import sha256, written
from tests.records.tampering import tamper
from tests.rows import changing, read_only

LISTED = {
    "cohort": "SELECT number, hash FROM cohort",
    "ended": "SELECT number, ended_at FROM cohort WHERE ended_at IS NOT NULL",
    "stopped": "SELECT number, stopped_at FROM cohort WHERE stopped_at IS NOT NULL",
    "resolution": "SELECT market_id, version, hash FROM resolution",
    "sync": "SELECT venue, number, hash FROM sync",
    "benchmark": "SELECT kind, name, version, hash FROM benchmark_file",
    "prune": "SELECT number, hash FROM prune",
    "snapshot": """SELECT c.number, s.at, s.hash FROM snapshot AS s JOIN cohort AS c ON c.id = s.cohort_id
        LEFT JOIN round AS r ON r.snapshot_id = s.id WHERE r.id IS NULL""",
    "entry": """SELECT c.number, e.position, x.number, x.hash FROM entry AS x
        JOIN entrant AS e ON e.id = x.entrant_id JOIN cohort AS c ON c.id = e.cohort_id""",
    "call": """SELECT c.number, r.number, e.position, x.stage, x.sample, x.attempt, x.hash FROM call AS x
        JOIN entrant AS e ON e.id = x.entrant_id JOIN round AS r ON r.id = x.round_id
        JOIN cohort AS c ON c.id = r.cohort_id""",
}
"""What heads list, by kind, as it is in the record."""


def published(path: Path) -> list[str]:
    """Return the lines that a record would have published."""
    with read_only(path) as connection:
        return published_by(connection)


def published_by(connection: Connection) -> list[str]:
    """Return the same for an open record."""
    return [json.dumps(head) for head in read_heads_after(connection, 0, 1_000)]


def found_in(path: Path, heads: Sequence[str] = ()) -> Differences:
    """Return all that verifying finds in the record of a file, with heads that were published."""
    with read_only(path) as connection:
        return find(connection, None, published=heads or None)


def rechain(path: Path) -> None:
    """Write one head over everything, in place of the existing ones."""
    tamper(path, "DELETE FROM head")
    with changing(path) as connection:
        begin_chain(connection, NOW)


def rewrite_heads(database: sqlite3.Connection) -> None:
    """Write every head anew over what it covered; if nothing changed, all stay the same.

    What is gone is left out, and what no head covered is added to the last one.
    """
    now = {kind: {tuple(x[:-1]): x[-1] for x in database.execute(sql)} for kind, sql in LISTED.items()}
    new = {kind: facts.copy() for kind, facts in now.items() if kind not in ("entry", "call")}
    late = late_calls(database)
    heads = database.execute("SELECT id, number, cohort, round, at, members FROM head ORDER BY number")
    previous = ""
    rows = heads.fetchall()
    for number, (head_id, _, cohort, round_number, at, members) in enumerate(rows, 1):
        listed: dict[str, list[list[Any]]] = {}
        for kind, lines in json.loads(members).items():
            listed[kind] = [[*x[:-1], now[kind][tuple(x[:-1])]] for x in lines if tuple(x[:-1]) in now[kind]]
            for line in listed[kind]:
                new.get(kind, {}).pop(tuple(line[:-1]), None)
        if number == len(rows):
            for kind, facts in new.items():
                listed[kind] = sorted(
                    [*listed.get(kind, []), *([*x, fact_hash] for x, fact_hash in facts.items())]
                )
        listed = {kind: lines for kind, lines in listed.items() if lines}
        facts_of: dict[str, list[Any]] = dict(listed)
        if round_number:
            facts_of |= facts_of_round(database, cohort, round_number, late)
        parts = [[kind, len(facts_of[kind]), sha256(written(facts_of[kind]))] for kind in sorted(facts_of)]
        head_hash = sha256(written([number, cohort, round_number, at, parts, previous]))
        row = number, written(parts), written(listed), previous, head_hash, head_id
        database.execute(
            "UPDATE head SET number = ?, parts = ?, members = ?, previous = ?, hash = ? WHERE id = ?", row
        )
        previous = head_hash
