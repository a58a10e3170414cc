"""What the tests of whole seasons share."""

from collections.abc import Iterator

import pytest

from tests.season.forked import Forks, forks


@pytest.fixture(scope="session")
def forked() -> Iterator[Forks]:
    """Starts `arena` without the seconds that it takes to load."""
    with forks() as started:
        yield started
