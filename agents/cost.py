"""What a call costs: usage times price, in millionths of a dollar, and what it can cost at most.

A price in dollars per million tokens is as many millionths of a dollar a token.
"""

import importlib.util
import json
import re
from decimal import ROUND_CEILING, Decimal
from functools import cache
from pathlib import Path
from typing import Any

from agents.answers.json_text import answer_schema
from agents.model import ModelSettings, Prompt, TokenPrice
from agents.text import MESSAGE_TOKENS

TABLE = "model_prices_and_context_window_backup.json"
_STEP = re.compile(r"input_cost_per_token_above_([0-9]+)k_tokens")


def price_of(model: str, tokens_in: int = 0) -> TokenPrice | None:
    """The price in litellm's own table, read without importing it; None for a model it doesn't know.

    A model is there by its whole name, or without its provider if the entry names the same one. Some ask
    more for all of a call in which more than so many thousand tokens are sent. Where thinking has a price of
    its own, the larger one is taken for all that comes back.
    """
    table = price_table()
    provider, _, rest = model.partition("/")
    entry = table.get(model)
    if entry is None and rest and table.get(rest, {}).get("litellm_provider") == provider:
        entry = table[rest]
    if entry is None or "input_cost_per_token" not in entry or "output_cost_per_token" not in entry:
        return None
    if entry.get("input_cost_per_request"):
        return None  # what a call costs is more than its tokens
    steps = [int(match[1]) for match in map(_STEP.fullmatch, entry) if match]
    passed = max((step for step in steps if step * 1_000 < tokens_in), default=None)
    above = "" if passed is None else f"_above_{passed}k_tokens"
    names = ("input_cost_per_token", "output_cost_per_token")
    sent, got = (entry.get(name + above) or entry[name] for name in names)
    thought = entry.get("output_cost_per_reasoning_token") or 0.0
    return TokenPrice(input=_per_million(sent), output=_per_million(max(got, thought)))


def price_for(settings: ModelSettings, tokens_in: int = 0) -> TokenPrice | None:
    """The price of a call in which so much is sent: that which the settings name, else that of the table."""
    return settings.price or price_of(settings.model, tokens_in)


def cost(price: TokenPrice | None, tokens_in: int, tokens_out: int) -> int | None:
    """Usage times price in millionths of a dollar, rounded up; None where no price is known.

    >>> cost(TokenPrice(input=2.5, output=10), 1_001, 200)
    4503
    >>> cost(None, 1, 1)
    """
    if price is None:
        return None
    exact = _exact(price.input) * tokens_in + _exact(price.output) * tokens_out
    return int(exact.to_integral_value(ROUND_CEILING))


def worst_case(prompt: Prompt, settings: ModelSettings) -> int | None:
    """What asking this can cost at most: all that is sent, and all tokens that may come back."""
    sent = most_tokens(prompt)
    return cost(price_for(settings, sent), sent, prompt.max_tokens or settings.max_tokens)


def most_tokens(prompt: Prompt) -> int:
    """The tokens that a question can take at most: one for every byte of it and of the form it asks for."""
    sent = (len(message.content.encode("utf-8", "replace")) + MESSAGE_TOKENS for message in prompt.messages)
    return sum(sent) + _form_size(prompt.bets)


@cache
def _form_size(bets: bool) -> int:
    """Bytes of the answer's schema: providers that hold a model to one count it as sent."""
    return len(json.dumps(answer_schema(bets)).encode())


def library_folder() -> Path:
    """Where litellm is installed: its import takes seconds, its files don't."""
    spec = importlib.util.find_spec("litellm")
    folders = spec.submodule_search_locations if spec else None
    if not folders:
        raise FileNotFoundError("litellm, which has the table of prices, is not installed")
    return Path(folders[0])


@cache
def price_table() -> dict[str, Any]:
    """litellm's own table: an entry for each model that it knows."""
    entries: dict[str, Any] = json.loads((library_folder() / TABLE).read_text(encoding="utf-8"))
    return entries


def _exact(number: float) -> Decimal:
    return Decimal(repr(number))


def _per_million(per_token: float) -> float:
    return float(_exact(per_token) * 1_000_000)
