"""A tiny web server, and what it answers to those who look after the arena: `/health` and `/metrics`.

Metrics are what Prometheus reads; they need the extra `metrics` of the package.
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
from arena.operations.status import HEALTH_WORDS, Status, health_data
from markets.millionths import ONE

MOST_BYTES = 8_192
"""A request without its body is no longer than this."""
PATIENCE = 5.0
"""Seconds in which a request has to be there, and its answer to be taken."""
MOST_WAITING = 64
"""Connections whose request is not read yet, or was refused."""
MOST_ADMITTED = 512
"""Connections whose request was read and is being answered."""
FRESH = 1.0
"""Seconds for which a status is good, however often it is asked for."""
HEAD_END = b"\r\n\r\n"
HEADER = re.compile(r"(?P<name>[!#$%&'*+.^_`|~0-9A-Za-z-]+):(?P<value>[^\x00-\x08\x0a-\x1f\x7f]*)")
SINGLE_HEADERS = frozenset(("authorization", "content-length", "host", "transfer-encoding"))
"""Headers of which a second one would make it unclear what is asked, and by whom."""
CONFIG_KEY = "watch.health"
GOOD_WORDS = frozenset({"ok", "waiting"})
JSON, PLAIN = "application/json", "text/plain; charset=utf-8"
METRICS = "text/plain; version=0.0.4; charset=utf-8"
NO_METRICS = 'metrics need the extra of that name: pip install "paper-arena[metrics]", then start again\n'


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """A request: names of headers in small letters, and the value of each word after the `?`.

    `address` is where it comes from, and `caller` who was admitted with it.
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
    """What is answered."""

    status: int
    body: bytes
    kind: str = PLAIN


Respond = Callable[[HttpRequest], Awaitable[HttpResponse]]
"""What answers a request."""
Admit = Callable[[HttpRequest], Awaitable[str | HttpResponse]]
"""What says by a request without its body who the caller is, or answers it at once."""


class _BadRequest(Exception):
    """A request that can't be taken, with the status that says why."""

    def __init__(self, status: int, message: str):
        super().__init__(message)
        self.status = status


def say_plainly(status: int, message: str) -> HttpResponse:
    """Return a complaint as a line of text."""
    return HttpResponse(status, f"{message}\n".encode())


async def _admit_anyone(request: HttpRequest) -> str:
    return request.address


def network_of(address: str) -> str:
    """Return what counts as one holder of connections: an address, or 64 bits of one of version 6.

    >>> network_of("10.1.2.3"), network_of("2001:db8::9")
    ('10.1.2.3', '2001:db8::/64')
    """
    if ":" not in address or "%" in address:
        return address
    return str(IPv6Network((address, 64), strict=False))


def is_own_host(host: str | None, names: Sequence[str]) -> bool:
    """Return whether a Host header names this machine: by an address, or by one of its names.

    A page of a foreign domain that was pointed at this machine sends that domain. No browser sends none.

    >>> is_own_host("127.0.0.1:8780", ()), is_own_host("a.lan", ["a.lan"]), is_own_host("evil.com", ())
    (True, True, False)
    """
    if host is None:
        return True

    name, _, port = host.partition("]") if host.startswith("[") else host.partition(":")
    if host.startswith("[") and port and not port.startswith(":"):
        return False

    name = name.removeprefix("[").rstrip(".").lower()
    if name in {"localhost", socket.gethostname().lower(), *names}:
        return True
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


@dataclass
class ConnectionPlaces:
    """So many places for connections, each of which somebody holds.

    When all are taken, the oldest connection of whoever holds most is dropped, never the newcomer: who is
    quick is answered, however many stay silent.
    """

    most: int
    holders: dict["asyncio.Task[None]", str] = field(default_factory=dict)

    def add(self, task: "asyncio.Task[None]", holder: str) -> None:
        """Give a connection a place."""
        if len(self.holders) >= self.most:
            self._drop_one()
        self.holders[task] = holder

    def remove(self, task: "asyncio.Task[None]") -> None:
        """Free the place of a connection, if it has one."""
        self.holders.pop(task, None)

    def _drop_one(self) -> None:
        [(greediest, _)] = Counter(self.holders.values()).most_common(1)
        oldest = next(task for task, holder in self.holders.items() if holder == greediest)
        del self.holders[oldest]
        oldest.cancel()


@dataclass
class HttpServer:
    """One request a connection, and its answer, in bounded time.

    It takes these `methods`, bodies of so many bytes, and says what is wrong with a request by `complain`.
    Once its head is there, `admit` says who the caller is: only then the body is read, and the connection
    leaves the places of those who wait. With `hosts`, another Host than this machine's is refused.
    """

    respond: Respond
    patience: float = PATIENCE
    methods: tuple[str, ...] = ("GET", "HEAD")
    most_body: int = 0
    complain: Callable[[int, str], HttpResponse] = say_plainly
    admit: Admit = _admit_anyone
    hosts: Sequence[str] | None = None
    waiting: ConnectionPlaces = field(default_factory=lambda: ConnectionPlaces(MOST_WAITING))
    admitted: ConnectionPlaces = field(default_factory=lambda: ConnectionPlaces(MOST_ADMITTED))

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve a connection."""
        task = asyncio.current_task()
        assert task is not None
        address = str((writer.get_extra_info("peername") or ("",))[0])
        self.waiting.add(task, network_of(address))
        try:
            await self._talk(task, address, reader, writer)
        except asyncio.CancelledError:
            writer.transport.abort()  # its place was needed, or the server stops
        except (OSError, TimeoutError, asyncio.IncompleteReadError):
            writer.transport.abort()  # it hung up, or would not take its answer
        finally:
            self.waiting.remove(task)
            self.admitted.remove(task)
            writer.close()

    async def _talk(
        self,
        task: "asyncio.Task[None]",
        address: str,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> None:
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
            # Closed with bytes unread, a connection is reset, and the client may lose its answer.
            while not was_read and await reader.read(MOST_BYTES):
                pass

    async def _read_head(self, reader: asyncio.StreamReader, address: str) -> tuple[HttpRequest, int]:
        """Read a request up to its body; return it and the length of its body."""
        head = await reader.readuntil(HEAD_END)
        first, *lines = head.removesuffix(HEAD_END).decode("latin-1").split("\r\n")
        parts = first.split(" ")
        if len(parts) != 3 or parts[2] not in ("HTTP/1.1", "HTTP/1.0") or not parts[1].startswith("/"):
            raise _BadRequest(400, "this is not a request")

        method = parts[0]
        if method not in self.methods:
            raise _BadRequest(405, f"the methods here are {', '.join(self.methods)}")

        headers = _read_headers(lines)
        if self.hosts is not None and not is_own_host(headers.get("host"), self.hosts):
            raise _BadRequest(421, "this host is not served here: ask by the address of the machine")

        length = headers.get("content-length", "0")
        if method != "POST":
            length = "0"  # what may follow is not looked at
        elif not (length.isascii() and length.isdigit()) or "transfer-encoding" in headers:
            raise _BadRequest(400, "a body needs its length: Content-Length")
        if len(length) > len(str(self.most_body)) or int(length) > self.most_body:
            raise _BadRequest(413, f"the body has more than {self.most_body:,} bytes")

        path, _, query = parts[1].partition("?")
        pairs = parse_qsl(query, keep_blank_values=True)
        values = dict(pairs)
        if len(values) < len(pairs):
            raise _BadRequest(400, "a word after the ? is there twice")
        request = HttpRequest(method, path, values, headers, address=address)
        return request, int(length)

    def _response_bytes(self, page: HttpResponse, with_body: bool) -> bytes:
        allow = (f"Allow: {', '.join(self.methods)}",) if page.status == 405 else ()
        lines = (
            f"HTTP/1.1 {page.status} {HTTPStatus(page.status).phrase}",
            f"Content-Type: {page.kind}",
            f"Content-Length: {len(page.body)}",
            "Cache-Control: no-store",
            "X-Content-Type-Options: nosniff",
            "Connection: close",
            *allow,
        )
        return "\r\n".join((*lines, "", "")).encode() + (page.body if with_body else b"")


def _read_headers(lines: Sequence[str]) -> dict[str, str]:
    """Return the headers of a request by their names in small letters.

    Raises `_BadRequest` for whatever a proxy before this server might read otherwise.
    """
    headers = dict[str, str]()
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
    """Answers at an address for as long as the block lasts; gives the port. Port 0 is any that is free."""
    listening = await asyncio.start_server(server.serve, host, port, limit=MOST_BYTES)
    try:
        yield listening.sockets[0].getsockname()[1]
    finally:
        listening.close()
        connections = [*server.waiting.holders, *server.admitted.holders]
        for guest in connections:
            guest.cancel()
        await asyncio.gather(*connections, return_exceptions=True)


@dataclass
class HealthPages:
    """What is answered: the status is looked up when it is asked for, in a thread, once for all who ask."""

    source: Callable[[], Status]
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    status: Status | None = None
    looked_at: float = 0.0

    async def look(self) -> Status:
        """The status, no older than a moment."""
        async with self.lock:
            now = asyncio.get_running_loop().time()
            if self.status is None or now - self.looked_at > FRESH:
                self.status, self.looked_at = await asyncio.to_thread(self.source), now
            return self.status

    async def answer(self, request: HttpRequest) -> HttpResponse:
        """The page of a path."""
        if request.path not in ("/health", "/metrics"):
            return HttpResponse(404, b"there are /health and /metrics\n")
        try:
            status = await self.look()
        except ArenaError as error:
            return _no_status_response(error.code, error.message)
        except Exception as error:  # noqa: BLE001 - whatever it is, who asks must hear that all is not well
            return _no_status_response("broken", f"the record can't be read: {type(error).__name__}")
        if request.path == "/health":
            body = json.dumps(health_data(status), default=datetime.isoformat).encode()
            return HttpResponse(200 if status.word in GOOD_WORDS else 503, body + b"\n", JSON)
        try:
            return HttpResponse(200, metrics_text(status), METRICS)
        except ModuleNotFoundError:
            return HttpResponse(501, NO_METRICS.encode())


@asynccontextmanager
async def serve_health(
    source: Callable[[], Status], endpoint: Endpoint, patience: float = PATIENCE
) -> AsyncIterator[Endpoint | None]:
    """Answers at an endpoint for as long as the block lasts, nowhere where it is off; gives where it listens.

    Port 0 is any that is free. `source` is called in a thread.
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
    hint = f"set {CONFIG_KEY} in the config to another address or to off"
    if error.errno == errno.EADDRINUSE:
        words = f"{endpoint} is already in use by another arena or program"
        return ArenaError("port_in_use", words, hint)
    reason = error.strerror or type(error).__name__
    return ArenaError("cannot_listen", f"the arena can't listen at {endpoint}: {reason}", hint)


def _no_status_response(code: str, message: str) -> HttpResponse:
    reason = {"health": "trouble", "code": code, "text": message}
    return HttpResponse(503, json.dumps({"health": "trouble", "reasons": [reason]}).encode() + b"\n", JSON)


Samples = list[tuple[tuple[str, ...], float]]
"""Label values, and the figure that has them."""


def metrics_text(status: Status) -> bytes:
    """A status as Prometheus reads it."""
    from prometheus_client import CollectorRegistry, Gauge, generate_latest

    registry = CollectorRegistry()
    for name, words, value in _figures(status):
        Gauge(f"arena_{name}", words, registry=registry).set(value)
    for name, words, labels, samples in _labelled_figures(status):
        gauge = Gauge(f"arena_{name}", words, labels, registry=registry)
        for values, value in samples:
            gauge.labels(*values).set(value)
    return generate_latest(registry)


def _figures(status: Status) -> Iterator[tuple[str, str, float]]:
    """Name, meaning and value of what there is one of."""
    calendar, spend, calls, held = status.calendar, status.spend, status.under_way, status.held
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
        yield "quote_age_seconds", "Time since prices were last read", _since(status.looked_at, status)
    if held.oldest is not None:
        words = "Age of the oldest price of a held market"
        yield "held_quote_age_seconds", words, _since(held.oldest, status)


def _labelled_figures(status: Status) -> Iterator[tuple[str, str, tuple[str, ...], Samples]]:
    """Name, meaning, labels and values of what there are several of."""
    limits, quarantined, jobs = status.spend.limits, status.quarantined, status.jobs
    yield "turns", "Turns by status", ("status",), [((x,), n) for x, n in status.turns.items()]
    spent: Samples = [((x.scope,), x.spent / ONE) for x in limits]
    yield "budget_spent_dollars", "Amount spent of each budget", ("per",), spent
    yield "budget_dollars", "Each budget", ("per",), [((x.scope,), x.limit / ONE) for x in limits]
    errors: Samples = [((x.venue, x.code), x.records) for x in quarantined if x.kind == "page"]
    yield "venue_errors", "Requests that a venue failed to answer in a day", ("venue", "code"), errors
    records: Samples = [((x.venue, x.kind, x.code), x.records) for x in quarantined]
    yield "quarantined", "Records quarantined in a day", ("venue", "kind", "code"), records
    yield (
        "job_failures",
        "Consecutive failures of a job",
        ("job",),
        [((x.name,), x.failures) for x in jobs],
    )
    ages: Samples = [((job.name,), _since(job.ended_at, status)) for job in jobs if job.ended_at]
    yield "job_age_seconds", "Time since a job last ended", ("job",), ages
    open_kinds = Counter(told.incident.kind for told in status.incidents if told.ended_at is None)
    yield "incidents", "Ongoing incidents", ("kind",), [((x,), n) for x, n in sorted(open_kinds.items())]


def _since(at: datetime, status: Status) -> float:
    return (status.at - at).total_seconds()
