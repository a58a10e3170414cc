"""Brier score, skill and skill ratio, against the figures of seed 002 and a slow transcription."""

import math
from collections import defaultdict
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.scores.rules import brier, skill, skill_ratio


def test_sections_1_1_and_1_4_rain_at_80_percent_and_the_mean_of_all_bets() -> None:
    assert brier.each([0.8, 0.8], [1, 0]) == pytest.approx([0.04, 0.64])
    assert brier.score([0.8, 0.8, 0.2, 0.5], [1, 0, 1, 1]) == pytest.approx((0.04 + 0.64 + 0.64 + 0.25) / 4)


def test_section_1_5_40_percent_better_than_random() -> None:
    assert skill_ratio.ratio(0.15, 0.25) == 0.4
    assert skill_ratio.ratio(0.15) == 0.4
    assert [np.sign(skill_ratio.ratio(score)) for score in (0.2, 0.25, 0.3)] == [1, 0, -1]


def test_appendix_b_brier_bands_are_half_open() -> None:
    words = {
        0.0: "Perfect", 1e-6: "Excellent", 0.0999: "Excellent", 0.10: "Good", 0.1999: "Good", 0.20: "Fair",
        0.2499: "Fair", 0.25: "Poor", 0.3999: "Poor", 0.40: "Very Poor", 1.0: "Very Poor",
    }  # fmt: skip
    assert {value: brier.band(value) for value in words} == words


def test_float_dust_moves_no_score_into_another_band() -> None:
    assert brier.band(0.3 - 0.1) == "Fair"
    assert brier.band(1 - 0.9) == "Good"


def test_open_markets_fractions_and_refunds_are_left_out() -> None:
    assert brier.score([0.5, 1.0, 1.0, 1.0], [1, -1, -2, 0.5]) == 0.25
    assert np.isnan(brier.each([1.0, 0.5], [-1, 1])).tolist() == [True, False]


def test_against_a_market_that_makes_no_error_there_is_a_difference_but_no_quotient() -> None:
    assert skill.score([0.5], [1], reference=[1.0]) == -0.25
    assert math.isnan(skill_ratio.score([0.5], [1], reference=[1.0]))


chances = st.integers(0, 10**6)
rows = st.lists(st.tuples(chances, chances, st.sampled_from([0, 1, -1]), st.integers(0, 4)), max_size=40)


@given(rows)
def test_who_says_what_the_market_says_has_a_skill_of_exactly_0(
    rows: list[tuple[int, int, int, int]],
) -> None:
    price, _, outcome, market = ([row[k] for row in rows] for k in range(4))
    said = np.array(price) / 10**6
    found = skill.score(said, outcome, reference=said.copy(), market=market)
    assert found == 0 or (math.isnan(found) and not any(o >= 0 for o in outcome))


@given(rows)
def test_scores_equal_a_slow_transcription_in_fractions(rows: list[tuple[int, int, int, int]]) -> None:
    own: dict[int, list[Fraction]] = defaultdict(list)
    prices: dict[int, list[Fraction]] = defaultdict(list)
    for said, price, outcome, market in rows:
        if outcome >= 0:
            own[market].append((Fraction(said, 10**6) - outcome) ** 2)
            prices[market].append((Fraction(price, 10**6) - outcome) ** 2)
    forecasts, quotes, outcomes, markets = ([row[k] for row in rows] for k in range(4))
    columns = (np.array(forecasts) / 10**6, outcomes, np.array(quotes) / 10**6, markets)
    found = brier.score(columns[0], outcomes, markets), skill.score(*columns), skill_ratio.score(*columns)
    if not own:
        assert np.isnan(found).all()
        return
    slow, reference = (
        sum(sum(each) / len(each) for each in kept.values()) / len(kept) for kept in (own, prices)
    )
    ratio = float(1 - slow / reference) if reference else math.nan
    expected = [float(slow), float(reference - slow), ratio]
    assert list(found) == pytest.approx(expected, abs=1e-12, rel=1e-9, nan_ok=True)
