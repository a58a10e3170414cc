"""Asking an agent for its decision. It is anyone's code, so what it is and what it returns are checked."""

from inspect import isawaitable
from typing import Any

from agents.answers.decisions import sound_decision
from agents.model import Ask, Decision, View


async def decision_of(agent: Any, view: View, ask: Ask) -> Decision:
    """Return what an agent decides, without invalid items.

    Raise `TypeError` if it is not an async function: a kind of someone else's may return anything.
    """
    deciding = agent(view, ask) if callable(agent) else agent
    if not isawaitable(deciding):
        raise TypeError("a kind's function `agent` must return an `async def` function, which decides")
    return sound_decision(await deciding, view)
