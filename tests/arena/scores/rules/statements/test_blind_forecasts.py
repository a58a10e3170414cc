"""Blind against shown: agents whose copying is known, and what can't be said."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.scores.rules import skill
from arena.scores.rules.statements.blind_forecasts import blind_effect

cents = st.integers(0, 100).map(lambda n: n / 100)
rows = st.lists(
    st.tuples(cents, cents, cents, st.sampled_from([0, 1, -1]), st.integers(0, 4)), min_size=1, max_size=30
)


@pytest.mark.parametrize("way", [0.0, 0.3, 1.0, 1.2, -0.2])
def test_the_share_of_the_way_that_answers_went_is_found(way: float) -> None:
    rng = np.random.default_rng(1)
    b = rng.uniform(0.3, 0.7, 200)
    m = rng.uniform(0.3, 0.7, 200)
    found = blind_effect(b, b + way * (m - b), m, rng.random(200) < m)
    assert found.pull == pytest.approx(way)


def test_a_copyist_has_the_skill_of_the_price_and_none_of_its_own() -> None:
    rng = np.random.default_rng(3)
    m = rng.uniform(0.05, 0.95, 5000)
    found = blind_effect(np.full(5000, 0.5), m, m, rng.random(5000) < m)
    assert (found.pull, found.copied, found.final_skill) == pytest.approx((1, 1, 0))
    assert found.blind_skill is not None
    assert found.blind_skill < -0.03
    assert found.blind_price is None
    assert found.final_price == pytest.approx(1)


@given(rows)
def test_the_skills_are_those_of_the_leaderboard(rows: list[Any]) -> None:
    b, f, m, o, market = map(list, zip(*rows, strict=True))
    found = blind_effect(b, f, m, o, market)
    for value, answers in ((found.blind_skill, b), (found.final_skill, f)):
        assert (np.nan if value is None else value) == pytest.approx(
            skill.score(answers, o, m, market), nan_ok=True
        )
    if found.gain is not None:
        assert found.final_skill is not None
        assert found.blind_skill is not None
        assert found.gain == pytest.approx(found.final_skill - found.blind_skill)


@given(rows)
def test_correlations_are_those_of_numpy_with_weights(rows: list[Any]) -> None:
    b, f, m, o, market = map(list, zip(*rows, strict=True))
    found = blind_effect(b, f, m, o, market)
    weights = 1 / np.bincount(market)[market]
    for value, answers in ((found.blind_price, b), (found.final_price, f)):
        if value is not None:
            cov = np.cov(answers, m, aweights=weights)
            assert value == pytest.approx(cov[0, 1] / np.sqrt(cov[0, 0] * cov[1, 1]), abs=1e-6)


@given(rows, st.randoms(use_true_random=False))
def test_the_order_of_rows_changes_no_digit(rows: list[Any], chance: Any) -> None:
    shuffled = chance.sample(rows, len(rows))
    assert blind_effect(*zip(*rows, strict=True)) == blind_effect(*zip(*shuffled, strict=True))


def test_nothing_asked_is_none_throughout() -> None:
    found = blind_effect([], [], [], [])
    assert (found.rows, found.resolved) == (0, 0)
    assert {found.pull, found.copied, found.blind_skill, found.gain, found.blind_price} == {None}


def test_unresolved_rows_describe_the_moves_and_give_no_skill() -> None:
    found = blind_effect([0.2, 0.4], [0.3, 0.4], [0.4, 0.5], [-1, 0.5])
    assert found.pull == pytest.approx(0.4)
    assert (found.resolved, found.blind_skill, found.final_skill, found.gain) == (0, None, None, None)


def test_blind_answers_on_the_price_throughout_leave_no_way_to_go() -> None:
    found = blind_effect([0.4, 0.6], [0.5, 0.5], [0.4, 0.6], [0, 1])
    assert (found.pull, found.copied) == (None, None)


def test_a_market_asked_often_weighs_no_more_than_one_asked_once() -> None:
    often = blind_effect([0.2] * 9 + [0.2], [0.6] * 9 + [0.2], [0.6] * 9 + [0.6], [1] * 10, ["a"] * 9 + ["b"])
    assert often.pull == pytest.approx(0.5)
    assert often.copied == pytest.approx(0.5)
