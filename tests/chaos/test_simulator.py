"""The whole arena under seeds: whatever goes wrong, it ends as if nothing had, and a seed repeats exactly."""

import subprocess

import pytest

from tests.chaos.mends import MENDS
from tests.chaos.simulator import simulate
from tests.program.forked import quick_program

QUICK_SEED = 19
"""A seed that plays the defaults: its unbroken season is quick."""


def chaos(*words: str, status: int = 0) -> str:
    """Return what `python -m benchmarks.chaos` says."""
    line = [*quick_program("benchmarks.chaos"), *words]
    done = subprocess.run(line, capture_output=True, text=True, timeout=5_000)
    assert done.returncode == status, done.stdout[-6_000:] + done.stderr[-2_000:]
    return done.stdout


def test_a_seed_ends_as_an_unbroken_season_and_plays_the_same_again() -> None:
    first = simulate(QUICK_SEED)
    assert len(first) > 5, "nothing went wrong"
    assert simulate(QUICK_SEED) == first


@pytest.mark.thorough
def test_under_whatever_seed_it_ends_as_an_unbroken_season() -> None:
    assert "0 failed" in chaos("--seeds", "400", "--log")


@pytest.mark.thorough
@pytest.mark.parametrize("mend", sorted(MENDS))
def test_a_defect_that_is_back_is_found(mend: str) -> None:
    assert "1 failed" in chaos("--seeds", "1000", "--without", mend, status=1)
