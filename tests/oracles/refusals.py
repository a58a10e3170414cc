"""Every way in which a server refuses the form of an answer, read from a file and asked over real HTTP.

    python -m tests.oracles.refusals FILE

A case passes where the question is answered in a lower form in the end, without a turn lost for it, both by
a server that refuses the schema and by one that refuses any JSON, and the record says which form that was.
Prints `N passed, N failed`, and fails on a failure. The file has `messages`, each with `server`, `status` and
`message`.
"""

import asyncio
import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from agents.llm import close, make_ask
from agents.model import Call, Message, ModelSettings, Prompt
from arena.calls.recorded_ask import Asker
from arena.calls.reservations import CallReservations
from arena.clock import timer
from tests.provider.model_answer import ModelAnswer, Refused
from tests.provider.wire_server import Given, WireRequest, WireServer, form_of_body, wires

PROMPT = Prompt((Message("system", "Answer as JSON."), Message("user", "Rain?")), seed=5)
BY_SERVER = {"anthropic": "anthropic", "gemini": "gemini", "ollama": "ollama", "openrouter": "openrouter"}
"""Which wire a server speaks, by the first word of its name; others speak OpenAI's."""


@dataclass(frozen=True)
class RefusalCase:
    """How one server words it."""

    server: str
    status: int
    message: str

    @property
    def wire(self) -> str:
        first = self.server.split(" ")[0].rstrip("0123456789")
        return BY_SERVER.get(first, "openai")

    def refuses(self, *forms: str) -> Callable[[WireRequest], Given]:
        """Refuse a request for as long as it asks for one of these forms."""

        def answer(request: WireRequest) -> Given:
            refused = form_of_body(request.body) in forms
            return Refused(self.message, self.status) if refused else ModelAnswer()

        return answer


def cases(path: Path) -> list[RefusalCase]:
    """Return the cases of a file."""
    messages = json.loads(path.read_text("utf-8"))["messages"]
    return [RefusalCase(each["server"], int(each["status"]), each["message"]) for each in messages]


async def failure(server: WireServer, mode: str, case: RefusalCase, *forms: str) -> str:
    """Return what is wrong with a case's end where these forms are refused; nothing if it is right."""
    server.script(mode, case.refuses(*forms))
    settings = server.settings(case.wire, mode, api_key_env="KEY")
    if case.wire == "openai":
        settings["model"] = "openai/a-model"
    attempts: list[Call] = []

    asking = make_ask(ModelSettings(**settings), timer, {"KEY": "k"})

    async def noted(prompt: Prompt) -> Call:
        attempts.append(await asking(prompt))
        return attempts[-1]

    call = await Asker(noted, lambda _prompt: 0, "", "", CallReservations()).ask(PROMPT)
    if call.error is not None:
        return f"{call.error.code}: {call.error.message}"
    if attempts[0].error is not None and attempts[0].error.code != "format":
        return f"the first attempt ended with {attempts[0].error.code}"
    sent = form_of_body(server.log[-1].body)
    return "" if sent == call.rung else f"asked by {sent}, and recorded as {call.rung}"


async def failures(found: list[RefusalCase]) -> list[str]:
    """Return the cases that fail, and why."""
    wrong = []
    with wires() as server:
        for place, case in enumerate(found):
            why = await failure(server, f"one-{place}", case, "schema")
            if why := why or await failure(server, f"both-{place}", case, "schema", "json"):
                wrong.append(f"{case.server}: {case.status} {case.message[:80]}: {why}")
    await close()
    return wrong


def main() -> None:
    """Run the cases of a file."""
    found = cases(Path(sys.argv[1]))
    wrong = asyncio.run(failures(found))
    for line in wrong:
        print(line)  # noqa: T201 - what it is for
    print(f"{len(found) - len(wrong)} passed, {len(wrong)} failed")  # noqa: T201
    sys.exit(bool(wrong) or not found)


if __name__ == "__main__":
    main()
