"""Returns and win rate, against the figures of seed 002."""

import pytest

from arena.scores.rules import returns, win_rate


def test_over_cohorts_the_sums_are_divided() -> None:
    assert returns.score([500, -100], [10_000, 30_000]) == 1.0


def test_appendix_b_return_bands() -> None:
    words = {
        80.0: "Exceptional", 50.1: "Exceptional", 50.0: "Excellent", 20.0: "Excellent", 19.99: "Good",
        5.0: "Good", 4.99: "Neutral", 0.0: "Neutral", -5.0: "Neutral", -5.01: "Poor", -20.0: "Poor",
        -20.01: "Very Poor", -100.0: "Very Poor",
    }  # fmt: skip
    assert {value: returns.band(value) for value in words} == words


def test_section_3_a_bet_wins_if_its_side_is_the_outcome() -> None:
    assert win_rate.score([True, True, False, False, False], [1, 0, 0, 0, 1]) == 0.6


@pytest.mark.parametrize(("won", "stake", "price", "earns"), [(9, 50, 0.95, False), (4, 500, 0.20, True)])
def test_section_3_90_percent_of_tiny_bets_may_lose_money_and_40_percent_may_earn_it(
    won: int, stake: int, price: float, earns: bool
) -> None:
    """Ten bets: those that won cost `stake` each, and those that were lost $500."""
    earned = won * (stake / price - stake) - (10 - won) * 500
    assert win_rate.score([True] * 10, [1] * won + [0] * (10 - won)) == won / 10
    assert (returns.score([earned], [10_000]) > 0) is earns


def test_section_3_only_resolved_bets_count() -> None:
    assert win_rate.score([True, False, True, False], [1, -1, -2, 0.5]) == 1.0


@pytest.mark.parametrize(("final", "percent"), [(10_700, 7.0), (10_000, 0.0), (9_500, -5.0), (0, -100.0)])
def test_appendix_a_return_is_what_was_gained_over_what_was_given(final: int, percent: float) -> None:
    assert returns.score([final - 10_000], [10_000]) == percent
