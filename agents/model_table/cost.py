"""The cost of a call: usage times price, in millionths of a dollar, and its upper bound.

A price in dollars per million tokens is as many millionths of a dollar a token.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal
from functools import cache
from typing import Any
from urllib.parse import urlsplit

from agents.model import ModelSettings, Prompt, TokenPrice
from agents.model_table.price_table import table_entry
from agents.model_table.usage import TokenUsage
from agents.prompts.answer_schema import answer_schema
from agents.text import MESSAGE_TOKENS, as_text
from markets.millionths import ONE

CHARGE = ("openrouter", "xai", "perplexity")
"""Providers that state the cost in their answers."""
SEARCH_FEES = {"gemini": Decimal(35_000), "xai": Decimal(5_000)}
"""Millionths of a dollar for a web search, where the table has none."""
ONE_SEARCH = re.compile(r"-search-preview|^perplexity/sonar(?!-deep)")
"""Models that search the web once for every question, for a fee without tokens."""
SEARCHING = re.compile(
    r"-search-api|:online|-deep-research|^groq/compound|^perplexity/preset/|/perplexity/sonar"
)
"""Models that search an unknown number of times, or for a fee that isn't in the table."""
SEARCH_OPTION = re.compile(r"search|grounding|^(?:plugins|tools|connectors|mcp_?servers)$", re.IGNORECASE)
"""Names of extra parameters, at any depth, that enable a provider's own search."""
HARMLESS = frozenset((
    "additional_drop_params", "allowed_openai_params", "api_version", "aws_region_name",
    "chat_template_kwargs", "drop_params", "enable_thinking", "frequency_penalty", "include_reasoning",
    "keep_alive", "logit_bias", "logprobs", "metadata", "min_p", "num_ctx", "options", "organization",
    "parallel_tool_calls", "presence_penalty", "prompt_cache_key", "prompt_cache_retention", "provider",
    "reasoning", "repetition_penalty", "safety_identifier", "safety_settings", "stop", "store", "think",
    "thinking", "top_k", "top_logprobs", "top_p", "user", "verbosity", "vertex_location",
    "vertex_project",
))  # fmt: skip
"""Extra parameters that don't change what a call can cost."""
_STEP = re.compile(r"input_cost_per_token_above_([0-9]+)k_tokens")
TIERS = {"priority": "_priority", "fast": "_priority", "ultrafast": "_ultrafast", "balanced": "_balanced",
         "flex": "_flex", "batch": "_batches"}  # fmt: skip
"""The suffixes of a service tier's prices in the table."""


@dataclass(frozen=True, slots=True)
class Rates:
    """Millionths of a dollar for a token of each kind."""

    input: Decimal
    output: Decimal
    reasoning: Decimal
    cached: Decimal
    cache_write: Decimal
    cache_write_hour: Decimal

    @property
    def dearest_input(self) -> Decimal:
        """Return the highest price of a token sent, cached or not."""
        return max(self.input, self.cached, self.cache_write)

    @property
    def dearest_output(self) -> Decimal:
        """Return the highest price of a token received, thought or written."""
        return max(self.output, self.reasoning)


def rates_of(settings: ModelSettings, tier: str, tokens_in: int) -> Rates | None:
    """Return the prices for a call with this much input: by the settings, else by the table."""
    if settings.price is None:
        return table_rates(settings.model, tier, tokens_in)
    input_price = exact(settings.price.input)
    output_price = exact(settings.price.output)
    return Rates(input_price, output_price, output_price, input_price, input_price, input_price)


def table_rates(model: str, tier: str = "", tokens_in: int = 0) -> Rates | None:
    """Return the table's prices for a call with this much input; None for a model without any."""
    step = _step_passed(model, tokens_in)
    ranges = table_entry(model).get("tiered_pricing") or ()
    fitting = (index for index, entry in enumerate(ranges) if tokens_in <= entry["range"][1])
    range_index = next(fitting, len(ranges) - 1)  # -1 for a model without price ranges
    return _rates_in_table(model, TIERS.get(tier, ""), step, range_index)


@cache
def _price_steps(model: str) -> tuple[int, ...]:
    """Return the numbers of input tokens above which a whole call has other prices."""
    return tuple(int(match[1]) * 1_000 for match in map(_STEP.fullmatch, table_entry(model)) if match)


def _step_passed(model: str, tokens_in: int) -> int:
    """Return the highest step that a call has passed, or 0; at xAI it counts once it is reached."""
    reached = tokens_in + (provider_name(model) == "xai")
    return max((step for step in _price_steps(model) if step < reached), default=0)


@cache
def _rates_in_table(model: str, tier: str, step: int, range_index: int) -> Rates | None:
    """Return the prices of a tier above a step, or in one of the model's price ranges, from 0.

    Cached and thought tokens without a price of their own cost as others do.
    """
    entry = table_entry(model)
    if range_index >= 0:
        entry = {**entry, **entry["tiered_pricing"][range_index]}

    input_price = _table_price(entry, "input_cost_per_token", tier, step)
    output_price = _table_price(entry, "output_cost_per_token", tier, step)
    if input_price is None or output_price is None or entry.get("input_cost_per_request"):
        return None  # with a price for each request, a call costs more than its tokens

    cached_price = _table_price(entry, "cache_read_input_token_cost", tier, step)
    cache_write_price = _table_price(entry, "cache_creation_input_token_cost", tier, step)
    cache_write_hour_price = _table_price(entry, "cache_creation_input_token_cost_above_1hr", "", step)
    has_tier_price = tier and "output_cost_per_token" + tier in entry
    reasoning_price = (
        None if has_tier_price else _table_price(entry, "output_cost_per_reasoning_token", "", 0)
    )
    if reasoning_price is None:
        reasoning_price = output_price
    if cached_price is None:
        cached_price = input_price
    if cache_write_price is None:
        cache_write_price = input_price
    if cache_write_hour_price is None:
        cache_write_hour_price = cache_write_price

    prices = (
        input_price,
        output_price,
        reasoning_price,
        cached_price,
        cache_write_price,
        cache_write_hour_price,
    )
    return Rates(*(price * 1_000_000 for price in prices))


def _table_price(entry: Mapping[str, Any], name: str, tier: str, step: int) -> Decimal | None:
    """Return one price; without one for the tier and the step, the dearer of those for either."""
    above_step = f"_above_{step // 1_000}k_tokens" if step else ""
    for keys in ([name + above_step + tier], [name + tier, name + above_step], [name]):
        prices = [exact(entry[key]) for key in keys if entry.get(key) is not None]
        if prices:
            return max(prices)
    return None


def price_of(model: str) -> TokenPrice | None:
    """Return the plain price in litellm's table; None for an unknown model.

    Where thinking has a price of its own, the larger one stands for all that comes back.
    """
    rates = table_rates(model)
    if rates is None:
        return None
    return TokenPrice(input=float(rates.input), output=float(rates.dearest_output))


def price_for(settings: ModelSettings) -> TokenPrice | None:
    """Return the price of a model: from the settings, else from the table."""
    return settings.price or price_of(settings.model)


def cost(price: TokenPrice | None, tokens_in: int, tokens_out: int) -> int | None:
    """Return usage times price in millionths of a dollar, rounded up; None without a price."""
    if price is None:
        return None
    return _rounded_up(exact(price.input) * tokens_in + exact(price.output) * tokens_out)


def usage_cost(settings: ModelSettings, usage: TokenUsage, replied: bool = True) -> int | None:
    """Return the cost of a call with this usage: the provider's charge, where the answer states it.

    None if that is unknown: there is no price, or a count is missing of what is not free.
    """
    if usage.charged is not None and provider_name(settings.model) in CHARGE:
        return usage.charged

    rates = rates_of(settings, usage.tier, usage.tokens_in)
    has_counts = usage.tokens_in > 0 and (usage.tokens_out > 0 or not replied)
    if rates is None or not (has_counts or rates.input == rates.output == 0):
        return None

    amount = rates.input * (usage.tokens_in - usage.cached - usage.cache_write) + rates.cached * usage.cached
    amount += rates.cache_write * (usage.cache_write - usage.cache_write_hour)
    amount += rates.cache_write_hour * usage.cache_write_hour
    amount += rates.output * (usage.tokens_out - usage.reasoning) + rates.reasoning * usage.reasoning
    amount *= factor(settings, usage.fast, usage.region)

    return _rounded_up(amount + search_fee(settings, usage.searches))


def factor(settings: ModelSettings, fast: bool, region: str) -> Decimal:
    """Return by what factor a call costs more for how and where it is served."""
    if settings.price is not None:
        return Decimal(1)

    entry = table_entry(settings.model)
    factors_of_model = entry.get("provider_specific_entry") or {}
    fast_factor = factors_of_model.get("fast", 1) if fast else 1
    region_factor = factors_of_model.get(region, 1) if region else 1
    total = exact(fast_factor) * exact(region_factor)
    host = urlsplit(settings.base_url or "").hostname

    if host in ("eu.api.openai.com", "us.api.openai.com"):
        total *= exact(entry.get(f"regional_processing_uplift_multiplier_{host[:2]}", 1))

    if provider_name(settings.model) == "vertex_ai" and settings.extra.get("vertex_location") != "global":
        total *= exact(entry.get("regional_endpoint_uplift_multiplier", 1))

    return total


def search_fee(settings: ModelSettings, searches: int) -> Decimal:
    """Return the fee for this many web searches in one call, in millionths of a dollar."""
    if not searches:
        return Decimal(0)

    entry = table_entry(settings.model)
    provider = provider_name(settings.model)
    options = settings.extra.get("web_search_options")
    requested_size = options.get("search_context_size") if isinstance(options, Mapping) else None
    usual_size = "low" if provider == "perplexity" else "medium"
    fees = entry.get("search_context_cost_per_query") or {}
    listed = fees.get(f"search_context_size_{requested_size or usual_size}")
    fee = SEARCH_FEES.get(provider, Decimal(0)) if listed is None else exact(listed) * ONE

    # Google charges some models by the prompt, however often they search for it
    is_by_prompt = provider in ("gemini", "vertex_ai") and entry.get("web_search_billing_unit") != "per_query"
    return fee if is_by_prompt else fee * searches


def worst_case(prompt: Prompt, settings: ModelSettings) -> int | None:
    """Return the most that a call can cost: everything sent, and all tokens that may come back.

    None where that is not known: there is no price, or an option whose cost has no bound.
    """
    stated_maximum = None if settings.max_cost is None else _rounded_up(exact(settings.max_cost) * ONE)
    if stated_maximum is None and unbounded_option(settings) is not None:
        return None

    tokens_in = most_tokens(prompt)
    requested_tier = as_text(settings.extra.get("service_tier"))
    tiers = ("", "priority" if requested_tier == "auto" else requested_tier)
    possible_rates = list[Rates]()
    for tier in tiers:
        rates = rates_of(settings, tier, tokens_in)
        if rates is not None:
            possible_rates.append(rates)
    if not possible_rates:
        return stated_maximum

    tokens_out = prompt.max_tokens or settings.max_tokens
    amount = tokens_in * max(rates.dearest_input for rates in possible_rates)
    amount += tokens_out * max(rates.dearest_output for rates in possible_rates)
    region = as_text(settings.extra.get("inference_geo"))
    amount *= max(Decimal(1), factor(settings, settings.extra.get("speed") == "fast", region))

    return max(stated_maximum or 0, _rounded_up(amount + search_fee(settings, searches_once(settings.model))))


def searches_once(model: str) -> int:
    """Return 1 for a model that searches the web for every question, else 0."""
    return int(ONE_SEARCH.search(model) is not None)


def own_search(settings: ModelSettings) -> str:
    """Return the setting that lets a provider search the web unrecorded, or ""."""
    if ONE_SEARCH.search(settings.model) or SEARCHING.search(settings.model):
        return settings.model
    return next(_search_settings(settings.extra), "")


def _search_settings(value: object, path: str = "extra") -> Iterator[str]:
    """Yield where an extra parameter, or a model in one, enables a provider's search."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            if SEARCH_OPTION.search(str(key)) and inner not in (False, None):
                yield f"{path}.{key}"
            yield from _search_settings(inner, f"{path}.{key}")
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _search_settings(item, path)
    elif isinstance(value, str) and (ONE_SEARCH.search(value) or SEARCHING.search(value)):
        yield f"{path}: {value}"


def unbounded_option(settings: ModelSettings) -> str | None:
    """Return the setting that leaves the cost of a call unbounded: `model`, or the name of an extra."""
    if settings.price is not None and not settings.price.input and not settings.price.output:
        return None
    if SEARCHING.search(settings.model):
        return "model"

    body = settings.extra.get("extra_body")
    extra = {**settings.extra, **(body if isinstance(body, Mapping) else {})}
    for name, value in extra.items():
        if name != "extra_body" and not _is_bounded(settings, name, value):
            return name
    return None


def _is_bounded(settings: ModelSettings, name: str, value: Any) -> bool:
    """Tell whether an extra leaves the cost as it is, or changes it as the table says."""
    entry = table_entry(settings.model)
    factors = entry.get("provider_specific_entry") or {}
    if name == "service_tier":
        usual = value in ("auto", "default", "standard", "standard_only")
        priced = f"input_cost_per_token{TIERS.get(as_text(value), '?')}" in entry
        return usual or (priced and settings.price is None)

    if name == "speed":
        return value == "standard" or (value == "fast" and "fast" in factors)
    if name == "inference_geo":
        return value == "global" or value in factors
    return name in HARMLESS


def most_tokens(prompt: Prompt) -> int:
    """Return the most tokens of a prompt: one for every byte of it, of its tools and of its schema."""
    tokens = _schema_bytes(prompt.bets, prompt.kinds)
    for message in prompt.messages:
        tokens += len(message.content.encode("utf-8", "replace")) + MESSAGE_TOKENS
    for tool in prompt.tools:
        tokens += len(json.dumps([tool.name, tool.about, tool.parameters])) + MESSAGE_TOKENS
    return tokens


@cache
def _schema_bytes(bets: bool, kinds: tuple[str, ...]) -> int:
    """Return the bytes of the answer's schema: providers that enforce one count it as input."""
    return len(json.dumps(answer_schema(bets, kinds)).encode())


def _rounded_up(amount: Decimal) -> int:
    return int(amount.to_integral_value(ROUND_CEILING))


def provider_name(model: str) -> str:
    """Return who serves a model: the prefix of its name, or what the table says.

    >>> provider_name("openrouter/x-ai/grok-4"), provider_name("gpt-4o"), provider_name("unknown")
    ('openrouter', 'openai', '')
    """
    provider, slash, _ = model.partition("/")
    if slash:
        return provider
    return str(table_entry(model).get("litellm_provider", ""))


def exact(number: Any) -> Decimal:
    """Return a number of the table or the config exactly as written."""
    return Decimal(str(number))
