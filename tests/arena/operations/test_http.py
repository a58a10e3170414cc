"""The health endpoint over real HTTP: what it says while a round plays, and what it makes of rude guests."""

import asyncio
import socket
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from agents.model import Call, Prompt
from arena.config import Endpoint, load
from arena.errors import ArenaError
from arena.operations.health import BudgetUse, HealthReason, HealthWord, RoundCalendar, Spending, Status
from arena.operations.http import (
    MOST_WAITING,
    NO_METRICS,
    ConnectionPlaces,
    HealthPages,
    HttpRequest,
    HttpResponse,
    HttpServer,
    is_own_host,
    metrics_text,
    network_of,
    serve_health,
    serve_http,
)
from arena.operations.status import status_source
from arena.record.model.status import (
    CallsUnderWay,
    LeaderStatus,
    OpenPositions,
    QuarantineCount,
    RoundState,
)
from arena.rounds.round import play_round
from tests.arena.config_files import SMALL, mistakes, write
from tests.arena.operations.held_threads import begun_at_once
from tests.arena.status_parts import a_job_state, an_incident
from tests.builders import NOW, usd
from tests.opened_record import OpenedRecord
from tests.records.little_world import LittleVenue, a_world, asks, begun_live

HERE = "127.0.0.1"
HOUR = timedelta(hours=1)
WELL = Status(NOW, LeaderStatus("host", "7", True, NOW), RoundCalendar(1, 5, 5, NOW + HOUR))
LATE = replace(WELL, reasons=(HealthReason("late", "late", "round 1 is late"),), lag=HOUR)


def free_port() -> int:
    with socket.socket() as knock:
        knock.bind((HERE, 0))
        return int(knock.getsockname()[1])


@asynccontextmanager
async def asked(
    status: Status | Callable[[], Status], patience: float = 5
) -> AsyncIterator[httpx.AsyncClient]:
    """Yield the endpoint, and a client that asks it."""
    source = status if callable(status) else lambda: status
    endpoint = Endpoint(HERE, free_port())
    async with (
        serve_health(source, endpoint, patience),
        httpx.AsyncClient(base_url=f"http://{endpoint}", trust_env=False, timeout=20) as client,
    ):
        yield client


def run(status: Status | Callable[[], Status], *paths: str, method: str = "GET") -> list[httpx.Response]:
    """Return what these paths answer."""

    async def play() -> list[httpx.Response]:
        async with asked(status) as client:
            return [await client.request(method, path) for path in paths]

    return asyncio.run(play())


async def said_to(port: int, *parts: bytes, pause: float = 0) -> bytes:
    """Return the answer to these bytes, sent one after another."""
    reader, writer = await asyncio.open_connection(HERE, port)
    try:
        for part in parts:
            writer.write(part)
            await writer.drain()
            await asyncio.sleep(pause)
        return await reader.read()
    except ConnectionError:
        return b""
    finally:
        writer.close()


def test_health_says_the_word_and_why_with_a_status_for_machines() -> None:
    (well,), (late,) = run(WELL, "/health"), run(LATE, "/health?verbose=1")
    assert (well.status_code, late.status_code) == (200, 503)
    assert well.json() == {
        "health": "ok",
        "reasons": [],
        "at": NOW.isoformat(),
        "leader": {"host": "host", "process": "7", "alive": True, "until": NOW.isoformat()},
        "rounds": {"due": 5, "done": 5, "lag_seconds": 0, "next": (NOW + HOUR).isoformat(), "last": []},
    }
    assert late.json()["reasons"] == [
        {"health": "late", "code": "late", "text": "round 1 is late"}
        | {"cause": None, "since": None, "next_try": None, "waits": None, "command": "arena run"}
    ]
    assert late.headers["Content-Type"] == "application/json"
    assert late.headers["Cache-Control"] == "no-store"


@pytest.mark.parametrize(("word", "status"), [("ok", 200), ("waiting", 200), ("late", 503), ("trouble", 503)])
def test_waiting_is_well_enough(word: HealthWord, status: int) -> None:
    (answer,) = run(replace(WELL, reasons=(HealthReason(word, "x", ""),)), "/health")
    assert answer.status_code == status


def test_head_is_answered_without_a_body() -> None:
    health, nothing = run(WELL, "/health", "/nothing", method="HEAD")
    assert (health.status_code, health.content, nothing.status_code) == (200, b"", 404)
    assert int(health.headers["Content-Length"]) > 100


def test_it_can_only_be_read_and_other_paths_are_not_there() -> None:
    for method in ("POST", "PUT", "DELETE", "OPTIONS", "TRACE"):
        (answer,) = run(WELL, "/health", method=method)
        assert (answer.status_code, answer.headers["Allow"]) == (405, "GET, HEAD")
    for answer in run(WELL, "/", "/health/", "/metrics/../health/x", "/%2e%2e/config.yaml"):
        assert (answer.status_code, answer.text) == (404, "there are /health and /metrics\n")


def test_health_while_a_round_plays(tmp_path: Path) -> None:
    """The model answers only once the endpoint was asked: so it was, in the middle of the round."""

    async def play() -> httpx.Response:
        answered = asyncio.Event()
        thinking = asyncio.Event()

        async def thinks(prompt: Prompt) -> Call:
            thinking.set()
            await answered.wait()
            return Call(prompt, "at last", cost=5)

        async with asked(status_source(record, config, lambda: NOW)) as client:
            world = a_world(LittleVenue(), {"ann": asks}, thinks)
            playing = asyncio.create_task(play_round(stored, 1, world, record))
            await thinking.wait()
            answer = await client.get("/health")
            answered.set()
            await playing
            return answer

    config = load(write(tmp_path, SMALL))
    record = OpenedRecord.at(tmp_path / "arena.db")
    stored = begun_live(record, "ann")
    answer = asyncio.run(play())
    record.close()
    assert answer.status_code == 200
    assert [reason["code"] for reason in answer.json()["reasons"]] == ["playing", "not_running"]
    assert answer.json()["rounds"]["last"][0]["turns"] == {"missing": 1}


def test_however_often_it_is_asked_the_record_is_read_once_a_moment() -> None:
    def source() -> Status:
        looks.append(1)
        return WELL

    looks = list[int]()
    assert {answer.status_code for answer in run(source, *["/health"] * 30)} == {200}
    assert len(looks) < 10


def test_requests_at_once_share_one_look_at_the_record(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("arena.operations.http.FRESH", 3_600.0)
    pages = HealthPages(lambda: WELL)
    request = HttpRequest("GET", "/health")
    assert asyncio.run(begun_at_once(pages.answer(request), pages.answer(request))) == [1]


def test_a_record_that_can_not_be_read_is_trouble() -> None:
    def locked() -> Status:
        raise ArenaError("locked", "arena.db is in use")

    def broken() -> Status:
        raise ZeroDivisionError("secret words")

    (one, other), (bad,) = run(locked, "/health", "/metrics"), run(broken, "/health")
    assert [answer.status_code for answer in (one, other, bad)] == [503, 503, 503]
    assert one.json()["reasons"] == [{"health": "trouble", "code": "locked", "text": "arena.db is in use"}]
    assert bad.json()["reasons"][0]["code"] == "broken"
    assert "secret words" not in bad.text


ODD = [
    (b"\r\n\r\n", b"400"),
    (b"GET\r\n\r\n", b"400"),
    (b"GET /health\r\n\r\n", b"400"),
    (b"GET /health HTTP/2.0\r\n\r\n", b"400"),
    (b"GET http://elsewhere/health HTTP/1.1\r\n\r\n", b"400"),
    (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", b"400"),
    (b"GET /\xff\xfe HTTP/1.1\r\n\r\n", b"404"),
    (b"get /health HTTP/1.1\r\n\r\n", b"405"),
    (b"GET /" + b"a" * 9_000 + b" HTTP/1.1\r\n\r\n", b"431"),
    (b"GET /health HTTP/1.1\r\n" + b"X: y\r\n" * 2_000 + b"\r\n", b"431"),
    (b"GET /health HTTP/1.1\r\nX: " + b"z" * 200_000, b"431"),
]


def test_requests_that_are_none_are_refused_and_the_next_is_served() -> None:
    async def play() -> None:
        async with asked(WELL) as client:
            port = client.base_url.port or 0
            for sent, status in ODD:
                answer = await said_to(port, sent)
                assert answer[:13] in (b"HTTP/1.1 " + status + b" ", b""), sent[:40]
            assert (await client.get("/health")).status_code == 200

    asyncio.run(play())


TWICE = [
    b"Content-Length: 2\r\nContent-Length: 4",
    b"Content-Length : 2",
    b"X: a\r\n Content-Length: 2",
    b"Content-Length: 2\r\n\tTransfer-Encoding: chunked",
    b"Content-Length: 2\r\nTransfer-Encoding: chunked",
    b"X: a\nContent-Length: 2",
    b"X: a\x00b\r\nContent-Length: 2",
    b": x\r\nContent-Length: 2",
    b"nonsense\r\nContent-Length: 2",
    b"Host: evil.example\r\nContent-Length: 2",
    b"Content-Length: 2\r\nAuthorization: Bearer a\r\nAuthorization: Bearer b",
]
"""Headers that a proxy and a server may read as different requests."""


def test_a_request_that_may_be_read_in_two_ways_is_refused() -> None:
    twice = b"POST /?preview=true&preview=false HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}"

    async def play() -> list[HttpRequest]:
        asked = list[HttpRequest]()

        async def respond(request: HttpRequest) -> HttpResponse:
            asked.append(request)
            return HttpResponse(200, b"")

        server = HttpServer(respond, methods=("GET", "POST"), most_body=100, hosts=(HERE,))
        async with serve_http(server, HERE, 0) as port:
            for headers in TWICE:
                answer = await said_to(
                    port, b"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\n" + headers + b"\r\n\r\n{}"
                )
                assert answer.startswith(b"HTTP/1.1 400 "), headers
            assert (await said_to(port, twice)).startswith(b"HTTP/1.1 400 ")
            plain = (
                b"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: a\r\nAccept:b\r\nContent-Length: 2\r\n\r\n{}"
            )
            assert (await said_to(port, plain)).startswith(b"HTTP/1.1 200 ")
        return asked

    assert [request.body for request in asyncio.run(play())] == [b"{}"]


def test_who_is_slow_holds_nobody_up() -> None:
    """Many send a byte and no more, one hangs up in the middle: whoever asks well is served meanwhile."""

    async def play() -> None:
        async with asked(WELL) as client:
            port = client.base_url.port or 0
            slow = [asyncio.create_task(said_to(port, b"GET /hea")) for _ in range(MOST_WAITING // 2)]
            _, writer = await asyncio.open_connection(HERE, port)
            writer.write(b"GET /health HTT")
            writer.close()
            assert (await client.get("/health")).status_code == 200
            assert not any(task.done() for task in slow)
        await asyncio.gather(*slow)

    asyncio.run(play())


def test_who_is_too_slow_is_let_go_of_and_too_many_at_once_are_turned_away() -> None:
    async def play() -> None:
        async with asked(WELL, patience=0.5) as client:
            port = client.base_url.port or 0
            assert (await said_to(port, b"GET /hea")).startswith(b"HTTP/1.1 408 ")
            crowd = [asyncio.create_task(said_to(port, b"GET")) for _ in range(MOST_WAITING + 20)]
            answers = await asyncio.gather(*crowd)
            assert sum(answer == b"" for answer in answers) >= 20
            assert (await client.get("/health")).status_code == 200

    asyncio.run(play())


SILENT = b"GET /health HTTP/1.1\r\n"


@asynccontextmanager
async def silent_crowd(port: int, size: int) -> AsyncIterator[None]:
    """Yield this many connections that send a line and no more."""
    writers = [(await asyncio.open_connection(HERE, port))[1] for _ in range(size)]
    for writer in writers:
        writer.write(SILENT)
    await asyncio.sleep(0.05)
    try:
        yield
    finally:
        for writer in writers:
            writer.close()


@pytest.mark.parametrize("size", [MOST_WAITING, 3 * MOST_WAITING])
def test_silent_connections_keep_out_nobody_who_asks_well(size: int) -> None:
    async def play() -> list[int]:
        async with asked(WELL) as client, silent_crowd(client.base_url.port or 0, size):
            answers = await asyncio.gather(*(client.get("/health") for _ in range(20)))
            return [answer.status_code for answer in answers]

    assert asyncio.run(play()) == [200] * 20


def test_the_oldest_connection_of_whoever_holds_most_is_dropped_first() -> None:
    async def play() -> list[str]:
        async def stay() -> None:
            await asyncio.Event().wait()

        places = ConnectionPlaces(3)
        tasks = dict[str, asyncio.Task[None]]()
        for name, holder in (("quiet", "a"), ("first", "b"), ("second", "b"), ("new", "c"), ("newer", "b")):
            tasks[name] = asyncio.create_task(stay())
            places.add(tasks[name], holder)
        await asyncio.sleep(0)
        dropped = [name for name, task in tasks.items() if task.cancelled()]
        for task in tasks.values():
            task.cancel()
        return dropped

    assert asyncio.run(play()) == ["quiet", "first"]


@pytest.mark.parametrize(
    ("address", "network"),
    [("10.1.2.3", "10.1.2.3"), ("2001:db8:1:2:3::4", "2001:db8:1:2::/64"), ("::1%eth0", "::1%eth0")],
)
def test_addresses_of_one_network_count_together(address: str, network: str) -> None:
    assert network_of(address) == network


HOSTS = [
    ("127.0.0.1:8780", 200),
    ("localhost", 200),
    ("LOCALHOST.:1", 200),
    ("[::1]:8780", 200),
    ("10.0.0.7:8780", 200),
    ("rebound.example.com:8780", 421),
    ("127.0.0.1.example.com", 421),
    ("localhost.example.com", 421),
    ("[::1].example.com", 421),
    ("127.0.0.1@example.com", 421),
    ("", 421),
]


@pytest.mark.parametrize(("host", "status"), HOSTS)
def test_health_is_told_by_this_machine_s_names_alone(host: str, status: int) -> None:
    async def play() -> list[int]:
        async with asked(WELL) as client:
            paths = ("/health", "/metrics")
            answers = [await client.get(path, headers={"Host": host}) for path in paths]
            assert all(("ok" in answer.text) == (status == 200) for answer in answers[:1])
            return [answer.status_code for answer in answers]

    assert asyncio.run(play()) == [status] * 2


def test_who_has_no_host_is_no_browser_and_the_host_of_the_config_is_known() -> None:
    async def play() -> bytes:
        async with asked(WELL) as client:
            return await said_to(client.base_url.port or 0, b"GET /health HTTP/1.0\r\n\r\n")

    assert asyncio.run(play()).startswith(b"HTTP/1.1 200 ")
    assert is_own_host("metrics.lan:8780", ("metrics.lan",))
    assert is_own_host(socket.gethostname(), ())


def test_a_body_that_is_too_long_is_read_to_its_end_so_that_the_answer_arrives() -> None:
    async def take(request: HttpRequest) -> HttpResponse:
        return HttpResponse(200, b"")

    def send(port: int, size: int) -> int:
        """Send the whole body first, then read the answer, as plain clients do."""
        head = f"POST / HTTP/1.1\r\nContent-Length: {size}\r\n\r\n".encode()
        with socket.create_connection((HERE, port), timeout=20) as connection:
            connection.sendall(head + b" " * size)
            return int(connection.recv(100).split()[1])

    async def play() -> list[int]:
        server = HttpServer(take, methods=("POST",), most_body=1_000)
        async with serve_http(server, HERE, 0) as port:
            return [await asyncio.to_thread(send, port, size) for size in (1_000, 1_100_000, 12_000_000)]

    assert asyncio.run(play()) == [200, 413, 413]


def test_when_the_arena_stops_whoever_is_there_is_let_go_of() -> None:
    async def play() -> bytes:
        async with asked(WELL) as client:
            guest = asyncio.create_task(said_to(client.base_url.port or 0, b"GET /"))
            await client.get("/health")
        return await guest

    assert asyncio.run(play()) == b""


def test_a_port_in_use_is_an_error_that_names_the_key() -> None:
    async def play(endpoint: Endpoint) -> None:
        async with serve_health(lambda: WELL, endpoint), serve_health(lambda: WELL, endpoint):
            raise AssertionError("two at one port")

    port = free_port()
    with pytest.raises(ArenaError) as caught:
        asyncio.run(play(Endpoint(HERE, port)))
    assert caught.value.code == "port_in_use"
    assert f"{HERE}:{port}" in caught.value.message
    assert "watch.health" in caught.value.hint


def test_an_address_of_another_machine_is_an_error_too_and_where_it_is_off_nothing_listens() -> None:
    async def play() -> None:
        async with serve_health(lambda: WELL, Endpoint("192.0.2.1", 8780)):
            raise AssertionError("listens at an address that isn't its own")

    async def off() -> Endpoint | None:
        async with serve_health(lambda: WELL, Endpoint()) as where:
            return where

    with pytest.raises(ArenaError, match=r"can't listen at 192\.0\.2\.1:8780") as caught:
        asyncio.run(play())
    assert caught.value.code == "cannot_listen"
    assert asyncio.run(off()) is None


def test_a_config_says_where(tmp_path: Path) -> None:
    said = {
        "127.0.0.1:8780": (HERE, 8780),
        "'[::1]:80'": ("::1", 80),
        "localhost:1": ("localhost", 1),
        "off": ("", 0),
    }
    for text, (host, port) in said.items():
        assert load(write(tmp_path, SMALL + f"watch: {{health: {text}}}\n")).watch.health == Endpoint(
            host, port
        )
    for public in ("0.0.0.0:8780", "'[::]:8780'", "8.8.8.8:80"):
        (mistake,) = mistakes(tmp_path, SMALL + f"watch: {{health: {public}}}\n")
        assert "there is no password" in mistake.message
    for wrong in ("8780", "127.0.0.1", "127.0.0.1:0", "h:99999", "'::1:80'", "'[h]:80'", "false", "'a b:1'"):
        (mistake,) = mistakes(tmp_path, SMALL + f"watch: {{health: {wrong}}}\n")
        assert mistake.key == "watch.health"


FULL = replace(
    LATE,
    turns={"played": 7, "failed": 1},
    spend=Spending(usd("1.5"), usd("20"), (BudgetUse("day", "", usd("1.5"), usd("2")),)),
    under_way=CallsUnderWay(3, 900, 1, 5),
    held=OpenPositions(9, 8, 2, NOW - HOUR),
    looked_at=NOW - HOUR,
    quarantined=(QuarantineCount("sky", "page", "timeout", 4), QuarantineCount("sky", "quote", 'odd"\n', 5)),
    jobs=(a_job_state("quotes", failures=2, ended_at=NOW - HOUR), a_job_state(ended_at=None)),
    incidents=(an_incident("venue_down"),),
    rounds=(RoundState(1, 1, 1, NOW, NOW, False, 3, {}),),
)


def samples(text: str) -> dict[str, float]:
    """Return every figure by its name and labels, read by another library than the one that wrote it."""
    return {
        f"{sample.name}{sorted(sample.labels.items()) or ''}": sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def test_metrics_have_every_figure() -> None:
    (answer,) = run(FULL, "/metrics")
    assert answer.headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
    assert samples(answer.text) == {
        "arena_health": 2,
        "arena_running": 1,
        "arena_rounds_due": 5,
        "arena_rounds_done": 5,
        "arena_lag_seconds": 3600,
        "arena_turns[('status', 'played')]": 7,
        "arena_turns[('status', 'failed')]": 1,
        "arena_spend_today_dollars": 1.5,
        "arena_spend_month_dollars": 20,
        "arena_budget_spent_dollars[('per', 'day')]": 1.5,
        "arena_budget_dollars[('per', 'day')]": 2,
        "arena_calls_under_way": 3,
        "arena_calls_lost": 1,
        "arena_positions": 9,
        "arena_stale_markets": 2,
        "arena_quote_age_seconds": 3600,
        "arena_held_quote_age_seconds": 3600,
        "arena_venue_errors[('code', 'timeout'), ('venue', 'sky')]": 4,
        "arena_quarantined[('code', 'timeout'), ('kind', 'page'), ('venue', 'sky')]": 4,
        "arena_quarantined[('code', 'odd\"\\n'), ('kind', 'quote'), ('venue', 'sky')]": 5,
        "arena_job_failures[('job', 'quotes')]": 2,
        "arena_job_failures[('job', 'marks')]": 0,
        "arena_job_age_seconds[('job', 'quotes')]": 3600,
        "arena_incidents[('kind', 'venue_down')]": 1,
    }


def test_every_metric_is_in_the_docs() -> None:
    page = (Path(__file__).resolve().parents[3] / "docs" / "watching.md").read_text("utf-8")
    names = {name.partition("[")[0] for name in samples(metrics_text(FULL).decode())}
    assert [name for name in sorted(names) if f"`{name}`" not in page] == []


def test_without_the_extra_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.startswith("prometheus_client")]:
        monkeypatch.setitem(sys.modules, name, None)
    (answer,) = run(WELL, "/metrics")
    assert (answer.status_code, answer.text) == (501, NO_METRICS)
