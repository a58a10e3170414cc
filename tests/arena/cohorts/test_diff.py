"""What changed from one cohort to another, key by key and in words."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from agents.kinds.llm import BLIND
from arena.cohorts.diff import agent_setup, changes_in_words, cohort_changes, text_diff, value_in_words
from arena.record.model.cohort import Cohort, Entrant
from tests.builders import usd
from tests.records.little_world import a_cohort
from tests.trusted import trusted_folder

KIND = '''\
"""Uses the prompt that its settings do not name."""

from agents.kinds.constant import agent  # noqa: F401
from agents.model import KindSettings


class Settings(KindSettings):
    """Nothing to set."""

    p: float = 0.5
    mood: str = ""
    prompt_names: tuple[str, ...] = ("hidden",)
'''


def a_line_up(*entrants: Entrant, **more: Any) -> Cohort:
    return replace(a_cohort([]), entrants=entrants, **more)


def llm(name: str, place: int = 0, **settings: Any) -> Entrant:
    return Entrant(place, name, "llm", {"model": "demo/sharp", "prompt": "bet"} | settings)


def test_a_cohort_is_the_same_as_itself_whatever_its_number_start_and_seed() -> None:
    before = a_line_up(llm("ann"), config_hash="1")
    after = replace(
        before, number=2, seed=9, starts_at=before.starts_at + timedelta(weeks=1), config_hash="2"
    )
    found = cohort_changes(before, after)
    assert (not found, found.config, changes_in_words(found)) == (True, ("1", "2"), [])


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"rounds": 9}, "cohort: rounds 9, was 5"),
        ({"bankroll": usd(500)}, "cohort: bankroll $500.00, was $10,000.00"),
        ({"every": timedelta(hours=36)}, "cohort: decide 36h, was weekly"),
        ({"offset": timedelta(hours=12)}, "cohort: decide sun 12:00, was weekly"),
        (
            {"venue": "big", "venue_settings": {"seed": 7}},
            "venue: venue big, was little; seed 7, was not set",
        ),
        ({"stamp": "live"}, "venue: stamp live, was simulated"),
        ({"min_coverage": 500_000}, "scores: min coverage 50%, was 80%"),
        ({"evidence": "folder"}, "evidence: from folder, was none"),
        ({"prompts": {"bet": "1a"}}, ""),
    ],
)
def test_each_part_of_what_is_frozen_is_told(changed: dict[str, Any], words: str) -> None:
    found = cohort_changes(a_line_up(), a_line_up(**changed))
    assert bool(found)
    assert changes_in_words(found) == ([words] if words else [])


def test_rules_and_universe_are_told_as_the_config_has_them() -> None:
    before = a_line_up()
    rules = before.rules.model_copy(update={"max_bet": 100_000, "worst_price": 45_000, "merge": False})
    universe = before.universe.model_copy(update={"categories": ("sports", "news"), "closes_within": 90 * 60})
    assert changes_in_words(cohort_changes(before, replace(before, rules=rules, universe=universe))) == [
        "rules: max bet 10%, was 25%; merge no, was yes; worst price 4.5¢, was 3¢",
        "universe: closes within 90m, was 100000000s; categories sports, news, was none",
    ]


def test_who_came_who_went_and_who_is_set_up_in_another_way() -> None:
    before = a_line_up(llm("ann"), llm("bob", 1, prices="after"), llm("eve", 2))
    crowd = Entrant(2, "all", "crowd", {"of": ["ann", "bob"]})
    after = a_line_up(llm("bob", temperature=0.5), llm("ann", 1), crowd)
    found = cohort_changes(before, after)
    assert ([x.name for x in found.added], [x.name for x in found.removed]) == (["all"], ["eve"])
    assert found.changed == {"bob": {"prices": ("after", None), "temperature": (None, 0.5)}}
    assert changes_in_words(found) == [
        "+ all (crowd ann, bob)",
        "- eve (llm demo/sharp)",
        "bob: prices: not set, was after; temperature: 0.5, was not set",
        "the order of the agents has changed",
    ]


def test_an_edited_prompt_is_told_once_and_counts_for_all_who_use_it() -> None:
    line_up = (llm("ann"), llm("bob", 1, prices="after"), llm("eve", 2, prompt="own"))
    before = a_line_up(*line_up, prompts={"bet": "1", "own": "2", BLIND: "3"})
    after = replace(before, prompts={"bet": "9", "own": "2", BLIND: "8"})
    found = cohort_changes(before, after)
    assert found.edited == ("bet", BLIND)
    assert {name: sorted(moved) for name, moved in found.changed.items()} == {
        "ann": ["text of bet"],
        "bob": ["text of bet", f"text of {BLIND}"],
    }
    assert changes_in_words(found) == ["prompt bet: edited", f"prompt {BLIND}: edited"]


def test_the_prompts_of_an_agent_are_those_that_its_kind_names(tmp_path: Path) -> None:
    """A setting that happens to be called like a prompt is none."""
    (tmp_path / "odd.py").write_text(KIND, "utf-8")
    odd = Entrant(0, "odd", "odd", {"p": 0.5, "mood": "bet"})
    cohort = a_line_up(odd, prompts={"bet": "1", "hidden": "2"})
    assert agent_setup(cohort, odd, [trusted_folder(tmp_path)]).prompts == {"hidden": "2"}


def test_of_a_kind_that_is_gone_the_prompts_are_those_that_its_settings_name() -> None:
    gone = Entrant(0, "odd", "gone", {"prompt": "bet", "p": 0.5})
    assert agent_setup(a_line_up(gone, prompts={"bet": "1"}), gone).prompts == {"bet": "1"}


def test_values_are_told_in_their_units() -> None:
    told = {"min_bet": "$0.00", "closes_after": "0s", "max_quote_age": "0s", "show": "0", "max_price": "0¢"}
    assert {key: value_in_words(key, 0) for key in told} == told
    assert value_in_words("strata", ()) == "none"
    assert value_in_words("closes_within", 61) == "61s"


def test_words_of_prompts_are_compared_line_by_line() -> None:
    lines = text_diff("bet", "One.\nTwo.\n", "One.\nThree.\n")
    assert lines == ["--- bet (before)", "+++ bet (after)", "@@ -1,2 +1,2 @@", " One.", "-Two.", "+Three."]
