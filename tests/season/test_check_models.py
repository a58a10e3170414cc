"""`arena check --live` asks every model one tiny question, over HTTP, and keeps nothing of it."""

import os
from pathlib import Path
from typing import Any

import pytest

from arena.cli.check_live import check_live, exit_status_of
from arena.config import load
from tests.program.running import agents_of, arena, arena_json
from tests.provider.server import FaultyProvider

KEY = "c4nary-k3y-9x8y7z"
HEAD = """\
markets: {venue: simulator, simulator: {start: 2026-01-04, weeks: 8, markets: 60, events: 20}}
cohorts: {rounds: 2, count: 1}
"""


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    """Set the key that all agents send, in this process and in those that it starts."""
    monkeypatch.setenv("CANARY_KEY", KEY)


def an_arena(folder: Path, provider: FaultyProvider, *models: str, head: str = HEAD, more: str = "") -> None:
    """Write agents with these models, each called a-MODEL, and one without."""
    where = f'base_url: "{provider.url}", api_key_env: CANARY_KEY, price: {{input: 10, output: 30}}'
    blocks = [f'  - {{name: "a-{name}", model: "openai/{name}", {where}, timeout: 20s}}\n' for name in models]
    text = head + "agents:\n  - kind: market\n" + "".join(blocks) + more.replace("WHERE", where)
    (folder / "config.yaml").write_text(text, "utf-8")


def tried(folder: Path, *agents: str, venues: tuple[str, ...] = (), status: int = 0) -> list[dict[str, Any]]:
    """Return the result of trying the models of these agents, as JSON has it."""
    live = check_live(load(folder / "config.yaml", os.environ), venues, agents, quiet=True)
    assert exit_status_of(live) == status
    return list(live["models"])


def test_a_model_is_reached_and_what_it_says_of_itself_is_shown(
    tmp_path: Path, provider: FaultyProvider
) -> None:
    an_arena(tmp_path, provider, "plays")
    (found,) = tried(tmp_path, "a-plays")
    assert (found["ok"], found["agents"], found["error"]) == (True, ["a-plays"], None)
    assert (found["model"], found["served_as"]) == ("openai/plays", "served-1")
    assert found["cost_usd"] == pytest.approx((1_001 * 10 + 200 * 30) / 1e6)
    assert found["remark"] is None
    assert provider.requests == {"plays": 1}
    assert provider.last["max_tokens"] == 1_000
    assert list(tmp_path.glob("*.db*")) == [], "nothing is kept"


def test_each_model_is_asked_once_however_many_agents_it_has(
    tmp_path: Path, provider: FaultyProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    more = '  - {name: hot, model: "openai/plays", temperature: 1.5, WHERE}\n'
    more += '  - {name: elsewhere, model: "openai/plays", api_key_env: OTHER_KEY, base_url: "URL"}\n'
    an_arena(tmp_path, provider, "plays", "good", more=more.replace("URL", provider.url))
    monkeypatch.setenv("OTHER_KEY", "another-key-123")
    found = tried(tmp_path, "a-plays", "hot", "a-good", "elsewhere")
    assert [each["agents"] for each in found] == [["a-plays", "hot"], ["a-good"], ["elsewhere"]]
    assert provider.requests == {"plays": 2, "good": 1}


def test_what_it_may_cost_is_said_before_and_holds(tmp_path: Path, provider: FaultyProvider) -> None:
    an_arena(tmp_path, provider, "plays", "401")
    done = arena(tmp_path, "check", "--live", "--model", "a-plays", "--model", "a-401")
    before, _, after = done.stdout.partition("One tiny question to each model")
    said = next(line for line in before.splitlines() if line.startswith("Asking"))
    most = float(said.partition("$")[2].split()[0])
    assert "each of 2 models" in said
    assert 0.016010 < most < 0.2
    assert "0.016010" in after


UNREACHED = {
    "401": "auth",
    "429": "rate_limit",
    "503": "overloaded",
    "404": "refused",
    "drop": "other",
    "html": "other",
}


def test_those_that_cannot_be_reached_are_named_with_their_reason_and_no_key(
    tmp_path: Path, provider: FaultyProvider
) -> None:
    an_arena(tmp_path, provider, *UNREACHED)
    found = tried(tmp_path, status=1)
    assert {each["model"].partition("/")[2]: each["error"]["code"] for each in found} == UNREACHED
    assert all(all(each["error"].values()) and not each["ok"] for each in found)
    assert provider.requests == dict.fromkeys(UNREACHED, 1), "each is tried once"
    assert KEY not in str(found)


def test_what_went_wrong_is_told_in_words_and_what_is_odd_too(
    tmp_path: Path, provider: FaultyProvider
) -> None:
    an_arena(tmp_path, provider, "401", "prose")
    told = arena(tmp_path, "check", "--live", "--model", "a-401", "--model", "a-prose")
    assert told.returncode == 2
    assert "litellm" not in told.stdout
    assert "→ check CANARY_KEY, and whether that key may use this model" in told.stdout
    assert "openai/prose: it did not answer in the requested form" in told.stdout
    assert KEY not in told.stdout + told.stderr
    assert "Traceback" not in told.stderr


def test_some_that_can_and_some_that_cannot_end_in_status_2(tmp_path: Path, provider: FaultyProvider) -> None:
    an_arena(tmp_path, provider, "plays", "403")
    assert [each["ok"] for each in tried(tmp_path, "a-plays", "a-403", status=2)] == [True, False]
    assert [each["ok"] for each in tried(tmp_path, "a-plays", venues=("simulator",))] == [True]
    words = ("--live", "--venue", "simulator", "--model", "a-403")
    found = arena_json(tmp_path, "check", *words, status=2)
    assert ([look["ok"] for look in found["live"]], found["models"][0]["ok"]) == ([True], False)
    assert found["ok"] is False


def test_an_odd_answer_is_told_though_the_model_was_reached(tmp_path: Path, provider: FaultyProvider) -> None:
    an_arena(tmp_path, provider, "cut", "prose")
    cut, prose = tried(tmp_path)
    assert (cut["ok"], "was cut off" in cut["remark"]) == (True, True)
    assert (prose["ok"], "did not answer in the" in prose["remark"]) == (True, True)


def test_a_budget_holds_for_it_too_and_whoever_names_a_venue_asks_no_model(
    tmp_path: Path, provider: FaultyProvider
) -> None:
    an_arena(tmp_path, provider, "plays", head=HEAD + "budget: {call: 0.0001}\n")
    (found,) = tried(tmp_path, "a-plays", status=1)
    assert found["error"]["code"] == "budget"
    assert tried(tmp_path, venues=("simulator",)) == []
    assert provider.requests == {}


NO_SENSE = (
    (("--live", "--model", "nobody"), "unknown_agent", 1),
    (("--live", "--model", "market"), "unknown_agent", 1),  # it plays, but asks no model
    (("--model", "a-plays"), "not_live", 64),
    (("--venue", "polymarket"), "not_live", 64),
    (("--live", "--columns", "agents"), "no_column", 64),
)


def test_what_makes_no_sense_is_refused_before_anyone_is_asked(
    tmp_path: Path, provider: FaultyProvider
) -> None:
    an_arena(tmp_path, provider, "plays")
    for words, code, status in NO_SENSE:
        assert arena_json(tmp_path, "check", *words, status=status)["error"]["code"] == code
    assert provider.requests == {}


def test_the_record_of_a_season_is_left_as_it_is(tmp_path: Path, provider: FaultyProvider) -> None:
    an_arena(tmp_path, provider, "plays")
    arena_json(tmp_path, "run", "--round")
    before = (tmp_path / "arena.db").read_bytes()
    cost = agents_of(arena_json(tmp_path, "board")["leaderboard"])["a-plays"]["cost_usd"]
    tried(tmp_path, "a-plays")
    assert (tmp_path / "arena.db").read_bytes() == before
    assert agents_of(arena_json(tmp_path, "board")["leaderboard"])["a-plays"]["cost_usd"] == cost


def test_the_demos_models_are_asked_by_their_own_provider(tmp_path: Path) -> None:
    text = HEAD + "agents: [{name: sharp, model: demo/sharp, price: {input: 1, output: 4}}]\n"
    (tmp_path / "config.yaml").write_text(text, "utf-8")
    (found,) = tried(tmp_path, "sharp")
    assert (found["ok"], found["served_as"]) == (True, "sharp")
    assert 0 < found["cost_usd"] < 0.001


def test_a_misspelt_agent_is_told_before_the_page_with_the_one_that_is_near(
    tmp_path: Path, provider: FaultyProvider
) -> None:
    an_arena(tmp_path, provider, "good")
    done = arena(tmp_path, "check", "--live", "--model", "a-god")
    assert (done.returncode, done.stdout) == (1, "")
    assert "did you mean a-good? those that do: a-good" in done.stderr
