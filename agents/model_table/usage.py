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
    tokens_in = _count(usage, "prompt_tokens")
    tokens_out = _count(usage, "completion_tokens")
    if tokens_in is None or tokens_out is None:
        return TokenUsage()

    sent = _part(usage, "prompt_tokens_details")
    got = _part(usage, "completion_tokens_details")
    cached = _count(sent, "cached_tokens") or 0
    written = _count(sent, "cache_write_tokens") or _count(sent, "cache_creation_tokens") or 0
    hour = _count(_part(sent, "cache_creation_token_details"), "ephemeral_1h_input_tokens") or 0
    reasoning = _count(got, "reasoning_tokens") or 0
    apart = (_count(usage, "total_tokens") or 0) - tokens_in - tokens_out

    if apart > 0:
        tokens_out += max(0, apart - (_count(sent, "tool_use_tokens") or 0))
    elif reasoning > tokens_out:
        tokens_out += reasoning

    if cached + written > tokens_in:  # told beside what was sent, so no part of it
        tokens_in += cached + written

    tier = as_text(_part(answer, "service_tier")) or as_text(_part(usage, "service_tier"))
    return TokenUsage(
        tokens_in,
        tokens_out,
        min(reasoning, tokens_out),
        cached,
        written,
        min(hour, written),
        _searches(answer, usage, sent),
        tier.lower(),
        as_text(_part(usage, "speed")) == "fast",
        as_text(_part(usage, "inference_geo")).lower(),
        _charged(usage),
    )


def _part(value: Any, name: str) -> Any:
    if isinstance(value, Mapping):
        return value.get(name)
    return getattr(value, name, None)


def _count(value: Any, name: str) -> int | None:
    """Return a number of tokens; 0 if none is stated, None if it is invalid."""
    count = _part(value, name)
    if count is None:
        return 0
    if type(count) is not int or count < 0:
        return None
    return count


def _searches(answer: Any, usage: Any, sent: Any) -> int:
    """Return how often the provider searched: Anthropic, Gemini, xAI and Perplexity count it.

    OpenAI doesn't in a chat; an answer that cites pages comes from one search at least.
    """
    counts = (
        _count(_part(usage, "server_tool_use"), "web_search_requests"),
        _count(sent, "web_search_requests"),
        _count(_part(usage, "server_side_tool_usage_details"), "web_search_calls"),
        _count(usage, "num_search_queries"),
    )
    cites = False
    for choice in _part(answer, "choices") or ():
        for note in _part(_part(choice, "message"), "annotations") or ():
            cites = cites or _part(note, "type") == "url_citation"

    return max(*(count or 0 for count in counts), int(cites))


def _charged(usage: Any) -> int | None:
    """Return the provider's own charge; with an own key at OpenRouter, the host's charge is added."""
    told = _part(usage, "cost")
    amounts = [_part(told, "total_cost") if isinstance(told, Mapping) else told]
    if _part(usage, "is_byok") is True:
        amounts.append(_part(_part(usage, "cost_details"), "upstream_inference_cost"))

    if not all(map(_is_money, amounts)):
        return None

    exact = sum((Decimal(repr(amount)) for amount in amounts), Decimal(0)) * ONE
    return int(exact.to_integral_value(ROUND_CEILING))


def _is_money(amount: Any) -> bool:
    return type(amount) in (int, float) and math.isfinite(amount) and amount >= 0
