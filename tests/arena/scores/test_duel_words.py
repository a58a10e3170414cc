"""What came of a duel, in words."""

from dataclasses import replace

import pytest

from arena.scores.comparisons import EVEN_SENTENCE, duel_sentences, holm_sentence
from arena.scores.rules.comparisons.duel import Duel
from arena.scores.spending import DuelCosts, DuelSpending, spending_sentences

PLAIN = DuelCosts("bob", (), 0, 0.0, 0.0, 0.5, 0.5, 0.01, 0.02)
CURIOUS = DuelCosts("ann", ("search",), 1_200, 1.0, 0.0, 0.5, 1.5, 0.03, 0.02)
BOUGHT = DuelSpending(CURIOUS, PLAIN, True, "ann", 0.02, 1.0, 0.02, 0.01, 0.03)
CLEAR = Duel("ann", "bob", 400, 90, 40, 33.3, 0.02, 0.005, 0.001, None, low=0.01, high=0.03)


def test_a_clear_duel_names_the_better_one() -> None:
    assert duel_sentences(CLEAR, None) == [
        "ann against bob, by 400 common forecasts: 90 markets, 40 events (33.3 effective).",
        "ann was closer by 0.0200 Brier points (p = 0.001, 95% CI +0.0100 to +0.0300).",
        "ann is better, by more than chance.",
    ]


WORDS = [(250, " About 250 further events would settle it."), (None, "")]


@pytest.mark.parametrize(("needed", "more"), WORDS)
def test_what_chance_may_explain_is_not_told(needed: int | None, more: str) -> None:
    assert duel_sentences(replace(CLEAR, p=0.2), needed)[2] == f"Chance may explain it.{more}"


def test_one_of_all_duels_may_lose_what_it_had_alone() -> None:
    held = replace(CLEAR, adjusted=0.3)
    assert holm_sentence(held) == (
        "As one of all duels of the record, by Holm: p = 0.300, chance may explain it."
    )
    assert holm_sentence(replace(CLEAR, adjusted=0.01)).endswith("p = 0.010, ann is still better.")
    assert holm_sentence(CLEAR) == holm_sentence(replace(held, gap=0.0)) == ""


def test_too_few_events_say_nothing_yet() -> None:
    few = replace(
        CLEAR, p=None, low=None, high=None, reason="12 events so far; an interval takes about 8 more"
    )
    assert duel_sentences(few, None)[1:] == [
        "ann was closer by 0.0200 Brier points.",
        "Too early to tell: 12 events so far; an interval takes about 8 more.",
    ]


def test_nothing_in_common_and_nothing_between_them() -> None:
    alone = replace(CLEAR, gap=None, reason="no resolved forecast in common")
    assert duel_sentences(alone, None) == ["No comparison of ann and bob: no resolved forecast in common."]
    assert duel_sentences(replace(CLEAR, gap=0.0), None)[1] == EVEN_SENTENCE


def test_what_tools_bought_is_told_by_the_dollar_with_its_interval() -> None:
    assert spending_sentences(BOUGHT) == [
        "Cost: ann $1.50 (1,200 requests for tools $1.00, answers $0.50); bob $0.50.",
        "Skill per dollar: ann +0.0200; bob +0.0200.",
        (
            "They differ in tools alone: ann has search; its skill is +0.0200 for $1.00 more: "
            "+0.0200 a dollar, from +0.0100 to +0.0300."
        ),
    ]
    rules = replace(PLAIN, usd=0.0, answers_usd=0.0, skill_per_dollar=None)
    assert spending_sentences(replace(BOUGHT, a=replace(rules, agent="ann"), b=rules)) == []


def test_what_a_source_charges_is_unknown_and_so_is_what_it_bought() -> None:
    paid = replace(CURIOUS, sources_usd=None, usd=None, skill_per_dollar=None)
    cost, each, bought = spending_sentences(replace(BOUGHT, a=paid, tools_only=False, extra_usd=None))
    assert cost.startswith("Cost: ann price unknown (")
    assert "sources price unknown); bob $0.50" in cost
    assert each == "Skill per dollar: ann unknown; bob +0.0200."
    assert bought == (
        "They differ in more than the tools of ann. Skill per dollar is unknown: price unknown."
    )


def test_tools_that_cost_no_more_have_no_price_by_the_dollar() -> None:
    cheap = replace(BOUGHT, extra_usd=-0.05, gain_per_dollar=None, low_per_dollar=None, high_per_dollar=None)
    assert spending_sentences(cheap)[2].endswith("its skill is +0.0200 for $0.0500 less.")


def test_the_one_that_is_ahead_is_named_first_in_the_gap() -> None:
    behind = replace(CLEAR, gap=-0.02, low=-0.03, high=-0.01)
    assert duel_sentences(behind, None)[1].startswith("bob was closer by 0.0200 Brier points")
