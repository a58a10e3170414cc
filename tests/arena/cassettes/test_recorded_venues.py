"""Venues are recorded over real HTTP and read again without a network: faults, limits, and nothing secret."""

import asyncio
import json
from base64 import b64encode
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from arena.cassettes.cassette import MOST_BYTES, Cassette, VenueReading, read_cassette
from arena.cassettes.cleaning import FIELDS, TEXTS
from arena.cassettes.recording import replayed
from arena.cassettes.trimming import MOST_RECORDS
from arena.errors import ArenaError
from markets.venues.wire import http
from tests.arena.cassettes.recorded import AT, offline, record, reread
from tests.serving import Reply
from tests.venue_server import kalshi, manifold, polymarket
from tests.venue_server.kalshi import ROOT
from tests.venue_server.polymarket import CLOB, GAMMA, token
from tests.venue_server.server import CUT, VenueServer, reply, status

Raw = dict[str, Any]
Urls = Mapping[str, str]
HOUR = 3_600
NOON = int(AT.timestamp())


def serve_polymarket(server: VenueServer, **more: Any) -> Urls:
    """Serve an open market with a book and a past, and one that has ended."""
    points = [{"t": NOON - hours * HOUR, "p": 0.4} for hours in (40, 30, 20)]
    polymarket.PolymarketWire(
        [polymarket.a_market(**more), polymarket.an_end("1002")],
        [polymarket.RAIN_BOOK],
        [polymarket.a_book_end("1002")],
        {token("1001"): points},
    ).serve(server)
    return {"url": server.url + GAMMA, "book_url": server.url + CLOB}


def serve_kalshi(server: VenueServer, **more: Any) -> Urls:
    candle = {
        "end_period_ts": NOON - HOUR,
        "yes_bid": {"close_dollars": "0.4"},
        "yes_ask": {"close_dollars": "0.5"},
    }
    event = kalshi.an_event(kalshi.a_market(**more))
    end = kalshi.an_end("SNOW-26-A", result="yes")
    wire = kalshi.KalshiWire([event, kalshi.an_event(ticker="SNOW-26")], alone=[end])
    wire.series.append(kalshi.a_series("SNOW"))
    wire.books["RAIN-26-A"] = kalshi.BOOK
    wire.candles["RAIN-26-A"] = [candle]
    return {"url": wire.serve(server)}


def serve_manifold(server: VenueServer, **more: Any) -> Urls:
    bets = [manifold.a_bet("b1", (NOON - HOUR) * 1_000, 0.4, userId="ann-1", userUsername="annabel")]
    wire = manifold.ManifoldWire([manifold.a_market(**more), manifold.an_end("snow")], bets)
    return {"url": wire.serve(server)}


SERVED: dict[str, Callable[..., Urls]] = {
    "polymarket": serve_polymarket,
    "kalshi": serve_kalshi,
    "manifold": serve_manifold,
}
BOOK = {"polymarket": 1, "kalshi": 1, "manifold": 0}


@pytest.mark.parametrize("venue", SERVED)
def test_what_was_recorded_is_read_again_without_a_network(
    server: VenueServer, tmp_path: Path, venue: str
) -> None:
    cassette = read_cassette(record(tmp_path, venue, SERVED[venue](server)))
    asked = len(server.log)
    [tape] = cassette.venues
    whole = VenueReading(markets=1, prices=1, books=BOOK[venue], ends=1, histories=1)
    assert reread(cassette) == [tape.reading] == [whole]
    assert len(server.log) == asked == len(tape.exchanges)
    assert cassette.taken == AT


@pytest.mark.parametrize("venue", SERVED)
def test_a_question_that_was_not_recorded_goes_nowhere(
    server: VenueServer, tmp_path: Path, venue: str
) -> None:
    cassette = read_cassette(record(tmp_path, venue, SERVED[venue](server)))
    tape = cassette.venues[0].model_copy(update={"exchanges": ()})
    with offline():
        reading = asyncio.run(replayed(tape, AT)).reading
    assert "markets: not_recorded" in reading.faults
    assert not reading.parts


KEY = "c4nary-k3y-9x8y7z"
JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl"
SECRETS = {
    "environment": KEY,
    "environment in base64": b64encode(KEY.encode()).decode().rstrip("="),
    "bearer": "abcdefghijklmnop1234",
    "sk": "sk-proj-abcdefghijklmnop",
    "jwt": JWT,
    "mail": "ann.lee+bets@example.co.uk",
    "wallet": "0x" + "aB3" * 13 + "f",
    "organisation": "org-9Kx2Lm4Pq7Rs1Tv5",
    "account": "acct_1A2b3C4d5E6f7G8h",
    "address": "203.0.113.77",
    "phone": "+44 20 7946 0958",
    "user": "annabel",
    "user id": "Y2biJCPzfgehpcQXUQoMwXShS6j2",
    "cookie": "cf-c00kie-5e55ion",
    "session": "s3ss10n-abcdef",
    "request": "req_011CSHoEeqs5C35K2UUqR7Fy",
}
PLANTED = {
    "description": "Mail {mail}, call {phone}, key {environment} or {environment in base64}, {sk}, {jwt}, "
    "Authorization: Bearer {bearer}, wallet {wallet}, of {organisation} and {account} at {address}, "
    "{request}",
    "rules_primary": "Ask {mail} or see https://x.example/?token={session}&a=1",
    "textDescription": "By {mail}; https://ann:{session}@host.example/x",
    "creatorUsername": "{user}",
    "creatorName": "{user}",
    "creatorId": "{user id}",
    "url": "https://manifold.markets/{user}/will-it-rain",
    "submitted_by": "{wallet}",
    "session_id": "{session}",
    "comments": [{"userUsername": "{user}", "text": "{cookie}"}],
    "marketMakerAddress": "{wallet}",
    "apiKey": "{session}",
    "tree": {"type": "doc", "content": [{"type": "mention", "attrs": {"label": "{user}"}}]},
    "{mail}": "a name",
}


def planted(value: Any) -> Any:
    """Return a value with the secrets in their places."""
    if isinstance(value, dict):
        return {planted(name): planted(item) for name, item in value.items()}
    if isinstance(value, list):
        return [planted(item) for item in value]
    return value.format_map(SECRETS)


@pytest.mark.parametrize("venue", SERVED)
def test_no_secret_that_is_planted_is_in_the_file(
    server: VenueServer, tmp_path: Path, venue: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VENUE_API_KEY", KEY)
    urls = SERVED[venue](server, **planted(PLANTED))
    ahead = server.answer

    def with_headers(asked: Any) -> Reply:
        answer = ahead(asked)
        headers = {"Set-Cookie": SECRETS["cookie"], "openai-organization": SECRETS["organisation"]}
        return replace(answer, headers={**answer.headers, **headers})

    monkeypatch.setattr(server, "answer", with_headers)
    with_key = {name: f"{url.replace('127.0.0.1', 'localhost')}" for name, url in urls.items()}
    text = record(tmp_path, venue, with_key).read_text("utf-8")
    assert [name for name, secret in SECRETS.items() if secret in text] == []
    assert "localhost" not in text
    assert server.url not in text
    stripped = read_cassette(tmp_path / "cassettes" / "2026-01-04-120000.json").stripped
    assert set(stripped) >= {
        *FIELDS,
        *TEXTS,
        "headers of requests and answers",
        "addresses with a user's name",
    }


FAULTS = {
    "rate_limited": status(429, retry_after="0"),
    "timeout": Reply(b"{}", how="hang"),
    "unreachable": CUT,
    "server_error": reply({"error": f"key {KEY} is wrong"}, 500),
    "refused": reply({"error": f"account {SECRETS['account']} may not"}, 403),
    "not_json": reply(f"<html>{KEY}</html>".encode()),
}
BOOKS = {"polymarket": f"{CLOB}/books", "kalshi": f"{ROOT}/markets/orderbooks", "manifold": "/v0/bets"}


@pytest.mark.parametrize("code", FAULTS)
@pytest.mark.parametrize("venue", SERVED)
def test_a_fault_is_recorded_by_its_code_and_met_again(
    server: VenueServer, tmp_path: Path, venue: str, code: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VENUE_API_KEY", KEY)
    urls = SERVED[venue](server)
    server.fail(BOOKS[venue], FAULTS[code], forever=True)
    path = record(tmp_path, venue, urls, timeout=1.0 if code == "timeout" else 20.0)
    cassette = read_cassette(path)
    [tape] = cassette.venues
    assert code in {exchange.error for exchange in tape.exchanges}
    assert reread(cassette) == [tape.reading]
    assert "markets" in tape.reading.parts or venue != "manifold"
    assert "ends" in tape.reading.parts, "what comes after a fault is recorded all the same"
    assert KEY not in path.read_text("utf-8")
    assert SECRETS["account"] not in path.read_text("utf-8")


@pytest.mark.parametrize("venue", SERVED)
def test_a_fault_that_passes_leaves_no_trace(server: VenueServer, tmp_path: Path, venue: str) -> None:
    urls = SERVED[venue](server)
    server.fail(BOOKS[venue], FAULTS["rate_limited"])
    [tape] = read_cassette(record(tmp_path, venue, urls)).venues
    assert not tape.reading.faults
    assert {exchange.error for exchange in tape.exchanges} <= {"", "missing"}


def test_a_huge_list_is_cut_and_said_to_be(server: VenueServer, tmp_path: Path) -> None:
    """As Kalshi's list of all series is: 19 MB on one page."""
    urls = serve_kalshi(server)
    series = [kalshi.a_series(f"S{number}", about="x y " * 250) for number in range(19_000)]
    server.route(f"{ROOT}/series", {"series": [kalshi.a_series(), *series]})
    path = record(tmp_path, "kalshi", urls)
    cassette = read_cassette(path)
    assert path.stat().st_size < MOST_BYTES / 10
    assert cassette.trimmed["records of lists"] >= 19_001 - MOST_RECORDS
    assert cassette.trimmed["long texts"] >= MOST_RECORDS - 1
    assert reread(cassette)[0].prices == 1


def test_a_body_beyond_all_bounds_is_a_fault(
    server: VenueServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http, "MOST_BYTES", 2_000)
    urls = serve_kalshi(server)
    server.route(f"{ROOT}/series", {"series": [kalshi.a_series("S", about="x" * 3_000)]})
    cassette = read_cassette(record(tmp_path, "kalshi", urls))
    assert "too_large" in {exchange.error for exchange in cassette.venues[0].exchanges}


def test_a_cassette_keeps_to_its_size(server: VenueServer, tmp_path: Path) -> None:
    """Texts without a space are not cut: what then has no room is left out, the last asked first."""
    markets = [polymarket.a_market(str(number), long="x" * 9_000) for number in range(1_000, 1_400)]
    wire = polymarket.PolymarketWire(markets)
    wire.serve(server)
    path = record(tmp_path, "polymarket", {"url": server.url + GAMMA, "book_url": server.url + CLOB})
    cassette = read_cassette(path)
    assert path.stat().st_size <= MOST_BYTES
    assert cassette.trimmed["answers for which there was no room"] > 0
    assert cassette.trimmed["records of lists"] > 100
    assert cassette.venues[0].reading.markets
    assert reread(cassette) == [cassette.venues[0].reading]


def test_a_venue_that_is_none_of_the_network_is_refused_by_name(tmp_path: Path) -> None:
    for venue in ("simulator", "series"):
        with pytest.raises(ArenaError, match=f"{venue} can't be recorded"):
            record_other(tmp_path, venue)


def record_other(folder: Path, venue: str) -> None:
    """Ask for another venue than the config's."""
    from arena.cassettes.recording import CassetteRecording
    from arena.config import load

    (folder / "config.yaml").write_text("markets: {venue: manifold}\nagents: [{kind: market}]\n", "utf-8")
    asyncio.run(CassetteRecording(load(folder / "config.yaml"), AT).visit(venue))


TAPE = '{"venue": "a", "exchanges": [{"question": "", "error": "%s"}]}'
ODD = f'{{"taken": "2026-01-01T00:00Z", "venues": [{TAPE}]}}'
NO_CASSETTES = {
    "nothing": "",
    "broken": "{",
    "a list": "[]",
    "a day": '{"taken": "2026-01-01"}',
    "of another version": '{"cassette": 2, "taken": "2026-01-01T00:00Z"}',
    "a command to the terminal": ODD % r"\u001b[2J",
    "another one": r'{"taken": "2026-01-01T00:00Z", "\u001b[2J": 1}',
    "too long": "x" * (MOST_BYTES + 1),
}


@pytest.mark.parametrize("text", NO_CASSETTES.values(), ids=NO_CASSETTES)
def test_a_file_that_is_no_cassette_is_refused_in_words(tmp_path: Path, text: str) -> None:
    path = tmp_path / "a.json"
    path.write_text(text, "utf-8")
    with pytest.raises(ArenaError) as refused:
        read_cassette(path)
    assert refused.value.code == "bad_cassette"
    assert "a.json" in refused.value.message
    assert "\x1b" not in refused.value.message


def test_odd_numbers_and_depths_of_an_answer_break_nothing(server: VenueServer, tmp_path: Path) -> None:
    urls = serve_kalshi(server, odd=float("inf"), long=10**400)
    deep: Any = []
    for _ in range(700):
        deep = [deep]
    server.route(f"{ROOT}/series", {"series": [kalshi.a_series("S", deep=deep)]})
    cassette = read_cassette(record(tmp_path, "kalshi", urls))
    [tape] = cassette.venues
    assert "not_json" in {exchange.error for exchange in tape.exchanges}
    assert tape.reading.prices == 1
    assert reread(cassette) == [tape.reading]


def test_a_cassette_is_as_it_was_written(server: VenueServer, tmp_path: Path) -> None:
    path = record(tmp_path, "polymarket", serve_polymarket(server))
    cassette = read_cassette(path)
    assert cassette.text() == path.read_text("utf-8")
    assert Cassette.model_validate(json.loads(path.read_text("utf-8"))) == cassette
    lines = path.read_text("utf-8").splitlines()
    assert len(lines) >= len(cassette.venues[0].exchanges), "an exchange a line"
