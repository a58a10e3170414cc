"""`arena study replay` and `arena check`: what they say, above all where something is wrong."""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.bundles import a_bundle, ended, page
from tests.program.in_process import answered, invoke

DAILY = [f"v,a,2026-01-{day:02},0.4" for day in range(2, 30)]


@pytest.fixture(autouse=True)
def here(tmp_path: Path) -> Iterator[Path]:
    """Yield a working folder with a bundle `small` in it."""
    before = Path.cwd()
    os.chdir(tmp_path)
    a_bundle(tmp_path / "small", [page(**ended("2026-01-30", 1))], DAILY)
    yield tmp_path
    os.chdir(before)


def test_a_small_bundle_is_played_and_said_in_words() -> None:
    answer = invoke("study", "replay", "small", "--database", "mine.db")
    assert answer.exit_code == 0, answer.output
    assert "4 cohorts" in answer.stdout
    assert "The prices' own Brier, eight days ahead: 0.3600 over 1 markets." in answer.stdout
    assert "replay: not evidence of skill\n" in answer.stdout
    assert "board --database mine.db" in answer.stdout
    assert Path("mine.db").exists()


NEEDY = "markets: {venue: simulator}\nagents:\n  - {kind: constant, name: c}\n  - {kind: kelly, of: c}\n"
REFUSED = [
    (["broken"], "bad_bundle", 'prices.csv:2: found prob_yes "2", expected a number from 0 to 1'),
    (["broken"], "bad_bundle", "→ arena check broken lists them"),
    (["nowhere"], "bad_bundle", "→ name the folder of a recording"),
    (["empty"], "no_price", ""),
    (["small", "--agents", "market,nobody"], "no_agent", "no agent 'nobody' and no such kind"),
    (["small", "--agents", "llm"], "no_agent", "the kind llm needs settings that have no default"),
    (["small", "--agents", "kelly"], "no_agent", "kelly needs the forecasts of c, which doesn't play"),
    (["small", "--agents", "kelly"], "no_agent", "→ add c to --agents"),
    (["small", "--start", "2026-02-20"], "nothing_to_replay", "--start and --end"),
    (["small", "--end", "2026-01-02"], "nothing_to_replay", "--start and --end"),
    (["small", "--start", "2026-01-20", "--end", "2026-01-10"], "nothing_to_replay", "--start and --end"),
]


def test_what_cannot_be_replayed_is_said_and_no_record_is_made(here: Path) -> None:
    a_bundle(here / "broken", prices=["v,a,2026-01-03,2"])
    a_bundle(here / "empty", prices=[])
    (here / "config.yaml").write_text(NEEDY, "utf-8")
    for words, code, told in REFUSED:
        error = answered("study", "replay", *words, status=1)["error"]
        assert (error["code"], told in f"{error['message']} → {error['mend']}") == (code, True), error
        assert error["mend"]
    assert not list(here.glob("*.db"))


def test_a_record_of_another_season_is_left_alone() -> None:
    assert invoke("study", "replay", "small").exit_code == 0
    before = Path("replay-small.db").read_bytes()
    answer = invoke("study", "replay", "small", "--agents", "market", "--json")
    assert answer.exit_code == 1
    assert json.loads(answer.stdout)["error"]["code"] == "not_empty"
    assert Path("replay-small.db").read_bytes() == before


def test_a_bundle_is_checked_in_words_and_as_json() -> None:
    answer = invoke("check", "small")
    assert answer.exit_code == 0
    assert answer.stdout.startswith(
        "small is valid: 1 markets in 1 events, 28 prices, 0 books, 1 resolutions"
    )
    found = json.loads(invoke("check", "small", "--json").stdout)
    assert (found["ok"], found["wrong"], found["mistakes"]) == (True, 0, [])
    assert (found["first"], found["last"]) == ("2026-01-03T00:00:00+00:00", "2026-01-30T00:00:00+00:00")


def test_a_broken_bundle_is_checked_line_by_line(here: Path) -> None:
    a_bundle(here / "broken", ["{"], ["v,a,2026-01-03,0.5", "v,a,yesterday,0.5"])
    answer = invoke("check", "broken")
    assert answer.exit_code == 1
    assert "2 mistakes in broken. Fix all of them before using it" in answer.stdout
    found = json.loads(invoke("check", "broken", "--json").stdout)
    assert [(x["file"], x["line"]) for x in found["mistakes"]] == [("markets.jsonl", 1), ("prices.csv", 3)]
    assert (found["ok"], found["wrong"], found["content"]) == (False, 2, None)
