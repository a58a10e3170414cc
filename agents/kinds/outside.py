"""Plays from outside, by a program or an assistant that takes its turns at `arena outside desk`.

Until the answer is in or `wait` is over, anyone with the agent's key can read the view and send a decision:
[agents from outside](outside.md). A turn without an answer in time is late.

    - kind: outside
      name: ann
      wait: 15m

The round and everything due after it wait for the slowest, so keep `wait` well below the time between rounds.
"""

from pydantic import Field

from agents.answers.decision_document import ask_for_decision
from agents.model import (
    CONTEXT_KEYS,
    Agent,
    Ask,
    Call,
    CallError,
    Context,
    Decision,
    DeskSettings,
    Given,
    Prompt,
    TooLate,
    View,
)

LOOKS_OUTSIDE = True
"""The agent can read anything, so its turns are filled and scored at the prices when it answered."""


class Settings(DeskSettings):
    """How long a round waits, and what the view has."""

    context: Context = Field(default=Context(), json_schema_extra=CONTEXT_KEYS)
    """What else the view has."""


def ask(_settings: Settings, _given: Given) -> Ask:
    """Return an `ask` that always fails: it is used where no desk is open."""

    async def ask_nobody(prompt: Prompt) -> Call:
        message = (
            "it takes its turns at the desk, and none is open: play a round while arena outside desk runs"
        )
        return Call(prompt, None, cost=0, error=CallError("other", message, retry=False))

    return ask_nobody


def agent(_settings: Settings, _given: Given) -> Agent:
    """Return an agent that decides as the answer from outside says."""

    async def decide(view: View, ask: Ask) -> Decision:
        call, decision = await ask_for_decision(view, ask)
        if call.error is not None and call.error.code == "timeout":
            raise TooLate(call.error.message)
        return decision

    return decide
