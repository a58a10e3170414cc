"""An agent asked for its decision. It is anyone's code, so it may be no agent at all."""

from inspect import isawaitable
from typing import Any

from agents.answers.decisions import sound_decision
from agents.model import Ask, Decision, View


async def decision_of(agent: Any, view: View, ask: Ask) -> Decision:
    """Return what an agent decides, without invalid items.

    Raises `TypeError` for what is no agent: what a kind returns as one may be anything.
    """
    deciding = agent(view, ask) if callable(agent) else agent
    if not isawaitable(deciding):
        raise TypeError("a kind's function `agent` must return an `async def` function, which decides")
    return sound_decision(await deciding, view)
