"""Skill shows in the scores: the order of agents whose skill is known, over many worlds."""

from pathlib import Path

from tests.season.skill import gaps, play

SEEDS = range(1, 21)
SAMPLE = range(1, 2)


def test_who_knows_more_scores_better(tmp_path: Path, thorough: bool) -> None:
    """At least 18 of 20 worlds must agree; with THOROUGH=1 all are played, the first otherwise."""
    boards = [play(seed, tmp_path) for seed in (SEEDS if thorough else SAMPLE)]
    for title, found in gaps(boards).items():
        assert sum(gap > 0 for gap in found) >= 0.9 * len(found), (title, found)
    assert all(board["market"]["skill"] == 0 for board in boards)
