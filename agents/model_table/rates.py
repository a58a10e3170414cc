"""What a token costs in litellm's table: by model, service tier, how much is sent, and where it is served."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from typing import Any
from urllib.parse import urlsplit

from agents.model import ModelSettings
from agents.model_table.price_table import table_entry

_STEP = re.compile(r"input_cost_per_token_above_([0-9]+)k_tokens")
TIERS = {"priority": "_priority", "fast": "_priority", "ultrafast": "_ultrafast", "balanced": "_balanced",
         "flex": "_flex", "batch": "_batches"}  # fmt: skip
"""How the table ends the names of a service tier's prices."""


@dataclass(frozen=True, slots=True)
class Rates:
    """Millionths of a dollar for a token of each sort."""

    input: Decimal
    output: Decimal
    reasoning: Decimal
    cached: Decimal
    cache_write: Decimal
    cache_write_hour: Decimal

    @property
    def dearest_input(self) -> Decimal:
        """For a token that is sent, whether or not a cache keeps it."""
        return max(self.input, self.cached, self.cache_write)

    @property
    def dearest_output(self) -> Decimal:
        """For a token that comes back, thought or said."""
        return max(self.output, self.reasoning)


def rates_of(settings: ModelSettings, tier: str, tokens_in: int) -> Rates | None:
    """What a token costs in a call in which so much is sent: by the settings, else by the table."""
    if settings.price is None:
        return table_rates(settings.model, tier, tokens_in)
    sent, got = exact(settings.price.input), exact(settings.price.output)
    return Rates(sent, got, got, sent, sent, sent)


def table_rates(model: str, tier: str = "", tokens_in: int = 0) -> Rates | None:
    """The table's prices for a call in which so much is sent; None for a model without any."""
    step, ranges = _step(model, tokens_in), table_entry(model).get("tiered_pricing") or ()
    within = [number for number, each in enumerate(ranges) if tokens_in <= each["range"][1]]
    return _table_rates(model, TIERS.get(tier, ""), step, within[0] if within else len(ranges) - 1)


@cache
def _steps(model: str) -> tuple[int, ...]:
    """The numbers of tokens sent above which all of a call has other prices."""
    return tuple(int(match[1]) * 1_000 for match in map(_STEP.fullmatch, table_entry(model)) if match)


def _step(model: str, tokens_in: int) -> int:
    """The highest of them that a call has passed, or 0. At xAI it counts as passed when it is reached."""
    reached = tokens_in + (provider_name(model) == "xai")
    return max((step for step in _steps(model) if step < reached), default=0)


@cache
def _table_rates(model: str, tier: str, step: int, number: int) -> Rates | None:
    """The prices of a tier above a step, or in one of the model's price ranges, counted from 0.

    Cached and thought tokens without a price of their own cost as others do.
    """
    entry = table_entry(model)
    if number >= 0:
        entry = {**entry, **entry["tiered_pricing"][number]}
    sent = _rate(entry, "input_cost_per_token", tier, step)
    got = _rate(entry, "output_cost_per_token", tier, step)
    if sent is None or got is None or entry.get("input_cost_per_request"):
        return None  # with a price for each request, a call costs more than its tokens
    cached = _rate(entry, "cache_read_input_token_cost", tier, step)
    written = _rate(entry, "cache_creation_input_token_cost", tier, step)
    hour = _rate(entry, "cache_creation_input_token_cost_above_1hr", "", step)
    own_tier = tier and "output_cost_per_token" + tier in entry
    thought = None if own_tier else _rate(entry, "output_cost_per_reasoning_token", "", 0)
    written = sent if written is None else written
    rates = (sent, got, *(other if own is None else own for own, other in
             ((thought, got), (cached, sent), (written, sent), (hour, written))))  # fmt: skip
    return Rates(*(rate * 1_000_000 for rate in rates))


def _rate(entry: Mapping[str, Any], name: str, tier: str, step: int) -> Decimal | None:
    """One price; where the tier or the step has none of its own, the dearer of those without."""
    above = f"_above_{step // 1_000}k_tokens" if step else ""
    for names in ([name + above + tier], [name + tier, name + above], [name]):
        priced = [exact(entry[each]) for each in names if entry.get(each) is not None]
        if priced:
            return max(priced)
    return None


def factor(settings: ModelSettings, fast: bool, region: str) -> Decimal:
    """By how much a call costs more for how and where it is served."""
    if settings.price is not None:
        return Decimal(1)
    entry = table_entry(settings.model)
    own = entry.get("provider_specific_entry") or {}
    product = exact(own.get("fast", 1) if fast else 1) * exact(own.get(region, 1) if region else 1)
    host = urlsplit(settings.base_url or "").hostname
    if host in ("eu.api.openai.com", "us.api.openai.com"):
        product *= exact(entry.get(f"regional_processing_uplift_multiplier_{host[:2]}", 1))
    if provider_name(settings.model) == "vertex_ai" and settings.extra.get("vertex_location") != "global":
        product *= exact(entry.get("regional_endpoint_uplift_multiplier", 1))
    return product


def provider_name(model: str) -> str:
    """Who serves a model: what stands before its name, or what the table says.

    >>> provider_name("openrouter/x-ai/grok-4"), provider_name("gpt-4o"), provider_name("unknown")
    ('openrouter', 'openai', '')
    """
    provider, slash, _ = model.partition("/")
    return provider if slash else str(table_entry(model).get("litellm_provider", ""))


def exact(number: Any) -> Decimal:
    """A number of the table or the config, as it is written."""
    return Decimal(str(number))
