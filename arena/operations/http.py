"""A small web server for the desk, and the pages `/health` and `/metrics` that monitoring reads.

Metrics are in the format of Prometheus; they need the extra `metrics` of the package.
"""

import asyncio
import errno
import json
import re
import socket
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from http import HTTPStatus
from ipaddress import IPv6Network, ip_address
from urllib.parse import parse_qsl

from arena.config import Endpoint
from arena.errors import ArenaError
from arena.operations.health import GOOD_WORDS, HEALTH_WORDS, Status
from arena.operations.status import health_data
from markets.millionths import ONE

MOST_BYTES = 8_192
"""The longest head of a request, in bytes."""
PATIENCE = 5.0
"""Seconds in which a request has to arrive, and in which its answer has to be read."""
MOST_WAITING = 64
"""Connections at once whose request is not read yet, or was refused."""
MOST_ADMITTED = 512
"""Connections at once whose caller was admitted, and whose request is being answered."""
FRESH = 1.0
"""Seconds for which a status is kept, so that frequent requests don't read the record again."""
HEAD_END = b"\r\n\r\n"
HEADER = re.compile(r"(?P<name>[!#$%&'*+.^_`|~0-9A-Za-z-]+):(?P<value>[^\x00-\x08\x0a-\x1f\x7f]*)")
SINGLE_HEADERS = frozenset(("authorization", "content-length", "host", "transfer-encoding"))
"""Headers of which a second one would make it unclear what is asked, and by whom."""
CONFIG_KEY = "watch.health"
JSON = "application/json"
PLAIN = "text/plain; charset=utf-8"
METRICS = "text/plain; version=0.0.4; charset=utf-8"
NO_METRICS = 'metrics need the extra of that name: pip install "paper-arena[metrics]", then start again\n'


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """A request, with the names of its headers in lower case, and its query by names.

    `address` is where it comes from, `caller` the agent or address that was admitted with it.
    """

    method: str
    path: str
    query: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    address: str = ""
    caller: str = ""


@dataclass(frozen=True, slots=True)
class HttpResponse:
    """The answer to a request."""

    status: int
    body: bytes
    kind: str = PLAIN


Respond = Callable[[HttpRequest], Awaitable[HttpResponse]]
"""A function that answers a request."""
Admit = Callable[[HttpRequest], Awaitable[str | HttpResponse]]
"""A function that returns the caller of a request without its body, or an answer that ends it."""


class _BadRequest(Exception):
    """A request that can't be read, with the status of the answer to it."""

    def __init__(self, status: int, message: str):
        super().__init__(message)
        self.status = status


def plain_complaint(status: int, message: str) -> HttpResponse:
    """Return a complaint as a line of text."""
    return HttpResponse(status, f"{message}\n".encode())


async def _admit_anyone(request: HttpRequest) -> str:
    """Return the address of a request as its caller."""
    return request.address


def network_of(address: str) -> str:
    """Return the network whose connections are counted together: an address, or the /64 of an IPv6 one.

    >>> network_of("10.1.2.3"), network_of("2001:db8::9")
    ('10.1.2.3', '2001:db8::/64')
    """
    if ":" not in address or "%" in address:
        return address
    return str(IPv6Network((address, 64), strict=False))


def is_own_host(host: str | None, names: Sequence[str]) -> bool:
    """Tell whether a Host header names this machine: by an IP address, or by one of its names.

    A web page whose domain was pointed at this machine sends that domain. Every browser sends a Host, so a
    request without one is from no page.

    >>> is_own_host("127.0.0.1:8780", ()), is_own_host("a.lan", ["a.lan"]), is_own_host("evil.com", ())
    (True, True, False)
    """
    if host is None:
        return True

    if host.startswith("["):
        name, _, port = host.removeprefix("[").partition("]")
        if port and not port.startswith(":"):
            return False
    else:
        name, _, port = host.partition(":")

    name = name.rstrip(".").lower()
    if name in {"localhost", socket.gethostname().lower(), *names}:
        return True
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


@dataclass
class ConnectionPlaces:
    """A limited number of places for connections, each with a holder: a network or an agent.

    When all are taken, a new connection gets the place of the oldest one of the holder with the most. So a
    client that sends its request at once is answered, however many connections stay silent.
    """

    most: int
    holders: dict["asyncio.Task[None]", str] = field(default_factory=dict)

    def add(self, task: "asyncio.Task[None]", holder: str) -> None:
        """Give a connection a place."""
        if len(self.holders) >= self.most:
            self._drop_oldest()
        self.holders[task] = holder

    def remove(self, task: "asyncio.Task[None]") -> None:
        """Free the place of a connection, if it has one."""
        self.holders.pop(task, None)

    def _drop_oldest(self) -> None:
        """Cancel the oldest connection of the holder that has the most."""
        [(greediest, _)] = Counter(self.holders.values()).most_common(1)
        oldest = next(task for task, holder in self.holders.items() if holder == greediest)
        del self.holders[oldest]
        oldest.cancel()


@dataclass
class HttpServer:
    """Reads one request a connection, and answers it, in bounded time.

    Other methods than `methods` and longer bodies than `most_body` are refused, and `complain` makes the
    answer to a request that can't be read. When the head has arrived, `admit` tells the caller. Only then the
    body is read, and the connection moves from the places of `waiting` to those of `admitted`. With `hosts`,
    a Host that is not of this machine is refused.
    """

    respond: Respond
    patience: float = PATIENCE
    methods: tuple[str, ...] = ("GET", "HEAD")
    most_body: int = 0
    complain: Callable[[int, str], HttpResponse] = plain_complaint
    admit: Admit = _admit_anyone
    hosts: Sequence[str] | None = None
    waiting: ConnectionPlaces = field(default_factory=lambda: ConnectionPlaces(MOST_WAITING))
    admitted: ConnectionPlaces = field(default_factory=lambda: ConnectionPlaces(MOST_ADMITTED))

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve a connection until its request is answered, or its time is over."""
        task = asyncio.current_task()
        assert task is not None
        address = str((writer.get_extra_info("peername") or ("",))[0])
        self.waiting.add(task, network_of(address))
        try:
            await self._read_and_answer(task, address, reader, writer)
        except asyncio.CancelledError:
            writer.transport.abort()  # its place is needed for another, or the server stops
        except (OSError, TimeoutError, asyncio.IncompleteReadError):
            writer.transport.abort()  # the client hung up, or doesn't read its answer
        finally:
            self.waiting.remove(task)
            self.admitted.remove(task)
            writer.close()

    async def _read_and_answer(
        self,
        task: "asyncio.Task[None]",
        address: str,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> None:
        """Read the request of a connection, and write the answer."""
        request: HttpRequest | None = None
        was_read = False
        try:
            async with asyncio.timeout(self.patience):
                request, length = await self._read_head(reader, address)

            admitted = await self.admit(request)
            if isinstance(admitted, HttpResponse):
                response = admitted
            else:
                self.waiting.remove(task)
                self.admitted.add(task, admitted)

                async with asyncio.timeout(self.patience):
                    body = await reader.readexactly(length)
                was_read = True
                response = await self.respond(replace(request, body=body, caller=admitted))
        except _BadRequest as fault:
            response = self.complain(fault.status, str(fault))
        except TimeoutError:
            response = self.complain(408, "the request took too long")
        except asyncio.LimitOverrunError:
            response = self.complain(431, "the request is too long")

        async with asyncio.timeout(self.patience):
            with_body = request is None or request.method != "HEAD"
            writer.write(self._response_bytes(response, with_body))
            await writer.drain()
            writer.write_eof()

            # Closing a connection with unread bytes resets it, and the client may lose the answer.
            while not was_read and await reader.read(MOST_BYTES):
                pass

    async def _read_head(self, reader: asyncio.StreamReader, address: str) -> tuple[HttpRequest, int]:
        """Read the head of a request; return the request without its body, and the body's length.

        Raise `_BadRequest` if it can't be read.
        """
        head = await reader.readuntil(HEAD_END)
        request_line, *header_lines = head.removesuffix(HEAD_END).decode("latin-1").split("\r\n")
        parts = request_line.split(" ")
        if len(parts) != 3 or parts[2] not in ("HTTP/1.1", "HTTP/1.0") or not parts[1].startswith("/"):
            raise _BadRequest(400, "this is not a request")

        method, target, _ = parts
        if method not in self.methods:
            raise _BadRequest(405, f"the methods here are {', '.join(self.methods)}")

        headers = _read_headers(header_lines)
        if self.hosts is not None and not is_own_host(headers.get("host"), self.hosts):
            raise _BadRequest(421, "this host is not served here: ask by the address of the machine")

        length = headers.get("content-length", "0")
        if method != "POST":
            length = "0"  # a body of another method is not read
        elif not (length.isascii() and length.isdigit()) or "transfer-encoding" in headers:
            raise _BadRequest(400, "a body needs its length: Content-Length")
        if len(length) > len(str(self.most_body)) or int(length) > self.most_body:
            raise _BadRequest(413, f"the body has more than {self.most_body:,} bytes")

        path, _, query = target.partition("?")
        pairs = parse_qsl(query, keep_blank_values=True)
        parameters = dict(pairs)
        if len(parameters) < len(pairs):
            raise _BadRequest(400, "a word after the ? is there twice")
        request = HttpRequest(method, path, parameters, headers, address=address)
        return request, int(length)

    def _response_bytes(self, response: HttpResponse, with_body: bool) -> bytes:
        """Return a response as it is sent."""
        lines = [
            f"HTTP/1.1 {response.status} {HTTPStatus(response.status).phrase}",
            f"Content-Type: {response.kind}",
            f"Content-Length: {len(response.body)}",
            "Cache-Control: no-store",
            "X-Content-Type-Options: nosniff",
            "Connection: close",
        ]
        if response.status == 405:
            lines.append(f"Allow: {', '.join(self.methods)}")

        head = "\r\n".join(lines).encode() + HEAD_END
        return head + response.body if with_body else head


def _read_headers(lines: Sequence[str]) -> dict[str, str]:
    """Return the headers of a request by their names in lower case.

    Raise `_BadRequest` for lines that a proxy in front of this server might read otherwise.
    """
    headers = {}
    for line in lines:
        match = HEADER.fullmatch(line)
        if match is None:
            raise _BadRequest(400, "a header is malformed")

        name = match["name"].lower()
        if name in headers and name in SINGLE_HEADERS:
            raise _BadRequest(400, f"the header {name} is there twice")
        headers[name] = match["value"].strip(" \t")
    return headers


@asynccontextmanager
async def serve_http(server: HttpServer, host: str, port: int) -> AsyncIterator[int]:
    """Serve at an address while the block runs; yield the port. Port 0 is any that is free."""
    listening = await asyncio.start_server(server.serve, host, port, limit=MOST_BYTES)
    try:
        yield listening.sockets[0].getsockname()[1]
    finally:
        listening.close()
        connections = [*server.waiting.holders, *server.admitted.holders]
        for connection in connections:
            connection.cancel()
        await asyncio.gather(*connections, return_exceptions=True)


@dataclass
class HealthPages:
    """The pages `/health` and `/metrics`. The status is read in a thread, and shared by requests at once."""

    source: Callable[[], Status]
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    status: Status | None = None
    read_at: float = 0.0

    async def answer(self, request: HttpRequest) -> HttpResponse:
        """Return the page of a path, with status 503 if health is poor."""
        if request.path not in ("/health", "/metrics"):
            return HttpResponse(404, b"there are /health and /metrics\n")

        try:
            status = await self._read_status()
        except ArenaError as error:
            return _no_status_response(error.code, error.message)
        except Exception as error:  # noqa: BLE001 - monitoring must hear of any failure
            return _no_status_response("broken", f"the record can't be read: {type(error).__name__}")

        if request.path == "/health":
            body = json.dumps(health_data(status), default=datetime.isoformat).encode()
            return HttpResponse(200 if status.word in GOOD_WORDS else 503, body + b"\n", JSON)
        try:
            return HttpResponse(200, metrics_text(status), METRICS)
        except ModuleNotFoundError:
            return HttpResponse(501, NO_METRICS.encode())

    async def _read_status(self) -> Status:
        """Return the status, reading it again if the last one is no longer fresh."""
        async with self.lock:
            now = asyncio.get_running_loop().time()
            if self.status is None or now - self.read_at > FRESH:
                self.status = await asyncio.to_thread(self.source)
                self.read_at = now
            return self.status


@asynccontextmanager
async def serve_health(
    source: Callable[[], Status], endpoint: Endpoint, patience: float = PATIENCE
) -> AsyncIterator[Endpoint | None]:
    """Serve health and metrics at an endpoint while the block runs; yield where it listens.

    Yield None if the endpoint is off. Port 0 is any that is free. `source` is called in a thread.
    Raise `ArenaError` if it can't listen there.
    """
    if not endpoint:
        yield None
        return

    async with AsyncExitStack() as stack:
        server = HttpServer(HealthPages(source).answer, patience, hosts=(endpoint.host.lower(),))
        try:
            port = await stack.enter_async_context(serve_http(server, endpoint.host, endpoint.port))
        except OSError as error:
            raise _cannot_listen(endpoint, error) from error
        yield Endpoint(endpoint.host, port)


def _cannot_listen(endpoint: Endpoint, error: OSError) -> ArenaError:
    """Return the error that the server can't listen at an endpoint, and why."""
    hint = f"set {CONFIG_KEY} in the config to another address or to off"
    if error.errno == errno.EADDRINUSE:
        message = f"{endpoint} is already in use by another arena or program"
        return ArenaError("port_in_use", message, hint)
    reason = error.strerror or type(error).__name__
    return ArenaError("cannot_listen", f"the arena can't listen at {endpoint}: {reason}", hint)


def _no_status_response(code: str, message: str) -> HttpResponse:
    """Return the page of a status that could not be read."""
    reason = {"health": "trouble", "code": code, "text": message}
    body = json.dumps({"health": "trouble", "reasons": [reason]}).encode()
    return HttpResponse(503, body + b"\n", JSON)


Samples = list[tuple[tuple[str, ...], float]]
"""Values of labels, each with its figure."""


def metrics_text(status: Status) -> bytes:
    """Return a status in the format of Prometheus."""
    from prometheus_client import CollectorRegistry, Gauge, generate_latest

    registry = CollectorRegistry()
    for name, meaning, value in _metrics(status):
        Gauge(f"arena_{name}", meaning, registry=registry).set(value)

    for name, meaning, labels, samples in _labelled_metrics(status):
        gauge = Gauge(f"arena_{name}", meaning, labels, registry=registry)
        for values, value in samples:
            gauge.labels(*values).set(value)
    return generate_latest(registry)


def _metrics(status: Status) -> Iterator[tuple[str, str, float]]:
    """Yield the name, meaning and value of each metric without labels."""
    calendar = status.calendar
    spend = status.spend
    calls = status.under_way
    held = status.held

    yield "health", "0 ok, 1 waiting, 2 late, 3 trouble", HEALTH_WORDS.index(status.word)
    yield "running", "1 while an arena run leads", status.running
    yield "rounds_due", "Rounds due so far", calendar.due
    yield "rounds_done", "Rounds done", calendar.done
    yield "lag_seconds", "Delay of the latest round", status.lag.total_seconds()
    yield "spend_today_dollars", "Cost of calls today (UTC)", spend.today / ONE
    yield "spend_month_dollars", "Cost of calls this month (UTC)", spend.month / ONE
    yield "calls_under_way", "Calls to models under way", calls.calls
    yield "calls_lost", "Calls whose worker died; they may be charged", calls.lost
    yield "positions", "Open positions", held.positions
    yield "stale_markets", "Markets held with a stale price or none", held.stale
    if status.looked_at is not None:
        yield (
            "quote_age_seconds",
            "Time since prices were last read",
            _seconds_since(status.looked_at, status),
        )
    if held.oldest is not None:
        meaning = "Age of the oldest price of a held market"
        yield "held_quote_age_seconds", meaning, _seconds_since(held.oldest, status)


def _labelled_metrics(status: Status) -> Iterator[tuple[str, str, tuple[str, ...], Samples]]:
    """Yield the name, meaning and labels of each metric with labels, and its samples."""
    turns: Samples = [((word,), count) for word, count in status.turns.items()]
    yield "turns", "Turns by status", ("status",), turns

    limits = status.spend.limits
    spent: Samples = [((limit.scope,), limit.spent / ONE) for limit in limits]
    yield "budget_spent_dollars", "Amount spent of each budget", ("per",), spent
    budgets: Samples = [((limit.scope,), limit.limit / ONE) for limit in limits]
    yield "budget_dollars", "Each budget", ("per",), budgets

    quarantined = status.quarantined
    errors: Samples = [((row.venue, row.code), row.records) for row in quarantined if row.kind == "page"]
    yield "venue_errors", "Requests that a venue failed to answer in a day", ("venue", "code"), errors
    records: Samples = [((row.venue, row.kind, row.code), row.records) for row in quarantined]
    yield "quarantined", "Records quarantined in a day", ("venue", "kind", "code"), records

    failures: Samples = [((job.name,), job.failures) for job in status.jobs]
    yield "job_failures", "Consecutive failures of a job", ("job",), failures
    ages: Samples = [
        ((job.name,), _seconds_since(job.ended_at, status)) for job in status.jobs if job.ended_at
    ]
    yield "job_age_seconds", "Time since a job last ended", ("job",), ages

    kinds = Counter(noted.incident.kind for noted in status.incidents if noted.ended_at is None)
    incidents: Samples = [((kind,), count) for kind, count in sorted(kinds.items())]
    yield "incidents", "Ongoing incidents", ("kind",), incidents


def _seconds_since(at: datetime, status: Status) -> float:
    """Return the seconds from an instant to that of a status."""
    return (status.at - at).total_seconds()
