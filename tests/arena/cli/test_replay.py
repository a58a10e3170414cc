"""`arena replay` and `arena markets check`: what they say, above all where something is wrong."""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.bundles import a_bundle, ended, page
from tests.program.in_process import invoke

DAILY = [f"v,a,2026-01-{day:02},0.4" for day in range(2, 30)]


@pytest.fixture(autouse=True)
def here(tmp_path: Path) -> Iterator[Path]:
    """A working folder with a bundle `small` in it."""
    before = Path.cwd()
    os.chdir(tmp_path)
    a_bundle(tmp_path / "small", [page(**ended("2026-01-30", 1))], DAILY)
    yield tmp_path
    os.chdir(before)


def error(*words: str) -> dict[str, str]:
    """What `--json` says of a replay that can't be; no record must be made."""
    answer = invoke("replay", *words, "--json")
    assert answer.exit_code == 1, answer.output
    assert not list(Path().glob("*.db"))
    found: dict[str, str] = json.loads(answer.stdout)["error"]
    assert found["mend"]
    return found


def test_a_small_bundle_is_played_and_said_in_words() -> None:
    answer = invoke("replay", "small", "--database", "mine.db")
    assert answer.exit_code == 0, answer.output
    assert "4 cohorts" in answer.stdout
    assert "The prices' own Brier, eight days ahead: 0.3600 over 1 markets." in answer.stdout
    assert "replay: not evidence of skill\n" in answer.stdout
    assert "leaderboard --database mine.db" in answer.stdout
    assert Path("mine.db").exists()


def test_a_bundle_with_mistakes(here: Path) -> None:
    a_bundle(here / "broken", prices=["v,a,2026-01-03,2"])
    found = error("broken")
    assert found["code"] == "bad_bundle"
    assert 'prices.csv:2: found prob_yes "2", expected a number from 0 to 1' in found["message"]
    assert found["mend"] == "arena markets check broken lists them"
    assert error("nowhere")["code"] == "bad_bundle"


def test_a_bundle_without_a_price(here: Path) -> None:
    a_bundle(here / "empty", prices=[])
    assert error("empty")["code"] == "no_price"


@pytest.mark.parametrize(
    ("agents", "words"),
    [
        ("market,nobody", "there is no agent 'nobody' and no such kind"),
        ("llm", "the kind llm needs settings that have no default"),
        ("kelly", "the kind kelly needs settings that have no default"),
    ],
)
def test_agents_that_cant_play(agents: str, words: str) -> None:
    found = error("small", "--agents", agents)
    assert found["code"] == "no_agent"
    assert words in found["message"]


def test_an_agent_made_from_another_one_needs_it(here: Path) -> None:
    text = "markets: {venue: simulator}\nagents:\n  - {kind: constant, name: c}\n  - {kind: kelly, of: c}\n"
    (here / "config.yaml").write_text(text, "utf-8")
    found = error("small", "--agents", "kelly")
    assert found["message"] == "kelly needs the forecasts of c, which doesn't play"
    assert found["mend"] == "add c to --agents"


@pytest.mark.parametrize(
    "days",
    [("--start", "2026-02-20"), ("--end", "2026-01-02"), ("--start", "2026-01-20", "--end", "2026-01-10")],
)
def test_days_in_which_no_cohort_starts(days: tuple[str, ...]) -> None:
    found = error("small", *days)
    assert found["code"] == "nothing_to_replay"
    assert "--start and --end" in found["mend"]


def test_a_record_of_another_season_is_left_alone() -> None:
    assert invoke("replay", "small").exit_code == 0
    before = Path("replay-small.db").read_bytes()
    answer = invoke("replay", "small", "--agents", "market", "--json")
    assert answer.exit_code == 1
    assert json.loads(answer.stdout)["error"]["code"] == "not_empty"
    assert Path("replay-small.db").read_bytes() == before


def test_a_bundle_is_checked_in_words_and_as_json() -> None:
    answer = invoke("markets", "check", "small")
    assert answer.exit_code == 0
    assert answer.stdout.startswith(
        "small is valid: 1 markets in 1 events, 28 prices, 0 books, 1 resolutions"
    )
    found = json.loads(invoke("markets", "check", "small", "--json").stdout)
    assert (found["ok"], found["wrong"], found["mistakes"]) == (True, 0, [])
    assert (found["first"], found["last"]) == ("2026-01-03T00:00:00+00:00", "2026-01-30T00:00:00+00:00")


def test_a_broken_bundle_is_checked_line_by_line(here: Path) -> None:
    a_bundle(here / "broken", ["{"], ["v,a,2026-01-03,0.5", "v,a,yesterday,0.5"])
    answer = invoke("markets", "check", "broken")
    assert answer.exit_code == 1
    assert "2 mistakes in broken. Fix all of them before using it" in answer.stdout
    found = json.loads(invoke("markets", "check", "broken", "--json").stdout)
    assert [(x["file"], x["line"]) for x in found["mistakes"]] == [("markets.jsonl", 1), ("prices.csv", 3)]
    assert (found["ok"], found["wrong"], found["content"]) == (False, 2, None)
