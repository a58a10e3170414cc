"""Plays by your own program, in any language.

`command` is the program with its arguments, run without a shell in the config's folder, once a turn. It reads
a view, one JSON document, from standard input and writes a decision to standard output; `arena schema view`
and `arena schema decision` print their forms.

    - kind: command
      name: mine
      command: [python3, mine.py]
      timeout: 5m

A complete program in Python:

    import json, sys

    view = json.load(sys.stdin)
    open_markets = [m for m in view["markets"] if m["offered"] and m["price"] is not None]
    forecasts = [
        {"market": m["market"], "options": {"yes": min(0.99, m["price"] + 0.05)}} for m in open_markets
    ]
    json.dump({"version": 1, "forecasts": forecasts}, sys.stdout)

`examples/openai_agent.py` is an agent made with OpenAI's Agents SDK, which runs in an environment of its own.

The command line is code: it runs once the config's folder is trusted (`arena check` asks), and so does a
changed one.

An interrupted turn is not repeated once its answer is in. An invalid item of a decision is rejected, an
answer that is not a decision is malformed; a program that exits with a status other than 0, or takes too
long, fails its turn and is killed with all its children.

It sees the variables `PATH`, `HOME`, `LANG` and the like, and those named under `environment`. Since it can
look up anything, at a live venue its turns are filled and scored at the prices when it answered. The program
is not frozen: rename it when you change what it does.
"""

from collections.abc import Iterator
from typing import Annotated

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
    ErrorCode,
    Given,
    Prompt,
    View,
)
from agents.model import Settings as Common

LOOKS_OUTSIDE = True
"""A program can read what it likes: its turns are filled and scored at the prices once it has answered."""
Variable = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")]


class Settings(Common):
    """Which program, and how long it has."""

    command: tuple[str, ...] = Field(min_length=1)
    """The program and its arguments, such as `[python3, mine.py]`."""
    timeout: float = Field(
        default=120.0,
        gt=0,
        json_schema_extra={"meant": 'a duration such as "120s" or "15m"', "unit": "seconds"},
    )
    """How long a turn may take."""
    environment: tuple[Variable, ...] = ()
    """Variables that it sees besides `PATH` and the like."""
    context: Context = Field(default=Context(), json_schema_extra=CONTEXT_KEYS)
    """What else the view has."""

    def faults(self, given: Given) -> Iterator[tuple[str, str]]:
        """Whether there is such a program; one beside the config is looked for when it is run."""
        name = self.command[0]
        if "/" not in name and not given.has_program(name):
            yield (
                "command",
                f"there is no program {name} here. Install it, or give its path, such as ./{name}",
            )


def ask(settings: Settings, given: Given) -> Ask:
    """Runs the program once: the view goes in, and what comes out is the answer."""

    async def asked(prompt: Prompt) -> Call:
        [message] = prompt.messages
        ran = await given.run(settings.command, message.content, settings.timeout, settings.environment)
        if ran.fault or ran.status != 0:
            words = ran.fault or f"it ended with the status {ran.status}"
            complaint = f": {ran.complaint.strip().splitlines()[-1]}" if ran.complaint.strip() else ""
            code: ErrorCode = "timeout" if ran.timed_out else "other"
            return Call(prompt, None, cost=0, error=CallError(code, words + complaint, retry=False))
        return Call(prompt, ran.output, cost=0, finish="stop")

    return asked


def agent(_settings: Settings, _given: Given) -> Agent:
    """The agent that decides as the program says."""

    async def decide(view: View, ask: Ask) -> Decision:
        return (await ask_for_decision(view, ask))[1]

    return decide
