"""An HTTP client for web services: rate-limited, with bounded retries and clear errors."""

import asyncio
import json
import random
import sqlite3
import ssl
import zlib
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import cache
from pathlib import Path
from typing import Any, NoReturn, Protocol

import httpx

from markets.venue import VenueError

MOST_BYTES = 64 * 2**20
"""The most bytes of a page, unpacked."""
SLOWEST = 100_000
"""Bytes a second, unpacked: each part of an answer extends its timeout at this rate."""
CONNECTIONS = 8
LONGEST_WAIT = 120.0
"""Seconds. A request is given up if the service asks for a longer wait."""
RETRIED_CODES = frozenset({"unreachable", "timeout", "rate_limited", "server_error", "not_json"})
"""Errors that a retry may resolve."""
HINTS = {
    "unreachable": "check your network and the venue's url, or try again later",
    "timeout": "try again later",
    "rate_limited": "wait a while; make sure nothing else on this machine queries the venue",
    "server_error": "the venue has an internal error: try again later",
    "refused": "check the venue's url in the config: the venue may block this network, or have a new API",
    "bad_url": "check the venue's url in the config: it begins with https://",
    "missing": "the venue does not list this, or no longer does",
    "not_json": "check the venue's url in the config: something else may have answered in its place",
    "too_large": "check the venue's url in the config; a page should not be that long",
}
Sleep = Callable[[float], Awaitable[None]]
"""How a client waits: really, or on a simulated clock."""
Parse = Callable[[bytearray], Any]
"""How an answer is parsed; raises RequestError."""
Parameter = str | int | Sequence[str] | None


class RequestError(Exception):
    """A failed attempt; `wait` is the delay that the service asks for before the next."""

    def __init__(self, code: str, said: str, wait: float | None = None):
        super().__init__(said)
        self.code = code
        self.said = said
        self.wait = wait


class KeptAnswers(Protocol):
    """Stored answers by their requests: what is stored is not requested, and what is requested is stored."""

    def get(self, question: str) -> bytes | None:
        """Return an answer, empty if nothing is there; None if it has to be asked for."""

    def put(self, question: str, body: bytes) -> bytes | None:
        """Keep an answer; return what is to be read in its place, if that is something else."""

    def put_error(self, question: str, code: str) -> None:
        """Keep that there was no answer, if that is worth keeping."""


class AnswerStore:
    """Answers by their requests, each stored before it is used; an empty one stands for a missing page."""

    def __init__(self, path: Path):
        self._base = sqlite3.connect(path, isolation_level=None)
        self._base.execute("PRAGMA journal_mode = WAL")
        self._base.execute("PRAGMA synchronous = NORMAL")
        self._base.execute("CREATE TABLE IF NOT EXISTS answer (question TEXT PRIMARY KEY, body BLOB)")
        self.asked = self.kept = 0

    def get(self, question: str) -> bytes | None:
        """Return the stored answer to a request, if there is one."""
        row = self._base.execute("SELECT body FROM answer WHERE question = ?", (question,)).fetchone()
        self.kept += row is not None
        if row is None:
            return None
        return zlib.decompress(row[0])

    def put(self, question: str, body: bytes) -> None:
        """Store an answer."""
        self._base.execute("INSERT OR REPLACE INTO answer VALUES (?, ?)", (question, zlib.compress(body, 1)))
        self.asked += 1

    def put_error(self, question: str, code: str) -> None:
        """Store that a page is missing; other errors may be gone the next time."""
        if code == "missing":
            self.put(question, b"")

    def close(self) -> None:
        """Close the store; nothing may be read or stored afterwards."""
        self._base.close()


class HttpClient:
    """GET and POST of JSON below one address, at most so many times a second.

    What may pass by itself is tried again, a bounded number of times and never sooner than the service asks
    for; all else is a VenueError with one code a cause. What `answers` has is not asked. It is of one event
    loop; after `close` it may be used in another.
    """

    def __init__(
        self,
        base_url: str,
        *,
        per_second: float,
        timeout: float = 20.0,
        attempts: int = 4,
        sleep: Sleep = asyncio.sleep,
        answers: KeptAnswers | None = None,
        parse: Parse | None = None,
        headers: Mapping[str, str] | None = None,
    ):
        self._parse = parse or parse_json
        self._headers = {"User-Agent": "paper-arena", "Accept": "application/json", **(headers or {})}
        self._answers = answers
        self._base_url = base_url.rstrip("/")
        self._timeout = timeout
        self._attempts = attempts
        self._gap = 1 / per_second
        self._sleep = sleep
        self._rng = random.Random(f"{base_url}/backoff")
        self._free_at = 0.0  # by the event loop's monotonic clock
        self._seats = asyncio.Semaphore(CONNECTIONS)
        self._client: httpx.AsyncClient | None = None

    async def get(self, path: str, **params: Parameter) -> Any:
        """Return the JSON at a path; parameters that are None are left out, lists are repeated."""
        asked = {name: value for name, value in params.items() if value is not None}
        return await self._asked("GET", path, params=asked)

    async def post(self, path: str, body: Any) -> Any:
        """Return the JSON that answers a body; for idempotent requests only, since it may be sent twice."""
        return await self._asked("POST", path, json=body)

    async def close(self) -> None:
        """Close every connection."""
        client = self._client
        self._client = None
        self._free_at = 0.0
        if client is not None:
            await client.aclose()

    async def _asked(self, method: str, path: str, **request_options: Any) -> Any:
        """Return the stored answer, or make the request and store its answer before it is used."""
        if self._answers is None:
            _body, answer = await self._answer(method, path, request_options)
            return answer

        question = f"{method} {path} {json.dumps(request_options, sort_keys=True)}"
        stored_body = self._answers.get(question)
        if stored_body is not None:
            if not stored_body:  # as an error is stored: the venue had no such page
                raise self._error(path, RequestError("missing", "has no such page"))
            return self._parse(bytearray(stored_body))

        try:
            body, answer = await self._answer(method, path, request_options)
        except VenueError as error:
            self._answers.put_error(question, error.code)
            raise

        replaced_body = self._answers.put(question, bytes(body))
        if replaced_body is None:
            return answer
        return self._parse(bytearray(replaced_body))

    async def _answer(self, method: str, path: str, request_options: dict[str, Any]) -> tuple[bytearray, Any]:
        """Return the body and the content of an answer, after at most a few attempts.

        Raise `VenueError` if an attempt fails for good, the last one fails, or the wait would be too long.
        """
        attempt = 1
        while True:
            try:
                async with self._seats:  # a request's timeout begins once it has a connection
                    await self._pace()
                    return await self._attempt(method, path, request_options)
            except RequestError as error:
                wait = error.wait
                if wait is None:
                    wait = backoff(attempt, self._rng)
                if error.code not in RETRIED_CODES or attempt >= self._attempts or wait > LONGEST_WAIT:
                    raise self._error(path, error) from None

            attempt += 1
            # all requests wait: trouble for one is trouble for all
            self._free_at = max(self._free_at, asyncio.get_running_loop().time() + wait)

    async def _attempt(self, method: str, path: str, what: dict[str, Any]) -> tuple[bytearray, Any]:
        """Make one request. A body may be long, but it may not drip for ever."""
        try:
            client = self._open()
            async with asyncio.timeout(self._timeout) as limit, client.stream(method, path, **what) as answer:
                # Read refusals too: a connection can't be reused before its body is read.
                body = await _read_body(answer, limit)
                _check_status(answer)
                return body, self._parse(body)
        except (TimeoutError, httpx.TimeoutException):
            raise RequestError("timeout", f"did not answer within {self._timeout:g} s") from None
        except httpx.DecodingError:
            raise RequestError("not_json", "sent data that can't be decompressed") from None
        except (httpx.InvalidURL, httpx.UnsupportedProtocol):
            raise RequestError("bad_url", "is not a valid address") from None
        except (httpx.RemoteProtocolError, httpx.ReadError):
            raise RequestError("unreachable", "broke off before its answer was complete") from None
        except httpx.RequestError as error:
            raise RequestError("unreachable", f"could not be reached ({type(error).__name__})") from None

    def _open(self) -> httpx.AsyncClient:
        if self._client is None:
            self._client = httpx.AsyncClient(
                base_url=self._base_url,
                verify=_ssl_context(),
                timeout=self._timeout,
                limits=httpx.Limits(max_connections=CONNECTIONS, max_keepalive_connections=CONNECTIONS),
                headers=self._headers,
                follow_redirects=False,
            )

        return self._client

    async def _pace(self) -> None:
        """Wait for this request's turn; the next turn is reserved before the wait."""
        now = asyncio.get_running_loop().time()
        turn_at = max(self._free_at, now)
        self._free_at = turn_at + self._gap
        if turn_at > now:
            await self._sleep(turn_at - now)

    def _error(self, path: str, trouble: RequestError) -> VenueError:
        whom = ascii(self._base_url) if trouble.code == "bad_url" else httpx.URL(self._base_url).host
        return VenueError(trouble.code, f"{whom} {trouble.said} (asked for {path})", HINTS[trouble.code])


def _check_status(answer: httpx.Response) -> None:
    """Raise for every status but success; redirects aren't followed, for only the config names hosts."""
    status = answer.status_code
    wait = retry_after(answer.headers)
    if status == httpx.codes.TOO_MANY_REQUESTS:
        raise RequestError("rate_limited", "is rate-limiting requests", wait)
    if status >= httpx.codes.INTERNAL_SERVER_ERROR or status == httpx.codes.REQUEST_TIMEOUT:
        raise RequestError("server_error", f"answered {status}", wait)
    if status == httpx.codes.NOT_FOUND:
        raise RequestError("missing", "has no such page")
    if status != httpx.codes.OK:
        raise RequestError("refused", f"answered {status}")


@cache
def _ssl_context() -> ssl.SSLContext:
    """Return the certificates that all clients trust, loaded once."""
    return httpx.create_ssl_context()


async def _read_body(answer: httpx.Response, limit: asyncio.Timeout) -> bytearray:
    """Read an answer to its end, and move the limit on with what has come."""
    deadline = limit.when() or 0.0
    body = bytearray()
    async for part in answer.aiter_bytes():
        body += part
        limit.reschedule(deadline + len(body) / SLOWEST)
        if len(body) > MOST_BYTES:
            raise RequestError("too_large", f"sent more than {MOST_BYTES >> 20} MB")

    return body


def parse_json(body: bytearray) -> Any:
    """Return the JSON of an answer."""
    try:
        return json.loads(body, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        raise RequestError("not_json", "sent invalid JSON") from None


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not valid in JSON")


def backoff(attempt: int, rng: random.Random) -> float:
    """Return the seconds before the next attempt: about 0.5, 1, 2 …, with jitter."""
    return float(0.5 * 2 ** min(attempt - 1, 6) * (0.75 + rng.random() / 2))


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds that a service asks to wait; None where it doesn't say.

    A date is read against the service's own `date`, so that nobody's clock need be right.

    >>> retry_after({"retry-after": "7"})
    7.0
    >>> then, now = "Sun, 04 Jan 2026 12:00:09 GMT", "Sun, 04 Jan 2026 12:00:00 GMT"
    >>> retry_after({"retry-after": then, "date": now})
    9.0
    """
    header = headers.get("retry-after", "").strip()
    if header.isascii() and header.isdigit():
        return float(header[:9])

    wanted_at = header_date(header)
    service_time = header_date(headers.get("date", ""))
    if wanted_at is None or service_time is None:
        return None
    return max((wanted_at - service_time).total_seconds(), 0.0)


def header_date(text: str) -> datetime | None:
    """Return the date in a header; None for anything else."""
    try:
        date = parsedate_to_datetime(text)
    except (ValueError, OverflowError):
        return None
    if date.tzinfo is None:
        date = date.replace(tzinfo=UTC)
    return date
