"""An OpenAI-compatible provider on this machine alone, with a fault for every model name.

As a process of its own, which says its address and serves until standard input ends:
python -m tests.provider.server --latency 1
"""

import argparse
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from arena.clock import timer
from tests.provider.replies import BEHAVIOURS, Asked, Behaviour, asked, fails, for_all_markets
from tests.serving import Reply, Request, Server, serving


class FaultyProvider(Server):
    """Answers by model, after what was scripted for it, and remembers all that it was asked.

    `latency` is after how many seconds an answer comes that names no time of its own.
    """

    def __init__(self, latency: float = 0.0) -> None:
        super().__init__()
        self.latency = latency
        self.log: list[Asked] = []
        self._scripts: dict[str, list[Behaviour]] = {}

    @property
    def url(self) -> str:
        return f"{super().url}/v1"

    @property
    def requests(self) -> Counter[str]:
        """Count how often each model was asked."""
        return Counter(call.model for call in self.log)

    @property
    def last(self) -> Mapping[str, Any]:
        """Return the body of the last call."""
        return self.log[-1].body

    @property
    def key(self) -> str:
        """Return the Authorization of the last call."""
        return self.log[-1].key

    @property
    def most_at_once(self) -> int:
        """Return how many calls were being answered at the same time, at most."""
        return max((call.at_once for call in self.log), default=0)

    def script(self, model: str, *behaviours: Behaviour) -> None:
        """Set what the next calls of a model get, one each, and the last one for ever."""
        with self.lock:
            self._scripts[model] = list(behaviours)

    def respond(self, request: Request) -> Reply:
        if request.target != "/v1/chat/completions":
            return fails(404, f"nothing is at {request.target}")
        call = asked(request, timer())
        with self.lock:
            self.log.append(call)
            behaviour = self._behaviour(call.model)
        reply = behaviour if isinstance(behaviour, Reply) else behaviour(call)
        reply = for_all_markets(reply, call)
        return reply if reply.after else replace(reply, after=self.latency)

    def _behaviour(self, model: str) -> Behaviour:
        script = self._scripts.get(model)
        if script:
            return script.pop(0) if len(script) > 1 else script[0]
        return BEHAVIOURS.get(model) or fails(404, f"there is no model {model}")


@contextmanager
def faulty(latency: float = 0.0) -> Iterator[FaultyProvider]:
    """Yield the server for as long as the block lasts."""
    with serving(FaultyProvider(latency)) as server:
        yield server


def main() -> None:
    """Serve until standard input ends."""
    parser = argparse.ArgumentParser(prog="python -m tests.provider.server", description=__doc__)
    parser.add_argument("--latency", type=float, default=0.0, help="seconds before each answer")
    with faulty(parser.parse_args().latency) as server:
        print(server.url, flush=True)  # noqa: T201 - the address is this program's whole output
        sys.stdin.read()


if __name__ == "__main__":
    main()
