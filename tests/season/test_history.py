"""A venue's past becomes a bundle: killed and resumed it is the same, and a replay plays it at once."""

import json
import signal
import subprocess
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.program.command_line import command, environment
from tests.program.running import AGREES, arena, arena_json
from tests.venue_server.polymarket import CLOB, GAMMA, PolymarketWire, a_book_end, a_market, an_end, token
from tests.venue_server.server import VenueServer, venue_server

START, DAYS = datetime(2026, 1, 4, tzinfo=UTC), 40
COUNT, TOP = 60, 50
SPAN = ("--since", "2026-01-04", "--until", "2026-02-13")


@pytest.fixture
def venue() -> Iterator[VenueServer]:
    with venue_server() as server:
        yield server


@pytest.fixture
def place(tmp_path: Path, venue: VenueServer) -> Path:
    """A folder whose config leads to a venue of sixty markets with hourly prices; half have ended."""
    names = [str(1001 + n) for n in range(COUNT)]
    wire = PolymarketWire([_market(n, name) for n, name in enumerate(names)])
    wire.ends = [a_book_end(name, won="Yes") for name in names[::2]]
    wire.past = {token(name): [_point(n, hour) for hour in range(24 * DAYS)] for n, name in enumerate(names)}
    wire.serve(venue)
    where = f'{{url: "{venue.url}{GAMMA}", book_url: "{venue.url}{CLOB}", per_second: 1000}}'
    text = f"markets: {{venue: polymarket, show: 20, min_volume: 0, price_only: true, polymarket: {where}}}\n"
    text += "cohorts: {decide: weekly, rounds: 2, rules: reference}\n"
    text += "agents: [{kind: market}, {kind: random}]\n"
    (tmp_path / "config.yaml").write_text(text, "utf-8")
    return tmp_path


def _market(n: int, name: str) -> dict[str, Any]:
    facts: dict[str, Any] = {
        "question": f"Will team {n} win?",
        "slug": f"team-{n}",
        "volume": str(5_000 + 10 * n),
        "volumeNum": 5_000 + 10 * n,
        "startDate": "2025-12-01T10:00:00Z",
        "endDate": f"{START + timedelta(days=10 + n % 20):%Y-%m-%dT%H:%M:%SZ}",
        "events": [{"id": f"7{name}", "title": f"Team {n}", "slug": f"event-{n}", "negRiskAugmented": False}],
    }
    if n % 2:
        return a_market(name, **(facts | {"endDate": "2026-12-31T00:00:00Z"}))
    closed = START + timedelta(days=10 + n % 20, hours=3)
    return an_end(name, **(facts | {"closedTime": f"{closed:%Y-%m-%d %H:%M:%S}+00"}))


def _point(n: int, hour: int) -> dict[str, float]:
    return {"t": int((START + timedelta(hours=hour)).timestamp()), "p": (20 + (7 * n + hour) % 60) / 100}


def told(place: Path, *words: str) -> Any:
    return arena_json(place, "history", "polymarket", *words, *SPAN)


def prices_asked(venue: VenueServer) -> Counter[str]:
    return Counter(
        f"{asked.params['market']} {asked.params['startTs']}"
        for asked in venue.log
        if asked.path == f"{CLOB}/prices-history"
    )


def killed_after(place: Path, venue: VenueServer, folder: str, requests: int) -> None:
    """A history that is killed as soon as the venue has been asked so often for prices."""
    words = command("history", "polymarket", folder, *SPAN, "--top", str(TOP))
    with subprocess.Popen(words, cwd=place, env=environment(), stderr=subprocess.DEVNULL) as run:
        while run.poll() is None and sum(prices_asked(venue).values()) < requests:
            pass
        run.send_signal(signal.SIGKILL)
    assert run.returncode == -signal.SIGKILL, "it was killed, and had not come to its end"


def test_killed_twice_it_ends_in_the_bundle_of_an_unbroken_run_and_asks_for_nothing_again(
    place: Path, venue: VenueServer
) -> None:
    whole = told(place, "whole", "--top", str(TOP))
    assert (whole["markets"], whole["resolutions"]) == (TOP, TOP // 2)
    assert whole["left_out"] == {"of less volume": COUNT - TOP}
    unbroken = prices_asked(venue)
    venue.log.clear()
    killed_after(place, venue, "broken", 30)
    killed_after(place, venue, "broken", 80)
    resumed = told(place, "broken", "--top", str(TOP))
    assert resumed["answers_on_disk"] > 60
    again = prices_asked(venue)
    assert again.keys() == unbroken.keys()
    assert sum(again.values()) - len(again) <= 2 * 32, "only what was on its way at a kill is asked once more"
    for name in ("markets.jsonl", "prices.csv", "resolutions.csv"):
        one, other = (place / folder / name for folder in ("whole", "broken"))
        assert other.read_bytes() == one.read_bytes()
    venue.log.clear()
    done = told(place, "broken", "--top", str(TOP))
    assert (done["whole_before"], venue.log) == (True, [])


def test_the_bundle_is_right_and_a_replay_plays_it(place: Path) -> None:
    told(place, "past")
    checked = arena_json(place, "markets", "check", "past")
    assert (checked["wrong"], checked["warnings"]) == (0, [])
    assert checked["markets"] == COUNT
    played = arena_json(place, "replay", "past", "--config", "config.yaml")
    assert played["settlements"] > 0
    assert {row["agent"] for row in played["leaderboard"]} == {"market", "random"}
    assert arena_json(place, "verify", "--database", played["database"]).items() >= AGREES.items()
    pages = [json.loads(line) for line in (place / "past" / "markets.jsonl").read_text("utf-8").splitlines()]
    assert {page["fee_rate"] for page in pages} == {"0.04"} or {page["fee_rate"] for page in pages} == {0.04}


def test_markets_can_be_named_and_what_is_there_is_not_overwritten(place: Path) -> None:
    assert told(place, "two", "--slug", "team-3", "--event", "event-4")["markets"] == 2
    other = arena(place, "history", "polymarket", "two", "--since", "2026-01-05", "--until", "2026-02-13")
    assert other.returncode == 1
    assert "holds another history" in other.stderr
    odd = arena(place, "history", "polymarket", "odd", *SPAN, "--slug", "../x")
    assert (odd.returncode, "is no name of a market" in odd.stderr) == (1, True)
    none = arena(place, "history", "simulator", "odd", *SPAN)
    assert (none.returncode, "doesn't show its past" in none.stderr) == (1, True)
    backwards = arena(place, "history", "polymarket", "odd", "--since", "2026-03-01", "--until", "2026-02-01")
    assert (backwards.returncode, "there is no time between" in backwards.stderr) == (1, True)
    assert not (place / "odd").exists()
