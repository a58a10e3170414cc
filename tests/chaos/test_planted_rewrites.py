"""What verifying must find at the end of a simulated season, on one record."""

from collections.abc import Iterator

import pytest

from tests.chaos.planted_rewrites import PLANTED, is_found
from tests.chaos.simulation import Simulation
from tests.records.tampered import TamperedRecord


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TamperedRecord]:
    """Yield the record of a simulated season in which nothing went wrong, in memory."""
    season = Simulation(tmp_path_factory.mktemp("unbroken"), 0, 0)
    season.play_season()
    record = TamperedRecord(season.file)
    yield record
    record.close()


def test_there_are_thirty() -> None:
    assert len(set(PLANTED)) == 30


@pytest.mark.parametrize("name", PLANTED)
def test_a_rewrite_of_a_simulated_season_is_found(name: str, played: TamperedRecord) -> None:
    assert is_found(played, name), "it changes nothing"


def test_what_was_not_rewritten_is_right(played: TamperedRecord) -> None:
    assert played.differences() == []
