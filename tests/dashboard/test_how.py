"""How it works, and the glossary: the rules in force, nothing foreign as markup, and every word once."""

import re
import tomllib
from dataclasses import replace
from pathlib import Path

from arena.scores.rules.comparisons.events import ENOUGH_EVENTS
from arena.scores.verdict import GUARANTEE
from dashboard.views.glossary import glossary, words
from dashboard.views.how import how_it_works
from tests.records.little_world import a_cohort

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"


def test_it_has_the_rules_of_the_newest_cohort_and_no_markup_of_theirs() -> None:
    cohort = a_cohort(["ann"])
    universe = cohort.universe.model_copy(update={"categories": ("<img src=x>",)})
    page = how_it_works(replace(cohort, number=7, universe=universe))
    assert "The rules of cohort 7" in page
    assert "They belong to &lt;img src=x&gt;." in page
    assert "<img" not in page
    assert "The rules of" not in how_it_works(None)


def test_where_there_is_no_glossary_nothing_leads_there() -> None:
    assert 'href="glossary"' in how_it_works(None)
    assert "href" not in how_it_works(None, lambda to: None)


def test_the_glossary_has_the_words_of_the_docs() -> None:
    page = glossary(words())
    rows = re.findall(r"^\|([^|]+) \|", (DOCS / "glossary.md").read_text("utf-8"), re.MULTILINE)[1:]
    shown = re.findall("<dt>(.*?)</dt>", page)
    assert [word.lower() for word in shown] == [word.lower() for word in rows]


def test_what_an_interval_takes_and_how_sure_a_verdict_is_are_said_as_they_are_computed() -> None:
    figures = tomllib.loads((ROOT / "dashboard/assets/how.toml").read_text("utf-8"))["figures"]
    assert f"an interval takes {ENOUGH_EVENTS:.0f} events of equal size" in figures["Closer than the price"]
    sure = "at most 5% among agents, and at most 5% against the price"
    assert sure in GUARANTEE
    assert sure in figures["Better than, and told"]
