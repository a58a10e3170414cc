"""`arena run` is watched while it works: what it tells a webhook, and what it answers meanwhile."""

import json
import socket
from pathlib import Path
from typing import Any

import httpx
import pytest

from arena.errors import ArenaError
from arena.operations import webhook
from tests.program.rehearsal import clock_at, rehearse, rows
from tests.program.running import arena
from tests.provider.server import faulty
from tests.serving import Reply, Request, Server, serving

CONFIG = """\
markets:
  venue: simulator
  show: 8
  closes_within: 20d
  simulator: {{start: 2026-01-04, weeks: 3, markets: 20, events: 8}}
cohorts: {{rounds: 1, count: 1, bankroll: 1000, corrected_within: 8d}}
run: {{marks: 1w, catalogue: off, quotes: off, resolutions: off, scores: 1w, backup: off}}
watch: {{webhook: $ARENA_WEBHOOK, health: 127.0.0.1:{port}}}
agents:
  - kind: market
"""


class Curious(Server):
    """A webhook's other side that asks how the arena does whenever it is told something."""

    def __init__(self, port: int) -> None:
        super().__init__()
        self.port, self.told, self.health = port, list[dict[str, Any]](), list[httpx.Response]()

    def respond(self, request: Request) -> Reply:
        self.told.append(json.loads(request.body))
        self.health.append(httpx.get(f"http://127.0.0.1:{self.port}/health", trust_env=False))
        return Reply(b"")


class Unwell(Server):
    """Answers nothing but errors, and counts how often it is asked."""

    asked = 0

    def respond(self, request: Request) -> Reply:
        self.asked += 1
        return Reply(b"", 500)


def an_arena(folder: Path) -> int:
    """Write a config of an arena that answers at a free port, and return the port."""
    with socket.socket() as knock:
        knock.bind(("127.0.0.1", 0))
        port = int(knock.getsockname()[1])
    (folder / "config.yaml").write_text(CONFIG.format(port=port), "utf-8")
    clock_at(folder)
    return port


def test_it_tells_of_the_end_and_is_well_and_on_duty_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(Curious(an_arena(tmp_path))) as curious:
        monkeypatch.setenv("ARENA_WEBHOOK", f"{curious.url}/canary-of-the-webhook")
        board, events = rehearse(tmp_path)
    assert (board.rounds, board.failed) == (1, 0)
    told = [message["event"] for message in curious.told]
    weeks_until_the_results = ["weekly_digest"] * (len(told) - 1)
    assert told == ["cohort_finished", *weeks_until_the_results]
    health = curious.health[0].json()
    assert (health["health"], health["leader"]["alive"]) == ("ok", True)
    assert (health["rounds"]["due"], health["rounds"]["done"]) == (1, 1)
    assert "canary" not in " ".join(event.words for event in events)
    assert rows(tmp_path, "SELECT kind, tries FROM incident ORDER BY id") == [(kind, 1) for kind in told]


def test_a_second_arena_at_the_same_port_says_so_and_touches_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ARENA_WEBHOOK", "http://127.0.0.1:9")
    with socket.create_server(("127.0.0.1", 0)) as first:
        port = first.getsockname()[1]
        an_arena(tmp_path)
        (tmp_path / "config.yaml").write_text(CONFIG.format(port=port), "utf-8")
        with pytest.raises(ArenaError, match="is already in use") as caught:
            rehearse(tmp_path)
    assert caught.value.code == "port_in_use"
    assert rows(tmp_path, "SELECT count(*) FROM cohort") == [(0,)]


def test_a_round_played_by_itself_tells_what_happened_too(tmp_path: Path) -> None:
    """By cron, say: nobody else is there to send it."""
    with serving(Curious(an_arena(tmp_path))) as hears, faulty() as models:
        file = tmp_path / "config.yaml"
        eve = f"- {{name: eve, model: openai/nobody, base_url: '{models.url}'}}"
        file.write_text(file.read_text("utf-8").replace("- kind: market", eve), "utf-8")
        played = arena(tmp_path, "run", "--round", ARENA_WEBHOOK=f"{hears.url}/canary-of-the-webhook")
        again = arena(tmp_path, "run", "--round", "--at", "2026-01-04", ARENA_WEBHOOK=f"{hears.url}/canary")
    assert (played.returncode, again.returncode) == (2, 2), played.stderr
    assert [told["event"] for told in hears.told] == ["all_agents_failed"], "once"
    assert hears.told[0]["data"]["agents"] == ["eve"]
    assert "canary" not in played.stdout + played.stderr


def test_a_round_whose_webhook_is_away_is_played_all_the_same_and_says_so(tmp_path: Path) -> None:
    an_arena(tmp_path)
    played = arena(tmp_path, "run", "--round", ARENA_WEBHOOK="http://127.0.0.1:9/canary-of-the-webhook")
    assert played.returncode == 0
    assert played.stderr.startswith("the message cohort_finished was not delivered: ")
    assert "canary" not in played.stderr


def test_a_season_pings_and_plays_on_where_nobody_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(webhook, "PING_PAUSES", ())
    an_arena(tmp_path)
    config = tmp_path / "config.yaml"
    with serving(Unwell()) as receiver:
        monkeypatch.setenv("ARENA_PING", receiver.url)
        config.write_text(config.read_text("utf-8").replace("webhook: $ARENA_WEBHOOK, ", ""))
        board, _ = rehearse(tmp_path)
    assert (board.rounds, board.failed) == (1, 0)
    assert receiver.asked
    assert ("cohort_finished",) in rows(tmp_path, "SELECT kind FROM incident")
