"""A season for which no time passes waits for a model's server; no command walks past its failed turns."""

from datetime import timedelta
from pathlib import Path

import pytest

from tests.bundles import simulated
from tests.program.rehearsal import clock_at
from tests.program.running import AGREES, arena, arena_json
from tests.provider.replies import BEHAVIOURS, fails
from tests.provider.server import FaultyProvider

CONFIG = """\
markets: {{venue: simulator, show: 4, simulator: {{start: 2026-01-04, weeks: 3, markets: 20, events: 8}}}}
cohorts: {{rounds: 2, count: 1, bankroll: 1000}}
agents:
  - {{name: eve, model: openai/eve, base_url: "{url}"}}
  - {{kind: market}}
"""
FIRST = ("run", "--round", "--at", "2026-01-04T00:00Z")
NEXT = ("run", "--round", "--at", "2026-01-11T00:00Z")


@pytest.fixture
def folder(tmp_path: Path, provider: FaultyProvider) -> Path:
    """Return a folder with a season of a model that answers, if its server is asked to."""
    (tmp_path / "config.yaml").write_text(CONFIG.format(url=provider.url), "utf-8")
    provider.script("eve", fails(400, "never asked"))
    return tmp_path


def statuses(folder: Path, *words: str, status: int) -> list[tuple[str, str, str]]:
    """Return when a round was played, and how the turns of this call ended."""
    told = arena_json(folder, *words, status=status)
    return [
        (one["at"][:10], turn["agent"], turn["status"]) for one in told["rounds"] for turn in one["turns"]
    ]


@pytest.mark.parametrize("fault", ["500", "503", "reset", "401"])
def test_a_round_is_played_again_until_its_model_has_answered(
    fault: str, folder: Path, provider: FaultyProvider
) -> None:
    provider.script("eve", BEHAVIOURS[fault])
    assert ("2026-01-04", "eve", "failed") in statuses(folder, "run", "--round", status=2)
    assert statuses(folder, "run", "--round", status=2) == [("2026-01-04", "eve", "failed")]
    refused = arena(folder, *NEXT)
    assert refused.returncode == 2
    assert "cohort 1, round 1 still waits: no answer for eve since" in refused.stderr
    assert "--leave-failed goes on without these turns" in refused.stderr

    provider.script("eve", BEHAVIOURS["plays"])
    assert statuses(folder, "run", "--round", status=0) == [("2026-01-04", "eve", "played")]
    assert {at for at, _, _ in statuses(folder, "run", "--round", status=0)} == {"2026-01-11"}
    assert arena_json(folder, "admin", "verify").items() >= AGREES.items()


def test_what_tries_again_names_the_same_config_and_record(folder: Path, provider: FaultyProvider) -> None:
    (folder / "config.yaml").rename(folder / "mine.yaml")
    named = ("--config", "mine.yaml", "--database", "mine.db")
    provider.script("eve", BEHAVIOURS["503"])
    options = " ".join(named)
    told = arena(folder, "run", "--round", *named)
    assert told.returncode == 2
    assert f"eve failed; arena run --round --at 2026-01-04T00:00Z {options} tries again\n" in told.stdout
    assert f"the next arena run --round {options} plays it again;\n" in told.stdout

    refused = arena(folder, *NEXT, *named)
    again = f"`arena run --round --at 2026-01-04T00:00Z {options}` tries again"
    assert again in refused.stderr
    assert arena_json(folder, *NEXT, *named, status=2)["error"]["mend"].startswith(again)


@pytest.mark.parametrize("words", [("run", "--round", "--leave-failed"), (*NEXT, "--leave-failed")])
def test_who_says_so_goes_on_without_the_model(
    words: tuple[str, ...], folder: Path, provider: FaultyProvider
) -> None:
    provider.script("eve", fails(503))
    arena(folder, "run", "--round")
    provider.script("eve", BEHAVIOURS["plays"])
    assert {at for at, _, _ in statuses(folder, *words, status=0)} == {"2026-01-11"}
    assert arena_json(folder, "admin", "verify").items() >= AGREES.items()


def test_a_round_says_how_the_next_one_comes(folder: Path, provider: FaultyProvider) -> None:
    provider.script("eve", fails(503))
    told = arena(folder, "run", "--round").stdout
    assert "this round waits for eve: the next arena run --round plays it again" in told


def test_a_key_refused_after_good_turns_asks_for_no_other_settings(
    folder: Path, provider: FaultyProvider
) -> None:
    provider.script("eve", BEHAVIOURS["plays"])
    arena(folder, "run", "--round")
    provider.script("eve", BEHAVIOURS["401"])
    told = arena(folder, "run", "--round")
    assert told.returncode == 2
    assert "this round waits for eve: the next arena run --round plays it again" in told.stdout
    assert "cohort end" not in told.stdout


def test_in_a_rehearsal_what_failed_is_tried_again_by_the_next_run(
    folder: Path, provider: FaultyProvider
) -> None:
    """No pretended time passes between two runs, so nobody could wait for a pause to end."""
    clock_at(folder)
    words = ("run", "--once", "--clock", "clock", "--database", "rehearsal.db")
    provider.script("eve", fails(503))
    failed = arena(folder, *words)
    assert failed.returncode == 2
    assert "no answer for eve since" in failed.stdout

    provider.script("eve", BEHAVIOURS["plays"])
    again = arena(folder, *words)
    assert (again.returncode, again.stderr) == (0, "")
    assert "cohort 1, 2026-01-04 00:00: round 1: 1 turn" in again.stdout


def test_a_season_that_stops_for_a_key_names_what_tells_the_cause(
    folder: Path, provider: FaultyProvider
) -> None:
    clock_at(folder)
    words = ("--clock", "clock", "--database", "rehearsal.db")
    provider.script("eve", BEHAVIOURS["401"])
    stopped = arena(folder, "run", "--once", *words)
    assert stopped.returncode == 2
    assert "the season stopped at 2026-01-04T00:00Z: no answer for eve since" in stopped.stdout
    assert stopped.stdout.endswith(f"arena status {' '.join(words)}\n")


@pytest.mark.parametrize(
    "command", [("study", "replay", "spring"), ("demo", "--headless"), ("run", "--quiet")]
)
def test_a_season_stops_with_status_2_where_a_key_is_wrong_and_goes_on_once_it_is_right(
    command: tuple[str, ...], folder: Path, provider: FaultyProvider
) -> None:
    simulated(folder / "spring", weeks=4, markets=20)
    provider.script("eve", BEHAVIOURS["401"])
    words = (*command, "--database", "season.db", "--config", "config.yaml")
    stopped = arena(folder, *words)
    assert stopped.returncode == 2, stopped.stderr
    assert "the season stopped at 2026-" in stopped.stdout + stopped.stderr
    assert "no answer for eve since" in stopped.stdout + stopped.stderr

    provider.script("eve", BEHAVIOURS["plays"])
    resumed = ("--resume",) if command[0] == "demo" else ()
    again = arena(folder, *words, *resumed)
    assert again.returncode == 0, again.stderr
    exported = arena_json(folder, "board", "--database", "season.db")["leaderboard"]
    assert {row["agent"]: row["failed"] for row in exported} == {"eve": 0, "market": 0}


@pytest.mark.parametrize("command", [("study", "replay", "spring"), ("demo", "--headless")])
def test_a_season_waits_for_a_model_and_says_for_whom(
    command: tuple[str, ...], folder: Path, provider: FaultyProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    simulated(folder / "spring", weeks=4, markets=20)
    provider.script("eve", *[fails(503)] * 4, BEHAVIOURS["plays"])
    monkeypatch.setattr("arena.cohorts.schedule.FIRST_PAUSE", timedelta(milliseconds=1))
    done = arena(folder, *command, "--database", "season.db", "--config", "config.yaml")
    assert done.returncode == 0, done.stderr
    assert "no answer for eve since" in done.stderr
    assert "Ctrl-C keeps what was played" in done.stderr
    board = arena_json(folder, "board", "--database", "season.db")["leaderboard"]
    assert {row["failed"] for row in board} == {0}


@pytest.mark.parametrize("command", [("study", "replay", "spring"), ("demo", "--headless")])
def test_a_model_that_stays_away_stops_the_season_after_12_tries(
    command: tuple[str, ...], folder: Path, provider: FaultyProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    simulated(folder / "spring", weeks=4, markets=20)
    provider.script("eve", fails(503))
    monkeypatch.setattr("arena.cohorts.schedule.FIRST_PAUSE", timedelta(microseconds=1))
    words = (*command, "--database", "season.db", "--config", "config.yaml")
    done = arena(folder, *words)
    assert done.returncode == 2
    assert done.stderr.count("next try in") == 11
    assert "--leave-failed goes on without these turns" in done.stderr
    resumed = ("--resume",) if command[0] == "demo" else ()
    assert arena(folder, *words, *resumed, "--leave-failed").returncode == 0
