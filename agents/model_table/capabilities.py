"""The capabilities of models by litellm's table, and how long they usually and at most think.

Limits that a config names stay. The others are put in the settings when the config is read, and are frozen
with a cohort like these: another table of models changes nothing for a cohort that plays.
"""

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from typing import TypeVar

from agents.model import ModelSettings, Reasoning
from agents.model_table.cost import own_search, provider_name
from agents.model_table.price_table import table_entry

CHATS = ("chat", "responses", "completion", None)
"""Modes of models that answer with text; None where the table doesn't say."""
OPENAI_REASONING = re.compile(r"(?:.*/)?(?:o[1-9](?![0-9])|gpt-[5-9](?!.*(?:-chat|search)))")
KNOWN_PLAIN = ("groq", "mistral", "openai", "xai")
"""Providers whose reasoning models are all marked in the table."""

THINKING = {
    "none": 0, "minimal": 500, "low": 2_000, "medium": 5_000, "high": 12_000, "xhigh": 25_000, "max": 40_000,
}  # fmt: skip
"""Tokens that a model thinks for about one question, by effort: a rule of thumb, to be replaced by what the
record has measured."""
THINKS_LONG = re.compile(r"-pro\b|deep-research|multi-agent")
A_SECOND, SLOW = 50, 30
"""Tokens that a usual and a slow model write in a second."""
USUAL_TOKENS = 16_000
USUAL_TIMEOUT = 120.0
LONGEST_TIMEOUT = 3_600.0
FRAME, A_MARKET = 500, 60
"""Tokens of an answer without its markets, and of each market."""
MOST_THINKING: Mapping[Reasoning, int] = {
    "none": 0, "minimal": 3_000, "low": 6_000, "medium": 13_000, "high": 32_000, "xhigh": 48_000,
    "max": 64_000,
}  # fmt: skip
"""The most tokens of thinking, by the requested effort."""
SETTLING = 60
"""Seconds of overhead: network, queue, reading the question."""
IDLE = 300.0
"""Seconds of silence after which a stream is given up."""
AnySettings = TypeVar("AnySettings", bound=ModelSettings)


@dataclass(frozen=True, slots=True)
class ModelFault:
    """A setting that a model doesn't go with: what is wrong, and what to do. `certain`: every call fails."""

    key: str
    message: str
    hint: str
    certain: bool = True


def model_faults(settings: ModelSettings, today: date | None = None) -> Iterator[ModelFault]:
    """Yield everything that the table has against these settings; nothing for an unknown model.

    Without a day of today, none is past.
    """
    entry = table_entry(settings.model)
    mode = entry.get("mode")
    if mode not in CHATS:
        words = f"{settings.model} does not answer questions: it is for {str(mode).replace('_', ' ')}"
        yield ModelFault("model", words, "name a chat model")
        return

    yield from _limit_faults(settings)
    if settings.temperature not in (None, 1) and not takes_temperature(settings):
        words = f"{settings.model} takes no temperature but 1"
        yield ModelFault("temperature", words, "remove `temperature`")

    if settings.reasoning is not None and not takes_effort(settings, settings.reasoning):
        words = f"{settings.model} does not take reasoning: {settings.reasoning}"
        yield ModelFault("reasoning", words, "remove `reasoning`, or set another")

    if "deep-research" in settings.model and "web_search_options" not in settings.extra:
        words = f"{settings.model} answers only with a search tool"
        yield ModelFault("model", words, "set `extra: {web_search_options: {}}`", certain=False)

    option = own_search(settings)
    if option:
        words = f"{option} lets the provider search on its own: what it reads is neither audited nor recorded"
        yield ModelFault("extra", words, "give it `tools: [search, read]` instead", certain=False)

    shutdown_day = str(entry.get("deprecation_date") or "")
    if (
        today
        and re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", shutdown_day)
        and shutdown_day <= today.isoformat()
    ):
        words = f"{settings.model} was to be shut down on {shutdown_day}"
        yield ModelFault("model", words, "name a newer one", certain=False)


def _limit_faults(settings: ModelSettings) -> Iterator[ModelFault]:
    entry = table_entry(settings.model)
    most_out = entry.get("max_output_tokens")
    most_in = entry.get("max_input_tokens")

    if isinstance(most_out, int) and settings.max_tokens > most_out:
        words = f"{settings.model} answers with {most_out:,} tokens at most, and max_tokens asks for "
        yield ModelFault("max_tokens", f"{words}{settings.max_tokens:,}", f"set max_tokens to {most_out}")

    if isinstance(most_in, int) and settings.prompt_tokens > most_in:
        words = f"{settings.model} reads {most_in:,} tokens at most, and prompt_tokens allows "
        words += f"{settings.prompt_tokens:,}"
        yield ModelFault("prompt_tokens", words, f"set prompt_tokens to {most_in} at most", certain=False)


def expected_thinking(settings: ModelSettings) -> int:
    """Return about how many tokens a model thinks before it answers; 0 for an unknown one.

    What was measured counts before what is usual.

    Claude thinks without being asked to only where it always does; others that can do so at medium effort,
    and their large kinds at high.

    >>> [expected_thinking(ModelSettings(model=name)) for name in ("gpt-4o", "o3", "claude-sonnet-4-5")]
    [0, 5000, 0]
    """
    if settings.measured is not None:
        return settings.measured.thinking

    entry = table_entry(settings.model)
    thinks_unasked = provider_name(settings.model) != "anthropic" or bool(entry.get("thinking_always_on"))
    unasked_effort = "high" if THINKS_LONG.search(settings.model) else "medium"
    usual_effort = entry.get("default_reasoning_effort") or (unasked_effort if thinks_unasked else "none")

    if not entry.get("supports_reasoning") and not settings.reasoning:
        return 0
    return THINKING[settings.reasoning or usual_effort]


def thinking_text(settings: ModelSettings) -> str:
    """Return the requested effort of reasoning, else the provider's default in words.

    >>> [thinking_text(ModelSettings(model=name)) for name in ("o3", "claude-sonnet-4-5")]
    ["provider's default, about 5,000 tokens", "provider's default, none"]
    >>> thinking_text(ModelSettings(model="o3", reasoning="low"))
    'low'
    """
    if settings.reasoning is not None:
        return settings.reasoning

    tokens = expected_thinking(settings)
    if tokens:
        return f"provider's default, about {tokens:,} tokens"
    if table_entry(settings.model):
        return "provider's default, none"
    return "provider's default"


def takes_temperature(settings: ModelSettings) -> bool:
    """Tell whether a model takes a temperature other than 1; OpenAI's must not be reasoning."""
    entry = table_entry(settings.model)
    if entry.get("supports_sampling_params") is False:
        return False
    if provider_name(settings.model) not in ("openai", "azure") or not _reasons_at_openai(settings.model):
        return True
    effort = settings.reasoning or entry.get("default_reasoning_effort")
    return effort == "none" and entry.get("supports_none_reasoning_effort") is True


def takes_effort(settings: ModelSettings, effort: str) -> bool:
    """Tell whether a model takes this effort of reasoning, as far as the table knows."""
    entry = table_entry(settings.model)
    provider = provider_name(settings.model)
    if not entry or "ft:" in settings.model:
        return True

    if provider == "openai" and _reasons_at_openai(settings.model):
        is_marked = entry.get(f"supports_{effort}_reasoning_effort")
        is_gpt_series = re.search(r"gpt-[5-9]", settings.model) is not None
        if isinstance(is_marked, bool):
            return is_marked
        return not is_gpt_series or effort not in ("xhigh", "max")

    if provider == "gemini" and effort in ("xhigh", "max"):
        return entry.get(f"supports_{effort}_reasoning_effort") is True
    return bool(entry.get("supports_reasoning")) or provider not in KNOWN_PLAIN


def _reasons_at_openai(model: str) -> bool:
    return OPENAI_REASONING.match(model.removeprefix("openai/").removeprefix("azure/")) is not None


def with_limits(settings: AnySettings, markets: int) -> AnySettings:
    """Return the settings with the limits that they don't name; a `batch` asks about fewer markets."""
    batch = getattr(settings, "batch", None)
    max_tokens, timeout = call_limits(settings, min(markets, batch or markets))
    limits = {"max_tokens": max_tokens, "timeout": timeout}
    unnamed = {name: value for name, value in limits.items() if name not in settings.model_fields_set}
    return settings.model_copy(update=unnamed)


def call_limits(settings: ModelSettings, markets: int) -> tuple[int, float]:
    """Return the most tokens of an answer about this many markets, and its timeout in seconds.

    Whatever the settings themselves say.
    """
    entry = table_entry(settings.model)
    answer_tokens = FRAME + A_MARKET * markets
    unasked_effort: Reasoning = "high" if THINKS_LONG.search(settings.model) else "medium"
    effort = settings.reasoning or (unasked_effort if entry.get("supports_reasoning") else "none")
    model_limit = entry.get("max_output_tokens")
    tokens_wanted = answer_tokens + MOST_THINKING[effort]
    tokens = max(USUAL_TOKENS, tokens_wanted)
    if isinstance(model_limit, int) and model_limit > 0:
        tokens = min(tokens, model_limit)
    minutes = math.ceil((SETTLING + min(tokens_wanted, tokens) / SLOW) / 60)

    return tokens, min(max(USUAL_TIMEOUT, 60.0 * minutes), LONGEST_TIMEOUT)
