"""An OpenAI-compatible server for the demo's models: `python -m agents.demo.provider --port 0`.

It answers from what the prompt says and from nothing else, so the same request always gets the
same answer.
"""

import argparse
import json
import socketserver
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, TextIO

from agents.demo.models import MODELS, answer
from agents.model import Message
from markets.hashes import digest

HOST = "127.0.0.1"
CHARACTERS_A_TOKEN = 4


class BadRequest(ValueError):
    """A request that no model can answer."""


class Provider(ThreadingHTTPServer):
    """The server, which logs each answer before it is sent."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, port: int = 0, log: Path | None = None):
        super().__init__((HOST, port), _Handler)
        self._lock = threading.Lock()
        self._log: TextIO | None = None if log is None else log.open("a", encoding="utf-8")

    def server_bind(self) -> None:
        """Bind without looking this machine's name up, which can take seconds offline."""
        socketserver.TCPServer.server_bind(self)
        self.server_name = HOST
        self.server_port = self.server_address[1]

    @property
    def url(self) -> str:
        """Return the address for `base_url` in a config."""
        return f"http://{HOST}:{self.server_port}/v1"

    def note(self, line: Mapping[str, Any]) -> None:
        """Log a request at once."""
        if self._log is None:
            return
        with self._lock:
            self._log.write(json.dumps(line, sort_keys=True) + "\n")
            self._log.flush()

    def server_close(self) -> None:
        """Close the socket and the log."""
        super().server_close()
        if self._log is not None:
            self._log.close()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1
    server: Provider

    def do_GET(self) -> None:
        if self.path == "/v1/models":
            models = [{"id": name, "object": "model", "created": 0, "owned_by": "demo"} for name in MODELS]
            self._send(HTTPStatus.OK, {"object": "list", "data": models})
        else:
            self._send(HTTPStatus.NOT_FOUND, _error_body(f"nothing is at {self.path}"))

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if self.path != "/v1/chat/completions":
            self._send(HTTPStatus.NOT_FOUND, _error_body(f"nothing is at {self.path}"))
            return

        try:
            model, messages, seed = _read_request(body)
        except BadRequest as error:
            self._send(HTTPStatus.BAD_REQUEST, _error_body(str(error)))
            return

        if model not in MODELS:
            message = f"there is no model {model}; known are {', '.join(MODELS)}"
            self._send(HTTPStatus.NOT_FOUND, _error_body(message))
            return

        request_hash = digest([model, messages, seed])
        self.server.note({"hash": request_hash, "model": model, "seed": seed})
        text = answer(model, messages, seed)
        self._send(HTTPStatus.OK, _completion_body(model, messages, text, request_hash))

    def _send(self, status: HTTPStatus, body: Mapping[str, Any]) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_words: object) -> None:
        """Say nothing on the terminal: the log has it all."""


def _read_request(body: bytes) -> tuple[str, list[Message], int]:
    """Return the model, the messages and the seed of a request. Raise `BadRequest` if it is no chat."""
    try:
        request = json.loads(body)
        messages = [Message(message["role"], str(message["content"])) for message in request["messages"]]
        return str(request["model"]), messages, int(request.get("seed") or 0)
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise BadRequest(f"not a chat request: {error!r}") from error


def _completion_body(model: str, messages: Sequence[Message], text: str, request_hash: str) -> dict[str, Any]:
    tokens_in = sum(_token_count(message.content) for message in messages)
    tokens_out = _token_count(text)
    return {
        "id": f"demo-{request_hash[:16]}",
        "object": "chat.completion",
        "created": 0,
        "model": model,
        "system_fingerprint": f"demo-{model}-1",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}],
        "usage": {
            "prompt_tokens": tokens_in,
            "completion_tokens": tokens_out,
            "total_tokens": tokens_in + tokens_out,
        },
    }


def _token_count(text: str) -> int:
    return -(-len(text) // CHARACTERS_A_TOKEN)  # rounded up


def _error_body(message: str) -> dict[str, Any]:
    return {"error": {"message": message, "type": "invalid_request_error", "param": None, "code": None}}


@contextmanager
def running(log: Path | None = None) -> Iterator[str]:
    """Run the provider in a thread while the block lasts, and yield its base URL."""
    server = Provider(log=log)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()

    try:
        yield server.url
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def main() -> None:
    """Serve until stopped."""
    parser = argparse.ArgumentParser(prog="python -m agents.demo.provider", description=__doc__)
    parser.add_argument("--port", type=int, default=0, help="0 takes any free one")
    parser.add_argument("--log", type=Path, help="a file that gets one JSON line a request")
    options = parser.parse_args()
    server = Provider(options.port, options.log)
    print(server.url, flush=True)  # noqa: T201 - the address is this program's whole output

    try:
        server.serve_forever()
    except KeyboardInterrupt:
        server.server_close()


if __name__ == "__main__":
    main()
