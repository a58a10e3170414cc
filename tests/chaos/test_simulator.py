"""The whole arena under seeds: whatever goes wrong, it ends as if nothing had, and a seed repeats exactly."""

import subprocess
from pathlib import Path

import pytest

from tests.chaos.mends import MENDS
from tests.chaos.mishaps import MISHAPS
from tests.chaos.outages import OUTAGES
from tests.chaos.season_config import config_number
from tests.chaos.simulation import Simulation
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


def test_a_seed_ends_as_an_unbroken_season_and_plays_the_same_again(tmp_path: Path) -> None:
    first = simulate(QUICK_SEED)
    assert len(first) > 5, "nothing went wrong"

    again = Simulation(tmp_path, QUICK_SEED, config_number(QUICK_SEED), (*MISHAPS, *OUTAGES))
    again.play_season()
    assert again.log == first[:-1]


@pytest.mark.thorough
def test_under_whatever_seed_it_ends_as_an_unbroken_season() -> None:
    assert "0 failed" in chaos("--seeds", "400", "--log")


@pytest.mark.thorough
@pytest.mark.parametrize("mend", sorted(MENDS))
def test_a_defect_that_is_back_is_found(mend: str) -> None:
    assert "1 failed" in chaos("--seeds", "1000", "--without", mend, status=1)
