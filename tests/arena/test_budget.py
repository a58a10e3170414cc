"""A call that could break a limit is not made."""

import asyncio
from collections.abc import Mapping

import pytest

from agents.model import Call, Message, Prompt
from arena.asking import recorded
from arena.budget import Budget, Payer, Scope, budgeted
from markets.millionths import ONE

QUESTION = Prompt((Message("user", "Will it rain?"),))


class Till:
    """Keeps what calls cost, as a record does: by round and by agent."""

    def __init__(self, before: int = 0) -> None:
        self.paid: list[tuple[Payer, int]] = []
        self.before = before

    def spent(self, payer: Payer, scopes: object) -> Mapping[Scope, int]:
        total = self.before + sum(cost for _, cost in self.paid)
        return {
            "round": sum(cost for who, cost in self.paid if who.round_id == payer.round_id),
            "agent": sum(cost for who, cost in self.paid if who.entrant_id == payer.entrant_id),
            "day": total,
            "arena": total,
        }


def play(
    budget: Budget, till: Till, *payers: Payer, worst: int | None = ONE, cost: int | None = ONE
) -> list[Call]:
    """A call of each of these, all at once; each costs what is said, and is kept once it has ended."""

    async def ask(prompt: Prompt) -> Call:
        await asyncio.sleep(0)
        return Call(prompt, "yes", cost=cost)

    async def one(payer: Payer) -> Call:
        call = await budgeted(ask, budget, payer, lambda prompt: worst)(QUESTION)
        till.paid.append((payer, call.cost or 0))
        return call

    async def all_at_once() -> list[Call]:
        return list(await asyncio.wait_for(asyncio.gather(*map(one, payers)), 10))

    return asyncio.run(all_at_once())


def made(calls: list[Call]) -> int:
    return sum(call.error is None for call in calls)


ME = Payer(1, 1)


def test_without_limits_even_an_unknown_price_may_be_paid() -> None:
    till = Till()
    assert play(Budget(till.spent), till, ME, worst=None, cost=None)[0].reply == "yes"


def test_a_call_over_its_own_limit_is_refused_with_the_figures() -> None:
    till = Till()
    call = play(Budget(till.spent, call=ONE // 2), till, ME)[0]
    assert (call.reply, call.cost) == (None, 0)
    assert call.error is not None
    assert (call.error.code, call.error.retry) == ("budget", False)
    assert "$1.0000, over the budget of $0.5000" in call.error.message


def test_with_a_budget_an_unknown_price_is_refused() -> None:
    till = Till()
    call = play(Budget(till.spent, limits={"day": ONE}), till, ME, worst=None)[0]
    assert call.error is not None
    assert "price is unknown" in call.error.message


@pytest.mark.parametrize(("before", "may"), [(6 * ONE, 1), (6 * ONE + 1, 0)])
def test_what_was_spent_before_counts(before: int, may: int) -> None:
    till = Till(before)
    calls = play(Budget(till.spent, limits={"day": 10 * ONE}), till, ME, worst=4 * ONE)
    assert made(calls) == may


@pytest.mark.parametrize("scope", ["round", "agent", "day", "arena"])
@pytest.mark.parametrize(("limit", "expected"), [(3.5, 3), (4.0, 4), (0.9, 0)])
def test_a_budget_for_three_and_a_half_calls_makes_three_of_ten_at_once(
    limit: float, expected: int, scope: Scope
) -> None:
    till = Till()
    budget = Budget(till.spent, limits={scope: int(limit * ONE)})
    assert made(play(budget, till, *[ME] * 10)) == expected
    assert not +budget.reserved


def test_each_round_and_each_agent_has_a_limit_of_its_own() -> None:
    payers = [Payer(number % 2, number % 3) for number in range(12)]
    till = Till()
    assert made(play(Budget(till.spent, limits={"round": 2 * ONE}), till, *payers)) == 4
    till = Till()
    assert made(play(Budget(till.spent, limits={"agent": 3 * ONE}), till, *payers)) == 9
    till = Till()
    both: dict[Scope, int] = {"agent": 3 * ONE, "round": 2 * ONE}
    assert made(play(Budget(till.spent, limits=both), till, *payers)) == 4


def test_a_call_waits_for_those_under_way_that_may_cost_less_than_they_could() -> None:
    till = Till()
    budget = Budget(till.spent, limits={"day": 2 * ONE})
    calls = play(budget, till, *[ME] * 10, worst=ONE, cost=ONE // 10)
    assert made(calls) == 10
    assert sum(cost for _, cost in till.paid) == ONE


def test_a_refusal_says_whose_money_is_gone() -> None:
    till = Till()
    calls = play(Budget(till.spent, limits={"agent": ONE}), till, ME, ME)
    assert calls[1].error is not None
    assert calls[1].error.message == "a call may cost $1.0000, and $1.0000 of this agent's $1.0000 is spent"


def test_a_call_that_is_broken_off_is_kept_at_its_worst_and_whoever_broke_it_off_is_told_as_ever() -> None:
    till = Till()
    kept: list[tuple[int, Call]] = []

    async def slow(prompt: Prompt) -> Call:
        await asyncio.sleep(60)
        raise AssertionError("it was to be broken off")

    ask = recorded(
        budgeted(slow, Budget(till.spent, limits={"day": ONE}), ME, lambda prompt: ONE // 2),
        [],
        lambda attempt, call: kept.append((attempt, call)),
    )

    async def impatient() -> None:
        async with asyncio.timeout(0.01):
            await ask(QUESTION)

    with pytest.raises(TimeoutError):
        asyncio.run(impatient())
    [(attempt, call)] = kept
    assert (attempt, call.cost, call.worst) == (1, None, ONE // 2)
    assert call.error is not None
    assert call.error.retry
