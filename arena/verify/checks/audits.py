"""Verdicts on texts, recomputed from what is kept of each text that was shown and each suspect.

The rules are those of `agents.audit`; verdicts of another version of the rules are not recomputed.
"""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agents.audit import RULES, VERDICTS, audit
from agents.leak_judge import JUDGED, read_judgement
from agents.model import Message, Prompt
from arena.verify.checks.seals import object_in, objects_in
from arena.verify.differences import Found
from arena.verify.reader import RecordReader, Row, instant
from markets.hashes import digest

QUESTIONS = """SELECT page.* FROM snapshot_item AS item
    JOIN market_version AS page ON page.id = item.version_id
    WHERE item.snapshot_id = :snapshot AND item.shown = 1 ORDER BY item.position"""
TEXTS = ("verdict", "words", "place", "market", "url", "title", "hash")


@dataclass(frozen=True, slots=True)
class ShownText:
    """A text that was shown, and the questions whose answers it must not reveal."""

    title: str
    text: str
    url: str
    questions: Sequence[str]


def audit_of(row: Row, column: str) -> dict[str, Any] | None:
    """Return the audit that a row keeps; None if other rules than today's made it."""
    stored_audit = object_in(row[column]).get("audit")
    if not isinstance(stored_audit, dict) or stored_audit.get("rules") != RULES:
        return None
    return stored_audit


def questions_of(facts: RecordReader, snapshot_id: int | None) -> dict[str, str]:
    """Return the questions of a round, by market."""
    pages = facts.rows("market_version", QUESTIONS, snapshot=snapshot_id)
    return {page["market_id"]: page["question"] for page in pages}


def check_verdicts(
    row: Row, column: str, shown: Iterable[ShownText], questions: Mapping[str, str], round_time: str
) -> Found:
    """Yield verdicts that the rules don't give, and texts shown without being listed as suspects."""
    stored_audit = audit_of(row, column)
    if stored_audit is None:
        return

    suspects = _suspects_in(stored_audit)
    decided_at = instant(round_time)
    if suspects is None:
        yield row.differs(column, "suspects with their words and verdicts", "it is an audit")
        return

    yield from _check_withheld(row, column, suspects)
    prices = bool(stored_audit.get("prices"))
    found_by_rules = [suspect for suspect in suspects if suspect["verdict"] != JUDGED]
    for suspect in found_by_rules:
        own_questions = []
        if suspect["market"] in questions:
            own_questions.append(questions[suspect["market"]])
        # Words found in the text are checked as a text; others are in the title or the address.
        suspect_text = suspect["words"] if suspect["place"] == "text" else ""
        verdict = audit(
            suspect["title"], suspect_text, suspect["url"], own_questions, decided_at, prices
        ).verdict
        if verdict != suspect["verdict"]:
            yield row.differs(column, f"the verdict {verdict}", f"so are the words {suspect['words']!r}")

    shown_suspects = {(suspect["title"], suspect["url"]) for suspect in suspects if suspect["shown"]}
    for shown_text in shown:
        finding = audit(
            shown_text.title, shown_text.text, shown_text.url, shown_text.questions, decided_at, prices
        )
        if finding.verdict != "clean" and (shown_text.title, shown_text.url) not in shown_suspects:
            expected = f"a suspect, {finding.verdict} by the words {finding.words!r}"
            yield row.differs(column, expected, "it was shown")


def check_judged(facts: RecordReader, row: Row, column: str, round_id: int) -> Found:
    """Yield suspects of the judge that its calls don't support, and those that are missing.

    A replay has the verdicts of the record that it was made from, and no calls of the judge.
    """
    told_on = set()
    judged_messages = set()
    query = "SELECT * FROM call WHERE round_id = :round AND stage = 'judge' ORDER BY attempt"
    for call in facts.rows("call", query, round=round_id):
        # Only the first answer to a question to the judge counts.
        if call["reply"] is None or call["error_code"] or call["messages"] in judged_messages:
            continue

        judged_messages.add(call["messages"])
        messages = tuple(Message(**message) for message in json.loads(call["messages"]))
        judgement = read_judgement(Prompt(messages, stage="judge"), call["reply"])
        if judgement is not None and judgement.told:
            told_on.add((judgement.text_hash, judgement.quote))

    stored_audit = object_in(row[column]).get("audit")
    if not judged_messages or not isinstance(stored_audit, dict):
        return
    suspects = _suspects_in(stored_audit) or []
    listed = {(suspect["hash"], suspect["words"]) for suspect in suspects if suspect["verdict"] == JUDGED}
    for text_hash, quote in sorted(told_on ^ listed):
        verb = "isn't" if (text_hash, quote) in listed else "is"
        yield row.differs(column, f"a text that {verb} told on by {quote!r}", "so the judge answered")


def _check_withheld(row: Row, column: str, suspects: Sequence[Mapping[str, Any]]) -> Found:
    """Yield the row if its counts of withheld texts differ from its suspects."""
    withheld_by_verdict = Counter(suspect["verdict"] for suspect in suspects if not suspect["shown"])
    counts = object_in(row[column])
    verdicts = (*VERDICTS, JUDGED)
    if any(withheld_by_verdict[verdict] != counts.get(verdict, 0) for verdict in verdicts):
        suspects_text = ", ".join(
            f"{count} {verdict}" for verdict, count in sorted(withheld_by_verdict.items())
        )
        yield row.differs(column, suspects_text or "none", "so many suspects were withheld")


def _suspects_in(stored_audit: Mapping[str, Any]) -> list[dict[str, Any]] | None:
    """Return the suspects of an audit; None if they are malformed."""
    listed = stored_audit.get("suspects")
    if not isinstance(listed, list):
        return None
    for suspect in listed:
        if not isinstance(suspect, dict) or type(suspect.get("shown")) is not bool:
            return None
        if any(type(suspect.get(name)) is not str for name in TEXTS):
            return None
    return listed


def texts_of_tool(row: Row, questions: Mapping[str, str]) -> list[ShownText]:
    """Return the texts of a tool's result: its articles, or all of it as one text for other tools."""
    all_questions = tuple(questions.values())
    text = row["text"]
    if row["tool"] not in ("search", "read"):
        return [ShownText("", text, "", all_questions)]

    articles = []
    title_start = 0
    sources = [source for source in objects_in(row["sources"]) if source.get("url") and "hash" in source]
    addresses = [f"\n{source['url']}" for source in sources]
    for source, address, next_address in zip(sources, addresses, [*addresses[1:], None], strict=True):
        # An article is its title, the address on a line of its own, and its text up to the next title.
        address_start = text.find(address, title_start)
        body_start = address_start + len(address) + 1
        next_address_start = -1 if next_address is None else text.find(next_address, body_start)
        body_end = len(text)
        if next_address_start >= 0:
            body_end = text.rfind("\n\n", 0, next_address_start)

        body = text[body_start:body_end]
        title = _title_with_hash(text[title_start:address_start], body, source["hash"])
        if address_start >= 0 and title is not None:
            articles.append(ShownText(title, body, source["url"], all_questions))
        title_start = body_end + 2
    return articles


def _title_with_hash(heading: str, text: str, article_hash: str) -> str | None:
    """Return the title that precedes "(source, day)" in a heading, found by its hash; None without one."""
    for end in range(len(heading)):
        title = heading[:end]
        if heading.startswith(" (", end) and digest([title, text]) == article_hash:
            return title
    return None
