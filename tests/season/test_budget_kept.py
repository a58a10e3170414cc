"""A budget in the config stops calls before they are made, and every call is counted, however it ends."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.program.running import AGREES, agents_of, arena, arena_json
from tests.provider.replies import GOOD, Behaviour, fails, says
from tests.provider.server import FaultyProvider

HEAD = """\
markets: {{venue: simulator, show: 5, simulator: {{start: 2026-01-04, weeks: 8, markets: 60, events: 20}}}}
cohorts: {{rounds: 2, count: 1}}
budget: {{{budget}}}
agents:
  - kind: market
"""
DEMO = "  - {model: demo/sharp, price: {input: 1.0, output: 4.0}, max_tokens: 4000}\n"
TWENTY_CENTS = "price: {input: 0, output: 1000}, max_tokens: 200"
"""What every call costs: the provider counts 200 tokens out, so at most and in fact the same."""


def an_arena(folder: Path, budget: str, *blocks: str) -> None:
    text = HEAD.format(budget=budget) + "".join(f"  - {{{block}}}\n" for block in blocks)
    (folder / "config.yaml").write_text(text, "utf-8")


def players(provider: FaultyProvider, count: int, more: str = "") -> list[str]:
    where = f'model: "openai/plays", base_url: "{provider.url}", {TWENTY_CENTS}{more}'
    return [f"name: a{number}, {where}" for number in range(1, count + 1)]


def ways(played: Any) -> dict[str, str]:
    """Return how the turns of agents with a model ended; `budget` for those that a budget stopped."""
    turns = [turn for turn in played["rounds"][0]["turns"] if turn["agent"] != "market"]
    return {turn["agent"]: turn["stopped_by"] or turn["status"] for turn in turns}


def calls(folder: Path) -> list[tuple[str, int | None, str | None]]:
    """Return the calls in the record: the agent, what each cost, how it failed."""
    query = "SELECT name, cost, error_code FROM call JOIN entrant ON entrant.id = entrant_id ORDER BY call.id"
    with closing(sqlite3.connect(folder / "arena.db")) as reader:
        return list(reader.execute(query))


def test_past_the_budget_no_model_is_asked_and_the_turn_says_why(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text(HEAD.format(budget="call: 0.001") + DEMO, "utf-8")
    played = arena_json(tmp_path, "run", "--round", status=2)["rounds"][0]
    turns = {turn["agent"]: turn for turn in played["turns"]}
    assert (turns["market"]["status"], turns["market"]["stopped_by"]) == ("played", None)
    assert (turns["demo/sharp"]["status"], turns["demo/sharp"]["stopped_by"]) == ("failed", "budget")
    assert "over the budget of $0.0010 a call" in turns["demo/sharp"]["note"]
    assert agents_of(arena_json(tmp_path, "board")["leaderboard"])["demo/sharp"]["cost_usd"] == 0


def test_within_the_budget_all_play(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text(HEAD.format(budget="call: 0.50, day: 20") + DEMO, "utf-8")
    played = arena_json(tmp_path, "run", "--round")["rounds"][0]
    assert {turn["status"] for turn in played["turns"]} == {"played"}


@pytest.mark.parametrize("scope", ["round", "day", "arena"])
def test_a_budget_for_three_and_a_half_calls_makes_exactly_three(
    tmp_path: Path, provider: FaultyProvider, scope: str
) -> None:
    an_arena(tmp_path, f"{scope}: 0.70", *players(provider, 5))
    played = ways(arena_json(tmp_path, "run", "--round", status=2))
    assert provider.requests == {"plays": 3}
    assert sorted(played.values()) == ["budget", "budget", "played", "played", "played"]
    made = calls(tmp_path)
    assert [cost for _, cost, error in made if error is None] == [200_000] * 3
    assert [(cost, error) for _, cost, error in made if error is not None] == [(0, "budget")] * 2
    stopped = {name for name, way in played.items() if way == "budget"}
    assert {name for name, _, error in made if error} == stopped


def test_samples_count_one_by_one_and_those_past_the_budget_are_not_asked_for(
    tmp_path: Path, provider: FaultyProvider
) -> None:
    an_arena(tmp_path, "agent: 0.70", *players(provider, 2, ", samples: 5"))
    turns = arena_json(tmp_path, "run", "--round")["rounds"][0]["turns"]
    assert provider.requests == {"plays": 6}, "three for each agent"
    assert [turn["status"] for turn in turns] == ["played"] * 3
    assert turns[1]["note"].count("budget: a call may cost $0.2000") == 2, "two of five were not made"


def test_who_was_stopped_is_told_and_plays_once_there_is_money(
    tmp_path: Path, provider: FaultyProvider
) -> None:
    an_arena(tmp_path, "round: 0.30", *players(provider, 2))
    told = arena(tmp_path, "run", "--round")
    assert told.returncode == 2
    lines = [line.split() for line in told.stdout.splitlines()]
    assert ["a1", "played"] in [line[:2] for line in lines]
    assert ["a2", "budget"] in [line[:2] for line in lines]
    assert "$0.2000 of this round's $0.3000 is spent" in " ".join(told.stdout.split())
    assert "a2 stopped by the budget" in told.stdout
    assert "failed" not in told.stdout
    an_arena(tmp_path, "round: 0.40", *players(provider, 2))
    assert ways(arena_json(tmp_path, "run", "--round", "--at", "2026-01-04")) == {"a2": "played"}
    assert provider.requests == {"plays": 2}, "no answer is bought twice"
    assert arena_json(tmp_path, "admin", "verify").items() >= AGREES.items()


def test_a_budget_counts_what_failed_on_the_way_at_its_worst(
    tmp_path: Path, provider: FaultyProvider
) -> None:
    """A call cut off by the network may have cost its 20 cents, so three and a half calls are three."""
    provider.script("plays", says(GOOD, usage=None))  # answered, but not counted: what it cost is unknown
    an_arena(tmp_path, "day: 0.70", *players(provider, 5))
    arena_json(tmp_path, "run", "--round", status=2)
    assert provider.requests == {"plays": 3}
    assert [error for _, _, error in calls(tmp_path)].count("budget") == 2


ANSWER = 4_503
"""1,001 tokens at $2.50 a million and 200 at $10 are 4,502.5 millionths of a dollar, rounded up."""
PROSE = says("I say 40%.")
BELIEF = says('{"forecasts": [{"market": "m1", "probability": 0.4}]}')
TABLE: dict[str, tuple[tuple[Behaviour, ...], str, int, int | None]] = {
    # by model: what it answers one call after another, its settings, the calls, and the cost of all
    "at-once": ((says(GOOD),), "", 1, ANSWER),
    "repeats": ((PROSE, says(GOOD)), "", 2, 2 * ANSWER),
    "never": ((PROSE,), "", 2, 2 * ANSWER),
    "stumbles": ((fails(500), says(GOOD)), "", 2, ANSWER),
    "stumbles-then-repeats": ((fails(429), PROSE, fails(503), says(GOOD)), "", 4, 2 * ANSWER),
    "no-schema": ((fails(400, "response_format json_schema is not supported"), says(GOOD)), "", 2, ANSWER),
    "refuses": ((fails(403),), "", 1, 0),
    "three-times": ((says(GOOD),), "samples: 3", 3, 3 * ANSWER),
    "twice": ((BELIEF,), "prices: after", 2, 2 * ANSWER),
    "uncounted": ((says(GOOD, usage=None),), "", 1, None),
    "once-uncounted": ((says("I say 40%.", usage=None), says(GOOD)), "", 2, None),
    "free": ((says(GOOD),), "price: {input: 0, output: 0}", 1, 0),
}


def test_cost_is_usage_times_price_by_hand_with_failures_in_between(
    tmp_path: Path, provider: FaultyProvider
) -> None:
    blocks = []
    for name, (behaviours, settings, _, _) in TABLE.items():
        provider.script(name, *behaviours)
        price = "" if "price:" in settings else ", price: {input: 2.5, output: 10}"
        more = f", {settings}" if settings else ""
        blocks.append(f'name: {name}, model: "openai/{name}", base_url: "{provider.url}"{price}{more}')
    an_arena(tmp_path, "day: 100", *blocks)
    arena_json(tmp_path, "run", "--round", status=2)
    assert provider.requests == {name: count for name, (_, _, count, _) in TABLE.items()}
    board = agents_of(arena_json(tmp_path, "board")["leaderboard"])
    for name, (_, _, count, cost) in TABLE.items():
        mine = [(paid, error) for agent, paid, error in calls(tmp_path) if agent == name]
        assert len(mine) == count, name
        found = board[name]
        assert found["cost_usd"] == (None if cost is None else pytest.approx(cost / 1e6)), name
        stated = name not in ("never", "refuses")
        each = None if cost is None or not stated else pytest.approx(cost / 5 / 1e6)
        assert found["cost_per_forecast"] == each, name
    assert board["market"]["cost_per_forecast"] == 0
