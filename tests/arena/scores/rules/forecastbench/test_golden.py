"""The golden board: what the benchmark's own functions say of 17,597 forecasts on 1,759 real questions."""

from dataclasses import astuple
from pathlib import Path

import pytest

from arena.scores.rules.forecastbench.leaderboard import (
    Difficulty,
    ForecastBenchScores,
    forecastbench_leaderboard,
)
from arena.scores.rules.forecastbench.panel import Panel
from tests.arena.scores.rules.forecastbench.tables import golden, golden_scores

PARTS = ("dataset", "market", "overall")
KEYS: dict[Difficulty, str] = {"two_way": "two_way_fixed_effects", "market_brier": "market_brier"}


@pytest.fixture(scope="module")
def tables(shared_data: Path) -> tuple[Panel, Panel]:
    return golden(shared_data)


@pytest.fixture(scope="module", params=KEYS)
def mode(request: pytest.FixtureRequest) -> Difficulty:
    found: Difficulty = request.param
    return found


@pytest.fixture(scope="module")
def rows(tables: tuple[Panel, Panel], mode: Difficulty) -> list[ForecastBenchScores]:
    return forecastbench_leaderboard(*tables, difficulty=mode, references=["Naive Forecaster"])


@pytest.mark.parametrize("part", PARTS)
def test_every_score_is_the_golden_one(
    rows: list[ForecastBenchScores], mode: Difficulty, part: str, shared_data: Path
) -> None:
    """The golden fixed effects stop short of the least squares by 6e-7, so its index is off by as much."""
    wanted = golden_scores(shared_data)["scores"][KEYS[mode]]
    assert {row.forecaster for row in rows} == set(wanted)
    for row in rows:
        is_right = {key: pytest.approx(value, abs=1e-6) for key, value in wanted[row.forecaster].items()}
        assert getattr(row.n, part) == is_right[f"n_{part}"]
        assert getattr(row.score, part) == is_right[f"two_way_fixed_effects_{part}"]
        assert getattr(row.peer, part) == is_right[f"peer_score_{part}"]
        assert getattr(row.skill, part) == is_right[f"brier_skill_score_{part}"]
        share = wanted[row.forecaster][f"brier_index_{part}"] / 100
        assert getattr(row.index, part) / 100 == pytest.approx(share, abs=1e-6)


def test_intervals_end_where_the_golden_ones_of_1999_replicates_do(
    tables: tuple[Panel, Panel], shared_data: Path
) -> None:
    wanted = golden_scores(shared_data)["ci_overall"]
    for row in forecastbench_leaderboard(*tables):
        ends = wanted[row.forecaster]["proto_1999"]
        assert (row.low.overall, row.high.overall) == pytest.approx(tuple(ends), abs=0.3)


def test_intervals_of_200_replicates_scatter_around_the_golden_ones(
    tables: tuple[Panel, Panel], shared_data: Path
) -> None:
    """Ends of 200 replicates are off by chance, the golden ones too: ten boards show by how much."""
    wanted = golden_scores(shared_data)["ci_overall"]
    boards = [
        {row.forecaster: row for row in forecastbench_leaderboard(*tables, count=200, seed=seed)}
        for seed in range(10)
    ]
    for name, ends in wanted.items():
        for place, part in enumerate(("low", "high")):
            seen = [getattr(rows[name], part).overall for rows in boards]
            assert min(seen) - 0.3 <= ends["fb_200"][place] <= max(seen) + 0.3


def test_the_golden_board_leads_with_the_crowd(rows: list[ForecastBenchScores]) -> None:
    assert [row.forecaster for row in rows][:3] == ["Imputed Forecaster", "model-1", "external-1"]
    assert [row.forecaster for row in rows][-1] == "Always 1"
    assert sum(row.first or 0 for row in rows) == pytest.approx(1)
    shares = {row.forecaster: row.p["Naive Forecaster"] for row in rows}
    assert shares["Naive Forecaster"] is None
    assert shares["model-1"] == 1
    assert shares["Always 0.5"] == 0
    assert 0.3 < (shares["model-4"] or 0) < 0.7  # as good as the naive one


def test_the_order_of_rows_changes_nothing(tables: tuple[Panel, Panel], shared_data: Path) -> None:
    shuffled = forecastbench_leaderboard(*golden(shared_data, order=7), count=50, seed=3)
    assert [astuple(row) for row in shuffled] == [
        astuple(row) for row in forecastbench_leaderboard(*tables, count=50, seed=3)
    ]
