"""What is said of a model's settings beforehand is what litellm, or the table, says of the call."""

from datetime import date
from typing import Any

import pytest

from agents.llm import resolve_provider
from agents.model import ModelSettings
from agents.model_table.capabilities import model_faults, takes_effort, takes_temperature
from agents.model_table.price_table import price_table

PROVIDERS = ("anthropic", "deepseek", "gemini", "groq", "mistral", "openai", "xai")
EFFORTS: tuple[Any, ...] = ("none", "minimal", "low", "medium", "high", "xhigh")


def refused_by_litellm(model: str, provider: str, **options: Any) -> bool:
    """Whether the library itself turns these options down, before any call."""
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
    wrong, missed, right = [], [], 0
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
