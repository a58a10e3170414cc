"""What docs/evidence.md shows of thousands of seasons, on some: enough to see it if a method were wrong."""

import pytest

from tests.known_worlds.adversaries import ADVERSARIES, false_proofs, power
from tests.known_worlds.gates import gate_shares, gate_worlds
from tests.known_worlds.truth import coverage, different_markets, equal_duels, readings
from tests.known_worlds.worlds import Shape


@pytest.fixture(scope="module")
def some(thorough: bool) -> int:
    """Return seasons of 30 events at 5%: 4 that happen are not yet remarkable at three in a thousand, 6 are.

    With THOROUGH=1 of 60, where 10 are, at one in a thousand.
    """
    return 60 if thorough else 30


@pytest.mark.parametrize("shape", ["equal", "skewed"])
def test_intervals_hold_the_true_gain_where_those_over_rows_do_not(shape: Shape, some: int) -> None:
    found = coverage(shape, markets=10, events=20, seasons=some)
    assert found.share > 0.85
    assert found.beside["i.i.d. rows"] < found.share


@pytest.mark.parametrize(
    ("name", "is_given"),
    [
        ("40 events of 6, uniform prices, noisy", True),
        ("25 events of 6 that end together, uniform, timid", True),
        ("700 long shots, halved", True),
        ("60 long shots, halved", False),
        ("30 coins, 20 at 5 cents, certain", False),
    ],
)
def test_where_an_interval_is_given_it_holds_and_elsewhere_none_is_given(
    name: str, is_given: bool, thorough: bool
) -> None:
    place = next(one for one in gate_worlds() if one.name == name)
    holds, wrong = gate_shares(place, 1000 if thorough else 200)
    if is_given:
        assert holds.beside["given"] > 0.9
        assert holds.share > 0.9
        assert wrong.share < 0.06
    else:
        assert holds.beside["given"] == 0
        assert holds.beside["if always given"] < 0.9


def test_equal_agents_are_seldom_told_apart(some: int) -> None:
    assert equal_duels("skewed", events=30, seasons=some).share < 0.15


def test_paired_with_the_market_other_markets_make_no_winner_as_raw_scores_do(some: int) -> None:
    found = different_markets(events=100, seasons=some)
    assert found.share < 0.15
    assert found.beside["raw Brier"] > 0.25


def test_the_implied_reading_puts_the_better_agent_last_and_the_others_first(some: int) -> None:
    stated, anchored, implied = (found.share for found in readings(seasons=some))
    assert stated > 0.9
    assert anchored > 0.9
    assert implied < 0.3


@pytest.mark.parametrize("name", ["as good as the price", "halves long shots", "always NO on long shots"])
def test_who_is_no_better_than_the_price_is_seldom_proven_however_often_one_looks(
    name: str, some: int
) -> None:
    assert false_proofs(name, ADVERSARIES[name], 200, 2, 182, some // 2).share < 0.2


def test_a_factor_common_to_a_week_does_not_prove_anything_either(some: int) -> None:
    name = "leans YES against the market, 20% in common by 1 weeks"
    assert false_proofs(name, ADVERSARIES[name], 200, 2, 182, some // 2).share < 0.2


def test_who_knows_more_is_ahead_and_proven_the_surer_the_more_has_ended(some: int) -> None:
    few, many = ([found.share for found in power(events, 364, some // 2)] for events in (50, 400))
    assert few[0] < many[0]
    assert few[3] < 0.5 < many[3] <= many[1]
