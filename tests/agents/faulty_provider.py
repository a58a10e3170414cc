"""A small OpenAI-compatible server with a fault for every model name, on this machine alone."""

import json
import threading
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

JSON = "application/json"


def completion(content: str | None, finish: str = "stop", refusal: str | None = None, **more: Any) -> bytes:
    """A chat completion; `usage` and whatever else as given."""
    message = {"role": "assistant", "content": content, "refusal": refusal}
    choice = {"index": 0, "finish_reason": finish, "message": message}
    body = {"id": "1", "object": "chat.completion", "created": 0, "model": "served-1", "choices": [choice]}
    return json.dumps(body | more).encode()


def error(message: str, code: str = "") -> bytes:
    """An error as such servers word it."""
    return json.dumps({"error": {"message": message, "type": "invalid_request_error", "code": code}}).encode()


USAGE = {"prompt_tokens": 1_001, "completion_tokens": 200, "total_tokens": 1_201}
FIXED: Mapping[str, tuple[int, bytes]] = {
    "good": (200, completion("{}", usage=USAGE, system_fingerprint="fp-9")),
    "uncounted": (200, completion("{}")),
    "cut": (200, completion('{"amount": 5', "length", usage=USAGE)),
    "surrogate": (200, completion("a\ud800b\x00c", usage=USAGE)),
    "filtered": (200, completion(None, "content_filter")),
    "silent": (200, completion(None)),
    "no-thanks": (200, completion(None, refusal="I won't bet.")),
    "choiceless": (200, json.dumps(json.loads(completion("")) | {"choices": []}).encode()),
    "list": (200, b"[]"),
    "html": (200, b"<html><body>Welcome</body></html>"),
    "empty": (200, b""),
    "huge": (200, completion("x" * 3_000_000)),
    "400": (400, error("that is no request")),
    "403": (403, error("not for you")),
    "404": (404, error("there is no such model")),
    "429": (429, error("slow down")),
    "busy": (429, error("slow down")),
    "busy-until": (503, error("slow down")),
    "busy-odd": (429, error("slow down")),
    "500": (500, b"oops"),
    "503": (503, error("overloaded")),
    "long": (400, error("This model's maximum context length is 10 tokens", "context_length_exceeded")),
    "policy": (400, error("Filtered by the content management policy", "content_filter")),
}


RETRY_AFTER = {"busy": "7", "busy-until": "Sun, 04 Jan 2026 00:01:30 GMT", "busy-odd": "soon"}


class FaultyProvider(ThreadingHTTPServer):
    """Counts requests by model and keeps the last body and key that it was sent."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.requests: Counter[str] = Counter()
        self.last: dict[str, Any] = {}
        self.key = ""
        self.let_go = threading.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1
    server: FaultyProvider

    def do_POST(self) -> None:
        self.server.last = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.key = self.headers["Authorization"]
        model = self.server.last["model"]
        self.server.requests[model] += 1
        match model:
            case "401":
                said = f"Incorrect API key provided: {self.server.key}. I saw {dict(self.headers)}"
                self._send(401, error(said, "invalid_api_key"))
            case "echo":
                self._send(200, completion(f"you sent {self.server.key}", usage=USAGE))
            case "formless" if "response_format" in self.server.last:
                self._send(400, error("response_format json_object is not supported here"))
            case "formless":
                self._send(200, completion("{}", usage=USAGE))
            case "hang":
                self.server.let_go.wait(10)
                self.close_connection = True
            case "drop":
                self.close_connection = True
            case "truncated":
                self._send(200, completion("{}")[:40], length=1_000)
                self.close_connection = True
            case _:
                self._send(*FIXED[model], retry_after=RETRY_AFTER.get(model, ""))

    def _send(self, status: int, body: bytes, length: int | None = None, retry_after: str = "") -> None:
        self.send_response_only(status)
        self.send_header("Date", "Sun, 04 Jan 2026 00:00:00 GMT")
        if retry_after:
            self.send_header("Retry-After", retry_after)
        self.send_header("Content-Type", JSON)
        self.send_header("Content-Length", str(len(body) if length is None else length))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_words: object) -> None:
        """Nothing on the terminal."""


@contextmanager
def faulty() -> Iterator[FaultyProvider]:
    """The server for as long as the block lasts."""
    server = FaultyProvider()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.let_go.set()
        server.shutdown()
        server.server_close()
        thread.join()
