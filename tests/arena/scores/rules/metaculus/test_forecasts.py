"""Forecasts as columns: how the kinds are read, and what is refused, with the row that is wrong."""

import math

import numpy as np
import pytest

from arena.scores.rules.metaculus import limits
from arena.scores.rules.metaculus.forecasts import chance_forecasts
from arena.scores.rules.metaculus.question_types import binary, continuous


def test_without_ends_a_forecast_stands_until_the_next_of_its_forecaster() -> None:
    found = chance_forecasts(["a", "b", "a", "a"], [3, 0, 1, 2], [0.5] * 4)
    assert found.end.tolist() == [math.inf, math.inf, 2, 3]


def test_an_end_that_is_missing_means_that_it_stands() -> None:
    assert chance_forecasts(["a", "b"], [0, 0], [0.5, 0.5], end=[math.nan, 2]).end.tolist() == [math.inf, 2]


def test_yes_no_is_read_at_what_happened_within_the_limits() -> None:
    assert binary(["a"] * 3, [0, 1, 2], [0.0, 0.3, 1.0], True).chance.tolist() == [0.001, 0.3, 0.999]
    assert binary(["a"] * 3, [0, 1, 2], [0.0, 0.3, 1.0], False).chance.tolist() == pytest.approx(
        [0.999, 0.7, 0.001]
    )


@pytest.mark.parametrize(("bucket", "chance"), [(0, 0.1), (1, 0.8), (2, 0.4), (3, 0.3)])
def test_a_number_is_read_as_a_density_and_beyond_an_open_end_as_a_share(bucket: int, chance: float) -> None:
    found = continuous(["a"], [0], [[0.1, 0.5, 0.7]], bucket, open_bounds=2)
    assert found.chance == pytest.approx([chance])


def test_a_floor_of_001_is_mixed_into_a_density() -> None:
    mixed = limits.with_floor([[0.0, 0.0, 0.0, 1.0]])
    densities = np.diff(mixed[0]) * 3
    assert densities == pytest.approx([0.01 / 1.01, 0.01 / 1.01, 3.01 / 1.01])
    assert mixed[0, [0, -1]].tolist() == [0, 1]


def test_what_lies_beyond_the_range_keeps_its_share() -> None:
    mixed = limits.with_floor([0.1, 0.1, 0.8])
    assert mixed[[0, -1]] == pytest.approx([0.1, 0.8])
    assert (np.diff(mixed) > 0).all()


WRONG = {
    "row 1: 1.2 is not a probability": lambda: binary(["a", "b"], [0, 0], [0.5, 1.2], True),
    "row 0: chance 0.0 of what happened": lambda: continuous(["a"], [0], [[0, 0, 1]], 1),
    "row 0: chance nan of what happened": lambda: chance_forecasts(["a"], [0], [math.nan]),
    "bucket 3 is beyond a range whose ends": lambda: continuous(["a"], [0], [[0, 0.5, 1]], 3),
}


@pytest.mark.parametrize("message", WRONG)
def test_what_is_wrong_is_said_with_its_row(message: str) -> None:
    with pytest.raises(ValueError, match=message):
        WRONG[message]()
