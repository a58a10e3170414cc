"""`arena dashboard` as a process, on a port of its own."""

import http.client
import re
import signal
import socket
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from itertools import count
from pathlib import Path

from tests.program.command_line import command
from tests.program.forked import quick_command


@dataclass
class Served:
    """A dashboard that answers, and its process."""

    address: str
    process: subprocess.Popen[str]

    @property
    def port(self) -> int:
        return int(re.findall(r":(\d+)", self.address)[-1])

    def libraries(self) -> str:
        """Return the compiled libraries that the server has loaded, on Linux; nothing elsewhere."""
        own = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        children = own.read_text(encoding="utf-8").split() if own.exists() else []
        maps = (Path(f"/proc/{child}/maps").read_text(encoding="utf-8") for child in children)
        return "\n".join(maps)

    def end(self, by: signal.Signals = signal.SIGINT) -> str:
        """Tell it to end; what it said by then."""
        self.process.send_signal(by)
        said, _ = self.process.communicate(timeout=30)
        return said


def serving(database: Path | str, *more: str) -> AbstractContextManager[Served]:
    """Serve a dashboard on a record, from its first answer until it is no longer needed."""
    return _serving(command(), database, *more)


def quickly_serving(database: Path | str) -> AbstractContextManager[Served]:
    """Serve the same, forked from processes that have loaded all of it if this run has some."""
    return _serving(quick_command(), database)


@contextmanager
def _serving(arena: Sequence[str], database: Path | str, *more: str) -> Iterator[Served]:
    words = [*arena, "dashboard", "--port", str(_a_known_port()), *more, "--database", str(database)]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    served = Served(_address(process), process)
    try:
        yield served
    finally:
        if process.poll() is None:
            served.end()


def _address(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    for line in process.stdout:
        if found := re.search(r"http://(127\.0\.0\.1|0\.0\.0\.0|\[::1\]):\d+[\w/]*", line):
            return found[0]
    raise AssertionError(f"the dashboard ended with {process.wait()} and named no address")


def a_free_port(port: int = 0) -> int:
    """Return a free port, though tests beside this one start dashboards too."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        probe.bind(("127.0.0.1", port))
        return int(probe.getsockname()[1])


@cache
def _port(place: int) -> int:
    return a_free_port()


def _a_known_port() -> int:
    """Return a free port that this process had before, as browsers keep compiled code by address."""
    for place in count():
        with suppress(OSError):
            return a_free_port(_port(place))
    raise AssertionError("there is always another")


def knock(port: int, host: str, origin: str, path: str = "") -> int:
    """Return the answer to a browser whose page, from an origin, asks to be connected."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    asked = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13"}
    key = {"Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==", "Host": host, "Origin": origin}
    connection.request("GET", f"{path}/_stcore/stream", headers=asked | key)
    status = connection.getresponse().status
    connection.close()
    return status
