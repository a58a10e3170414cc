"""`arena show agent`, and what `arena run --round` says when a model is no longer what it was."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from arena.cli.output import small_dollars
from tests.program.in_process import run, said
from tests.program.running import arena_json, simulated_config
from tests.provider.replies import GOOD, fails, says
from tests.provider.server import FaultyProvider, faulty

PRICE = "price: {input: 1, output: 4}"
COST = (1_001 * 1 + 200 * 4) / 1e6
CONTROLS = {"\x1b", "\x9b", "\u202e"}


@pytest.fixture
def server() -> Iterator[FaultyProvider]:
    with faulty() as started:
        started.script("plays", answers("m-1", "fp-1"))
        yield started


def answers(model: str, fingerprint: str) -> Any:
    """Return a good answer by a model that reports this name."""
    return says(GOOD, model=model, system_fingerprint=fingerprint)


def eve(server: FaultyProvider, more: str = "") -> str:
    """Return an agent that asks the faulty provider."""
    return (
        f'{{name: eve, model: openai/plays, base_url: "{server.url}", {PRICE}, released: 2025-10-01{more}}}'
    )


def agents(folder: Path) -> dict[str, Any]:
    return {agent["name"]: agent for agent in said(folder, "show", "agents")["agents"]}


def test_before_anything_was_played_the_config_is_listed_and_no_file_is_made(
    tmp_path: Path, server: FaultyProvider
) -> None:
    simulated_config(tmp_path, eve(server, ", prices: after"), "{kind: kelly, of: eve}")
    found = agents(tmp_path)
    assert found["eve"] == {
        "name": "eve",
        "kind": "llm",
        "model": "openai/plays",
        "waiting": None,
        "of": None,
        "prompt": "bet",
        "prices": "after",
        "samples": found["eve"]["samples"],
        "released": "2025-10-01",
        "price": {"input": 1, "output": 4},
        "record": None,
    }
    assert (found["kelly"]["of"], found["kelly"]["price"], found["kelly"]["record"]) == ("eve", None, None)
    shown = said(tmp_path, "show", "agent", "eve")
    assert (shown["record"], [stay["cohort"] for stay in shown["cohorts"]]) == (None, ["next"])
    assert "No agent has played yet" in run(tmp_path, "show", "agents").stdout
    assert "It has not played yet" in run(tmp_path, "show", "agent", "eve").stdout
    assert [path.name for path in tmp_path.iterdir()] == ["config.yaml"]


@pytest.fixture(scope="module")
def season(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a season of eve in two cohorts, in the second with her own prompt, whose text has changed."""
    folder = tmp_path_factory.mktemp("season")
    (folder / "mine.md").write_text("{% block user %}Say.{% endblock %}", "utf-8")
    with faulty() as server:
        server.script("plays", answers("m-1", "fp-1"))
        sue = eve(server).replace("eve", "sue")
        for more in ("", ", temperature: 0.5, prompt: ./mine.md, reasoning: low"):
            simulated_config(folder, eve(server, more), sue, "{kind: market}")
            assert said(folder, "run", "--round")["changes"] == []
    (folder / "mine.md").write_text("{% block user %}Say more.{% endblock %}", "utf-8")
    return folder


CALLS = 4
"""Those of eve's three turns, and one for the markets that an answer left out."""


def test_what_rounds_cost_and_what_answered(season: Path) -> None:
    record = agents(season)["eve"]["record"]
    assert record == {
        "cohorts": [1, 2],
        "turns": 3,
        "malformed": 0,
        "failed": 0,
        "late": 0,
        "cost_usd": pytest.approx(CALLS * COST),
        "models": ["m-1"],
        "flag": None,
        "changes": [],
    }
    told = said(season, "show", "agent", "eve")["record"]
    assert told["cost_per_forecast_usd"] == pytest.approx(CALLS * COST / told["forecasts"])
    assert (told["statuses"], told["forecasts"], told["calls"]) == ({"played": 3}, 12, CALLS)
    assert (told["tokens_in"], told["tokens_out"], told["errors"]) == (CALLS * 1_001, CALLS * 200, {})
    assert sum(told["rungs"].values()) == CALLS
    ((model, fingerprint, count),) = ((x["model"], x["fingerprint"], x["answers"]) for x in told["reported"])
    assert (model, fingerprint, count) == ("m-1", "fp-1", CALLS)
    shown = run(season, "show", "agent", "eve").stdout
    assert "m-1" in shown
    forecast_cost = small_dollars(told["cost_per_forecast_usd"])
    assert f"12, {forecast_cost} each" in shown
    market = said(season, "show", "agent", "market")["record"]
    assert (market["calls"], market["cost_usd"], market["cost_per_forecast_usd"]) == (0, 0, None)


def test_another_model_under_the_same_name_is_told_by_the_round_and_flagged_from_then_on(
    tmp_path: Path, server: FaultyProvider
) -> None:
    simulated_config(tmp_path, eve(server), cohorts="rounds: 3, count: 1")
    said(tmp_path, "run", "--round")
    server.script("plays", answers("m-2\x1b[31m\u202e[red]", "fp-1"))
    told = run(tmp_path, "run", "--round").stdout
    assert "Note: eve now reports another model: m-2" in told
    assert "[red], before m-1" in told
    record = agents(tmp_path)["eve"]["record"]
    assert (record["flag"], len(record["models"])) == ("model changed", 2)
    (change,) = record["changes"]
    assert (change["what"], change["before"], change["times"]) == ("model", "m-1", 1)
    for words in ((), ("eve",)):
        shown = run(tmp_path, "show", "agents", *words).stdout
        assert "[red]" in shown
        assert not CONTROLS & set(told + shown)
    assert "MODEL CHANGED" in run(tmp_path, "show", "agents").stdout
    assert said(tmp_path, "run", "--round")["changes"] == []  # it has stayed so
    assert agents(tmp_path)["eve"]["record"]["flag"] == "model changed"


def test_errors_are_counted_by_code(tmp_path: Path, server: FaultyProvider) -> None:
    simulated_config(tmp_path, eve(server))
    server.script("plays", fails(401, "no"), fails(403, "no"), answers("m-1", "fp-1"))
    for _ in range(2):
        said(tmp_path, "run", "--round", "--at", "2026-01-04", status=2)
    said(tmp_path, "run", "--round", "--at", "2026-01-04")
    told = said(tmp_path, "show", "agent", "eve")["record"]
    assert (told["errors"], told["calls"], told["statuses"]) == ({"auth": 2}, 3, {"played": 1})
    assert "2 auth" in run(tmp_path, "show", "agent", "eve").stdout


def test_what_was_changed_from_cohort_to_cohort_and_is_to_come(season: Path) -> None:
    first, second, third = said(season, "show", "agent", "eve")["cohorts"]
    assert (first["changed"], first["settings"]["temperature"]) == ({}, None)
    changed = second["changed"]
    assert changed.pop("temperature") == {"was": None, "is": 0.5}
    assert changed.pop("reasoning") == {"was": None, "is": "low"}
    assert changed.pop("prompt") == {"was": "bet", "is": "./mine.md"}
    assert changed.pop("prices") == {"was": "shown", "is": "hidden"}, "it has no place for them"
    assert set(changed) == {"text of bet", "text of ./mine.md", "timeout"}
    assert (third["cohort"], set(third["changed"])) == ("next", {"text of ./mine.md"})
    told = run(season, "show", "agent", "eve").stdout
    assert "changed: temperature: 0.5, was not set" in told
    assert "changed: text of ./mine.md: edited" in told
    assert "changed: text of bet: no longer in use" in told


def test_who_is_no_longer_in_the_config_is_listed_apart_and_a_record_needs_none(
    season: Path, tmp_path: Path
) -> None:
    shutil.copy(season / "arena.db", tmp_path)
    simulated_config(tmp_path, "{kind: market}", "{kind: random, name: sue}")
    found = said(tmp_path, "show", "agents")
    assert [agent["name"] for agent in found["agents"]] == ["market", "sue"]
    (gone,) = found["gone"]
    assert (gone["name"], gone["model"], gone["record"]["turns"]) == ("eve", "openai/plays", 3)
    assert "No longer in the config" in run(tmp_path, "show", "agents").stdout
    assert [stay["cohort"] for stay in said(tmp_path, "show", "agent", "eve")["cohorts"]] == [1, 2]
    (tmp_path / "config.yaml").unlink()
    here = ("--database", "arena.db")
    found = arena_json(tmp_path, "show", "agents", *here)
    assert (found["agents"], len(found["gone"])) == ([], 3)
    assert arena_json(tmp_path, "show", "agent", "eve", *here)["record"]["calls"] == CALLS


def test_looking_leaves_the_record_as_it_is(season: Path) -> None:
    before = {path.name: path.read_bytes() for path in season.iterdir()}
    for words in ((), ("eve",), ("nobody",)):
        run(season, "show", "agents", *words)
        assert {path.name: path.read_bytes() for path in season.iterdir()} == before


def test_how_much_models_think_is_said_before_and_on_the_board(season: Path) -> None:
    words = " ".join(run(season, "check").stdout.split())
    assert (
        "thinking low (eve); provider's default (sue); `reasoning` under `ask` sets one level for all"
        in words
    )
    board = said(season, "board")["thinking"]
    assert [tuple(each.values()) for each in board] == [("eve", "low"), ("sue", "provider's default")]
    assert "Thinking: low (eve); provider's default (sue)." in run(season, "board").stdout
