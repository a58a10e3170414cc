"""Difficulty-adjusted scores, against a regression with a dummy for everything; and their bootstrap."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.scores.rules.forecastbench.adjusted_brier import market_brier, score, scores_by_weighting, two_way
from arena.scores.rules.forecastbench.bootstrap import draws, replicates
from arena.scores.rules.forecastbench.panel import Panel, panel
from tests.arena.scores.rules.forecastbench.tables import a_panel, some_panel


def slowly(table: Panel, times: list[int]) -> list[float]:
    """Solve the whole regression, with every drawn question a question and a column of its own."""
    drawn = [question for question, n in enumerate(times) for _ in range(n)]
    fitted = [
        (i, copy) for copy, j in enumerate(drawn) for i in range(len(table.forecasters)) if table.fits[i, j]
    ]
    design = np.zeros((len(fitted), len(table.forecasters) + len(drawn)))
    for place, (i, copy) in enumerate(fitted):
        design[place, i] = design[place, len(table.forecasters) + copy] = 1
    seen = np.array([table.brier[i, drawn[copy]] for i, copy in fitted])
    found = np.linalg.lstsq(design, seen, rcond=None)[0]
    hard = found[len(table.forecasters) :]
    half = np.mean([(0.5 - table.outcome[j]) ** 2 - hard[copy] for copy, j in enumerate(drawn)])
    means = []
    for i in range(len(table.forecasters)):
        apart = [
            table.brier[i, j] - hard[copy] for copy, j in enumerate(drawn) if not np.isnan(table.brier[i, j])
        ]
        means.append(float(np.mean(apart)) + 0.25 - float(half) if apart else np.nan)
    return means


@given(
    seed=st.integers(0, 10**6), missing=st.sampled_from([0.0, 0.2, 0.6]), outside=st.sampled_from([0, 0.4])
)
def test_scores_are_those_of_the_regression(seed: int, missing: float, outside: float) -> None:
    table = some_panel(seed, forecasters=5, questions=12, missing=missing, outside=outside)
    assert score(two_way(table)) == pytest.approx(slowly(table, [1] * 12), abs=1e-10, nan_ok=True)


@given(seed=st.integers(0, 10**6), missing=st.sampled_from([0.0, 0.3]))
def test_a_replicate_is_the_board_with_questions_written_out_as_often_as_drawn(
    seed: int, missing: float
) -> None:
    table = some_panel(seed, forecasters=4, questions=10, missing=missing, outside=0.3)
    weights = next(draws(table, np.random.default_rng(seed), 3))
    for times, found in zip(weights, scores_by_weighting(two_way(table), weights), strict=True):
        assert found == pytest.approx(slowly(table, times.astype(int).tolist()), abs=1e-10, nan_ok=True)


def test_a_fractional_outcome_shifts_by_what_always_half_scores_there() -> None:
    table = a_panel({"half": [0.5, 0.5], "m": [0.2, 0.9], "n": [0.4, 0.6]}, [0.3, 1.0])
    assert score(two_way(table))[0] == pytest.approx(0.25, abs=1e-12)
    assert score(two_way(table)) == pytest.approx(slowly(table, [1, 1]), abs=1e-12)


def test_what_no_forecaster_of_the_sample_answered_has_no_difficulty() -> None:
    table = panel(["a", "a", "b"], ["x", "y", "y"], [0.5] * 3, [1, 0, 0], fits=[False, True, True])
    with pytest.raises(ValueError, match="'x': nobody in the difficulty sample"):
        two_way(table)


def test_two_groups_without_a_common_question_cannot_be_compared() -> None:
    table = a_panel({"a": [0.1, None], "b": [None, 0.2]}, [1, 0])
    with pytest.raises(ValueError, match="falls apart"):
        two_way(table)


def test_a_chain_of_questions_holds_the_sample_together() -> None:
    said = {f"f{i}": [0.1 * i if j in (i, i + 1) else None for j in range(9)] for i in range(8)}
    table = a_panel(said, [1.0, 0.0] * 4 + [1.0])
    assert score(two_way(table)) == pytest.approx(slowly(table, [1] * 9), abs=1e-9)


def test_a_replicate_that_falls_apart_says_nothing() -> None:
    table = a_panel({"a": [0.1, 0.3, None], "b": [None, 0.2, 0.4]}, [1, 0, 1])
    broken, whole = scores_by_weighting(two_way(table), np.array([[2.0, 0.0, 1.0], [1.0, 2.0, 0.0]]))
    assert np.isnan(broken).all()
    assert whole == pytest.approx(slowly(table, [1, 2, 0]))


def test_a_crowd_must_have_answered_everything() -> None:
    table = a_panel({"crowd": [0.8, None], "m": [0.9, 0.5]}, [1, 0])
    with pytest.raises(ValueError, match="'q001': 'crowd', the crowd, didn't answer it"):
        market_brier(table, "crowd")
    with pytest.raises(ValueError, match="no forecaster is called 'nobody'"):
        market_brier(table, "nobody")


def test_draws_keep_the_size_of_every_stratum_or_move_clusters_as_one_within_families() -> None:
    """A series runs through rounds, which are strata, but has one source, which is its family."""
    places = range(24)
    table = a_panel(
        {"a": [0.5] * 24},
        [1.0] * 24,
        stratum=[f"round {i % 2}" for i in places],
        cluster=[f"series {i // 4}" for i in places],
        family=[f"source {i // 8}" for i in places],
    )
    for times in np.vstack(list(draws(table, np.random.default_rng(1), 40, by="cluster"))):
        assert [times[table.family == source].sum() for source in range(3)] == [8, 8, 8]
        assert (times.reshape(-1, 4) == times[::4, None]).all()
    for times in np.vstack(list(draws(table, np.random.default_rng(1), 40))):
        assert [times[table.stratum == one].sum() for one in range(2)] == [12, 12]


def test_twins_are_equal_in_every_replicate() -> None:
    said = np.random.default_rng(3).random(50).round(2).tolist()
    table = a_panel({"x": said, "twin": said, "other": [0.5] * 50}, [1.0, 0.0] * 25)
    part = (table, two_way(table))
    drawn = replicates(part, part, np.random.default_rng(1), 200)
    assert (
        drawn.overall[:, table.forecasters.index("x")] == drawn.overall[:, table.forecasters.index("twin")]
    ).all()
