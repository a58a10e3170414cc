"""How long an answer may be and how long it is waited for, worked out by model and number of markets.

Figures that a config names stay. The others are put in the settings when the config is read, and are frozen
with a cohort like these: another table of models changes nothing for a cohort that plays.
"""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from agents.model import ModelSettings, Reasoning
from agents.model_table.price_table import table_entry

USUAL_TOKENS, USUAL_TIMEOUT, LONGEST_TIMEOUT = 16_000, 120.0, 3_600.0
FRAME, A_MARKET = 500, 60
"""Tokens of an answer without its markets, and for each of these."""
MOST_THINKING: Mapping[Reasoning, int] = {
    "none": 0, "minimal": 3_000, "low": 6_000, "medium": 13_000, "high": 32_000, "xhigh": 48_000,
    "max": 64_000,
}  # fmt: skip
"""Tokens that thinking may take, by the effort that is asked for."""
A_SECOND = 30
"""Tokens that a slow model writes in a second."""
SETTLING = 60
"""Seconds beside that: the way there, the queue, reading the question."""
IDLE = 300.0
"""Seconds without a word after which a stream is given up."""
_THINKS_LONG = re.compile(r"-pro\b|deep-research|multi-agent")
AnySettings = TypeVar("AnySettings", bound=ModelSettings)


@dataclass(frozen=True, slots=True)
class CallLimits:
    """The longest answer in tokens, and for how many seconds it is waited for."""

    max_tokens: int
    timeout: float


def call_limits(settings: ModelSettings, markets: int) -> CallLimits:
    """The limits of a question about so many markets, whatever the settings themselves say.

    >>> call_limits(ModelSettings(model="openai/gpt-5.6", reasoning="high"), 40)
    CallLimits(max_tokens=34900, timeout=1260.0)
    """
    entry = table_entry(settings.model)
    answer = FRAME + A_MARKET * markets
    thinking = thinking_tokens(settings, entry)
    most = entry.get("max_output_tokens")
    wanted = max(USUAL_TOKENS, answer + thinking)
    tokens = min(wanted, most) if isinstance(most, int) and most > 0 else wanted
    minutes = math.ceil((SETTLING + min(answer + thinking, tokens) / A_SECOND) / 60)
    return CallLimits(tokens, min(max(USUAL_TIMEOUT, 60.0 * minutes), LONGEST_TIMEOUT))


def with_limits(settings: AnySettings, markets: int) -> AnySettings:
    """The settings, with those limits worked out that they don't name; a `batch` asks about fewer markets."""
    batch = getattr(settings, "batch", None)
    limits = call_limits(settings, min(markets, batch or markets))
    wanted = {"max_tokens": limits.max_tokens, "timeout": limits.timeout}
    return settings.model_copy(
        update={name: value for name, value in wanted.items() if name not in settings.model_fields_set}
    )


def thinking_tokens(settings: ModelSettings, entry: Mapping[str, Any]) -> int:
    """Tokens that a model may think for: as is asked for, else as it does by itself."""
    if settings.reasoning is not None:
        return MOST_THINKING[settings.reasoning]
    if not entry.get("supports_reasoning"):
        return 0
    return MOST_THINKING["high" if _THINKS_LONG.search(settings.model) else "medium"]
