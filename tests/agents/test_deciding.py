"""What a kind hands over as an agent may be none."""

import asyncio
from typing import Any

import pytest

from agents.deciding import decision_of
from agents.model import Call, Decision, Prompt
from tests.agents.minds import a_view


async def asks_nothing(prompt: Prompt) -> Call:
    """Return no call, as nothing is asked."""
    raise AssertionError(prompt)


@pytest.mark.parametrize("agent", [None, lambda _view, _ask: Decision()])
def test_an_agent_that_is_no_async_function_is_told_apart(agent: Any) -> None:
    with pytest.raises(TypeError, match="async def"):
        asyncio.run(decision_of(agent, a_view(), asks_nothing))
