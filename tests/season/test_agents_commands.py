"""`arena agents list` and `show`, and what `arena round` says when a model is no longer what it was."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.program.in_process import run, said
from tests.program.running import arena_json
from tests.provider.replies import GOOD, fails, says
from tests.provider.server import FaultyProvider, faulty

CONFIG = """\
markets:
  venue: simulator
  show: 4
  simulator: {{start: 2026-01-04, weeks: 10, markets: 60, events: 20}}
cohorts: {{rounds: 3, count: {count}}}
agents:
{agents}
"""
PRICE = "price: {input: 1, output: 4}"
COST = (1_001 * 1 + 200 * 4) / 1e6
CONTROLS = {"\x1b", "\x9b", "\u202e"}


@pytest.fixture
def server() -> Iterator[FaultyProvider]:
    with faulty() as started:
        started.script("plays", answers("m-1", "fp-1"))
        yield started


def answers(model: str, fingerprint: str) -> Any:
    """A good answer by a model that reports itself so."""
    return says(GOOD, model=model, system_fingerprint=fingerprint)


def eve(server: FaultyProvider, more: str = "") -> str:
    """An agent that asks the faulty provider."""
    return (
        f'{{name: eve, model: openai/plays, base_url: "{server.url}", {PRICE}, released: 2025-10-01{more}}}'
    )


def write(folder: Path, *agents: str, count: int = 2) -> None:
    """A config of these agents."""
    lines = "\n".join(f"  - {agent}" for agent in agents)
    (folder / "config.yaml").write_text(CONFIG.format(count=count, agents=lines), "utf-8")


def agents(folder: Path) -> dict[str, Any]:
    return {agent["name"]: agent for agent in said(folder, "agents", "list")["agents"]}


def test_before_anything_was_played_the_config_is_listed_and_no_file_is_made(
    tmp_path: Path, server: FaultyProvider
) -> None:
    write(tmp_path, eve(server, ", prices: after"), "{kind: kelly, of: eve}")
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
    shown = said(tmp_path, "agents", "show", "eve")
    assert (shown["record"], [stay["cohort"] for stay in shown["cohorts"]]) == (None, ["next"])
    assert "No agent has played yet" in run(tmp_path, "agents", "list").stdout
    assert "It has not played yet" in run(tmp_path, "agents", "show", "eve").stdout
    assert [path.name for path in tmp_path.iterdir()] == ["config.yaml"]


def test_what_a_round_cost_and_what_answered(tmp_path: Path, server: FaultyProvider) -> None:
    write(tmp_path, eve(server), "{kind: market}")
    assert said(tmp_path, "round")["changes"] == []
    record = agents(tmp_path)["eve"]["record"]
    assert record == {
        "cohorts": [1],
        "turns": 1,
        "malformed": 0,
        "failed": 0,
        "late": 0,
        "cost_usd": pytest.approx(COST),
        "models": ["m-1"],
        "flag": None,
        "changes": [],
    }
    told = said(tmp_path, "agents", "show", "eve")["record"]
    assert told["cost_per_forecast_usd"] == pytest.approx(COST / told["forecasts"])
    assert (told["verdicts"], told["forecasts"], told["calls"]) == ({"played": 1}, 4, 1)
    assert (told["tokens_in"], told["tokens_out"], told["errors"]) == (1_001, 200, {})
    assert sum(told["rungs"].values()) == 1
    ((model, fingerprint, count),) = ((x["model"], x["fingerprint"], x["answers"]) for x in told["reported"])
    assert (model, fingerprint, count) == ("m-1", "fp-1", 1)
    assert "m-1" in run(tmp_path, "agents", "show", "eve").stdout
    market = said(tmp_path, "agents", "show", "market")["record"]
    assert (market["calls"], market["cost_usd"], market["cost_per_forecast_usd"]) == (0, 0, None)


def test_another_model_under_the_same_name_is_told_by_the_round_and_flagged_from_then_on(
    tmp_path: Path, server: FaultyProvider
) -> None:
    write(tmp_path, eve(server), count=1)
    said(tmp_path, "round")
    server.script("plays", answers("m-2\x1b[31m\u202e[red]", "fp-1"))
    told = run(tmp_path, "round").stdout
    assert "Note: eve now reports another model: m-2" in told
    assert "[red], before m-1" in told
    record = agents(tmp_path)["eve"]["record"]
    assert (record["flag"], len(record["models"])) == ("model changed", 2)
    (change,) = record["changes"]
    assert (change["what"], change["before"], change["times"]) == ("model", "m-1", 1)
    for words in (("list",), ("show", "eve")):
        shown = run(tmp_path, "agents", *words).stdout
        assert "[red]" in shown
        assert not CONTROLS & set(told + shown)
    assert "MODEL CHANGED" in run(tmp_path, "agents", "list").stdout
    assert said(tmp_path, "round")["changes"] == []  # it has stayed so
    assert agents(tmp_path)["eve"]["record"]["flag"] == "model changed"


def test_errors_are_counted_by_code(tmp_path: Path, server: FaultyProvider) -> None:
    write(tmp_path, eve(server))
    server.script("plays", fails(401, "no"), fails(403, "no"), answers("m-1", "fp-1"))
    for _ in range(2):
        said(tmp_path, "round", "--at", "2026-01-04", status=2)
    said(tmp_path, "round", "--at", "2026-01-04")
    told = said(tmp_path, "agents", "show", "eve")["record"]
    assert (told["errors"], told["calls"], told["verdicts"]) == ({"auth": 2}, 3, {"played": 1})
    assert "2 auth" in run(tmp_path, "agents", "show", "eve").stdout


def test_what_was_changed_from_cohort_to_cohort_and_is_to_come(
    tmp_path: Path, server: FaultyProvider
) -> None:
    (tmp_path / "mine.md").write_text("{% block user %}Say.{% endblock %}", "utf-8")
    write(tmp_path, eve(server))
    said(tmp_path, "round")
    write(tmp_path, eve(server, ", temperature: 0.5, prompt: ./mine.md"))
    said(tmp_path, "round")
    (tmp_path / "mine.md").write_text("{% block user %}Say more.{% endblock %}", "utf-8")
    first, second, third = said(tmp_path, "agents", "show", "eve")["cohorts"]
    assert (first["changed"], first["settings"]["temperature"]) == ({}, None)
    assert second["changed"]["temperature"] == {"was": None, "is": 0.5}
    assert second["changed"]["prompt"] == {"was": "bet", "is": "./mine.md"}
    assert second["changed"]["prices"] == {"was": "shown", "is": "hidden"}, "it has no place for them"
    assert set(second["changed"]) == {"temperature", "prompt", "prices", "text of bet", "text of ./mine.md"}
    assert (third["cohort"], set(third["changed"])) == ("next", {"text of ./mine.md"})
    told = run(tmp_path, "agents", "show", "eve").stdout
    assert "changed: temperature: 0.5, was not set" in told
    assert "changed: text of ./mine.md: edited" in told
    assert "changed: text of bet: no longer in use" in told


def test_who_is_no_longer_in_the_config_is_listed_apart(tmp_path: Path, server: FaultyProvider) -> None:
    write(tmp_path, eve(server), "{kind: random}")
    said(tmp_path, "round")
    write(tmp_path, "{kind: random}")
    found = said(tmp_path, "agents", "list")
    assert [agent["name"] for agent in found["agents"]] == ["random"]
    (gone,) = found["gone"]
    assert (gone["name"], gone["model"], gone["record"]["turns"]) == ("eve", "openai/plays", 1)
    assert "No longer in the config" in run(tmp_path, "agents", "list").stdout
    assert [stay["cohort"] for stay in said(tmp_path, "agents", "show", "eve")["cohorts"]] == [1]


def test_a_record_can_be_looked_at_without_a_config(tmp_path: Path, server: FaultyProvider) -> None:
    write(tmp_path, eve(server))
    said(tmp_path, "round")
    (tmp_path / "config.yaml").unlink()
    here = ("--database", "arena.db")
    found = arena_json(tmp_path, "agents", "list", *here)
    assert (found["agents"], [agent["name"] for agent in found["gone"]]) == ([], ["eve"])
    assert arena_json(tmp_path, "agents", "show", "eve", *here)["record"]["calls"] == 1


def test_looking_leaves_the_record_as_it_is(tmp_path: Path, server: FaultyProvider) -> None:
    write(tmp_path, eve(server))
    said(tmp_path, "round")
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    for words in (("list",), ("show", "eve"), ("show", "nobody")):
        run(tmp_path, "agents", *words)
        assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_how_much_models_think_is_said_before_and_on_the_board(
    tmp_path: Path, server: FaultyProvider
) -> None:
    write(tmp_path, eve(server, ", reasoning: low"), eve(server).replace("eve", "sue"))
    words = " ".join(run(tmp_path, "check").stdout.split())
    assert "thinking low (eve); provider's default (sue); not alike: `reasoning` under `ask` sets it" in words
    said(tmp_path, "round")
    board = said(tmp_path, "leaderboard")["thinking"]
    assert [tuple(each.values()) for each in board] == [("eve", "low"), ("sue", "provider's default")]
    assert "Thinking: low (eve); provider's default (sue)." in run(tmp_path, "leaderboard").stdout
