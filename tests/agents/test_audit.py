"""What the words of a text give away: planted articles by mechanism, written days, addresses, huge texts."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from agents.audit import LONGEST, MOST_JUDGED, AuditFinding, Verdict, audit
from agents.audit_later import tells_coming_month
from agents.written_dates import written_dates

PLANTED = Path(__file__).parent / "planted_articles.jsonl"
"""A line with a question, then its articles: `clean` or `leak` says which kind each is."""
LABELS: dict[str, tuple[Verdict, ...]] = {
    "date": ("dated later",),
    "stamp": ("dated later",),
    "url": ("dated later",),
    "zone": ("dated later", "unsure"),
    "answer": ("answer",),
    "odds": ("odds",),
    "live": ("unsure",),
}
"""The verdicts that are right, by mechanism."""
AT = datetime(2026, 6, 10, 12, tzinfo=UTC)
ASKED = ["Will Adaeze Okafor win the mayoral election in Port Harrow on 3 November 2026?"]


@dataclass(frozen=True)
class Planted:
    """An article of the set, as its label says it is, and what the rules say."""

    half: str
    leaks: bool
    kind: str
    found: AuditFinding
    told: dict[str, Any]
    question: str
    at: datetime


def planted() -> Iterator[Planted]:
    asked: dict[str, Any] = {}
    for line in PLANTED.read_text("utf-8").splitlines():
        told = json.loads(line)
        if "question" in told:
            asked = told
            continue
        at = datetime.fromisoformat(asked["at"])
        found = audit(told["title"], told["text"], told.get("url", ""), [asked["question"]], at)
        kind = told.get("leak") or told["clean"]
        yield Planted(asked["half"], "leak" in told, kind, found, told, asked["question"], at)


@pytest.fixture(scope="module")
def articles() -> list[Planted]:
    return list(planted())


def test_a_leak_has_the_verdict_of_its_mechanism(articles: list[Planted]) -> None:
    assert len(articles) == 200
    wrong = [each for each in articles if each.leaks and each.found.verdict not in LABELS[each.kind]]
    assert len(wrong) <= 2


def test_the_words_that_gave_a_verdict_give_it_again(articles: list[Planted]) -> None:
    for each in articles:
        found = each.found
        told = each.told
        words = found.words if found.place == "text" else ""
        again = audit(told["title"], words, told.get("url", ""), [each.question], each.at)
        assert again.verdict == found.verdict, each


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("Updated 11 June 2026.", "unsure"),  # in the east it had begun, and had it by UTC?
        ("Updated 12 June 2026.", "dated later"),
        ("Updated 10 June 2026.", "unsure"),  # later on the day of the decision, maybe
        ("Updated 8 June 2026.", "clean"),
        ("Updated 10 June 2026, 13:00 UTC", "dated later"),
        ("Updated 10 June 2026, 21:30 JST", "dated later"),
        ("Updated 10 June 2026, 20:30 JST", "clean"),
        ("Last modified: 2026-06-11T02:30:00+14:00", "dated later"),
        ("Last modified: 2026-06-11T02:00:00+14:00", "clean"),
        ("Published on 6/7/2026", "unsure"),  # the 7th of June, or the 6th of July
        ("Aktualisiert: 3. Juli 2026 um 10:30 Uhr", "dated later"),
        ("Actualizado el 3 de julio de 2026", "dated later"),
        ("更新 updated: 2026年7月3日", "dated later"),
        ("\uff35pdated \uff13 July \uff12\uff10\uff12\uff16", "dated later"),
        ("Up\u200bdated 3\u00a0July 2026", "dated later"),
        ("The report, to be published on 3 July 2026, is awaited.", "clean"),
        ("The vote of 3 July 2026 is open.", "clean"),
        ("Members voted on 3 July 2026.", "dated later"),
        ("Members are to vote on 3 July 2026.", "clean"),
        ("The party promised to vote on 3 July 2026.", "clean"),
        ("On 3 July, the court ruled.", "dated later"),
        ("In December, as on 3 December, snow fell.", "clean"),  # half a year ahead: that of the year before
        ("The firm lost money in the third quarter of 2026.", "dated later"),
        ("She resigned in 2027.", "dated later"),
        ("DORAN, July 3, 2026 (Wire) \u2014 The port is calm.", "dated later"),
        ("On Manifold it stands at 82%.", "odds"),
        ("A manifold of 82% steel.", "clean"),
        ("Sara Lind was elected mayor of Port Harrow.", "answer"),  # somebody else was
        ("Sara Lind was elected mayor of Sund.", "clean"),
        ("Okafor was elected mayor of Port Harrow.", "answer"),
        ("Okafor would be elected mayor of Port Harrow.", "clean"),
        ("Okafor was elected mayor of Port Harrow in 2018.", "clean"),
        ("Was Okafor elected mayor of Port Harrow?", "clean"),
        ("The market resolved YES: Okafor is mayor of Port Harrow.", "answer"),
    ],
)
def test_a_sentence_has_a_verdict(text: str, verdict: Verdict) -> None:
    assert audit("", text, "", ASKED, AT).verdict == verdict


@pytest.mark.parametrize(
    ("url", "verdict"),
    [
        ("https://a.example/2026/06/11/x", "dated later"),
        ("https://a.example/2026/06/09/x", "clean"),
        ("https://a.example/2026/jul/x", "dated later"),
        ("https://a.example/20260703/x", "dated later"),
        ("https://a.example/final-2026-07-03", "unsure"),
        ("https://a.example/id/20261301234", "clean"),
        ("https://a.example/live/final", "unsure"),
        ("https://a.example/alive/final", "clean"),
    ],
)
def test_an_address_has_a_verdict(url: str, verdict: Verdict) -> None:
    assert audit("", "", url, ASKED, AT).verdict == verdict


@pytest.mark.parametrize("name", ["C#", ".NET", "Node.js", "AT&T"])
def test_the_answer_about_a_name_with_signs_is_found(name: str) -> None:
    assert audit("", f"So {name} has won.", "", [f"Will {name} win it?"], AT).verdict == "answer"


def test_without_prices_to_hide_odds_are_no_reason() -> None:
    text = "On Polymarket she stands at 71%."
    assert audit("", text, "", ASKED, AT).verdict == "odds"
    assert audit("", text, "", ASKED, AT, prices=False).verdict == "clean"


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("Nov. 3rd, 2026", ["2026-11-03"]),
        ("3rd of November, 2026", ["2026-11-03"]),
        ("03.11.2026 and 2026/11/04", ["2026-11-03", "2026-11-04"]),
        ("you may 5 times", []),
        ("from May 5 to May 7", ["2026-05-05", "2026-05-07"]),
        ("2026-13-01, 2026-02-30, 99/99/2026", []),
        ("\u0663 November 2026", ["2026-11-03"]),
        ("Q3 2026 and mid-2027", ["2026-07-01", "2027-01-01"]),
        ("on 29 February", ["2024-02-29"]),
    ],
)
def test_days_are_read_as_they_are_written(text: str, days: list[str]) -> None:
    around = AT.replace(year=2025) if "February" in text else AT
    assert [f"{day.at:%Y-%m-%d}" for day in written_dates(text, around)] == days


@pytest.mark.parametrize(
    "piece",
    [" ", "a", "1", ". ", "\n ", "\"')", "3 Nov 2026 ", "odds 5/2 ", "Okafor won ", "1/1/", "2026-11-05T",
     "had had ", "\u202e\ufdfa\u00e9", "\u0661", "\U000e0041", "\ud800", "\u0130"],
)  # fmt: skip
def test_a_megabyte_of_anything_has_a_verdict(piece: str) -> None:
    assert len(audit("", piece * (1_000_000 // len(piece)), "", ASKED, AT).words) <= 500


def test_what_stands_behind_all_that_is_judged_has_no_verdict() -> None:
    later = " Updated 3 July 2026"
    assert audit("", "a" * (MOST_JUDGED - len(later)) + later, "", ASKED, AT).verdict == "dated later"
    assert audit("", "a" * MOST_JUDGED + later, "", ASKED, AT).verdict == "clean"


def test_rules_for_months_see_a_text_in_pieces_of_bounded_length(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each month of a piece is held against all of it, so the cost of a piece grows with its square."""
    lengths = list[int]()

    def seen(sentence: str, at: datetime) -> bool:
        lengths.append(len(sentence))
        return tells_coming_month(sentence, at)

    monkeypatch.setattr("agents.audit.tells_coming_month", seen)
    audit("", "in August it was over " * 5_000, "", ASKED, datetime(2026, 7, 1, tzinfo=UTC))
    assert 0 < max(lengths) <= LONGEST
