"""Where a budget would stop a line-up: worked by hand for one agent, or two, of round figures."""

from fractions import Fraction
from typing import Any

import pytest

from agents.model import TokenPrice
from arena.calls.budget_warnings import LineUpWarning, RoundCounts, budget_warnings
from arena.calls.estimate import Estimate, Usage
from arena.config.sections import BudgetSection

FIVE_ROUNDS = RoundCounts(cohort=5, month=Fraction(22), day=2)
PRICE = TokenPrice(input=1, output=4)


def dollars(amount: float) -> int:
    return round(amount * 1_000_000)


def an_agent(name: str = "ann", **changes: Any) -> Estimate:
    """Return an agent whose call costs 1 cent, at most 6 with all its tokens, and 8 with its retry."""
    shape = {
        "low": Usage(1, 6_000, 1_000, dollars(0.01)),
        "expected": Usage(2, 60_000, 20_000, dollars(0.14)),
        "first": Usage(1, 20_000, 10_000, dollars(0.06)),
        "again": Usage(1, 40_000, 10_000, dollars(0.08)),
    }
    return Estimate(name, PRICE, **(shape | changes))


def told(found: list[Estimate], **limits: float) -> list[LineUpWarning]:
    budget = BudgetSection.model_validate(limits)
    return budget_warnings(found, FIVE_ROUNDS, budget)


def codes(*found: Estimate, **limits: float) -> list[tuple[str, str, str]]:
    return [(warning.code, warning.scope, warning.agent) for warning in told(list(found), **limits)]


def test_without_a_budget_and_within_one_nothing_is_said() -> None:
    assert codes(an_agent()) == []
    assert codes(an_agent(), call=0.08, round=0.14, agent=0.70, day=0.28, arena=0.70) == []


@pytest.mark.parametrize(
    ("limits", "expected"),
    [
        ({"call": 0.079}, ("may_stop", "call", "ann")),  # the repeat is refused
        ({"call": 0.059}, ("refused", "call", "ann")),  # every call is
        ({"round": 0.139}, ("may_stop", "round", "")),
        ({"agent": 0.699}, ("may_stop", "agent", "ann")),  # 5 rounds
        ({"day": 0.279}, ("may_stop", "day", "")),  # 2 rounds on the busiest day
        ({"arena": 0.699}, ("may_stop", "arena", "")),
    ],
)
def test_each_limit_is_held_against_what_it_is_for(
    limits: dict[str, float], expected: tuple[str, str, str]
) -> None:
    assert codes(an_agent(), **limits) == [expected]


def test_two_agents_share_a_round_and_not_their_own_limits() -> None:
    ann = an_agent("ann")
    bob = an_agent("bob")
    assert codes(ann, bob, round=0.27, agent=0.70) == [("may_stop", "round", "")]
    assert codes(ann, bob, round=0.28, agent=0.70) == []


def test_what_even_the_least_does_not_fit_stops_for_sure_and_is_told_first() -> None:
    little = Usage(cost=dollars(0.02))
    ann = an_agent(low=Usage(2, 0, 0, dollars(0.04)), first=little, again=little)
    found = told([ann], agent=0.19, call=0.019)
    assert [(warning.code, warning.scope) for warning in found] == [("refused", "call"), ("stops", "agent")]
    assert "costs at least $0.20, over budget.agent of $0.19" in found[1].message
    assert found[1].hint == "set budget.agent to $0.70 or more"


def test_a_refused_call_is_mended_by_money_or_by_a_shorter_answer() -> None:
    (found,) = told([an_agent()], call=0.05)
    # 0.05 − 20,000 tokens at $1 a million leave 3 cents, which at $4 a million are 7,500 tokens
    assert found.message == "a call of ann may cost $0.060, over budget.call of $0.050: no call would be made"
    assert found.hint == "set budget.call to $0.060 or more, or the agent's max_tokens to 7,500 at most"


@pytest.mark.parametrize("limit", [0.022, 0.02, 0.001])
def test_where_no_answer_would_have_room_the_question_is_to_be_shorter(limit: float) -> None:
    (found,) = [warning for warning in told([an_agent()], call=limit) if warning.code == "refused"]
    assert "max_tokens" not in found.hint
    assert "show fewer markets" in found.hint


def test_an_unknown_price_or_an_agent_in_trouble_says_nothing_wrong() -> None:
    unknown = an_agent(
        low=Usage(cost=None), expected=Usage(cost=None), first=Usage(cost=None), again=Usage(cost=None)
    )
    assert codes(unknown, call=0.01, round=0.01) == []
    assert codes(Estimate("bob", PRICE, trouble="no such luck"), call=0.01, day=0.01) == []
