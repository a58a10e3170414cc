"""A venue on this machine alone: paths with answers, and faults on demand, over real HTTP."""

import json
import socket
import struct
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal
from urllib.parse import parse_qs, unquote, urlsplit


@dataclass(frozen=True)
class Asked:
    """A request as it came: repeated parameters are in `query`, the last of each in `params`."""

    path: str
    query: Mapping[str, list[str]]
    body: Any = None

    @property
    def params(self) -> dict[str, str]:
        return {name: values[-1] for name, values in self.query.items()}


@dataclass(frozen=True)
class Reply:
    """An answer, and how it is sent: whole, a byte at a time, cut off half-way, or not at all."""

    body: bytes
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    how: Literal["whole", "drip", "cut", "reset"] = "whole"


Answer = Callable[[Asked], Any]
"""A Reply, or anything that JSON knows, which is sent as it is."""


def reply(value: Any, status: int = 200, **headers: str) -> Reply:
    """JSON, or the bytes themselves; `retry_after="3"` becomes the header Retry-After.

    Infinity is written as a number that JSON allows.
    """
    body = value if isinstance(value, bytes) else json.dumps(value).replace("Infinity", "1e999").encode()
    return Reply(body, status, {name.replace("_", "-"): text for name, text in headers.items()})


def status(code: int, **headers: str) -> Reply:
    """An error with nothing useful in it."""
    return reply({"error": "no"}, code, **headers)


HTML = reply(b"<html><body>Down for maintenance</body></html>")
TRUNCATED = reply(b'[{"id": "1", "question": "Will i')
RESET = Reply(b"", how="reset")
DRIP = replace(reply([1] * 1_000), how="drip")
CUT = replace(reply([1] * 1_000), how="cut")
"""The faults: each is a Reply, to be handed to `fail`."""


class VenueServer(ThreadingHTTPServer):
    """Answers by path, after the faults that lie in wait there; remembers all that it was asked."""

    daemon_threads = True
    request_queue_size = 64  # a client whose knock is lost waits a second before it knocks again

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self._routes: dict[str, Answer] = {}
        self._faults: dict[str, list[Reply]] = {}
        self._forever: dict[str, Reply] = {}
        self._lock = threading.Lock()
        self.log: list[Asked] = []
        self.let_go = threading.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    @property
    def counts(self) -> Counter[str]:
        """How often each path was asked for."""
        return Counter(asked.path for asked in self.log)

    def route(self, path: str, answer: Answer | Any) -> None:
        """What a path answers: a function of what was Asked, or always the same.

        A path that ends in a slash answers for everything below it that has no route of its own.
        """
        self._routes[path] = answer if callable(answer) else lambda _: answer

    def fail(self, path: str, *faults: Reply, forever: bool = False) -> None:
        """The next requests for a path get these, one each; the last one for ever, if so wished."""
        with self._lock:
            self._faults[path] = list(faults)
            if forever:
                self._forever[path] = faults[-1]

    def mend(self) -> None:
        """No more faults."""
        with self._lock:
            self._faults.clear()
            self._forever.clear()

    def answer(self, asked: Asked) -> Reply:
        with self._lock:
            self.log.append(asked)
            waiting = self._faults.get(asked.path)
            if waiting:
                return waiting.pop(0)
            if asked.path in self._forever:
                return self._forever[asked.path]
        route = self._route(asked.path)
        said = status(404) if route is None else route(asked)
        return said if isinstance(said, Reply) else reply(said)

    def shutdown_request(self, request: Any) -> None:
        """Closes without a farewell, or a reset would still look like an end."""
        self.close_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hangs up on a slow answer is what the test is about."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)

    def _route(self, path: str) -> Answer | None:
        above = [p for p in self._routes if p.endswith("/") and path.startswith(p)]
        return self._routes.get(path) or (self._routes[max(above, key=len)] if above else None)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1
    server: VenueServer

    def do_GET(self) -> None:
        self._serve(None)

    def do_POST(self) -> None:
        self._serve(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))

    def _serve(self, body: Any) -> None:
        url = urlsplit(self.path)
        answer = self.server.answer(Asked(unquote(url.path), parse_qs(url.query, True), body))
        if answer.how == "reset":
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.close_connection = True
            return
        self.send_response_only(answer.status)  # without a date of its own
        for name, value in {"Content-Type": "application/json", **answer.headers}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(answer.body)))
        self.end_headers()
        self._send(answer)

    def _send(self, answer: Reply) -> None:
        if answer.how == "whole":
            self.wfile.write(answer.body)
            return
        self.close_connection = True
        if answer.how == "cut":
            self.wfile.write(answer.body[: len(answer.body) // 2])
            return
        for at in range(len(answer.body)):
            self.wfile.write(answer.body[at : at + 1])
            self.wfile.flush()
            if self.server.let_go.wait(0.02):
                return

    def log_message(self, *_words: object) -> None:
        """Nothing on the terminal."""


@contextmanager
def venue_server() -> Iterator[VenueServer]:
    """The server for as long as the block lasts."""
    server = VenueServer()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.let_go.set()
        server.shutdown()
        server.server_close()
        thread.join()
