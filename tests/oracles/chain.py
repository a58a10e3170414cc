"""The chain of heads as arena/record/write/heads.py has it, from a SQLite file, with nothing of ours."""

import json
import sqlite3
from pathlib import Path

from tests.oracles.heads import sha256, written

PLACED = "JOIN entrant AS e ON e.id = {0}.entrant_id"
OF_ROUND = {
    "snapshot": "SELECT s.hash FROM snapshot AS s JOIN round AS r ON r.snapshot_id = s.id WHERE r.id = ?",
    "catalogue": """SELECT s.catalogue FROM snapshot AS s JOIN round AS r ON r.snapshot_id = s.id
        WHERE r.id = ? AND s.catalogue != ''""",
    "evidence": "SELECT hash FROM gathering WHERE round_id = ?",
    "replacement": f"""SELECT e.position, x.hash FROM replacement AS x {PLACED.format("x")}
        JOIN round AS r ON r.cohort_id = e.cohort_id AND r.number = x.round WHERE r.id = ?""",
    "turn": f"SELECT e.position, t.hash FROM turn AS t {PLACED.format('t')} WHERE t.round_id = ?",
    "code": f"SELECT e.position, t.code_version FROM turn AS t {PLACED.format('t')} WHERE t.round_id = ?",
    "call": f"""SELECT e.position, c.stage, c.sample, c.attempt, c.hash FROM call AS c {PLACED.format("c")}
        WHERE c.round_id = ?""",
    "attempt": f"""SELECT e.position, a.number, a.hash FROM attempt AS a {PLACED.format("a")}
        WHERE a.round_id = ?""",
    "fill": f"""SELECT e.position, f.position, f.hash FROM fill AS f JOIN turn AS t ON f.turn_id = t.id
        {PLACED.format("t")} WHERE t.round_id = ?""",
    "tool": "SELECT key, hash FROM tool_result WHERE round_id = ?",
}


ROUND = """SELECT r.id FROM round AS r JOIN cohort AS c ON r.cohort_id = c.id
    WHERE c.number = ? AND r.number = ?"""


def late_calls(database: sqlite3.Connection) -> set[tuple[object, ...]]:
    """Return the calls that heads list by themselves, since their rounds were over, by all but their hash."""
    members = [json.loads(text) for (text,) in database.execute("SELECT members FROM head")]
    return {tuple(line[:-1]) for facts in members for line in facts.get("call", ())}


def facts_of_round(
    database: sqlite3.Connection, cohort: int, number: int, late: set[tuple[object, ...]]
) -> dict[str, list[list[object]]]:
    """Return what a round consists of, by kind; a round that is not there has nothing."""
    facts: dict[str, list[list[object]]] = {}
    for (round_id,) in database.execute(ROUND, (cohort, number)).fetchall():
        for kind, query in OF_ROUND.items():
            lines = sorted(map(list, database.execute(query, (round_id,))))
            if kind == "call":
                lines = [line for line in lines if (cohort, number, *line[:-1]) not in late]
            if lines:
                facts[kind] = lines
    return facts


def chain_by_the_page(path: Path) -> list[str]:
    """Return the hash of every head, in order."""
    database = sqlite3.connect(path)
    late = late_calls(database)
    heads: list[str] = []
    previous = ""
    rows = database.execute("SELECT number, cohort, round, at, members FROM head ORDER BY number").fetchall()
    for number, cohort, round_number, at, members in rows:
        facts = json.loads(members)
        if round_number:
            facts |= facts_of_round(database, cohort, round_number, late)
        parts = [[kind, len(facts[kind]), sha256(written(facts[kind]))] for kind in sorted(facts)]
        previous = sha256(written([number, cohort, round_number, at, parts, previous]))
        heads.append(previous)
    database.close()
    return heads
