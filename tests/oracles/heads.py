"""The heads of a cohort as arena/record/hashes.py has them, from a SQLite file, with nothing of ours."""

import hashlib
import json
import sqlite3
from collections.abc import Iterable
from pathlib import Path
from typing import Any

Row = list[Any]

OF_TURN = "FROM turn AS t JOIN entrant AS e ON t.entrant_id = e.id"
LINES = {
    "seen": """
        SELECT i.position, i.market_id, i.shown, i.quoted_at, q.bid, q.ask, q.mid, q.last, q.volume, q.book,
               v.event_id, v.question, v.rules, v.category, v.opens_at, v.closes_at, v.tick, v.fee_rate,
               v.min_shares, v.story, v.slug, v.event_slug, v.tags
        FROM snapshot_item AS i JOIN market_version AS v ON i.version_id = v.id
             LEFT JOIN quote AS q ON i.quote_id = q.id
        WHERE i.snapshot_id = :snapshot ORDER BY i.position""",
    "evidence": """
        SELECT x.position, x.market_id, a.source, a.url, a.title, a.text, a.published_at, a.dated
        FROM gathering AS g JOIN evidence AS x ON x.gathering_id = g.id
             JOIN article AS a ON x.article = a.hash
        WHERE g.round_id = :round ORDER BY x.position""",
    "turn": f"""
        SELECT e.position, e.name, t.status, t.note, t.cash, t.orders
        {OF_TURN} WHERE t.round_id = :round ORDER BY e.position""",
    "answer": """
        SELECT e.position, c.stage, c.sample, c.messages, c.seed, c.reply, c.finish, c.model, c.fingerprint
        FROM call AS c JOIN entrant AS e ON c.entrant_id = e.id
        WHERE c.round_id = :round AND c.error_code IS NULL ORDER BY c.attempt""",
    "forecast": f"""
        SELECT e.position, x.market_id, x.stage, x.probability, x.reason
        {OF_TURN} JOIN forecast AS x ON x.turn_id = t.id
        WHERE t.round_id = :round ORDER BY e.position, x.market_id, x.stage""",
    "rejection": f"""
        SELECT e.position, x.position, x.code, x.message, x.market_id
        {OF_TURN} JOIN rejection AS x ON x.turn_id = t.id
        WHERE t.round_id = :round ORDER BY e.position, x.position""",
    "fill": f"""
        SELECT e.position, x.position, x.market_id, x.side, x.action, x.shares, x.amount, x.fee, x.wanted,
               x.base, x.quote_at, x.fee_rate, x.left, x.reason
        {OF_TURN} JOIN fill AS x ON x.turn_id = t.id
        WHERE t.round_id = :round ORDER BY e.position, x.position""",
    "level": f"""
        SELECT e.position, x.position, l.position, l.price, l.shares, l.amount, l.fee
        {OF_TURN} JOIN fill AS x ON x.turn_id = t.id JOIN fill_level AS l ON l.fill_id = x.id
        WHERE t.round_id = :round ORDER BY e.position, x.position, l.position""",
    "entry": """
        SELECT e.position, n.number, n.at, n.kind, n.market_id, n.side, n.cash, n.shares, n.cost, n.realised,
               n.balance, n.held, n.ref
        FROM entry AS n JOIN entrant AS e ON n.entrant_id = e.id
        WHERE e.cohort_id = :cohort AND n.at > :before AND n.at <= :at ORDER BY e.position, n.number""",
    "replacement": """
        SELECT e.position, e.name, x.before, x.settings, x.prompts
        FROM replacement AS x JOIN entrant AS e ON x.entrant_id = e.id
             JOIN round AS r ON r.cohort_id = e.cohort_id AND r.number = x.round
        WHERE r.id = :round ORDER BY e.position""",
    "second_quote": f"""
        SELECT e.position, x.market_id, x.quoted_at, x.taken_at, q.bid, q.ask, q.mid, q.last, q.volume, q.book
        {OF_TURN} JOIN second_quote AS x ON x.turn_id = t.id LEFT JOIN quote AS q ON x.quote_id = q.id
        WHERE t.round_id = :round ORDER BY e.position, x.market_id""",
    "tool": """
        SELECT x.agent, x.tool, x.request, x.text, x.sources, x.withheld
        FROM tool_result AS x WHERE x.round_id = :round
        ORDER BY x.agent, x.tool, x.request""",
}
"""A round's lines, in the order in which the page has them."""


def heads_by_the_page(path: Path, number: int) -> dict[int, str]:
    """Return the head of each finished round of a cohort, and under 0 that of what it froze."""
    database = sqlite3.connect(path)
    cohort, frozen = database.execute("SELECT id, frozen FROM cohort WHERE number = ?", (number,)).fetchone()
    head = sha256(written(["cohort", number, sha256(written(frozen))]))
    before = ""
    found = {0: head}
    rounds = "SELECT id, number, at, snapshot_id FROM round WHERE cohort_id = ? AND done ORDER BY number"
    for round_id, place, at, snapshot in database.execute(rounds, (cohort,)).fetchall():
        lines: list[Row] = [["head", head], ["round", place, at]]
        for kind, question in LINES.items():
            given = {"round": round_id, "snapshot": snapshot, "cohort": cohort, "at": at, "before": before}
            rows = (list(row) for row in database.execute(question, given))
            lines += [[kind, *row] for row in as_listed(kind, rows)]
        head = found[place] = sha256("".join(f"{written(line)}\n" for line in lines))
        before = at
    database.close()
    return found


def as_listed(kind: str, rows: Iterable[Row]) -> Iterable[Row]:
    """Return rows with the hash of a page in its place, and only the first answer to each question."""
    if kind == "seen":
        return [[*row[:10], sha256(written([*row[10:19], *as_told(row[19:])]))] for row in rows]
    if kind != "answer":
        return rows
    first: dict[tuple[Any, ...], Row] = {}
    for position, stage, sample, messages, seed, *said in rows:
        asked = sha256(written({"messages": json.loads(messages), "seed": seed}))
        first.setdefault((position, stage, sample, asked), said)
    return [[*key, *said] for key, said in sorted(first.items())]


def as_told(added: Row) -> Row:
    """Leave out empty values at the end, which earlier versions don't have."""
    return as_told(added[:-1]) if added and not added[-1] else added


def written(value: object) -> str:
    """Write a value as canonical JSON."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def sha256(text: str) -> str:
    """Return the SHA-256 of a text."""
    return hashlib.sha256(text.encode()).hexdigest()
