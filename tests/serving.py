"""HTTP servers on this machine alone: whatever they answer, they send it well or badly, on demand."""

import socket
import struct
import sys
import threading
from abc import abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal, TypeVar

HANGS_FOR = 10.0
"""Seconds after which a server lets go of a request that it doesn't answer."""


@dataclass(frozen=True)
class Request:
    """A request as it came, and how many were being answered at that moment, itself among them."""

    target: str
    headers: Message
    body: bytes
    at_once: int


@dataclass(frozen=True)
class Reply:
    """An answer, after how many seconds it comes, and how: whole, a byte at a time, half of it, or none.

    In `pieces` it is sent one after another, with a `pause` between them; half of it are half of these.
    """

    body: bytes
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    how: Literal["whole", "drip", "cut", "reset", "drop", "hang"] = "whole"
    after: float = 0.0
    pieces: tuple[bytes, ...] = ()
    pause: float = 0.0


class Server(ThreadingHTTPServer):
    """Serves in threads on a free port. What it answers is for those who inherit to say."""

    daemon_threads = True
    request_queue_size = 256  # a client whose knock is lost waits a second before it knocks again

    def __init__(self, port: int = 0) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.lock = threading.Lock()
        self.let_go = threading.Event()
        self.at_once = 0

    @abstractmethod
    def respond(self, request: Request) -> Reply:
        """Return the answer to a request."""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    @contextmanager
    def busy(self) -> Iterator[int]:
        """Count a request in and out, and yield how many there are."""
        with self.lock:
            self.at_once += 1
            count = self.at_once
        try:
            yield count
        finally:
            with self.lock:
                self.at_once -= 1

    def shutdown_request(self, request: Any) -> None:
        """Close without a farewell, since a reset would otherwise look like an end."""
        self.close_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore a client that hangs up on a slow answer, which is what the test is about."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)


AnyServer = TypeVar("AnyServer", bound=Server)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1
    server: Server

    def do_GET(self) -> None:
        self._serve(b"")

    def do_POST(self) -> None:
        length = int(self.headers["Content-Length"])
        body = self.rfile.read(length)
        if len(body) < length:
            raise ConnectionResetError("the client is gone")
        self._serve(body)

    def _serve(self, body: bytes) -> None:
        with self.server.busy() as count:
            answer = self.server.respond(Request(self.path, self.headers, body, count))
            if answer.after:
                self.server.let_go.wait(answer.after)
            self._send(answer)

    def _send(self, answer: Reply) -> None:
        self.close_connection = answer.how != "whole"
        if answer.how == "reset":
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        elif answer.how == "hang":
            self.server.let_go.wait(HANGS_FOR)
        elif answer.how != "drop":
            self._send_head(answer)
            self._send_body(answer)

    def _send_head(self, answer: Reply) -> None:
        self.send_response_only(answer.status)  # without a date of its own
        for name, value in {"Content-Type": "application/json", **answer.headers}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(answer.body)))
        self.end_headers()

    def _send_body(self, answer: Reply) -> None:
        for piece in answer.pieces[: len(answer.pieces) // 2 if answer.how == "cut" else None]:
            self.wfile.write(piece)
            self.wfile.flush()
            if answer.pause and self.server.let_go.wait(answer.pause):
                return
        if answer.pieces:
            return
        if answer.how != "drip":
            self.wfile.write(answer.body[: len(answer.body) // 2] if answer.how == "cut" else answer.body)
            return
        for at in range(len(answer.body)):
            self.wfile.write(answer.body[at : at + 1])
            self.wfile.flush()
            if self.server.let_go.wait(0.02):
                return

    def log_message(self, *_words: object) -> None:
        """Print nothing on the terminal."""


@contextmanager
def serving(server: AnyServer) -> Iterator[AnyServer]:
    """Yield the server at work for as long as the block lasts."""
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.let_go.set()
        server.shutdown()
        server.server_close()
        thread.join()
