"""Whether what a provider says that a call used can be true.

A nonsense figure, of a proxy say, must not be booked: it would spend the budget of everybody.
"""

from agents.model import ModelSettings, Prompt
from agents.model_table.cost import most_tokens, own_search
from agents.model_table.price_table import table_entry
from agents.model_table.usage import TokenUsage
from markets.millionths import ONE

MOST_TIMES = 4
"""A call never costs more than so many times what it may cost at most."""
MOST_TOKENS = 100_000_000
MOST_DOLLARS = 100_000
"""More than any call can have or cost, even of an unknown model."""


def usage_doubt(
    usage: TokenUsage, cost: int | None, worst: int | None, prompt: Prompt, settings: ModelSettings
) -> str:
    """Return the figures of a usage that can't be true, and why; nothing if it may be.

    `cost` is what the usage comes to, and `worst` what was reserved for the call.
    """
    tokens = f"{usage.tokens_in:,} tokens in and {usage.tokens_out:,} out"
    total = usage.tokens_in + usage.tokens_out
    most = _most_tokens_of_call(prompt, settings)
    if total > most:
        return f"{tokens}, and a call has room for {most:,}"

    if cost is None:
        return ""
    if cost > MOST_DOLLARS * ONE:
        return f"{tokens} for {_dollars(cost)}"
    if worst and cost > MOST_TIMES * worst:
        return f"{tokens} for {_dollars(cost)}, and a call may cost {_dollars(worst)}"
    return ""


def _most_tokens_of_call(prompt: Prompt, settings: ModelSettings) -> int:
    """Return how many tokens a call can have by its model's context window.

    A provider that searches by itself asks the model several times, and adds all of it up.
    """
    entry = table_entry(settings.model)
    most_in = entry.get("max_input_tokens")
    most_out = entry.get("max_output_tokens")
    if own_search(settings) or not (isinstance(most_in, int) and isinstance(most_out, int)):
        return MOST_TOKENS
    requested = most_tokens(prompt) + (prompt.max_tokens or settings.max_tokens)
    return min(MOST_TOKENS, max(most_in + most_out, requested))


def _dollars(amount: int) -> str:
    return f"${amount / ONE:,.2f}"
