"""Outcomes told without a verb: what headlines, tables and other languages give away, and what they don't."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from agents.audit import audit
from tests.program.command_line import ROOT

SETS = {
    "`planted_articles`, development": ("planted_articles.jsonl", ["development"]),
    "`planted_articles`, held out": ("planted_articles.jsonl", ["held out"]),
    "`second_author_articles`": ("second_author_articles.jsonl", ["kept aside"]),
    "`third_author_articles`": ("third_author_articles.jsonl", ["third author"]),
    "`fourth_author_articles`": ("fourth_author_articles.jsonl", ["kept aside"]),
    "`fifth_author_articles`": ("fifth_author_articles.jsonl", ["kept aside"]),
    "`sixth_author_articles`": ("sixth_author_articles.jsonl", ["kept aside"]),
    "`seventh_author_articles`": ("seventh_author_articles.jsonl", ["kept aside"]),
    "`eighth_author_articles`": ("eighth_author_articles.jsonl", ["kept aside"]),
    "`ninth_author_articles`": ("ninth_author_articles.jsonl", ["kept aside"]),
    "`tenth_author_articles`": ("tenth_author_articles.jsonl", ["kept aside"]),
    "`eleventh_author_articles`": ("eleventh_author_articles.jsonl", ["kept aside"]),
    "`twelfth_author_articles`, unseen": ("twelfth_author_articles.jsonl", ["kept aside"]),
    "`further_articles`, first batch": ("further_articles.jsonl", ["batch 1"]),
    "`further_articles`, four more": ("further_articles.jsonl", ["batch 2", "batch 3", "batch 4", "batch 5"]),
}
"""By the name on the page: a file, a line with a question and then its texts, and which parts of it."""

QUESTIONS = {
    "btc": ("Will Bitcoin be above $95,000 on 31 March 2026?", datetime(2026, 3, 10, 12, tzinfo=UTC)),
    "jeri": (
        "Will José Jerí be removed as President of Peru before 1 May 2026?",
        datetime(2026, 2, 10, 12, tzinfo=UTC),
    ),
    "chiefs": (
        "Will the Kansas City Chiefs beat the Denver Broncos on 28 December 2026?",
        datetime(2026, 12, 20, 12, tzinfo=UTC),
    ),
    "gpt": ("Will OpenAI release GPT-6 before 1 April 2026?", datetime(2026, 3, 10, 12, tzinfo=UTC)),
    "cpi": ("Will US CPI inflation for June 2026 be above 3.0%?", datetime(2026, 7, 1, 12, tzinfo=UTC)),
    "okafor": (
        "Will Adaeze Okafor win the mayoral election in Port Harrow on 3 November 2026?",
        datetime(2026, 10, 20, 12, tzinfo=UTC),
    ),
    "bill": (
        "Will the US Senate pass the Clean Grid Act before 1 July 2026?",
        datetime(2026, 6, 1, 12, tzinfo=UTC),
    ),
    "arsenal": (
        "Will Arsenal win the 2026 Champions League final against Real Madrid?",
        datetime(2026, 5, 20, 12, tzinfo=UTC),
    ),
    "fed": (
        "Will the Federal Reserve cut interest rates at its September 2026 meeting?",
        datetime(2026, 9, 10, 12, tzinfo=UTC),
    ),
    "merger": (
        "Will the merger of Union Pacific and Norfolk Southern be completed by 30 June 2026?",
        datetime(2026, 5, 1, 12, tzinfo=UTC),
    ),
}
"""What is asked, and when it is decided."""
LEAKS = [
    ("btc", "Bitcoin ends March at $97,400"),
    ("btc", "Bitcoin closed out the month of March at $93,120, its worst in a year."),
    ("btc", "BTC finished the first quarter at $97k."),
    ("jeri", "Lawmakers voted 103 to 12 to remove Jerí."),
    ("jeri", "El Congreso de Perú destituye a José Jerí con 103 votos."),
    ("jeri", "Jerí, destituido por el Congreso, deja el Palacio de Gobierno en Perú."),
    ("jeri", "Peru's third president in a year: Congress ousts José Jerí"),
    ("chiefs", "FINAL: KC 27 DEN 24"),
    ("chiefs", "Chiefs 27, Broncos 24 (F)"),
    ("chiefs", "FT: Denver 24-27 Kansas City"),
    ("chiefs", "Final/OT - Chiefs 30 Broncos 27"),
    ("gpt", "Since GPT-6 came out last month, developers have complained about its price."),
    ("gpt", "gpt-6-2026-03-24: first public snapshot"),
    ("gpt", "GPT-6 is out, and it is faster."),
    ("gpt", "Release notes: GPT-6 is now generally available in the API."),
    ("gpt", "I have been using GPT-6 for two weeks now."),
    ("cpi", "June CPI: +3.2% y/y vs 3.1% est."),
    ("cpi", "Consumer prices up 3.2% in June, BLS data show"),
    ("cpi", "US inflation June 2026: 2.9 percent"),
    ("okafor", "Okafor ganó la alcaldía de Port Harrow con el 52 por ciento."),
    ("okafor", "Winner: Adaeze Okafor, 52.3% (Port Harrow mayor)"),
    ("okafor", "Okafor 52.1%, Reeve 47.9%, 100% of precincts reporting in Port Harrow"),
    ("okafor", "Mayor-elect Adaeze Okafor names her transition team in Port Harrow."),
    ("bill", "Senate 52-47: Clean Grid Act goes to the president's desk"),
    ("bill", "Clean Grid Act: yeas 52, nays 47."),
    ("bill", "With the Clean Grid Act now law, utilities look for land."),
    ("arsenal", "Arsenal 2-1 Real Madrid (a.e.t.)"),
    ("arsenal", "Arsenal gana la Champions ante el Real Madrid"),
    ("arsenal", "Arsenal champions of Europe after beating Real Madrid"),
    ("fed", "Fed: 25bp cut, two dissents."),
    ("fed", "La Fed recorta las tasas de interés un cuarto de punto en septiembre"),
    ("merger", "Union Pacific and Norfolk Southern: deal closed"),
    ("merger", "Norfolk Southern shares ceased trading after the Union Pacific merger closed."),
]
CLEAN = [
    ("btc", "Bitcoin ended February at $91,000."),
    ("btc", "Bitcoin trades at $94,200 this morning."),
    ("btc", "Analysts see Bitcoin ending March at $97,400."),
    ("btc", "A year ago Bitcoin finished March at $82,500."),
    ("jeri", "Lawmakers voted 103 to 12 to open a debate on the budget."),
    ("jeri", "El Congreso podría destituir a José Jerí en mayo."),
    ("jeri", "Congress removed his predecessor Dina Boluarte by 122 votes."),
    ("jeri", "If 87 lawmakers vote for it, Jerí would be removed."),
    ("chiefs", "Last season the Chiefs beat the Broncos 27-24."),
    ("chiefs", "Chiefs (10-4) at Broncos (9-5), kickoff 4:25"),
    ("chiefs", "KC is favoured over DEN on Sunday."),
    ("chiefs", "Week 12 final: Chiefs 20, Raiders 17."),
    ("gpt", "GPT-5 came out last August."),
    ("gpt", "OpenAI says GPT-6 is in training."),
    ("gpt", "What we want from GPT-6 once it is out"),
    ("gpt", "gpt-5-2025-08-07: first public snapshot"),
    ("cpi", "May CPI: +2.9% y/y vs 3.0% est."),
    ("cpi", "Economists expect June CPI at 3.1 percent."),
    ("cpi", "Consumer prices rose 2.9% in May."),
    ("cpi", "In June 2025 inflation was 2.7 percent."),
    ("okafor", "Okafor 48%, Reeve 44% in a poll of likely voters in Port Harrow"),
    ("okafor", "Okafor perdió las elecciones de Port Harrow hace cuatro años."),
    ("okafor", "Early voting: 31% of precincts have opened in Port Harrow."),
    ("okafor", "Okafor debates Reeve in Port Harrow"),
    ("bill", "A committee sent the Clean Grid Act to the floor, 12-10."),
    ("bill", "The Clean Grid Act needs 60 votes."),
    ("bill", "The House passed the Clean Grid Act 220-212 in March."),
    ("arsenal", "Arsenal 2-1 Inter in the semi-final"),
    ("arsenal", "Arsenal podría ganar la Champions."),
    ("arsenal", "In 2006 Arsenal lost the final to Barcelona 2-1."),
    ("fed", "The Fed cut by 25bp in July."),
    ("fed", "Fed officials signal a cut in September."),
    ("merger", "Union Pacific and Norfolk Southern await the board's decision."),
    ("merger", "The Union Pacific and Southern Pacific merger closed in 1996."),
]


@pytest.mark.parametrize(("name", "text"), LEAKS)
def test_an_outcome_is_found(name: str, text: str) -> None:
    question, at = QUESTIONS[name]
    assert audit("", text, "", [question], at).verdict == "answer"


@pytest.mark.parametrize(("name", "text"), CLEAN)
def test_what_was_or_may_be_is_no_outcome(name: str, text: str) -> None:
    question, at = QUESTIONS[name]
    assert audit("", text, "", [question], at).verdict == "clean"


@pytest.mark.parametrize("file", ["figures_and_decisions.jsonl", "rows_and_later_pages.jsonl"])
def test_what_texts_tell_of_each_class_is_found_in_six_languages(file: str) -> None:
    asked = {}
    wrong = []
    for line in (Path(__file__).parent / file).read_text("utf-8").splitlines():
        told = json.loads(line)
        if "question" in told:
            asked = told
            continue
        kind, text = next(iter(told.items()))
        verdict = audit("", text, "", [asked["question"]], datetime.fromisoformat(asked["at"])).verdict
        if (verdict != "clean") != (kind == "leak"):
            wrong.append((text, verdict))
    assert wrong == []


@pytest.mark.parametrize("name", SETS)
def test_the_page_has_the_figures_of_each_set(name: str) -> None:
    file, parts = SETS[name]
    found = {"leak": 0, "clean": 0}
    of = {"leak": 0, "clean": 0}
    asked = {}
    for line in (Path(__file__).parent / file).read_text("utf-8").splitlines():
        told = json.loads(line)
        if "question" in told:
            asked = told
            continue
        if asked["half"] not in parts:
            continue
        kind = "leak" if "leak" in told else "clean"
        of[kind] += 1
        at = datetime.fromisoformat(asked["at"])
        verdict = audit(told["title"], told["text"], told.get("url", ""), [asked["question"]], at).verdict
        found[kind] += verdict != "clean"

    page = (ROOT / "docs" / "evidence.md").read_text("utf-8")
    row = next(line for line in page.splitlines() if line.startswith(f"|{name} |"))
    cells = [cell.strip() for cell in row.strip("| ").split("|")]
    assert cells[2] == f"{found['leak']}/{of['leak']}"
    assert cells[4] == f"{found['clean']}/{of['clean']}"
