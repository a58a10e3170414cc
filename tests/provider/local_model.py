"""A server of a model on one's own machine: it lists its models, and answers at so many tokens a second.

As a process of its own, which says its address and serves until standard input ends:
python -m tests.provider.local_model --speed 30
"""

import argparse
import json
import re
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from arena.clock import timer
from arena.rounds.quick_trial import past_questions
from tests.provider.replies import Behaviour, asked, completion, fails
from tests.serving import Reply, Request, Server, serving

MODELS = ("qwen3:8b", "nomic-embed-text:latest")
CHARACTERS_A_TOKEN = 4
NAMED = re.compile(r"^### (m[0-9]+)\n(?:[^#|\n].*\n)*\| (.+)$", re.MULTILINE)
Believe = Callable[[float], float]


def towards_even(price: float) -> float:
    """Return the answer of a model that knows the price and is less sure."""
    return round(0.5 + 0.6 * (price - 0.5), 4)


class LocalModel(Server):
    """One model: it says what it makes of each question's price, one call after another.

    `spend` is called with the seconds that an answer takes: it waits, or moves a pretended time. `reason` is
    what it writes about each question. `faults` are what calls get in place of an answer, by their number
    from 1 on; `afterwards` is what all later ones get.
    """

    def __init__(
        self,
        speed: float,
        spend: Callable[[float], None],
        believe: Believe = towards_even,
        reason: str = "",
        faults: Mapping[int, Behaviour] | None = None,
        afterwards: tuple[int, Behaviour] | None = None,
        port: int = 0,
    ) -> None:
        super().__init__(port)
        self.speed = speed
        self.spend = spend
        self.believe = believe
        self.reason = reason
        self.faults = faults or {}
        self.afterwards = afterwards
        self.models: tuple[str, ...] = MODELS
        self.slot = threading.Lock()
        self.calls = 0
        self.bodies: list[Mapping[str, Any]] = []
        self.usage: list[tuple[int, int]] = []

    @property
    def url(self) -> str:
        return f"{super().url}/v1"

    def respond(self, request: Request) -> Reply:
        if request.target == "/v1/models":
            listed = [{"id": name, "object": "model"} for name in self.models]
            return Reply(json.dumps({"object": "list", "data": listed}).encode())
        call = asked(request, timer())
        with self.slot:
            self.calls += 1
            self.bodies.append(call.body)
            fault = self.faults.get(self.calls)
            if self.afterwards is not None and self.calls > self.afterwards[0]:
                fault = self.afterwards[1]
            if fault is not None:
                return fault if isinstance(fault, Reply) else fault(call)
            if call.model not in self.models:
                return fails(404, f"model {call.model} not found")
            return self._answer(call.body)

    def _answer(self, body: Mapping[str, Any]) -> Reply:
        user = next(message["content"] for message in body["messages"] if message["role"] == "user")
        last = body["messages"][-1]["content"]
        wanted = set(re.findall(r"\bm[0-9]+\b", last)) if len(body["messages"]) > 2 else None
        text, sent, said = answer_to(user, self.believe, self.reason, wanted)
        self.spend(said / self.speed)
        self.usage.append((sent, said))
        usage = {"prompt_tokens": sent, "completion_tokens": said, "total_tokens": sent + said}
        return Reply(completion(text, usage=usage))


def answer_to(
    user: str, believe: Believe, reason: str = "", wanted: set[str] | None = None
) -> tuple[str, int, int]:
    """Return a model's answers to the questions in a prompt, and the tokens of the prompt and the answer."""
    prices = {question.question: question.price for question in past_questions()}
    forecasts = [
        {"market": name, "reason": reason, "probability": believe(prices.get(question, 0.5))}
        for name, question in NAMED.findall(user)
        if wanted is None or name in wanted
    ]
    orders: dict[str, list[object]] = {"bets": [], "sales": []} if '"bets"' in user else {}
    text = json.dumps({"forecasts": forecasts, **orders})
    return text, len(user) // CHARACTERS_A_TOKEN, len(text) // CHARACTERS_A_TOKEN


@contextmanager
def local_model(speed: float, spend: Callable[[float], None], **more: Any) -> Iterator[LocalModel]:
    """Yield the server for as long as the block lasts."""
    with serving(LocalModel(speed, spend, **more)) as server:
        yield server


def main() -> None:
    """Serve until standard input ends."""
    parser = argparse.ArgumentParser(prog="python -m tests.provider.local_model", description=__doc__)
    parser.add_argument("--speed", type=float, default=30.0, help="tokens a second")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--reason", default="", help="what it writes about each question")
    given = parser.parse_args()
    with local_model(given.speed, time.sleep, reason=given.reason, port=given.port) as server:
        sys.stdout.write(f"{server.url}\n")
        sys.stdout.flush()
        sys.stdin.read()


if __name__ == "__main__":
    main()
