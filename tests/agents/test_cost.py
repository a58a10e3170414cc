"""Usage times price, by hand."""

import json

import pytest

from agents.model import Message, ModelSettings, Prompt, TokenPrice
from agents.model_table.cost import cost, most_tokens, price_for, price_of, table_rates, worst_case
from agents.prompts.answer_schema import answer_schema


@pytest.mark.parametrize(
    ("price", "tokens_in", "tokens_out", "millionths"),
    [
        (TokenPrice(input=2.5, output=10), 1_000_000, 0, 2_500_000),
        (TokenPrice(input=2.5, output=10), 1_001, 200, 4_503),  # 2,502.5 + 2,000, rounded up
        (TokenPrice(input=0.1, output=0.4), 3, 0, 1),  # 0.3, where binary fractions say 0.30000000000000004
        (TokenPrice(input=0.1, output=0.2), 10, 10, 3),  # exactly 3, where binary fractions may say 4
        (TokenPrice(input=0, output=0), 5_000, 5_000, 0),
        (None, 5_000, 5_000, None),
    ],
)
def test_cost_is_usage_times_price_rounded_up(
    price: TokenPrice | None, tokens_in: int, tokens_out: int, millionths: int | None
) -> None:
    assert cost(price, tokens_in, tokens_out) == millionths


def test_prices_come_from_the_table_with_or_without_the_provider() -> None:
    assert price_of("gpt-4o") == price_of("openai/gpt-4o") == TokenPrice(input=2.5, output=10)
    assert (
        price_of("anthropic/claude-sonnet-4-5")
        == price_of("claude-sonnet-4-5")
        == TokenPrice(input=3, output=15)
    )
    assert price_of("gemini/gemini-2.5-pro") == TokenPrice(input=1.25, output=10)


def test_a_long_question_costs_what_long_ones_do() -> None:
    long = TokenPrice(input=2.5, output=15)
    assert table_rates("gemini/gemini-2.5-pro", "", 200_000) == table_rates("gemini/gemini-2.5-pro")
    settings = ModelSettings(model="gemini/gemini-2.5-pro", max_tokens=100)
    sent = most_tokens(prompt := Prompt((Message("user", "a" * 250_000),)))
    assert worst_case(prompt, settings) == cost(long, sent, 100)


def test_a_model_that_nobody_knows_has_no_price() -> None:
    assert price_of("openai/a-model-of-my-own") is None
    assert price_of("gemini/gpt-4o") is None  # known, but from another provider
    assert price_of("") is None


def test_the_settings_go_before_the_table() -> None:
    own = TokenPrice(input=1, output=2)
    assert price_for(ModelSettings(model="gpt-4o", price=own)) == own
    assert price_for(ModelSettings(model="gpt-4o")) == price_of("gpt-4o")


def test_the_worst_case_bounds_every_call() -> None:
    settings = ModelSettings(model="openai/mine", price=TokenPrice(input=1, output=2), max_tokens=100)
    prompt = Prompt((Message("system", "be brief"), Message("user", "é" * 50)))
    form = len(json.dumps(answer_schema(bets=True)))
    # 8 + 100 bytes, 2 × 32 for the frame of each message, the form of the answer, then 100 tokens at 2
    assert worst_case(prompt, settings) == 8 + 100 + 64 + form + 200
    assert worst_case(prompt, ModelSettings(model="openai/mine")) is None
