"""`arena demo`: a whole season by the command line, the same every time."""

from pathlib import Path
from typing import Any

import pytest

from tests.program.running import AGREES, agents_of, arena, arena_json, demo_config
from tests.records.demo import said_of, small_demo, the_demo, the_small_demo
from tests.season.skill import BEST_AND_WORST, BY_DESIGN, RIGHT, gaps, play, told_pairs_of


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, thorough: bool) -> Path:
    """Return the demo in full with THOROUGH=1, and otherwise in a world of a quarter of its markets."""
    return the_demo(tmp_path_factory) if thorough else the_small_demo(tmp_path_factory)


@pytest.fixture(scope="module")
def season(folder: Path) -> Any:
    """Return the demo's output."""
    return said_of(folder)


@pytest.fixture(scope="module")
def first_time(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """Return the folder of the first decision time in a small world, and what the demo printed there."""
    folder = tmp_path_factory.mktemp("first time")
    done = arena(folder, "demo", "--rounds", "1", "--config", str(small_demo(folder)))
    assert done.returncode == 0, done.stderr
    return folder, done.stdout


def test_it_is_a_whole_season(season: Any, thorough: bool) -> None:
    assert season["cohorts"] >= 3
    assert season["decision_times"] == 20
    assert (season["markets"], season["events"]) == ((600, 220) if thorough else (143, 55))
    assert season["turns"] == season["rounds"] * len(season["leaderboard"])
    assert all(row["turns"] == season["rounds"] for row in season["leaderboard"])
    assert season["settlements"] > (800 if thorough else 200)
    assert season["fills"] > (1_000 if thorough else 400)
    assert season["entries"] > season["fills"]


def test_the_market_has_no_skill_and_skill_is_the_difference_of_the_scores(season: Any) -> None:
    rows = agents_of(season["leaderboard"])
    assert rows["market"]["skill"] == 0
    assert rows["market"]["brier_stated"] == rows["market"]["brier_market"]
    for row in rows.values():
        assert row["skill"] == pytest.approx(row["brier_market"] - row["brier_stated"], abs=1e-12)


def test_who_knows_more_scores_better(season: Any) -> None:
    """In this world; `python -m benchmarks.skill` plays twenty."""
    assert all(gap > 0 for [gap] in gaps([season]).values())


@pytest.mark.parametrize("seed", [1])
def test_the_best_model_is_told_from_the_worst_and_none_the_wrong_way_round(
    seed: int, tmp_path: Path
) -> None:
    """In half a season of its models alone; `python -m benchmarks.demo_verdict` plays 50 whole ones."""
    models = "".join(
        f"  - {{name: {name}, model: demo/{name}, price: {{input: 1, output: 4}}}}\n" for name in BY_DESIGN
    )
    config = demo_config(tmp_path, models)
    told = told_pairs_of(play(seed, tmp_path, "--rounds", "10", "--config", str(config)))
    assert BEST_AND_WORST in told
    assert told.keys() <= RIGHT


def test_models_cost_what_their_tokens_do_and_rules_cost_nothing(season: Any, thorough: bool) -> None:
    rows = agents_of(season["leaderboard"])
    assert rows["oracle"]["cost_usd"] == 0
    assert all(
        rows[name]["cost_usd"] > (0.1 if thorough else 0.04) for name in ("sharp", "hasty", "blind", "clumsy")
    )


def test_the_record_verifies(season: Any, folder: Path) -> None:
    found = arena_json(folder, "admin", "verify", "--database", season["database"])
    assert found.items() >= AGREES.items()


def test_the_leaderboard_command_says_the_same(season: Any, folder: Path) -> None:
    found = arena_json(folder, "board", "--database", season["database"])
    assert found["leaderboard"] == season["leaderboard"]


def test_one_cohort_can_be_looked_at_alone(season: Any, folder: Path) -> None:
    found = arena_json(folder, "board", "--cohort", "2", "--database", season["database"])
    assert all(row["cohorts"] == 1 for row in found["leaderboard"])
    missing = arena(folder, "board", "--cohort", "99", "--database", season["database"])
    assert missing.returncode == 1
    assert "there is no cohort 99" in missing.stderr


def test_playing_it_again_ends_in_the_same_hash_whatever_the_time_zone_and_hash_seed(
    season: Any, first_time: tuple[Path, str], tmp_path: Path, thorough: bool
) -> None:
    """The whole season as it comes with THOROUGH=1, one decision time in a small world otherwise."""
    words = ["demo", "--headless"]
    if not thorough:
        words += ["--rounds", "1", "--config", str(small_demo(tmp_path))]
    elsewhere: dict[str, Any] = {"PYTHONHASHSEED": "1", "TZ": "Pacific/Auckland"}
    found = arena_json(tmp_path, *words, **elsewhere)["state_hash"]
    known = f"State hash {season['state_hash']}" if thorough else first_time[1]
    assert f"State hash {found}" in known


def test_resuming_a_finished_season_changes_nothing(season: Any, folder: Path, thorough: bool) -> None:
    config = () if thorough else ("--config", "config.yaml")
    again = arena_json(folder, "demo", "--headless", "--resume", "--database", season["database"], *config)
    timeless = {"seconds", "database"}
    assert {k: v for k, v in again.items() if k not in timeless} == {
        k: v for k, v in season.items() if k not in timeless
    }


def test_a_record_that_is_named_is_never_thrown_away(season: Any, folder: Path) -> None:
    refused = arena(folder, "demo", "--headless", "--database", season["database"])
    assert refused.returncode == 1
    assert "already holds a season" in refused.stderr
    assert "--resume" in refused.stderr


def test_without_a_terminal_it_prints_the_board_whose_scores_are_first_null_and_never_zero(
    first_time: tuple[Path, str],
) -> None:
    folder, printed = first_time
    assert "oracle-noisy" in printed
    assert "arena dashboard --database" in printed
    for row in arena_json(folder, "board", "--database", ".demo/demo.db")["leaderboard"]:
        assert row["resolved"] == 0
        assert [row[key] for key in ("brier_stated", "brier_market", "skill", "win_rate")] == [None] * 4
        assert row["coverage"] is None
        assert row["pnl"] is not None
