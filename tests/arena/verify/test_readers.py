"""Turns that each version of the reader has read: of earlier ones hashes are checked, and what follows."""

from pathlib import Path
from unittest.mock import patch

import pytest

from agents.answers.parse import READER_VERSION
from tests.records.chain import found_in
from tests.records.seasons import play
from tests.records.tampering import tamper

AGENTS = ("{kind: random}", "{name: sharp, model: demo/sharp}")
TOLD = "turns of an earlier reader, checked by hash only"


@pytest.fixture(scope="session", params=range(READER_VERSION + 1))
def read_by(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[int, Path]:
    """Return a season that a version of the reader has read, and that version."""
    return request.param, season_read_by(request.param, tmp_path_factory.mktemp(f"reader-{request.param}"))


def season_read_by(version: int, folder: Path) -> Path:
    """Play a season of its own for each version; seasons of one config are played once."""
    with patch("arena.rounds.turns.READER_VERSION", version):
        return play(folder, AGENTS, 2, show=11 + version)


def test_a_record_of_each_reader_agrees_with_itself_and_says_what_was_not_decided_again(
    read_by: tuple[int, Path],
) -> None:
    version, path = read_by
    found = found_in(path)
    assert found.listed == []
    assert found.unproved[TOLD] == (0 if version == READER_VERSION else 6)


CHANGES = {
    "a reason": "UPDATE forecast SET reason = 'I knew' WHERE rowid = 1",
    "an order": "UPDATE turn SET orders = replace(orders, 'YES', 'NO') WHERE orders LIKE '%YES%'",
    "a fill": "UPDATE fill SET shares = shares + 1 WHERE id = 1",
    "cash": "UPDATE turn SET cash = cash + 1 WHERE id = 1",
}


@pytest.mark.parametrize("change", CHANGES)
def test_what_an_earlier_reader_has_read_is_held_by_its_hash_and_by_what_follows(
    change: str, tmp_path: Path
) -> None:
    path = season_read_by(READER_VERSION - 1, tmp_path)
    tamper(path, CHANGES[change])
    assert {difference.table for difference in found_in(path).listed} & {"turn", "fill"}
