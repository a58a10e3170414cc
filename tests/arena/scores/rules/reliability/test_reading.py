"""The reading of calibration: both sides of 50%, from twenty events on, and the same everywhere."""

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.scores.rules.reliability.diagram import diagram
from arena.scores.rules.reliability.reading import CalibrationReading, read_calibration

ROWS = st.lists(
    st.tuples(st.integers(0, 100), st.sampled_from([0, 1, -1, -2]), st.integers(0, 30)), max_size=120
)


def test_no_at_ten_percent_counts_as_sure_as_yes_at_ninety() -> None:
    """Ten times YES at 90%, of which 8 came true, and ten times NO at 80%, of which 7 did."""
    said = [0.9] * 10 + [0.2] * 10
    ended = [1] * 8 + [0] * 2 + [0] * 7 + [1] * 3
    found = read_calibration(said, ended, range(20))
    squares = 8 * 0.1**2 + 2 * 0.9**2 + 7 * 0.2**2 + 3 * 0.8**2
    assert found == CalibrationReading(20, 20, 0.85, 0.75, round(squares**0.5 / 20, 12))


def test_nineteen_events_are_too_few_however_many_forecasts_they_have() -> None:
    assert read_calibration([0.9] * 100, [1] * 100, [number % 19 for number in range(100)]) is None
    assert read_calibration([0.9] * 100, [1] * 100, [number % 20 for number in range(100)]) is not None
    assert read_calibration([0.6] * 100, [1] * 100, range(100)) is None, "never sure of a side"
    assert read_calibration([], [], []) is None


@pytest.mark.parametrize(
    ("said", "came", "words"),
    [
        (0.9, 0.9, "no more off than chance"),
        (0.9, 0.92, "no more off than chance"),
        (0.9, 0.8, "too sure"),
        (0.8, 0.9, "not sure enough"),
    ],
)
def test_what_is_off_elsewhere_makes_nobody_too_sure(said: float, came: float, words: str) -> None:
    """A lean is off by as much to both sides: what is said at 90% may come true in 90%."""
    found = CalibrationReading(forecasts=400, events=400, said=said, came=came, error=0.015)
    assert found.judged(0.004) == words
    assert found.judged(0.5) == "no more off than chance"


def test_markets_that_end_alike_make_few_calibrated_forecasters_too_sure() -> None:
    """An event's twenty markets end alike, and the p-value of the diagram takes them for independent."""
    rng = np.random.default_rng(3)
    event = np.repeat(np.arange(40), 20)
    wrong = 0
    for _ in range(100):
        chance = np.repeat(rng.uniform(0.7, 0.95, 40).round(2), 20)
        ended = (rng.random(40)[event] < chance).astype(int)
        drawn = diagram(chance, ended, rng, np.arange(800), draws=40, event=event)
        assert drawn.sure is not None
        wrong += drawn.sure.judged(drawn.null.p_value) != "no more off than chance"
    assert wrong <= 10


@given(ROWS)
def test_it_is_the_plain_mean_over_those_that_are_sure(rows: list[tuple[int, int, int]]) -> None:
    sure = [(said, ended, event) for said, ended, event in rows if ended >= 0 and not 30 < said < 70]
    found = read_calibration(
        [said / 100 for said, _, _ in rows], [row[1] for row in rows], [row[2] for row in rows]
    )
    events = {event for _, _, event in sure}
    if len(events) < 20:
        assert found is None
        return
    assert found is not None
    assert (found.forecasts, found.events) == (len(sure), len(events))
    assert found.said == pytest.approx(sum(max(said, 100 - said) for said, _, _ in sure) / len(sure) / 100)
    right = [(said > 50) == (ended == 1) for said, ended, _ in sure]
    assert found.came == pytest.approx(sum(right) / len(sure))


@given(ROWS, st.randoms(use_true_random=False))
def test_order_and_names_of_events_change_no_digit(
    rows: list[tuple[int, int, int]], chance: random.Random
) -> None:
    names = chance.sample(range(31), 31)
    other = [(said, ended, names[event]) for said, ended, event in rows]
    chance.shuffle(other)

    def found(of: list[tuple[int, int, int]]) -> CalibrationReading | None:
        return read_calibration(
            [said / 100 for said, _, _ in of], [row[1] for row in of], [row[2] for row in of]
        )

    assert found(rows) == found(other)


def test_a_diagram_carries_the_reading_of_its_own_forecasts() -> None:
    rng = np.random.default_rng(1)
    said = np.linspace(0.01, 0.99, 100)
    ended = (rng.random(100) < said).astype(int)
    event = np.arange(100) // 2
    drawn = diagram(said, ended, rng, np.arange(100), draws=20, event=event)
    assert drawn.sure == read_calibration(said, ended, event)
    assert drawn.sure is not None
    assert diagram(said, ended, rng, np.arange(100), draws=20, event=np.zeros(100)).sure is None
