"""What a cohort froze of the rule by which its markets are drawn, as a reader is told it."""

from dataclasses import replace
from typing import Any

import pytest

from dashboard.words import rules
from tests.builders import usd
from tests.records.little_world import a_cohort

SENTENCES: dict[str, dict[str, Any]] = {
    "They stay open for 12 hours at least.": {"closes_after": 12 * 3_600},
    "Their prices lie from 5¢ to 100¢.": {"min_price": usd("0.05")},
    "Their prices lie from 0¢ to 90¢.": {"max_price": usd("0.90")},
    r"Their books offer $250 or more on either side.": {"min_depth": usd(250)},
    "They belong to politics, art.": {"categories": ("politics", "art")},
    "None belongs to [sport](http://a.b).": {"not_categories": ("[sport](http://a.b)",)},
    "Markets with a price alone, without bid and ask, play too.": {"price_only": True},
    "The draw is spread by price, horizon.": {"strata": ("price", "horizon")},
}


@pytest.mark.parametrize(("sentence", "changes"), SENTENCES.items(), ids=list(SENTENCES))
def test_each_key_that_is_set_is_said(sentence: str, changes: dict[str, Any]) -> None:
    cohort = a_cohort(["ann"])
    changed = replace(cohort, universe=cohort.universe.model_copy(update=changes))
    before = rules(cohort)
    after = rules(changed)
    assert [said for said in after if said not in before] == [sentence]
    assert [said for said in after if said in before] == before
