"""The whole arena under seeds: whatever goes wrong, it ends as if nothing had, and a seed repeats exactly."""

import subprocess

import pytest

from tests.chaos.mends import MENDS
from tests.program.forked import quick_program


def chaos(*words: str, status: int = 0) -> str:
    """What `python -m benchmarks.chaos` says."""
    line = [*quick_program("benchmarks.chaos"), *words]
    done = subprocess.run(line, capture_output=True, text=True, timeout=2_000)
    assert done.returncode == status, done.stdout[-6_000:] + done.stderr[-2_000:]
    return done.stdout


def test_under_whatever_seed_it_ends_as_an_unbroken_season(thorough: bool) -> None:
    """And a seed alone is the same season again."""
    all_of_them = chaos("--seeds", "400" if thorough else "3", "--log")
    assert "0 failed" in all_of_them
    alone = chaos("--first", "2", "--seeds", "1", "--log", "--processes", "1").splitlines()
    assert len(alone) > 5, "nothing went wrong"
    assert "\n".join(alone[:-1]) in all_of_them


@pytest.mark.thorough
@pytest.mark.parametrize("mend", sorted(MENDS))
def test_a_defect_that_is_back_is_found(mend: str) -> None:
    assert "1 failed" in chaos("--seeds", "400", "--without", mend, status=1)
