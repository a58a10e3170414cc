"""Limits of calls: by model and number of markets where they aren't named, and never above the table's."""

import pytest

from agents.model import ModelSettings, Reasoning
from agents.model_table.capabilities import call_limits, with_limits
from agents.model_table.price_table import price_table


@pytest.mark.parametrize(
    ("model", "reasoning", "markets", "limits"),
    [
        ("openai/an-unknown-model", None, 12, (16_000, 120)),
        ("openai/an-unknown-model", "high", 12, (33_220, 1_200)),
        ("openai/gpt-5.6", None, 12, (16_000, 540)),
        ("openai/gpt-5.6", "max", 40, (66_900, 2_340)),
        ("openai/gpt-5.5-pro", None, 40, (34_900, 1_260)),
        ("deepseek/deepseek-chat", None, 40, (8_192, 180)),
        ("openai/an-unknown-model", None, 1_000, (60_500, 2_100)),
    ],
)
def test_limits_follow_from_the_model_and_the_markets(
    model: str, reasoning: Reasoning | None, markets: int, limits: tuple[int, float]
) -> None:
    settings = ModelSettings(model=model, reasoning=reasoning)
    assert call_limits(settings, markets) == limits
    fitted = with_limits(settings, markets)
    assert (fitted.max_tokens, fitted.timeout) == limits


def test_what_is_named_stays() -> None:
    settings = ModelSettings(model="openai/gpt-5.6", max_tokens=500)
    assert with_limits(settings, 40).max_tokens == 500
    assert with_limits(settings, 40).timeout > 120


def test_no_chat_model_of_the_table_is_asked_for_more_than_it_gives() -> None:
    for name, entry in price_table().items():
        most = entry.get("max_output_tokens")
        if (
            entry.get("mode") in ("chat", "responses")
            and isinstance(most, int)
            and most > 0
            and "/" not in name
        ):
            model = f"{entry['litellm_provider']}/{name}"
            assert call_limits(ModelSettings(model=model, reasoning="max"), 1_000)[0] <= max(most, 60_500)
