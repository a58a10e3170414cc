"""A call that could break a limit is not made."""

import asyncio

import pytest

from agents.model import Call, Message, Prompt
from arena.budget import Budget, budgeted
from markets.millionths import ONE

QUESTION = Prompt((Message("user", "Will it rain?"),))


def play(budget: Budget, worst: int | None, times: int = 1) -> list[Call]:
    """So many calls at once, each of which costs its worst."""
    spent = 0

    async def ask(prompt: Prompt) -> Call:
        nonlocal spent
        await asyncio.sleep(0)
        spent += worst or 0
        return Call(prompt, "yes", cost=worst)

    asked = budgeted(ask, budget, lambda prompt: worst)

    async def all_at_once() -> list[Call]:
        return list(await asyncio.gather(*(asked(QUESTION) for _ in range(times))))

    return asyncio.run(all_at_once())


def test_without_limits_even_an_unknown_price_may_be_paid() -> None:
    assert play(Budget(lambda: 0), None)[0].reply == "yes"


def test_a_call_over_its_own_limit_is_refused_with_the_figures() -> None:
    call = play(Budget(lambda: 0, call=ONE // 2), ONE)[0]
    assert call.reply is None
    assert call.cost == 0
    assert call.error is not None
    assert call.error.code == "budget"
    assert not call.error.retry
    assert "$1.0000, over the budget of $0.5000" in call.error.message


def test_with_a_budget_an_unknown_price_is_refused() -> None:
    call = play(Budget(lambda: 0, day=ONE), None)[0]
    assert call.error is not None
    assert "price is unknown" in call.error.message


def test_what_was_spent_today_counts() -> None:
    assert play(Budget(lambda: 6 * ONE, day=10 * ONE), 4 * ONE)[0].error is None
    assert play(Budget(lambda: 6 * ONE + 1, day=10 * ONE), 4 * ONE)[0].error is not None


@pytest.mark.parametrize(("limit", "made"), [(3.5, 3), (4.0, 4), (0.9, 0)])
def test_calls_under_way_are_reserved_so_that_a_budget_for_three_and_a_half_makes_three(
    limit: float, made: int
) -> None:
    budget = Budget(lambda: 0, day=int(limit * ONE))
    calls = play(budget, ONE, times=10)
    assert sum(call.error is None for call in calls) == made
    assert budget.reserved == 0
