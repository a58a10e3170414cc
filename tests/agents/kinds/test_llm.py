"""How an `llm` agent asks, asks again, and gives up."""

import asyncio
import json
from collections.abc import Mapping
from typing import Any

import pytest

from agents.kinds.llm import Settings, agent
from agents.model import Call, CallError, Decision, Given, Prompt
from agents.registry import HOME, prompt_text
from tests.agents.minds import a_view, an_answer, replies
from tests.builders import a_listing, result_of, usd

GIVEN = Given(prompts={name: prompt_text(name, HOME) for name in ("bet", "blind")})
BROKEN = '{"forecasts": 0.4}'
NO = CallError("declined", "no gambling", retry=False)
DOWN = CallError("overloaded", "come back later", retry=True)


def play(*said: str | CallError | Call, **settings: Any) -> tuple[Decision, list[Prompt]]:
    ask, asked = replies(*said)
    mind = agent(Settings(model="openai/any", **settings), GIVEN)
    return result_of(mind(a_view(), ask)), asked


def test_a_good_answer_is_played() -> None:
    decision, asked = play(an_answer())
    assert (decision.status, len(decision.forecasts), len(decision.bets)) == ("played", 3, 1)
    assert len(asked) == 1


def test_a_broken_answer_is_asked_for_again_with_what_is_wrong() -> None:
    decision, [first, second] = play(BROKEN, an_answer())
    assert decision.status == "played"
    assert second.messages[: len(first.messages)] == first.messages
    shown, told = second.messages[len(first.messages) :]
    assert (shown.role, shown.content) == ("assistant", BROKEN)
    assert told.role == "user"
    assert 'needs a list "forecasts"' in told.content
    assert (second.seed, second.stage, second.sample) == (first.seed, first.stage, first.sample)


def test_two_broken_answers_are_a_hold() -> None:
    decision, asked = play(BROKEN, "I give up.")
    assert (decision.status, decision.note) == ("malformed", "the answer contains no JSON object")
    assert (decision.forecasts, decision.bets, len(asked)) == ((), (), 2)


def cut_off(reply: str) -> Call:
    return Call(Prompt(()), reply, finish="length")


def items(*names: str, probability: float = 0.2, **more: Any) -> str:
    """Return an answer for these markets alone."""
    forecasts = [{"market": name, "probability": probability} for name in names]
    return json.dumps({"forecasts": forecasts} | more)


def belief(probability: float) -> str:
    """Return a whole answer that says the same of every market."""
    return items("m1", "m2", "m3", probability=probability)


BET = {"market": "m1", "side": "YES", "amount": 100}
BLIND = belief(0.9)


def test_too_few_forecasts_are_asked_for_again_with_the_reasons_for_what_is_missing_alone() -> None:
    mixed = items("m1", "m9", probability=32).replace('"m9", "probability": 32', '"m2", "probability": 0.3')
    decision, [first, second] = play(mixed, belief(0.4))
    assert second.messages[: len(first.messages)] == first.messages
    told = second.messages[-1].content
    assert "3 of 3 refused: the scale of the probability 32 is unclear" in told
    assert "for these markets alone" in told
    assert told.endswith("m1, m2, m3.")
    assert (decision.status, set(by_stage(decision).values())) == ("played", {usd("0.4")})
    decision, [_, second] = play(items("m1", "m9"), belief(0.4))
    assert second.messages[-1].content.endswith(" m2, m3.")
    assert 'there is no market "m9"' in second.messages[-1].content
    assert list(by_stage(decision).values()) == [usd("0.2"), usd("0.4"), usd("0.4")], (
        "the first answer stands"
    )
    assert decision.rejections[0].code == "unknown_market"


def test_orders_of_the_first_answer_stand_where_it_has_a_forecast_and_else_those_of_the_second() -> None:
    first = items("m1", bets=[BET, BET | {"market": "m2"}])
    decision, _ = play(
        first, items("m2", "m3", bets=[BET | {"amount": 7}, BET | {"market": "m2", "amount": 9}])
    )
    assert [(bet.market_id, bet.amount) for bet in decision.bets] == [
        ("sim:a", usd("100")),
        ("sim:b", usd("9")),
    ]


VOID = BET | {"status": "cancelled"}


def test_a_refused_order_is_asked_for_once_where_forecasts_suffice() -> None:
    first = items("m1", "m2", "m3", bets=[BET | {"market": "m2"}, VOID], sales=[{"market": "m3"}])
    mended = items(bets=[BET | {"amount": 7}, BET | {"market": "m2"}, BET | {"market": "m3"}])
    decision, asked = play(first, mended)
    assert len(asked) == 2
    told = asked[1].messages[-1].content
    assert 'bet 2 on m1: "status" makes it unclear what is wanted' in told
    assert 'sale 1 on m3: the side "None" is neither YES nor NO' in told
    assert [(bet.market_id, bet.amount) for bet in decision.bets] == [
        ("sim:b", usd("100")),
        ("sim:a", usd("7")),
        ("sim:c", usd("100")),
    ], "the bet on m2 is repeated, and made once"
    assert (decision.status, decision.rejections, len(decision.forecasts)) == ("played", (), 3)


@pytest.mark.parametrize(
    "second",
    [belief(0.9), '{"bets": []}', "I give up.", DOWN, NO, CallError("budget", "too dear", retry=False)],
    ids=str,
)
def test_a_second_question_for_orders_takes_nothing_away(second: str | CallError) -> None:
    first = items("m1", "m2", "m3", bets=[BET | {"market": "m2"}, VOID])
    decision, asked = play(first, second)
    assert (decision.status, set(by_stage(decision).values()), len(asked)) == ("played", {usd("0.2")}, 2)
    assert [bet.market_id for bet in decision.bets] == ["sim:b"]
    assert [rejection.code for rejection in decision.rejections] == ["unclear_order"]


def test_a_refused_order_that_is_refused_again_is_told_once() -> None:
    first = items("m1", "m2", "m3", bets=[VOID])
    decision, asked = play(first, first)
    assert (decision.bets, len(asked)) == ((), 2)
    assert [rejection.code for rejection in decision.rejections] == ["unclear_order"]


def test_refused_orders_and_missing_forecasts_are_one_question() -> None:
    decision, asked = play(items("m1", bets=[VOID]), items("m2", "m3", probability=0.4, bets=[BET]))
    told = asked[1].messages[-1].content
    assert "a probability of YES between 0 and 1: m2, m3." in told
    assert "These orders were refused: bet 1 on m1:" in told
    assert (decision.status, len(decision.forecasts), len(asked)) == ("played", 3, 2)
    assert [bet.market_id for bet in decision.bets] == ["sim:a"]


@pytest.mark.parametrize(
    "bets",
    [[BET | {"amount": 0}], [BET | {"action": "hold"}]],
    ids=["an amount of nothing", "an action that is none"],
)
def test_an_order_that_asks_for_nothing_is_not_asked_for_again(bets: list[dict[str, Any]]) -> None:
    decision, asked = play(items("m1", "m2", "m3", bets=bets))
    assert (len(asked), [each.code for each in decision.rejections]) == (1, ["no_order"])


@pytest.mark.parametrize(
    "first",
    [
        items("m1", "m2", "m3", orders=[BET]),
        items("m1", "m2", "m3", bets=[BET], dry_run=True),
        items("m1", "m2", "m3") + json.dumps({"bets": [BET]}),
    ],
    ids=["under another key", "denied by a key beside them", "in another object"],
)
def test_orders_that_were_not_read_are_asked_for_and_may_come_alone(first: str) -> None:
    decision, asked = play(first, json.dumps({"bets": [BET]}))
    assert (len(asked), [bet.amount for bet in decision.bets]) == (2, [usd("100")])
    assert decision.rejections == ()


def test_orders_cut_off_are_asked_for_once_with_a_higher_limit() -> None:
    whole = items("m1", "m2", "m3", bets=[BET])
    ask, asked = replies(cut_off(whole[: whole.index("100")]), json.dumps({"bets": [BET]}))
    decision = result_of(agent(Settings(model="openai/gpt-4o", max_tokens=5_000), GIVEN)(a_view(), ask))
    assert ([bet.amount for bet in decision.bets], asked[1].max_tokens) == ([usd("100")], 16_384)


def test_what_stays_too_little_is_partly_played_and_bets_without_a_forecast_are_refused() -> None:
    decision, asked = play(items("m1", bets=[BET, BET | {"market": "m3"}]), "I give up.")
    assert (decision.status, len(decision.forecasts), len(asked)) == ("partly", 1, 2)
    assert decision.note == "the answer contains no JSON object"
    assert [bet.market_id for bet in decision.bets] == ["sim:a"]
    assert [(each.code, each.market_id) for each in decision.rejections] == [("no_forecast", "sim:c")]
    percent = items("m1", "m2", "m3", probability=-32, bets=[BET])
    decision, asked = play(percent, percent)
    assert (decision.status, decision.bets, len(asked)) == ("malformed", (), 2)
    assert decision.note == "3 of 3 refused: the probability -32 is not between 0 and 1"
    assert "no_forecast" in {each.code for each in decision.rejections}


@pytest.mark.parametrize(("min_answered", "enough"), [(0.33, True), (0.34, False)])
def test_how_much_is_enough_is_for_the_config_to_say(min_answered: float, enough: bool) -> None:
    decision, asked = play(items("m1"), "no", min_answered=min_answered)
    assert (decision.status, len(asked)) == (("played", 1) if enough else ("partly", 2))


def test_an_answer_cut_off_is_asked_for_with_a_higher_limit_where_the_model_has_one() -> None:
    ask, asked = replies(cut_off(""), belief(0.4))
    settings = Settings(model="openai/gpt-4o", max_tokens=5_000)
    decision = result_of(agent(settings, GIVEN)(a_view(), ask))
    assert (decision.status, [prompt.max_tokens for prompt in asked]) == ("played", [None, 16_384])
    assert asked[0].messages == asked[1].messages
    ask, asked = replies(cut_off(items("m1")[:-2]), items("m2", "m3"))
    decision = result_of(agent(settings, GIVEN)(a_view(), ask))
    assert (decision.status, decision.repaired, asked[1].max_tokens) == ("played", ("cut",), 16_384)
    assert asked[1].messages[-1].content.endswith("m2, m3. Write fewer words, so that all of it fits.")


def test_an_answer_cut_off_is_else_asked_for_in_two_halves_and_never_the_same_again() -> None:
    decision, asked = play(cut_off("Thinking"), items("m1", "m2", bets=[BET]), cut_off(""))
    assert [len(prompt.messages) for prompt in asked] == [2, 2, 2]
    shown = [
        [name for name in ("m1", "m2", "m3") if f"### {name}\n" in asked[n].messages[-1].content]
        for n in (1, 2)
    ]
    assert shown == [["m1", "m2"], ["m3"]]
    assert "$9,900" in asked[2].messages[-1].content, "what the first half bets is taken off"
    assert (decision.status, len(decision.forecasts), len(decision.bets)) == ("partly", 2, 1)
    assert decision.note == "the answer was cut off at the token limit"
    over = CallError("budget", "too dear", retry=False)
    ask, asked = replies(cut_off(""), over, items("m1", "m2"), items("m3"))
    decision = result_of(agent(Settings(model="openai/gpt-4o", max_tokens=5_000), GIVEN)(a_view(), ask))
    assert (decision.status, len(asked)) == ("played", 4), "a limit that the budget doesn't allow"


def test_halves_name_the_orders_that_were_refused() -> None:
    """Those of the second half's markets there, and all others in the first, each once."""
    bets = [BET | {"amount": "lots"}, VOID | {"market": "m3"}, BET | {"market": "m9"}]
    first = items("m1", bets=bets)[:-2] + ', {"mar'
    second = items("m2", bets=[BET | {"amount": 7}])
    third = items("m3", bets=[BET | {"market": "m3", "amount": 9}])
    decision, asked = play(cut_off(first), second, third)
    assert [len(prompt.messages) for prompt in asked] == [2, 2, 2]
    told = [prompt.messages[-1].content for prompt in asked]
    assert 'bet 1 on m1: the amount "lots" is not a number; bet 3: there is no market "m9"' in told[1]
    assert 'bet 2 on m3: "status" makes it unclear' in told[2]
    assert ["were refused" in text for text in told] == [False, True, True]
    assert "on m3:" not in told[1]
    assert "on m1:" not in told[2]
    amounts = {bet.market_id: bet.amount for bet in decision.bets}
    assert amounts == {"sim:a": usd("7"), "sim:c": usd("9")}
    assert (decision.status, len(decision.forecasts)) == ("played", 3)


def test_a_second_question_that_fails_for_good_loses_nothing_of_the_first() -> None:
    decision, _ = play(items("m1"), CallError("filtered", "no", retry=False))
    assert (decision.status, decision.note, len(decision.forecasts)) == ("partly", "filtered: no", 1)
    decision, _ = play(items("m1"), DOWN)
    assert (decision.status, decision.forecasts) == ("failed", ()), "it is tried again, and the first is kept"


@pytest.mark.parametrize(("prompt", "most"), [("zero_shot", 3), ("bet", 1)])
def test_parts_without_bets_are_asked_side_by_side_and_those_with_bets_in_turn(
    prompt: str, most: int
) -> None:
    under_way, busiest = 0, 0

    async def ask(asked: Prompt) -> Call:
        nonlocal under_way, busiest
        under_way += 1
        busiest = max(busiest, under_way)
        await asyncio.sleep(0.01)
        under_way -= 1
        return Call(asked, belief(0.3))

    given = Given(prompts={prompt: prompt_text(prompt, HOME)})
    decision = result_of(agent(Settings(model="openai/any", prompt=prompt, batch=1), given)(a_view(), ask))
    assert (busiest, len(by_stage(decision))) == (most, 3)


def test_a_huge_or_empty_answer_is_not_sent_back_whole() -> None:
    _, [_, second] = play("x" * 500_000, "")
    assert len(second.messages[-2].content) == 20_000
    _, [_, second] = play("", "")
    assert second.messages[-2].content == "(nothing)"


@pytest.mark.parametrize("said", [(DOWN,), (BROKEN, DOWN)], ids=["at first", "at the second try"])
def test_a_provider_without_an_answer_has_failed(said: tuple[str | CallError, ...]) -> None:
    decision, _ = play(*said)
    assert (decision.status, decision.note) == ("failed", "overloaded: come back later")
    assert decision.forecasts == ()


def test_a_model_that_declines_is_not_asked_again() -> None:
    decision, asked = play(NO)
    assert (decision.status, decision.note, len(asked)) == ("declined", "declined: no gambling", 1)
    decision, _ = play(NO, belief(0.2), NO, samples=3)
    assert (decision.status, set(by_stage(decision).values())) == ("played", {usd("0.2")})


def test_hidden_prices_are_not_sent() -> None:
    _, [prompt] = play(an_answer(), prices="hidden")
    assert "Price:" not in prompt.messages[-1].content


def by_stage(decision: Decision) -> Mapping[tuple[str, str], int]:
    return {(f.stage, f.market_id): f.millionths for f in decision.forecasts}


def test_with_prices_after_it_is_asked_blind_first_and_both_answers_are_kept() -> None:
    decision, [first, second] = play(BLIND, an_answer(), prices="after")
    assert (first.stage, second.stage) == ("blind", "final")
    assert "Price:" not in first.messages[-1].content
    assert "Your probability before you saw the price: 0.9" in second.messages[-1].content
    said = by_stage(decision)
    assert (said["blind", "sim:a"], said["final", "sim:a"], len(said)) == (usd("0.9"), usd("0.1"), 6)
    assert decision.status == "played"


def test_a_blind_answer_that_can_not_be_used_leaves_a_note() -> None:
    decision, asked = play("no", "no", an_answer(), prices="after")
    assert (decision.status, decision.note) == ("played", "blind: the answer contains no JSON object")
    assert [prompt.stage for prompt in asked] == ["blind", "blind", "final"]


def test_a_provider_that_fails_blind_is_not_asked_again() -> None:
    decision, asked = play(DOWN, prices="after")
    assert (decision.status, len(asked)) == ("failed", 1)


def test_what_was_said_blind_outlives_a_broken_end() -> None:
    decision, _ = play(BLIND, BROKEN, BROKEN, prices="after")
    assert decision.status == "malformed"
    assert set(by_stage(decision).items()) == {(("blind", f"sim:{x}"), usd("0.9")) for x in "abc"}


def test_a_prompt_that_was_not_handed_over_is_an_error_at_once() -> None:
    with pytest.raises(KeyError, match="mine"):
        agent(Settings(model="openai/any", prompt="mine"), GIVEN)


def test_samples_differ_by_seed_alone_and_the_median_is_stated() -> None:
    decision, asked = play(belief(0.2), belief(0.9), belief(0.4), samples=3)
    assert [(prompt.sample, prompt.seed - asked[0].seed) for prompt in asked] == [(1, 0), (2, 1), (3, 2)]
    assert len({prompt.messages for prompt in asked}) == 1
    assert set(by_stage(decision).values()) == {usd("0.4")}


def test_a_sample_that_is_lost_keeps_none_of_the_others() -> None:
    decision, _ = play(DOWN, belief(0.2), "no", "still no", samples=3)
    assert (decision.status, set(by_stage(decision).values())) == ("played", {usd("0.2")})
    assert "sample 1: failed: overloaded" in decision.note
    assert "sample 3: malformed" in decision.note


def test_a_batch_shows_so_many_markets_and_is_told_what_is_spent() -> None:
    first = items("m1", "m2", probability=0.9, bets=[BET | {"amount": 1500}])
    decision, asked = play(first, items("m3"), batch=2)
    assert [f"### m{n}\n" in asked[0].messages[-1].content for n in (1, 2, 3)] == [True, True, False]
    assert [f"### m{n}\n" in asked[1].messages[-1].content for n in (1, 2, 3)] == [False, False, True]
    assert "$8,500" in asked[1].messages[-1].content
    assert (len(decision.forecasts), len(decision.bets), decision.status) == (3, 1, "played")


def test_a_part_that_can_not_be_used_is_skipped_and_one_without_an_answer_fails_the_turn() -> None:
    good = items("m3", probability=0.1)
    decision, _ = play("no", "no", good, batch=2)
    assert (decision.status, by_stage(decision)) == ("partly", {("final", "sim:c"): usd("0.1")})
    assert decision.note == "part 1: malformed: the answer contains no JSON object"
    decision, _ = play(good, DOWN, batch=2)
    assert (decision.status, decision.forecasts) == ("failed", ())
    decision, _ = play("no", "no", "no", "no", batch=2)
    assert decision.status == "malformed"


def test_what_was_asked_is_answered_though_another_sample_can_not_be_stored() -> None:
    answered: list[str] = []

    async def ask(prompt: Prompt) -> Call:
        if prompt.sample == 1:
            raise OSError("the disk is full")
        await asyncio.sleep(0.01)
        answered.append(prompt.stage)
        return Call(prompt, an_answer())

    mind = agent(Settings(model="openai/any", samples=2), GIVEN)
    with pytest.raises(OSError, match="the disk is full"):
        result_of(mind(a_view(), ask))
    assert answered == ["final"]


def test_a_system_prompt_of_its_own_takes_the_place_of_the_prompts() -> None:
    given = Given(prompts={**GIVEN.prompts, "terse.md": "Be terse in round {{ round }}."})
    ask, asked = replies(an_answer())
    mind = agent(Settings(model="openai/any", system="terse.md"), given)
    result_of(mind(a_view(), ask))
    assert [(message.role, message.content) for message in asked[0].messages[:-1]] == [
        ("system", "Be terse in round 1.")
    ]


def test_a_question_that_does_not_fit_is_not_asked() -> None:
    listings = [a_listing(market=f"sim:{n}") for n in range(300)]
    ask, asked = replies()
    mind = agent(Settings(model="openai/any", prompt_tokens=1_000), GIVEN)
    decision = result_of(mind(a_view(*listings), ask))
    assert (decision.status, asked) == ("failed", [])
    assert decision.note.startswith("too_long: ")
