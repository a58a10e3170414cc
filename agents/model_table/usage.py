"""The usage that a provider reports for a call, in the many forms that providers have."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal
from typing import Any

from agents.text import as_text
from markets.millionths import ONE


@dataclass(frozen=True, slots=True)
class TokenUsage:
    """Tokens sent and received, and whatever else of a call is charged for.

    Those read from a cache or written to one are among `tokens_in`, those thought among `tokens_out`, and
    those kept for an hour among `cache_write`. `tier`, `fast` and `region` are how the answer says that it
    was served. `charged` is the provider's own figure in millionths of a dollar.
    """

    tokens_in: int = 0
    tokens_out: int = 0
    reasoning: int = 0
    cached: int = 0
    cache_write: int = 0
    cache_write_hour: int = 0
    searches: int = 0
    tier: str = ""
    fast: bool = False
    region: str = ""
    charged: int | None = None


def read_usage(answer: Any) -> TokenUsage:
    """Return the usage of an answer as litellm passes it on; invalid counts are ignored.

    Where the total is more than what was sent and received, the rest was thought: some leave it out.
    """
    usage = getattr(answer, "usage", None)
    tokens_in = _token_count(usage, "prompt_tokens")
    tokens_out = _token_count(usage, "completion_tokens")
    if tokens_in is None or tokens_out is None:
        return TokenUsage()

    input_details = _member(usage, "prompt_tokens_details")
    output_details = _member(usage, "completion_tokens_details")
    cached = _token_count(input_details, "cached_tokens") or 0
    cache_write = (
        _token_count(input_details, "cache_write_tokens")
        or _token_count(input_details, "cache_creation_tokens")
        or 0
    )
    cache_write_hour = (
        _token_count(_member(input_details, "cache_creation_token_details"), "ephemeral_1h_input_tokens") or 0
    )
    reasoning = _token_count(output_details, "reasoning_tokens") or 0
    uncounted = (_token_count(usage, "total_tokens") or 0) - tokens_in - tokens_out

    if uncounted > 0:
        tokens_out += max(0, uncounted - (_token_count(input_details, "tool_use_tokens") or 0))
    elif reasoning > tokens_out:
        tokens_out += reasoning

    if cached + cache_write > tokens_in:  # told beside what was sent, so no part of it
        tokens_in += cached + cache_write

    tier = as_text(_member(answer, "service_tier")) or as_text(_member(usage, "service_tier"))
    return TokenUsage(
        tokens_in,
        tokens_out,
        min(reasoning, tokens_out),
        cached,
        cache_write,
        min(cache_write_hour, cache_write),
        _searches(answer, usage, input_details),
        tier.lower(),
        as_text(_member(usage, "speed")) == "fast",
        as_text(_member(usage, "inference_geo")).lower(),
        _charge_stated(usage),
    )


def _member(value: Any, name: str) -> Any:
    if isinstance(value, Mapping):
        return value.get(name)
    return getattr(value, name, None)


def _token_count(value: Any, name: str) -> int | None:
    """Return a number of tokens; 0 if none is stated, None if it is invalid."""
    count = _member(value, name)
    if count is None:
        return 0
    if type(count) is not int or count < 0:
        return None
    return count


def _searches(answer: Any, usage: Any, input_details: Any) -> int:
    """Return how often the provider searched: Anthropic, Gemini, xAI and Perplexity count it.

    OpenAI doesn't in a chat; an answer that cites pages comes from one search at least.
    """
    counts = (
        _token_count(_member(usage, "server_tool_use"), "web_search_requests"),
        _token_count(input_details, "web_search_requests"),
        _token_count(_member(usage, "server_side_tool_usage_details"), "web_search_calls"),
        _token_count(usage, "num_search_queries"),
    )
    cites_pages = False
    for choice in _member(answer, "choices") or ():
        for annotation in _member(_member(choice, "message"), "annotations") or ():
            cites_pages = cites_pages or _member(annotation, "type") == "url_citation"

    return max(*(count or 0 for count in counts), int(cites_pages))


def _charge_stated(usage: Any) -> int | None:
    """Return the provider's own charge; with an own key at OpenRouter, the host's charge is added."""
    stated_cost = _member(usage, "cost")
    amounts = [_member(stated_cost, "total_cost") if isinstance(stated_cost, Mapping) else stated_cost]
    if _member(usage, "is_byok") is True:
        amounts.append(_member(_member(usage, "cost_details"), "upstream_inference_cost"))

    if not all(map(_is_money, amounts)):
        return None

    total = sum((Decimal(repr(amount)) for amount in amounts), Decimal(0)) * ONE
    return int(total.to_integral_value(ROUND_CEILING))


def _is_money(amount: Any) -> bool:
    return type(amount) in (int, float) and math.isfinite(amount) and amount >= 0
