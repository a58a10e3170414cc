"""How it works, and the glossary: the rules in force, nothing foreign as markup, and every word once."""

import re
from dataclasses import replace
from pathlib import Path

from dashboard.views.glossary import glossary, words
from dashboard.views.how import how_it_works
from tests.records.little_world import a_cohort

DOCS = Path(__file__).parents[2] / "docs"


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
    assert [word.lower() for word in re.findall("<dt>(.*?)</dt>", page)] == rows
