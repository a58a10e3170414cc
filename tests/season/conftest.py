"""What the tests of whole seasons share."""

from collections.abc import Iterator

import pytest

from tests.program.forked import Forks
from tests.program.running import loaded
from tests.provider.server import FaultyProvider, faulty
from tests.venue_server.server import VenueServer, venue_server


@pytest.fixture(scope="session")
def forked() -> Forks:
    """Start `arena` without the seconds that it takes to load."""
    return loaded()


@pytest.fixture
def venue() -> Iterator[VenueServer]:
    """Yield a venue over HTTP, which gives the answers that a test sets."""
    with venue_server() as server:
        yield server


@pytest.fixture
def provider() -> Iterator[FaultyProvider]:
    """Yield a provider over HTTP, whose models answer as their names say."""
    with faulty() as server:
        yield server
