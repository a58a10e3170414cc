"""Plays by your own program, in any language.

`command` is the program with its arguments, run without a shell in the config's folder, once a turn. It reads
a view, one JSON document, from standard input and writes a decision to standard output; `arena outside
desk --schema view`
and `arena outside desk --schema decision` print their forms.

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
    KindSettings,
    Prompt,
    View,
)

LOOKS_OUTSIDE = True
"""A program can read anything, so its turns are filled and scored at the prices when it answered."""
Variable = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")]


class Settings(KindSettings):
    """The program, its time limit, and what it sees."""

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
        """Yield a fault if the program is not installed; a path is only looked up when it is run."""
        name = self.command[0]
        if "/" not in name and not given.has_program(name):
            hint = f"Install it, or give its path, such as ./{name}"
            yield "command", f"there is no program {name} here. {hint}"


def ask(settings: Settings, given: Given) -> Ask:
    """Return an `ask` that runs the program once: its input is the view, its output is the answer."""

    async def ask_program(prompt: Prompt) -> Call:
        [message] = prompt.messages
        result = await given.run(settings.command, message.content, settings.timeout, settings.environment)
        if not result.fault and result.status == 0:
            return Call(prompt, result.output, cost=0, finish="stop")

        text = result.fault or f"it ended with the status {result.status}"
        complaint = result.complaint.strip()
        if complaint:
            text += f": {complaint.splitlines()[-1]}"
        code: ErrorCode = "other"
        if result.timed_out:
            code = "timeout"
        return Call(prompt, None, cost=0, error=CallError(code, text, retry=False))

    return ask_program


def agent(_settings: Settings, _given: Given) -> Agent:
    """Return an agent that decides as the program's answer says."""

    async def decide(view: View, ask: Ask) -> Decision:
        _, decision = await ask_for_decision(view, ask)
        return decision

    return decide
