"""What the forecasts of two agents cost, in words."""

from dataclasses import replace

from arena.scores.spending import DuelCosts, DuelSpending, spending_sentences

PLAIN = DuelCosts("bob", (), 0, 0.0, 0.0, 0.5, 0.5, 0.01, 0.02)
CURIOUS = DuelCosts("ann", ("search",), 1_200, 1.0, 0.0, 0.5, 1.5, 0.03, 0.02)
BOUGHT = DuelSpending(CURIOUS, PLAIN, True, "ann", 0.02, 1.0, 0.02, 0.01, 0.03)


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
