"""What answers say they used, and what that costs, against litellm's own reckoning."""

from decimal import Decimal
from itertools import product
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.llm import resolve_provider
from agents.model import Message, ModelSettings, Prompt, TokenPrice
from agents.model_table.cost import most_tokens, unbounded_option, usage_cost, worst_case
from agents.model_table.usage import TokenUsage, read_usage
from markets.millionths import ONE

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
    """An answer as litellm makes one of what came over the wire."""
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
    worst, sent = worst_case(PROMPT, settings), most_tokens(PROMPT)
    assert worst is not None
    for parts, tier in product(({}, {"cached": sent}, {"cache_write": sent}, {"reasoning": 5_000}),
                               {"", extra.get("service_tier", "flex")}):  # fmt: skip
        fast, region = extra.get("speed") == "fast", extra.get("inference_geo", "")
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
