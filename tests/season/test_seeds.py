"""Skill shows in the scores: the order of agents whose skill is known, over many worlds."""

from pathlib import Path

import pytest

from tests.season.skill import gaps, play

SEEDS = range(1, 21)


@pytest.mark.thorough
def test_who_knows_more_scores_better(tmp_path: Path) -> None:
    """At least 18 of 20 worlds must agree; the first of them is the demo's, which its own tests hold."""
    boards = [play(seed, tmp_path) for seed in SEEDS]
    for title, found in gaps(boards).items():
        assert sum(gap > 0 for gap in found) >= 0.9 * len(found), (title, found)
    assert all(board["market"]["skill"] == 0 for board in boards)
