"""`arena check --live --record` writes a cassette, `arena check FILE` replays it, `arena check` counts it."""

import json
from datetime import timedelta
from pathlib import Path

import pytest

from arena.clock import now
from tests.program.running import arena, arena_json
from tests.provider.server import FaultyProvider
from tests.venue_server.polymarket import CLOB, GAMMA, RAIN_BOOK, PolymarketWire, a_market
from tests.venue_server.server import VenueServer, status, venue_server

KEY = "c4nary-k3y-9x8y7z"


@pytest.fixture
def folder(tmp_path: Path, provider: FaultyProvider, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an arena on a venue and a model of this machine, and a key in its `.env`."""
    (tmp_path / ".env").write_text(f"CANARY_KEY={KEY}\n", "utf-8")
    return tmp_path


def configure(folder: Path, server: VenueServer, provider: FaultyProvider, model: str = "plays") -> None:
    open_now = a_market(endDate=f"{now() + timedelta(days=30):%Y-%m-%dT%H:%M:%SZ}", comment=f"by {KEY}")
    PolymarketWire([open_now], [RAIN_BOOK]).serve(server)
    venue = json.dumps({"url": server.url + GAMMA, "book_url": server.url + CLOB, "per_second": 1000})
    text = f'base_url: "{provider.url}", api_key_env: CANARY_KEY, price: {{input: 10, output: 30}}'
    agent = f'{{name: a, model: "openai/{model}", {text}}}'
    config = f"markets: {{venue: polymarket, polymarket: {venue}}}\nagents: [{agent}]\n"
    (folder / "config.yaml").write_text(config, "utf-8")


def test_a_cassette_is_recorded_replayed_and_counts(folder: Path, provider: FaultyProvider) -> None:
    with venue_server() as server:
        configure(folder, server, provider)
        before = arena(folder, "check").stdout
        assert "Polymarket last proved 2026-08-18" in before
        never = "Your own server's answers were never recorded (arena check --live --record records them)"
        assert never in " ".join(before.split())
        told = arena(folder, "check", "--live", "--record")
        assert told.returncode == 0, told.stderr
    [path] = (folder / "cassettes").iterdir()
    assert f"Recorded in {Path('cassettes') / path.name}" in " ".join(told.stdout.split())
    assert "1 market, 1 with prices, 1 with a book" in told.stdout
    assert "headers of requests and answers" in told.stdout
    assert KEY not in path.read_text("utf-8")
    assert provider.requests == {"plays": 1}, "recording asks a model no second time"

    again = arena_json(folder, "check", str(path))
    assert (again["ok"], again["models"][0]["ok"], again["venues"][0]["books"]) == (True, True, 1)
    [venue, model] = arena_json(folder, "check")["proofs"]
    assert (venue["name"], venue["days"], venue["file"]) == (
        "polymarket",
        0,
        f"cassettes/{path.name}",
    )
    assert venue["shows"] == ["markets", "prices", "order books"]
    assert (model["name"], model["on"]) == ("your own server", venue["on"])
    assert f"Polymarket last proved {now():%Y-%m-%d}, today" in arena(folder, "check").stdout


def test_what_fails_is_not_recorded_and_the_rest_is(folder: Path, provider: FaultyProvider) -> None:
    with venue_server() as server:
        configure(folder, server, provider, "401")
        found = arena_json(folder, "check", "--live", "--record", status=2)["recorded"]
        assert (found["models"], found["venues"][0]["prices"]) == ([], 1)
        assert found["faults"] == ["openai/401: auth"]
        server.fail(f"{GAMMA}/markets/keyset", status(403), forever=True)
        told = arena(folder, "check", "--live", "--record", "--json")
    assert told.returncode == 1
    assert json.loads(told.stdout)["error"]["code"] == "no_cassette"
    assert len(list((folder / "cassettes").iterdir())) == 1


def test_a_file_that_is_none_and_one_of_tomorrow_prove_nothing(
    folder: Path, provider: FaultyProvider
) -> None:
    with venue_server() as server:
        configure(folder, server, provider)
        arena(folder, "check", "--live", "--record")
    [path] = (folder / "cassettes").iterdir()
    taken = json.loads(path.read_text("utf-8"))["taken"]
    later = f"{now() + timedelta(days=2):%Y-%m-%dT%H:%M:%SZ}"
    path.write_text(path.read_text("utf-8").replace(taken, later), "utf-8")
    (folder / "cassettes" / "other.json").write_text("{}", "utf-8")
    found = arena_json(folder, "check")
    assert found["proofs"][0]["on"] == "2026-08-18"
    assert [fault.partition(" is no")[0] for fault in found["cassette_faults"]] == ["cassettes/other.json"]
    assert "other.json is no cassette" in arena(folder, "check").stdout
    assert arena(folder, "check", "cassettes/other.json").returncode == 1


def test_record_needs_live(folder: Path, provider: FaultyProvider) -> None:
    with venue_server() as server:
        configure(folder, server, provider)
    told = arena(folder, "check", "--record")
    assert told.returncode == 64
    assert "--record need --live" in told.stderr
