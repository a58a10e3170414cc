"""What the tests of whole seasons share."""

import pytest

from tests.program.forked import Forks
from tests.program.running import loaded


@pytest.fixture(scope="session")
def forked() -> Forks:
    """Starts `arena` without the seconds that it takes to load."""
    return loaded()
