"""A season as logs of Inspect, and its turns played again: both score as the leaderboard does."""

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from agents.model import Call, Prompt
from arena.errors import ArenaError
from arena.exports.inspect_logs import LoggedForecast, forecast_scores
from arena.exports.inspect_turns import decide_again, read_answer, read_answered_turns, score_again
from arena.exports.manifest import NAME, read_manifest
from arena.exports.restore import restore
from tests.program.in_process import answered
from tests.program.running import agents_of, arena_json, simulated_config
from tests.rows import state_of

LINE_UP = (
    "{kind: market}",
    "{name: sharp/a, model: demo/sharp, price: {input: 1, output: 4}, samples: 3, prices: after}",
    "{name: clumsy, model: demo/clumsy, batch: 3}",
    "{name: later, model: demo/hasty, released: 2026-01-12}",
    "{name: blind, model: demo/blind, prices: hidden}",
)
NAMES = ("market", "sharp/a", "clumsy", "blind")
MODELS = ("sharp/a", "clumsy", "later", "blind")
Asked = tuple[tuple[str, str], ...]


@pytest.fixture(scope="module")
def season(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a season, and of its export."""
    folder = tmp_path_factory.mktemp("inspect")
    simulated_config(folder, *LINE_UP, show=8, cohorts="rounds: 2, count: 2")
    arena_json(folder, "demo", "--headless", "--config", "config.yaml", "--database", "demo.db")
    answered("share", "export", folder / "logs", "--database", folder / "demo.db", "--format", "inspect")
    return folder


def logs_of(folder: Path) -> list[Any]:
    """Return the logs of an export, by name."""
    return [json.loads(path.read_text("utf-8")) for path in sorted(folder.glob("*_cohort-*.json"))]


def board_of(season: Path, *words: str) -> Mapping[str, Mapping[str, Any]]:
    """Return the leaderboard by agent."""
    board: list[Mapping[str, Any]] = answered("board", "--database", season / "demo.db", *words)[
        "leaderboard"
    ]
    return agents_of(board)


def test_a_log_has_the_scores_of_an_agent_in_a_cohort(season: Path) -> None:
    logs = logs_of(season / "logs")
    boards = {cohort: board_of(season, "--cohort", str(cohort)) for cohort in (1, 2)}
    names = {(log["eval"]["metadata"]["forecaster"], log["eval"]["task"]) for log in logs}
    assert names == {
        ("later", "cohort-2"),  # what it decided in cohort 1 was before its release, and counts nowhere
        *((name, f"cohort-{cohort}") for name in NAMES for cohort in (1, 2)),
    }

    for log in logs:
        agent = log["eval"]["metadata"]["forecaster"]
        row = boards[log["samples"][0]["metadata"]["cohort"]][agent]
        metrics = {
            score["name"]: score["metrics"]["by_market"]["value"] for score in log["results"]["scores"]
        }
        assert metrics["brier"] == row["brier_stated"]
        assert metrics["skill"] == pytest.approx(row["skill"], abs=1e-12)


def test_logs_are_scored_as_the_season(season: Path) -> None:
    files = sorted((season / "logs").glob("*_cohort-*.json"))
    board = board_of(season)
    rows = answered("score", *files)["rows"]
    assert {row["forecaster"] for row in rows} == set(board)
    for row in rows:
        assert f"{row['brier']:.6f}" == f"{board[row['forecaster']]['brier_stated']:.6f}"

    alone = answered("score", files[0])
    assert {"brier by_market": "the same"}.items() <= {
        each["name"]: each["cause"] for each in alone["published"]
    }.items()


def test_a_turn_is_a_sample_with_what_was_asked_and_answered(season: Path) -> None:
    [log] = [log for log in logs_of(season / "logs") if log["eval"]["task_id"] == "cohort-1-sharp/a"]
    sample = log["samples"][0]
    roles = [message["role"] for message in sample["messages"]]
    assert roles.count("assistant") == 6  # three samples, each blind and then with prices
    assert sample["output"]["completion"] == sample["messages"][-1]["content"]
    assert log["eval"]["model"] == "demo/sharp"
    assert log["stats"]["model_usage"]["demo/sharp"]["total_cost"] > 0


def test_an_export_with_logs_is_a_record_all_the_same(season: Path, tmp_path: Path) -> None:
    manifest = read_manifest((season / "logs" / NAME).read_bytes())
    logs = [name for name in manifest.files if "_cohort-" in name]
    assert len(logs) == len(logs_of(season / "logs"))
    assert "2026-01-04T00-00-00_cohort-1_01-sharp-a.json" in logs

    restore(season / "logs", str(tmp_path / "copy.db"))
    assert state_of(tmp_path / "copy.db") == state_of(season / "demo.db")


def test_without_prompts_logs_have_no_messages(season: Path, tmp_path: Path) -> None:
    place = tmp_path / "part"
    database = season / "demo.db"
    answered("share", "export", place, "--database", database, "--format", "inspect", "--no-prompts")
    for log in logs_of(place):
        for sample in log["samples"]:
            assert (sample["messages"], sample["output"]["choices"]) == ([], [])
            assert sample["scores"]["brier"]["metadata"]["forecasts"]


def stored_replies(folder: Path, agent: str) -> dict[tuple[int, Asked], list[str]]:
    """Return the answers of an agent's model by seed and question."""
    import arena

    replies: dict[tuple[int, Asked], list[str]] = {}
    with arena.open_record(folder / "demo.db") as record:
        calls = record.frame("calls").to_pylist()
        texts = record.frame("call_texts").to_pylist()
    for call, text in zip(calls, texts, strict=True):
        if call["agent"] == agent and text["reply"] is not None:
            messages = json.loads(text["messages"])
            asked = tuple((message["role"], message["content"]) for message in messages)
            replies.setdefault((call["seed"], asked), []).append(text["reply"])
    return replies


@pytest.mark.parametrize("agent", MODELS)
def test_turns_played_again_with_the_stored_answers_score_the_same(season: Path, agent: str) -> None:
    database = str(season / "demo.db")
    replies = stored_replies(season, agent)

    async def ask(prompt: Prompt) -> Call:
        asked = tuple((message.role, message.content) for message in prompt.messages)
        return Call(prompt, replies[prompt.seed, asked].pop(0), finish="stop")

    before: list[LoggedForecast] = []
    again: list[LoggedForecast] = []
    for turn in read_answered_turns(database, agent):
        before += turn.forecasts
        again += score_again(turn, asyncio.run(decide_again(database, turn, ask)))

    assert again == before
    assert forecast_scores(again)["brier"] == board_of(season)[agent]["brier_stated"]
    assert not any(replies.values()) or agent == "later"  # its early turns are not played


def test_another_answer_scores_otherwise_and_silence_as_the_price(season: Path) -> None:
    database = str(season / "demo.db")
    [turn, *_] = read_answered_turns(database, "blind", 2)
    answer = {"forecasts": [{"market": turn.forecasts[0].question, "probability": 0.123456}]}

    one, *rest = score_again(turn, read_answer(database, turn, json.dumps(answer)))
    assert (one.probability, one.stated) == (0.123456, True)
    assert {(each.probability, each.stated) for each in rest} == {(0.5, False)}  # it saw no prices

    [shown, *_] = read_answered_turns(database, "clumsy", 2)
    for each in score_again(shown, read_answer(database, shown, "I can't say.")):
        assert (each.probability, each.stated) == (each.market_probability, False)


@pytest.mark.parametrize(("agent", "code"), [("market", "no_model"), ("nobody", "no_agent")])
def test_only_what_a_model_answered_is_played_again(season: Path, agent: str, code: str) -> None:
    with pytest.raises(ArenaError) as caught:
        read_answered_turns(str(season / "demo.db"), agent)
    assert caught.value.code == code
