"""Verdicts on texts, given again from what is kept: on each that was shown, and on each that was suspect.

The rules are those of `agents.audit`, and of the same version: what others judged is not judged again.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import bindparam

from agents.audit import RULES, VERDICTS, AuditFinding, audit
from arena.record.schema.cohort import SnapshotItemRow
from arena.record.schema.typed import clause, joined
from arena.record.schema.world import MarketVersionRow
from arena.verify.differences import Found, Row
from arena.verify.hashes import json_in, objects_in, sha256_of
from arena.verify.reader import RecordReader, RowPart, moment, rows_query

QUESTIONS = rows_query(
    joined(SnapshotItemRow, MarketVersionRow),
    RowPart(MarketVersionRow, "market_id", "question"),
    where=clause(SnapshotItemRow.snapshot_id == bindparam("snapshot")) & (SnapshotItemRow.shown == 1),
    order=[SnapshotItemRow.position],
    again=True,
)
TEXTS = ("verdict", "words", "place", "market", "url", "title")
ShownText = tuple[str, str, str, Sequence[str]]
"""Title, text and address of what was shown, and the questions whose answers it must not tell."""


def audit_of(row: Row, column: str) -> dict[str, Any] | None:
    """What a row keeps of its verdicts, where today's rules gave them."""
    counts = json_in(row[column])
    told = counts.get("audit") if isinstance(counts, dict) else None
    return told if isinstance(told, dict) and told.get("rules") == RULES else None


def questions_of(facts: RecordReader, snapshot_id: int | None) -> dict[str, str]:
    """What was asked in a round, by market."""
    pages = facts.rows(QUESTIONS, snapshot=snapshot_id)
    return {page["market_id"]: page["question"] for page in pages}


def check_verdicts(
    row: Row, column: str, shown: Iterable[ShownText], questions: Mapping[str, str], at: str
) -> Found:
    """Verdicts that the rules don't give, and suspects that were shown without being told of."""
    told, when = audit_of(row, column), moment(at)
    if told is None or when is None:
        return
    suspects = _suspects(told)
    if suspects is None:
        yield row.differs(column, "suspects with their words and verdicts", "it is an audit")
        return
    prices = bool(told.get("prices"))
    for each in suspects:
        asked = [questions[each["market"]]] if each["market"] in questions else []
        words = each["words"] if each["place"] == "text" else ""
        found = audit(each["title"], words, each["url"], asked, when, prices)
        if found.verdict != each["verdict"]:
            yield row.differs(column, f"the verdict {found.verdict}", f"so are the words {each['words']!r}")
    hidden = Counter(each["verdict"] for each in suspects if not each["shown"])
    counts = json_in(row[column])
    if any(hidden[verdict] != counts.get(verdict, 0) for verdict in VERDICTS):
        told_of = ", ".join(f"{count} {verdict}" for verdict, count in sorted(hidden.items())) or "none"
        yield row.differs(column, told_of, "so many suspects were withheld")
    flagged = {(each["title"], each["url"]) for each in suspects if each["shown"]}
    for title, text, url, questioned in shown:
        found = audit(title, text, url, questioned, when, prices)
        if found.verdict != "clean" and (title, url) not in flagged:
            yield row.differs(column, _named(found), "it was shown")


def _suspects(told: Mapping[str, Any]) -> list[dict[str, Any]] | None:
    listed = told.get("suspects")
    if not isinstance(listed, list) or any(not isinstance(each, dict) for each in listed):
        return None
    sound = all(type(each.get(name)) is str for each in listed for name in TEXTS)
    return listed if sound and all(type(each.get("shown")) is bool for each in listed) else None


def _named(found: AuditFinding) -> str:
    return f"a suspect, {found.verdict} by the words {found.words!r}"


def told_texts(row: Row, questions: Mapping[str, str]) -> Iterable[ShownText]:
    """What a tool told: its articles, or all of it as one text, where it is none of the arena's own."""
    asked, text, begin = tuple(questions.values()), row["text"], 0
    if row["tool"] not in ("search", "read"):
        return [("", text, "", asked)]
    found = list[ShownText]()
    sources = [each for each in objects_in(row["sources"]) if each.get("url") and "hash" in each]
    marks = [f"\n{each['url']}" for each in sources]
    for number, source in enumerate(sources):
        at = text.find(marks[number], begin)
        body = at + len(marks[number]) + 1
        ahead = text.find(marks[number + 1], body) if number + 1 < len(marks) else -1
        end = text.rfind("\n\n", 0, ahead) if ahead >= 0 else len(text)
        title = _title(text[begin:at], text[body:end], source["hash"])
        if at >= 0 and title is not None:
            found.append((title, text[body:end], source["url"], asked))
        begin = end + 2
    return found


def _title(head: str, text: str, title_hash: str) -> str | None:
    """The title before the source and the day, by the hash of title and text; None where there is none."""
    places = [place for place in range(len(head)) if head.startswith(" (", place)]
    return next((head[:x] for x in places if sha256_of([head[:x], text]) == title_hash), None)
