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
    kept = object_in(row[column]).get("audit")
    if not isinstance(kept, dict) or kept.get("rules") != RULES:
        return None
    return kept


def questions_of(facts: RecordReader, snapshot_id: int | None) -> dict[str, str]:
    """Return the questions of a round, by market."""
    pages = facts.rows("market_version", QUESTIONS, snapshot=snapshot_id)
    return {page["market_id"]: page["question"] for page in pages}


def check_verdicts(
    row: Row, column: str, shown: Iterable[ShownText], questions: Mapping[str, str], at: str
) -> Found:
    """Yield verdicts that the rules don't give, and texts shown without being listed as suspects."""
    kept = audit_of(row, column)
    if kept is None:
        return

    suspects = _suspects(kept)
    when = instant(at)
    if suspects is None:
        yield row.differs(column, "suspects with their words and verdicts", "it is an audit")
        return

    yield from _check_withheld(row, column, suspects)
    prices = bool(kept.get("prices"))
    by_rule = [suspect for suspect in suspects if suspect["verdict"] != JUDGED]
    for suspect in by_rule:
        asked = []
        if suspect["market"] in questions:
            asked.append(questions[suspect["market"]])
        words = suspect["words"] if suspect["place"] == "text" else ""
        verdict = audit(suspect["title"], words, suspect["url"], asked, when, prices).verdict
        if verdict != suspect["verdict"]:
            yield row.differs(column, f"the verdict {verdict}", f"so are the words {suspect['words']!r}")

    flagged = {(suspect["title"], suspect["url"]) for suspect in suspects if suspect["shown"]}
    for text in shown:
        finding = audit(text.title, text.text, text.url, text.questions, when, prices)
        if finding.verdict != "clean" and (text.title, text.url) not in flagged:
            expected = f"a suspect, {finding.verdict} by the words {finding.words!r}"
            yield row.differs(column, expected, "it was shown")


def check_judged(facts: RecordReader, row: Row, column: str, round_id: int) -> Found:
    """Yield suspects of the judge that its calls don't support, and those that are missing.

    A replay has the verdicts of the record that it was made from, and no calls of the judge.
    """
    flagged = set()
    seen = set()
    query = "SELECT * FROM call WHERE round_id = :round AND stage = 'judge' ORDER BY attempt"
    for call in facts.rows("call", query, round=round_id):
        if call["reply"] is None or call["error_code"] or call["messages"] in seen:
            continue
        seen.add(call["messages"])
        messages = tuple(Message(**message) for message in json.loads(call["messages"]))
        judgement = read_judgement(Prompt(messages, stage="judge"), call["reply"])
        if judgement is not None and judgement.told:
            flagged.add((judgement.text_hash, judgement.quote))

    kept = object_in(row[column]).get("audit")
    if not seen or not isinstance(kept, dict):
        return
    suspects = _suspects(kept) or []
    listed = {(suspect["hash"], suspect["words"]) for suspect in suspects if suspect["verdict"] == JUDGED}
    for text_hash, quote in sorted(flagged ^ listed):
        verb = "isn't" if (text_hash, quote) in listed else "is"
        yield row.differs(column, f"a text that {verb} told on by {quote!r}", "so the judge answered")


def _check_withheld(row: Row, column: str, suspects: Sequence[Mapping[str, Any]]) -> Found:
    """Yield the row if its counts of withheld texts differ from its suspects."""
    withheld = Counter(suspect["verdict"] for suspect in suspects if not suspect["shown"])
    counts = object_in(row[column])
    if any(withheld[verdict] != counts.get(verdict, 0) for verdict in (*VERDICTS, JUDGED)):
        listed = ", ".join(f"{count} {verdict}" for verdict, count in sorted(withheld.items()))
        yield row.differs(column, listed or "none", "so many suspects were withheld")


def _suspects(kept: Mapping[str, Any]) -> list[dict[str, Any]] | None:
    """Return the suspects of an audit; None if they are malformed."""
    listed = kept.get("suspects")
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
    asked = tuple(questions.values())
    text = row["text"]
    if row["tool"] not in ("search", "read"):
        return [ShownText("", text, "", asked)]

    articles = []
    begin = 0
    sources = [source for source in objects_in(row["sources"]) if source.get("url") and "hash" in source]
    addresses = [f"\n{source['url']}" for source in sources]
    for source, address, following in zip(sources, addresses, [*addresses[1:], None], strict=True):
        # An article is its title, the address on a line of its own, and its text up to the next title.
        at = text.find(address, begin)
        start = at + len(address) + 1
        ahead = -1 if following is None else text.find(following, start)
        end = len(text)
        if ahead >= 0:
            end = text.rfind("\n\n", 0, ahead)

        body = text[start:end]
        title = _title(text[begin:at], body, source["hash"])
        if at >= 0 and title is not None:
            articles.append(ShownText(title, body, source["url"], asked))
        begin = end + 2
    return articles


def _title(head: str, text: str, title_hash: str) -> str | None:
    """Return the title that precedes the source and the day, found by its hash; None without one."""
    for place in range(len(head)):
        if head.startswith(" (", place) and digest([head[:place], text]) == title_hash:
            return head[:place]
    return None
