"""What is known of a model beforehand: costs by hand and as litellm reckons them, limits, abilities."""

import json
from datetime import date
from decimal import Decimal
from itertools import product
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.llm import resolve_provider
from agents.model import Message, ModelSettings, Prompt, Reasoning, TokenPrice
from agents.model_table.capabilities import (
    call_limits,
    model_faults,
    takes_effort,
    takes_temperature,
    with_limits,
)
from agents.model_table.cost import (
    cost,
    most_tokens,
    price_for,
    price_of,
    table_rates,
    unbounded_option,
    usage_cost,
    worst_case,
)
from agents.model_table.price_table import price_table
from agents.model_table.usage import TokenUsage, read_usage
from agents.prompts.answer_schema import answer_schema
from markets.millionths import ONE


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


MODELS = (
    "gpt-4o", "openai/gpt-5.6", "openai/gpt-6.1-sol", "anthropic/claude-opus-5-5", "claude-sonnet-4-5",
    "gemini/gemini-3.8-flash", "gemini/gemini-2.5-pro", "xai/grok-4.7", "deepseek/deepseek-chat",
    "mistral/mistral-large-latest", "groq/openai/gpt-oss-120b", "dashscope/qwen-flash",
    "dashscope/qwen-plus-latest",
)  # fmt: skip
USAGES: dict[str, dict[str, Any]] = {
    "plain": {},
    "long": {"prompt_tokens": 300_000},
    "at the step": {"prompt_tokens": 200_000},
    "thinking": {"completion_tokens_details": {"reasoning_tokens": 700}},
    "cached": {"prompt_tokens_details": {"cached_tokens": 4_000}},
    "written": {"cache_creation_input_tokens": 3_000},
    "read and written, long": {
        "prompt_tokens": 300_000,
        "cache_read_input_tokens": 5_000,
        "cache_creation_input_tokens": 1_000,
    },
    "fast": {"speed": "fast"},
    "in the US": {"inference_geo": "us"},
}
SEARCHES: dict[str, dict[str, Any]] = {
    "anthropic/claude-opus-5-5": {"server_tool_use": {"web_search_requests": 3}},
    "gemini/gemini-3.8-flash": {"prompt_tokens_details": {"web_search_requests": 2}},  # each query is paid
    "gemini/gemini-2.5-pro": {"prompt_tokens_details": {"web_search_requests": 2}},  # the question is paid
    "xai/grok-4.7": {"server_side_tool_usage_details": {"web_search_calls": 4}},
}
"""Counts of searches, in the field of each provider."""
CASES = [*product(MODELS, USAGES.values()), *SEARCHES.items()]
TIERS = ("default", "priority", "flex")


def an_answer(model: str, usage: dict[str, Any], **more: Any) -> Any:
    """Return an answer as litellm builds it from what came over the wire."""
    from litellm import ModelResponse, Usage

    counts = {"prompt_tokens": 10_001, "completion_tokens": 1_003} | usage
    counts.setdefault("total_tokens", counts["prompt_tokens"] + counts["completion_tokens"])
    return ModelResponse(model=model, usage=Usage(**counts), **more)


@pytest.mark.parametrize(("model", "usage"), CASES)
def test_a_cost_is_that_of_litellms_own_reckoning(model: str, usage: dict[str, Any]) -> None:
    provider = resolve_provider(model, None)
    from litellm import completion_cost

    for tier in TIERS:
        answer = an_answer(model, usage, service_tier=tier)
        theirs = completion_cost(answer, model=model, custom_llm_provider=provider)
        ours = usage_cost(ModelSettings(model=model), read_usage(answer))
        assert ours is not None
        assert abs(ours - Decimal(repr(theirs)) * ONE) < Decimal("1.001"), tier


@pytest.mark.parametrize(
    ("model", "usage", "out", "millionths"),
    [
        # 1,000 more in the total than was sent and received: thought, which litellm leaves out
        ("openai/gpt-5.6", {"total_tokens": 12_004}, 2_003, 10_001 * 4 + 2_003 * 20),
        # thinking that is more than all that came back is not part of it
        ("openai/gpt-5.6", {"completion_tokens_details": {"reasoning_tokens": 3_000}, "total_tokens": 0},
         4_003, 10_001 * 4 + 4_003 * 20),
        # what a search brought Gemini is in the total, and free
        ("gemini/gemini-3.8-flash",
         {"total_tokens": 12_004, "prompt_tokens_details": {"tool_use_tokens": 1_000}}, 1_003, 11_262),
        # what a cache keeps for an hour costs more than for five minutes
        ("anthropic/claude-opus-5-5",
         {"cache_creation_input_tokens": 2_000, "prompt_tokens_details": {
             "cache_write_tokens": 2_000,
             "cache_creation_token_details": {"ephemeral_1h_input_tokens": 500}}},
         1_003, 8_001 * 4 + 1_500 * 5 + 500 * 8 + 1_003 * 20),
        # providers that say what they charged are believed, and only they
        ("openrouter/x-ai/grok-4", {"cost": 0.0123}, 1_003, 12_300),
        ("openrouter/x-ai/grok-4", {"cost": 0.001, "is_byok": True, "cost_details": {
            "upstream_inference_cost": 0.02}}, 1_003, 21_000),
        ("perplexity/sonar-pro", {"cost": {"total_cost": 0.05}}, 1_003, 50_000),
        ("xai/grok-4.7", {"cost": float("nan")}, 1_003, 10_001 * 2 + 1_003 * 6),
        ("openai/gpt-5.6", {"cost": 0.0}, 1_003, 10_001 * 4 + 1_003 * 20),
        ("openrouter/x-ai/grok-4", {"cost": -1}, 1_003, None),
        # more from a cache than was sent is no part of it
        ("openai/gpt-5.6", {"prompt_tokens_details": {"cached_tokens": 20_000}}, 1_003,
         10_001 * 4 + 20_000 * 4 // 10 + 1_003 * 20),
    ],
)  # fmt: skip
def test_what_providers_leave_out_or_say_otherwise_is_reckoned(
    model: str, usage: dict[str, Any], out: int, millionths: int | None
) -> None:
    found = read_usage(an_answer(model, usage))
    assert (found.tokens_out, usage_cost(ModelSettings(model=model), found)) == (out, millionths)


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.floats() | st.text(), lambda inner:
    st.dictionaries(st.sampled_from(["prompt_tokens", "completion_tokens", "total_tokens", "cost", "speed",
    "prompt_tokens_details", "completion_tokens_details", "cached_tokens", "reasoning_tokens", "total_cost",
    "server_tool_use", "web_search_requests"]), inner)))  # fmt: skip
def test_whatever_a_server_sends_as_usage_is_read(usage: Any) -> None:
    """Each count is one, and each part no more than the whole."""
    found = read_usage(SimpleNamespace(usage=usage, choices=None, service_tier=usage))
    assert 0 <= found.reasoning <= found.tokens_out
    assert 0 <= found.cached + found.cache_write <= found.tokens_in
    amount = usage_cost(ModelSettings(model="openrouter/a", price=TokenPrice(input=1, output=2)), found)
    assert amount is None or amount >= 0


PROMPT = Prompt((Message("user", "a" * 1_000),))


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize(
    "extra", [{}, {"service_tier": "priority"}, {"speed": "fast", "inference_geo": "us"}]
)
def test_no_call_costs_more_than_its_worst_case(model: str, extra: dict[str, Any]) -> None:
    """Sent and received as much as can be, thought or not, from a cache or not, as asked for or cheaper."""
    settings = ModelSettings(model=model, max_tokens=5_000, extra=extra)
    if unbounded_option(settings) is not None:
        assert worst_case(PROMPT, settings) is None
        return
    worst = worst_case(PROMPT, settings)
    sent = most_tokens(PROMPT)
    assert worst is not None
    for parts, tier in product(({}, {"cached": sent}, {"cache_write": sent}, {"reasoning": 5_000}),
                               {"", extra.get("service_tier", "flex")}):  # fmt: skip
        fast = extra.get("speed") == "fast"
        region = extra.get("inference_geo", "")
        usage = TokenUsage(sent, 5_000, **parts, tier=tier, fast=fast, region=region)
        assert (usage_cost(settings, usage) or 0) <= worst, (parts, tier)


@pytest.mark.parametrize(
    ("model", "extra", "setting"),
    [
        ("openai/gpt-5.6", {"top_p": 0.9, "extra_body": {"min_p": 0.1}}, None),
        ("openai/gpt-5.6", {"web_search_options": {}}, "web_search_options"),
        ("openai/gpt-5.6", {"extra_body": {"tools": [{"type": "web_search"}]}}, "tools"),
        ("openai/gpt-5.6", {"service_tier": "ultrafast"}, "service_tier"),  # the table has no price for it
        ("openai/gpt-6.1-sol", {"service_tier": "ultrafast"}, None),
        ("openai/gpt-5.6", {"service_tier": ["priority"]}, "service_tier"),
        ("anthropic/claude-sonnet-5", {"speed": "fast"}, "speed"),
        ("anthropic/claude-opus-5-5", {"speed": "fast"}, None),
        ("openrouter/x-ai/grok-4:online", {}, "model"),
        ("openai/gpt-5-search-api", {}, "model"),
        ("openai/gpt-4o-search-preview", {}, None),
    ],
)
def test_an_option_whose_cost_has_no_known_bound_is_named(
    model: str, extra: dict[str, Any], setting: str | None
) -> None:
    settings = ModelSettings(model=model, extra=extra)
    assert unbounded_option(settings) == setting
    bounded = settings.model_copy(update={"max_cost": 2.5})
    assert (worst_case(PROMPT, settings) is None) == (setting is not None or "grok" in model)
    assert worst_case(PROMPT, bounded) == 2_500_000
    free = settings.model_copy(update={"price": TokenPrice(input=0, output=0)})
    assert worst_case(PROMPT, free) == (25_000 if "preview" in model else 0)


@pytest.mark.parametrize(
    ("model", "reasoning", "markets", "limits"),
    [
        ("openai/an-unknown-model", None, 12, (16_000, 120)),
        ("openai/an-unknown-model", "high", 12, (33_220, 1_200)),
        ("openai/gpt-5.6", None, 12, (16_000, 540)),
        ("openai/gpt-5.6", "max", 40, (66_900, 2_340)),
        ("openai/gpt-5.5-pro", None, 40, (34_900, 1_260)),
        ("deepseek/deepseek-chat", None, 40, (8_192, 180)),
        ("openai/an-unknown-model", None, 1_000, (60_500, 2_100)),
    ],
)
def test_limits_follow_from_the_model_and_the_markets(
    model: str, reasoning: Reasoning | None, markets: int, limits: tuple[int, float]
) -> None:
    settings = ModelSettings(model=model, reasoning=reasoning)
    assert call_limits(settings, markets) == limits
    fitted = with_limits(settings, markets)
    assert (fitted.max_tokens, fitted.timeout) == limits


def test_what_is_named_stays() -> None:
    settings = ModelSettings(model="openai/gpt-5.6", max_tokens=500)
    assert with_limits(settings, 40).max_tokens == 500
    assert with_limits(settings, 40).timeout > 120


def test_no_chat_model_of_the_table_is_asked_for_more_than_it_gives() -> None:
    for name, entry in price_table().items():
        most = entry.get("max_output_tokens")
        if (
            entry.get("mode") in ("chat", "responses")
            and isinstance(most, int)
            and most > 0
            and "/" not in name
        ):
            model = f"{entry['litellm_provider']}/{name}"
            assert call_limits(ModelSettings(model=model, reasoning="max"), 1_000)[0] <= max(most, 60_500)


PROVIDERS = ("anthropic", "deepseek", "gemini", "groq", "mistral", "openai", "xai")
EFFORTS: tuple[Any, ...] = ("none", "minimal", "low", "medium", "high", "xhigh")


def refused_by_litellm(model: str, provider: str, **options: Any) -> bool:
    """Tell whether the library itself refuses these options, before any call."""
    from litellm.exceptions import UnsupportedParamsError
    from litellm.utils import get_optional_params

    try:
        get_optional_params(model.removeprefix(f"{provider}/"), custom_llm_provider=provider, **options)
    except UnsupportedParamsError:
        return True
    return False


@pytest.mark.parametrize("provider", PROVIDERS)
def test_temperature_and_effort_are_refused_where_the_library_refuses_them(provider: str) -> None:
    assert resolve_provider("gpt-4o", None) == "openai"  # loads the library, without the network
    chats = [
        (name if name.startswith(f"{provider}/") else f"{provider}/{name}", entry)
        for name, entry in price_table().items()
        if entry.get("litellm_provider") == provider
        and entry.get("mode") in ("chat", "responses")
        and not name.endswith("container")  # is no model, though the table calls it one
    ]
    wrong = []
    missed = []
    right = 0
    for model, entry in chats:
        alike = ModelSettings(model=model)
        cases = [(takes_temperature(alike), {"temperature": 0.7})]
        cases += [(takes_effort(alike, effort), {"reasoning_effort": effort}) for effort in EFFORTS]
        for taken, options in cases:
            refused = refused_by_litellm(model, provider, **options)
            if taken and refused:
                missed.append((model, options))
            elif not taken and not refused and entry.get("supports_sampling_params") is not False:
                wrong.append((model, options))
            right += taken != refused
    assert wrong == []
    assert len(missed) < 0.08 * right, missed  # of models that the table calls reasoning, and litellm not


@pytest.mark.parametrize(
    ("flags", "efforts"),
    [
        ({}, {"high"}),
        ({"supports_xhigh_reasoning_effort": False}, {"high"}),
        ({"supports_xhigh_reasoning_effort": True}, {"high", "xhigh"}),
    ],
)
def test_gemini_takes_the_highest_effort_where_the_table_says_so(
    flags: dict[str, bool], efforts: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    entry = {"litellm_provider": "gemini", "mode": "chat", "supports_reasoning": True} | flags
    monkeypatch.setitem(price_table(), "gemini/of-a-later-table", entry)
    settings = ModelSettings(model="gemini/of-a-later-table")

    assert {effort for effort in ("high", "xhigh", "max") if takes_effort(settings, effort)} == efforts


@pytest.mark.parametrize(
    ("model", "settings", "words", "certain"),
    [
        ("openai/gpt-5.6", {}, "", False),
        ("openai/gpt-5.5-pro", {"reasoning": "high"}, "", False),
        ("nobody/knows", {"temperature": 0.2, "max_tokens": 10**6, "reasoning": "xhigh"}, "", False),
        ("openai/text-embedding-3-large", {}, "does not answer questions: it is for embedding", True),
        ("openai/gpt-image-1", {}, "it is for image generation", True),
        ("anthropic/claude-opus-5-5", {"temperature": 0.7}, "takes no temperature but 1", True),
        ("openai/gpt-5.6", {"temperature": 0.7}, "takes no temperature but 1", True),
        ("openai/gpt-5.6", {"temperature": 0.7, "reasoning": "none"}, "", False),
        ("anthropic/claude-opus-5-5", {"temperature": 1}, "", False),
        ("gpt-4o", {"reasoning": "low"}, "does not take reasoning: low", True),
        ("gpt-4o", {"max_tokens": 16_385}, "answers with 16,384 tokens at most", True),
        ("openai/gpt-5.6", {"prompt_tokens": 5_000_000}, "reads 922,000 tokens at most", False),
        ("o3-deep-research", {}, "answers only with a search tool", False),
        ("deepseek/deepseek-chat", {"max_tokens": 8_000}, "was to be shut down on 2026-07-24", False),
    ],
)
def test_what_the_table_knows_against_the_settings_is_said(
    model: str, settings: dict[str, Any], words: str, certain: bool
) -> None:
    found = list(model_faults(ModelSettings.model_validate({"model": model} | settings), date(2026, 7, 24)))
    assert bool(found) == bool(words)
    assert all(fault.hint and fault.certain is certain for fault in found)
    assert words in "".join(fault.message for fault in found)
