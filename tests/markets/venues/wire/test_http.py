"""The client of the venues against a server with every fault that a venue may have."""

import asyncio
import json
import socket
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from markets.venue import VenueError
from markets.venues.wire import http
from markets.venues.wire.http import HttpClient
from tests.venue_server.server import (
    CUT,
    DRIP,
    HTML,
    RESET,
    TRUNCATED,
    VenueServer,
    reply,
    status,
    venue_server,
)

SUNDAY = "Sun, 04 Jan 2026 12:00:00 GMT"
NOON_AND_9 = "Sun, 04 Jan 2026 12:00:09 GMT"
PASSING = {
    "429": (status(429), "rate_limited"),
    "500": (status(500), "server_error"),
    "408": (status(408), "server_error"),
    "503": (status(503, retry_after="0"), "server_error"),
    "html": (HTML, "not_json"),
    "truncated": (TRUNCATED, "not_json"),
    "empty": (reply(b""), "not_json"),
    "NaN": (reply(b'{"price": NaN}'), "not_json"),
    "Infinity": (reply(b"[-Infinity]"), "not_json"),
    "deep": (reply(b"[" * 200_000), "not_json"),
    "not UTF-8": (reply(b'["\xff\xfe"]'), "not_json"),
    "no gzip": (reply(b"[]", content_encoding="gzip"), "not_json"),
    "reset": (RESET, "unreachable"),
    "cut": (CUT, "unreachable"),
    "drip": (DRIP, "timeout"),
}
LASTING = {
    "400": (status(400), "refused"),
    "403": (status(403), "refused"),
    "404": (status(404), "missing"),
    "204": (status(204), "refused"),
    "elsewhere": (status(302, location="http://127.0.0.1:9/"), "refused"),
    "long wait": (status(429, retry_after="86400"), "rate_limited"),
}


class Waits(list[float]):
    """A sleep that takes no time and remembers how long it should have taken."""

    async def __call__(self, seconds: float) -> None:
        self.append(seconds)


@pytest.fixture
def server() -> Iterator[VenueServer]:
    with venue_server() as started:
        started.route("/page", {"price": "0.40"})
        yield started


def ask(
    server: VenueServer,
    question: Callable[[HttpClient], Awaitable[Any]] = lambda client: client.get("/page"),
    waits: Waits | None = None,
    **changes: Any,
) -> Any:
    """Ask in an event loop of its own with a client that is closed again, and return the answer."""

    async def asked() -> Any:
        options: dict[str, Any] = {
            "per_second": 1e9,
            "timeout": 5.0,
            "sleep": Waits() if waits is None else waits,
        }
        client = HttpClient(server.url, **(options | changes))
        try:
            return await question(client)
        finally:
            await client.close()

    return asyncio.run(asked())


def told(server: VenueServer, waits: Waits | None = None, **changes: Any) -> VenueError:
    with pytest.raises(VenueError) as raised:
        ask(server, waits=waits, **changes)
    return raised.value


def patience(fault: str) -> float:
    """Return the seconds to wait for an answer: few for one that never ends, else plenty."""
    return 0.5 if fault == "drip" else 5.0


def helps(error: VenueError, code: str) -> bool:
    """Tell whether an error says who, what and how to mend it."""
    assert error.code == code
    return "127.0.0.1" in error.message and "/page" in error.message and bool(error.hint)


@pytest.mark.parametrize("fault", PASSING)
def test_what_passes_by_itself_is_tried_again_but_not_for_ever(server: VenueServer, fault: str) -> None:
    wrong, code = PASSING[fault]
    server.fail("/page", wrong)
    assert ask(server, timeout=patience(fault)) == {"price": "0.40"}
    assert server.counts["/page"] == 2
    server.fail("/page", wrong, forever=True)
    assert helps(told(server, attempts=3, timeout=patience(fault)), code)
    assert server.counts["/page"] == 2 + 3


def test_a_long_page_may_take_longer_as_long_as_it_keeps_coming(server: VenueServer) -> None:
    body = json.dumps(["x" * 1_000] * 600).encode()
    parts = tuple(body[at : at + 60_000] for at in range(0, len(body), 60_000))
    server.route("/page", replace(reply(body), pieces=parts, pause=0.1))
    assert len(ask(server, timeout=0.5, attempts=1)) == 600


def test_a_page_that_stops_coming_is_given_up(server: VenueServer) -> None:
    body = json.dumps(["x" * 1_000] * 200).encode()
    parts = body[:100_000], body[100_000:]
    server.route("/page", replace(reply(body), pieces=parts, pause=5.0))
    assert helps(told(server, timeout=0.5, attempts=1), "timeout")


@pytest.mark.parametrize("fault", LASTING)
def test_what_would_be_no_better_is_asked_once(server: VenueServer, fault: str) -> None:
    wrong, code = LASTING[fault]
    server.fail("/page", wrong)
    assert helps(told(server), code)
    assert server.counts["/page"] == 1


def test_nobody_at_home_is_unreachable() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"

        async def asked() -> Any:
            return await HttpClient(url, per_second=1e9, attempts=2, sleep=Waits()).get("/page")

        with pytest.raises(VenueError) as raised:
            asyncio.run(asked())
    assert raised.value.code == "unreachable"


@pytest.mark.parametrize("url", ["", "example", "ftp://127.0.0.1", "http://[::1", "http://\0"])
def test_what_is_no_address_is_said_so(url: str) -> None:
    with pytest.raises(VenueError) as raised:
        asyncio.run(HttpClient(url, per_second=1e9, sleep=Waits()).get("/page"))
    assert raised.value.code == "bad_url"
    assert "config" in raised.value.hint


def test_half_a_character_spoils_its_own_record_only(server: VenueServer) -> None:
    server.fail("/page", reply(b'["\\ud800", "rain"]'))
    assert ask(server) == ["\ud800", "rain"]


def test_waits_double_and_vary(server: VenueServer) -> None:
    waits = Waits()
    server.fail("/page", status(500), forever=True)
    told(server, waits, attempts=5)
    assert [0.75 * 0.5 * 2**n <= wait <= 1.25 * 0.5 * 2**n for n, wait in enumerate(waits)] == [True] * 4


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry_after": "7"}, 7.0),
        ({"retry_after": NOON_AND_9, "date": SUNDAY}, 9.0),
        ({"retry_after": SUNDAY, "date": NOON_AND_9}, 0.0),
    ],
)
def test_the_wait_that_a_venue_asks_for_is_kept(
    server: VenueServer, headers: dict[str, str], seconds: float
) -> None:
    for code in (429, 503):
        waits = Waits()
        server.fail("/page", status(code, **headers))
        ask(server, waits=waits)
        assert sum(waits) == pytest.approx(seconds, abs=0.01)


def test_a_wait_that_makes_no_sense_is_as_none(server: VenueServer) -> None:
    dates = ("Sun, 99 Jan 2026 12:00:09 GMT", f"Sun, 04 Jan 2026 12:00:09 +{'9' * 20}")
    for nonsense in ("", "soon", "-3", "1e9", "٣", *dates):
        waits = Waits()
        header = nonsense.encode().decode("latin-1")
        server.fail("/page", replace(status(429), headers={"Retry-After": header}))
        assert ask(server, waits=waits) == {"price": "0.40"}
        assert 0.3 < sum(waits) < 0.7


def test_a_wait_holds_every_question(server: VenueServer) -> None:
    async def two(client: HttpClient) -> None:
        server.fail("/page", status(429, retry_after="1"))
        start = asyncio.get_running_loop().time()
        await asyncio.gather(client.get("/page"), client.get("/page"))
        assert asyncio.get_running_loop().time() - start > 0.9

    ask(server, two, sleep=asyncio.sleep, timeout=5.0)


def test_the_pace_is_kept_however_many_ask_at_once(server: VenueServer) -> None:
    waits = Waits()

    async def many(client: HttpClient) -> None:
        await asyncio.gather(*(client.get("/page") for _ in range(11)))

    ask(server, many, waits=waits, per_second=0.01)  # a gap that no load of this machine takes up
    assert [100 * n - 60 < wait <= 100 * n for n, wait in enumerate(sorted(waits), 1)] == [True] * 10


def test_the_pace_is_kept_in_real_time(server: VenueServer) -> None:
    async def several(client: HttpClient) -> float:
        start = asyncio.get_running_loop().time()
        for _ in range(6):
            await client.get("/page")
        return asyncio.get_running_loop().time() - start

    assert ask(server, several, per_second=25, sleep=asyncio.sleep) > 0.19


def test_a_page_that_is_too_long_is_left(server: VenueServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "MOST_BYTES", 2**20)
    server.fail("/page", reply(b'"' + b"x" * 2**20 + b'"'))
    assert told(server).code == "too_large"
    assert server.counts["/page"] == 1


def test_parameters_and_bodies_arrive(server: VenueServer) -> None:
    server.route("/echo", lambda asked: {"query": asked.query, "body": asked.body})
    asked = ask(server, lambda client: client.get("/echo", a=["1", "2"], b=None, c="x y&z", d=5))
    assert asked == {"query": {"a": ["1", "2"], "c": ["x y&z"], "d": ["5"]}, "body": None}
    assert ask(server, lambda client: client.post("/echo", [{"id": "9"}]))["body"] == [{"id": "9"}]


def test_a_base_with_a_path_keeps_it(server: VenueServer) -> None:
    server.route("/api/v2/page", {"deep": True})

    async def asked() -> Any:
        client = HttpClient(f"{server.url}/api/v2/", per_second=1e9)
        try:
            return await client.get("/page")
        finally:
            await client.close()

    assert asyncio.run(asked()) == {"deep": True}


def test_a_closed_client_may_be_used_again_elsewhere(server: VenueServer) -> None:
    client = HttpClient(server.url, per_second=1e9)

    async def once() -> Any:
        answer = await client.get("/page")
        await client.close()
        return answer

    assert [asyncio.run(once()) for _ in range(3)] == [{"price": "0.40"}] * 3
