"""The three readings of an agent, against every figure that seed 002 prints."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.record.model.columns import anchored_belief, confidence, implied_belief, stated_belief
from markets.millionths import ONE, millionths


def test_appendix_a_confidence_stops_at_one() -> None:
    assert confidence([2_500, 4_000, 10_000], 10_000).tolist() == [1.0, 1.0, 1.0]


@pytest.mark.parametrize(
    ("confidence", "implied", "anchored"),
    [(0.0, [0.0, 1.0], [0.37, 0.37]), (0.5, [0.5, 0.5], [0.685, 0.185]), (1.0, [1.0, 0.0], [1.0, 0.0])],
    ids=["nothing is at stake", "half of the most", "the most"],
)
def test_a_stake_on_yes_and_one_on_no(confidence: float, implied: list[float], anchored: list[float]) -> None:
    assert implied_belief([True, False], confidence).tolist() == implied
    assert anchored_belief([True, False], confidence, 0.37).tolist() == anchored


def test_the_largest_bet_is_the_one_the_rules_allow() -> None:
    assert confidence(500, 10_000, max_bet=millionths("0.1")).tolist() == 0.5
    assert confidence([500, 500], 10_000, max_bet=[100_000, 250_000]).tolist() == [0.5, 0.2]


def test_where_no_bet_is_allowed_a_stake_says_nothing() -> None:
    assert np.isnan(confidence([500, 500], [0, 10_000])).tolist() == [True, False]
    assert np.isnan(confidence(500, 10_000, max_bet=0))


def test_a_small_right_bet_scores_badly_when_implied_and_well_when_anchored() -> None:
    """$500 of YES at 0.40 with $10,000: the seed reads 20%, the anchored reading 52%."""
    c = confidence(500, 10_000)
    assert float(implied_belief(True, c)) == 0.2
    assert float(anchored_belief(True, c, 0.4)) == pytest.approx(0.52, abs=1e-12)


def test_what_was_stated_is_taken_at_its_word() -> None:
    assert stated_belief([0, 123_456, ONE]).tolist() == [0.0, 0.123456, 1.0]


prices = st.integers(1, ONE - 1)


@given(belief=st.integers(0, ONE), price=prices)
def test_a_quarter_kelly_stake_read_back_gives_the_belief(belief: int, price: int) -> None:
    """Kelly's fraction is (q − p)/(1 − p) on YES and (p − q)/p on NO; a quarter of it is staked."""
    q = Fraction(belief, ONE)
    p = Fraction(price, ONE)
    base = 10_000
    yes = q > p
    stake = base * ((q - p) / (1 - p) if yes else (p - q) / p) / 4
    read = anchored_belief(yes, confidence(float(stake), base), float(p))
    assert float(read) == pytest.approx(float(q), abs=1e-12)


@given(yes=st.booleans(), stake=st.integers(0, 10**13), price=prices)
def test_every_reading_is_a_probability(yes: bool, stake: int, price: int) -> None:
    c = confidence(stake, 10_000 * ONE)
    assert 0 <= implied_belief(yes, c) <= 1
    assert 0 <= anchored_belief(yes, c, price / ONE) <= 1


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 10**10), prices), min_size=1))
def test_columns_read_as_single_bets_do(bets: list[tuple[bool, int, int]]) -> None:
    yes, stakes, paid = (list(column) for column in zip(*bets, strict=True))
    c = confidence(stakes, 10**10)
    whole = anchored_belief(yes, c, stated_belief(paid))
    one_by_one = [float(anchored_belief(y, confidence(s, 10**10), stated_belief(p))) for y, s, p in bets]
    assert whole.tolist() == one_by_one
