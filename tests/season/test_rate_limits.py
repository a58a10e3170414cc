"""`arena run --round` beside a model that is limited: the others of its provider play, and nobody is kept
waiting
in silence."""

import json
import re
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.oracles.wires import GOOD
from tests.program.running import arena, arena_json, loaded
from tests.provider.model_answer import Refused
from tests.provider.wire_server import Given, WireRequest, WireServer, wires

CONFIG = """\
markets: {venue: simulator, show: 8, simulator: {start: 2026-01-04, weeks: 3, markets: 20, events: 8}}
cohorts: {rounds: 1, count: 1}
agents:
"""
PARTS = 3
"""Calls of a turn about 8 markets, two of a batch as far as they are of one event."""
POLLS = 300
"""How often a test looks for turns before it fails, a tenth of a second apart."""


@pytest.fixture
def server() -> Iterator[WireServer]:
    with wires() as running:
        yield running


def limited(wait: float) -> Refused:
    return Refused("Rate limit reached for model", 429, "rate_limit_exceeded", {"Retry-After": str(wait)})


def write(folder: Path, server: WireServer, **models: str) -> None:
    """Write a line-up of models at one server, each in the mode of its own name."""
    where = server.settings("openai", "all")["base_url"]
    blocks = [
        f'  - {{name: {name}, model: openai/{name}, base_url: "{where}", price: {{input: 1, output: 2}},'
        f" batch: 2{more}}}\n"
        for name, more in models.items()
    ]
    (folder / "config.yaml").write_text(CONFIG + "".join(blocks), "utf-8")


def by_model(server: WireServer, **given: Given) -> None:
    """Set what each model gets; those not named get a good answer."""

    def answer(asked: WireRequest) -> Given:
        special = given.get(asked.body["model"])
        return GOOD(asked) if special is None else special

    server.script("all", answer)


def asked_of(server: WireServer, model: str) -> list[int]:
    return [asked.status for asked in server.log if asked.body["model"] == model]


def errors(folder: Path) -> set[tuple[str, str]]:
    query = "SELECT name, error_code FROM call JOIN entrant ON entrant.id = entrant_id WHERE error_code <> ''"
    with closing(sqlite3.connect(folder / "arena.db")) as reader:
        return set(reader.execute(query))


@pytest.mark.parametrize(
    "refused",
    [limited(72_000), Refused("Rate limit exceeded: free-models-per-day", 429, "rate_limit_exceeded")],
    ids=["wait", "words"],
)
def test_a_quota_that_is_used_up_fails_one_turn_at_once_and_delays_no_other(
    tmp_path: Path, server: WireServer, refused: Refused
) -> None:
    write(tmp_path, server, capped="", good="")
    by_model(server, capped=refused)
    for passes in (1, 2):
        played = json.loads(arena(tmp_path, "run", "--round", "--at", "2026-01-04T00:00Z", "--json").stdout)
        turns = {turn["agent"]: turn["status"] for turn in played["rounds"][0]["turns"]}
        assert turns == ({"capped": "failed", "good": "played"} if passes == 1 else {"capped": "failed"})
        assert asked_of(server, "good") == [200] * PARTS
        assert asked_of(server, "capped") == [429] * passes, (
            "the others of its questions are not asked in vain"
        )
    assert errors(tmp_path) == {("capped", "quota")}
    assert "rate_limit" not in [x["code"] for x in arena_json(tmp_path, "status")["reasons"]]


def test_while_a_model_is_waited_for_the_others_turns_are_in_and_round_and_status_say_so(
    tmp_path: Path, server: WireServer
) -> None:
    write(tmp_path, server, capped="", good="", other="")
    by_model(server, capped=limited(900))
    playing = loaded().start(tmp_path, "run", "--round", "--at", "2026-01-04T00:00Z")
    database = tmp_path / "arena.db"
    for _ in range(POLLS):
        if not playing.runs or turns_in(database) >= {"good", "other"}:
            break
        time.sleep(0.1)
    assert playing.runs
    assert turns_in(database) == {"good", "other"}
    waits = re.compile(r"waiting for openai/capped until \d\d:\d\d UTC \(rate limit\)")
    status = arena_json(tmp_path, "status")
    assert [bool(waits.fullmatch(x["text"])) for x in status["reasons"] if x["code"] == "rate_limit"] == [
        True
    ]
    assert waits.search(arena(tmp_path, "status").stdout)
    assert len(waits.findall(playing.said())) == 1
    playing.kill()
    by_model(server)
    with closing(sqlite3.connect(database)) as record:
        record.execute("UPDATE model_limit SET paused_until = '2000-01-01T00:00:00.000000Z'")
        record.commit()
    assert arena(tmp_path, "run", "--round", "--at", "2026-01-04T00:00Z").returncode == 0
    assert asked_of(server, "good") == asked_of(server, "other") == [200] * PARTS, "nothing is paid twice"
    assert turns_in(database) == {"capped", "good", "other"}
    assert arena_json(tmp_path, "admin", "verify")["ok"]


def turns_in(database: Path) -> set[str]:
    """Return the agents whose turns are in the record."""
    if not database.exists():
        return set()
    query = "SELECT name FROM turn JOIN entrant ON entrant.id = entrant_id WHERE status = 'played'"
    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as reader:
        try:
            return {name for (name,) in reader.execute(query)}
        except sqlite3.OperationalError:  # its tables are only being made
            return set()
