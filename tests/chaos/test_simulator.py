"""The whole arena under seeds: whatever goes wrong, it ends as if nothing had, and a seed repeats exactly."""

import subprocess
import sys

import pytest

from tests.chaos.mends import MENDS


def chaos(*words: str, status: int = 0) -> str:
    """What `python -m benchmarks.chaos` says."""
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.chaos", *words], capture_output=True, text=True, timeout=2_000
    )
    assert done.returncode == status, done.stdout[-6_000:] + done.stderr[-2_000:]
    return done.stdout


def test_under_whatever_seed_it_ends_as_an_unbroken_season(thorough: bool) -> None:
    assert "0 failed" in chaos("--seeds", "400" if thorough else "10")


def test_a_seed_is_the_same_season_again() -> None:
    first, again = (chaos("--first", "3", "--seeds", "1", "--log", "--processes", "1") for _ in range(2))
    assert first == again
    assert len(first.splitlines()) > 5, "nothing went wrong"


@pytest.mark.thorough
@pytest.mark.parametrize("mend", sorted(MENDS))
def test_a_defect_that_is_back_is_found(mend: str) -> None:
    assert "1 failed" in chaos("--seeds", "400", "--without", mend, status=1)
