"""How much of a claimed edge is real: agents of whom it is known, and each event judged by the others."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LinearRegression

from arena.scores.rules.money.edge import edge_elsewhere, proven_edge

cents = st.integers(0, 100).map(lambda n: n / 100)
rows = st.lists(
    st.tuples(cents, cents, st.sampled_from([0, 1, -1]), st.integers(0, 7)).map(
        lambda row: (*row[:3], "abcd"[row[3] % 4], row[3])
    ),
    min_size=1,
    max_size=30,
)


def test_the_error_covers_the_truth_as_often_as_it_should(thorough: bool) -> None:
    rng = np.random.default_rng(3)
    seasons = 1000 if thorough else 150
    inside = 0
    for _ in range(seasons):
        truth = np.repeat(rng.uniform(0.3, 0.7, 60), 3)
        mid = np.clip(truth + rng.normal(0, 0.1, 180), 0.05, 0.95)
        came = np.repeat(rng.random(60), 3) < truth
        found = proven_edge(truth, mid, came, np.repeat(np.arange(60), 3))
        inside += abs(found.share - 1) <= 1.96 * found.error
    assert abs(inside / seasons - 0.95) <= 3 * math.sqrt(0.95 * 0.05 / seasons) + 0.02


@given(rows)
def test_it_is_the_weighted_least_squares_through_the_origin(rows: list[Any]) -> None:
    b, m, o, event, market = (np.array(column) for column in zip(*rows, strict=True))
    found = proven_edge(b, m, o, event, market)
    there = o >= 0
    if not np.any(b[there] != m[there]):
        assert math.isnan(found.share)
        return
    weights = 1 / np.array([np.sum(there & (market == one)) for one in market[there]])
    line = LinearRegression(fit_intercept=False)
    line.fit((b - m)[there].reshape(-1, 1), (o - m)[there], sample_weight=weights)
    assert found.share == pytest.approx(line.coef_[0], abs=1e-9)


@given(rows)
def test_each_event_is_judged_by_all_others(rows: list[Any]) -> None:
    for event, share in edge_elsewhere(*map(list, zip(*rows, strict=True))).items():
        others = [row for row in rows if row[3] != event]
        found = proven_edge(*map(list, zip(*others, strict=True))).share if others else math.nan
        assert share == (0 if math.isnan(found) else pytest.approx(found, abs=1e-6))


@given(rows, st.randoms(use_true_random=False))
def test_the_order_of_rows_changes_no_digit(rows: list[Any], chance: Any) -> None:
    shuffled = chance.sample(rows, len(rows))
    one, other = (edge_elsewhere(*map(list, zip(*some, strict=True))) for some in (rows, shuffled))
    assert one == other


def test_nothing_claimed_or_nothing_resolved_proves_nothing() -> None:
    for column in ([], [0.5]):
        found = proven_edge(column, column, [-1] * len(column), ["a"] * len(column))
        assert math.isnan(found.share)
        assert found.events == 0
    assert edge_elsewhere([], [], [], []) == {}
    assert edge_elsewhere([0.9], [0.5], [1], ["a"]) == {"a": 0.0}
