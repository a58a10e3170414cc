"""One model whose provider states nonsense about tokens or money stops no other agent by a budget."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.oracles.wires import says
from tests.program.running import arena, arena_json, simulated_config
from tests.provider.model_answer import ModelAnswer
from tests.provider.wire_server import Given, Manner, WireRequest, wires

SENT = says(ModelAnswer(sent=20_000))


def nonsense(asked: WireRequest) -> Given:
    """Return a good answer with 10^9 tokens of each sort."""
    answer = SENT(asked)
    return Manner(answer, count="1000000000")


def huge_charge(asked: WireRequest) -> Given:
    return says(ModelAnswer(cost=1e6))(asked)


LIARS = [("openai", nonsense), ("openai", says(ModelAnswer(cached=10**7))), ("openrouter", huge_charge)]


@pytest.mark.parametrize(("wire", "behaviour"), LIARS)
def test_nonsense_is_booked_at_the_worst_case_and_told_and_the_others_play(
    tmp_path: Path, wire: str, behaviour: Any
) -> None:
    price = "price: {input: 5, output: 20}"
    with wires() as server:
        server.script("liar", behaviour)
        server.script("good", says())
        agents = []
        for name, wire_of in (("liar", wire), ("good", "openai")):
            block = server.settings(wire_of, name)
            where = f'model: {block["model"]}, base_url: "{block["base_url"]}"'
            agents.append(f"{{name: {name}, {where}, {price}}}")
        simulated_config(tmp_path, *agents, cohorts="rounds: 2, count: 1", more="budget: {day: 20}\n")
        for _ in range(2):
            [played] = arena_json(tmp_path, "run", "--round")["rounds"]
            assert {turn["agent"]: turn["status"] for turn in played["turns"]} == dict.fromkeys(
                ("liar", "good"), "played"
            )

    with closing(sqlite3.connect(tmp_path / "arena.db")) as record:
        query = "SELECT cost, worst FROM call JOIN entrant ON entrant.id = entrant_id WHERE name = 'liar'"
        booked = record.execute(query).fetchall()
    assert [cost == worst for cost, worst in booked] == [True, True]
    incidents = arena_json(tmp_path, "status", "--incidents")["incidents"]
    told = [x for x in incidents if x["kind"] == "usage_not_believed"]
    assert [x["data"]["agent"] for x in told] == ["liar", "liar"], "once a round"
    assert "usage not believed: liar (" in told[0]["text"]
    assert told[0]["data"]["usage"] in told[0]["text"]
    assert "usage not believed" in arena(tmp_path, "status").stdout
    assert arena_json(tmp_path, "admin", "verify")["ok"]
