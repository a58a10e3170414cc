"""A venue on this machine alone: paths with answers, and faults on demand, over real HTTP."""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from tests.serving import Reply, Request, Server, serving


@dataclass(frozen=True)
class Asked:
    """A request as it came: repeated parameters are in `query`, the last of each in `params`."""

    path: str
    query: Mapping[str, list[str]]
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def params(self) -> dict[str, str]:
        return {name: values[-1] for name, values in self.query.items()}


Answer = Callable[[Asked], Any]
"""A Reply, or anything that JSON knows, which is sent as it is."""


def reply(value: Any, status: int = 200, **headers: str) -> Reply:
    """Return JSON, or the bytes themselves; `retry_after="3"` becomes the header Retry-After.

    Infinity is written as a number that JSON allows.
    """
    body = value if isinstance(value, bytes) else json.dumps(value).replace("Infinity", "1e999").encode()
    return Reply(body, status, {name.replace("_", "-"): text for name, text in headers.items()})


def status(code: int, **headers: str) -> Reply:
    """Return an error with nothing useful in it."""
    return reply({"error": "no"}, code, **headers)


HTML = reply(b"<html><body>Down for maintenance</body></html>")
TRUNCATED = reply(b'[{"id": "1", "question": "Will i')
RESET = Reply(b"", how="reset")
DRIP = replace(reply([1] * 1_000), how="drip")
CUT = replace(reply([1] * 1_000), how="cut")
"""The faults: each is a Reply, to be handed to `fail`."""


class VenueServer(Server):
    """Answers by path, after the faults that lie in wait there; remembers all that it was asked."""

    def __init__(self) -> None:
        super().__init__()
        self._routes: dict[str, Answer] = {}
        self.before: list[Callable[[Asked], Reply | None]] = []
        self._faults: dict[str, list[Reply]] = {}
        self._forever: dict[str, Reply] = {}
        self.log: list[Asked] = []

    @property
    def counts(self) -> Counter[str]:
        """Count the requests for each path."""
        return Counter(asked.path for asked in self.log)

    def route(self, path: str, answer: Answer | Any) -> None:
        """Set a path's answer: a function of the `Asked`, or always the same.

        A path that ends in a slash answers for everything below it that has no route of its own.
        """
        self._routes[path] = answer if callable(answer) else lambda _: answer

    def fail(self, path: str, *faults: Reply, forever: bool = False) -> None:
        """Answer the next requests for a path with these, one each, the last one for ever if so wished."""
        with self.lock:
            self._faults[path] = list(faults)
            if forever:
                self._forever[path] = faults[-1]

    def mend(self) -> None:
        """Remove all faults."""
        with self.lock:
            self._faults.clear()
            self._forever.clear()

    def respond(self, request: Request) -> Reply:
        url = urlsplit(request.target)
        body = json.loads(request.body) if request.body else None
        asked = Asked(unquote(url.path), parse_qs(url.query, True), body, dict(request.headers))
        replies = [look(asked) for look in self.before]
        return next((reply for reply in replies if reply), None) or self.answer(asked)

    def answer(self, asked: Asked) -> Reply:
        with self.lock:
            self.log.append(asked)
            waiting = self._faults.get(asked.path)
            if waiting:
                return waiting.pop(0)
            if asked.path in self._forever:
                return self._forever[asked.path]
        above = [p for p in self._routes if p.endswith("/") and asked.path.startswith(p)]
        route = self._routes.get(asked.path) or (self._routes[max(above, key=len)] if above else None)
        said = status(404) if route is None else route(asked)
        return said if isinstance(said, Reply) else reply(said)


@contextmanager
def venue_server() -> Iterator[VenueServer]:
    """Yield the server for as long as the block lasts."""
    with serving(VenueServer()) as server:
        yield server
