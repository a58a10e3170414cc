"""What the tests of whole seasons share."""

from collections.abc import Iterator

import pytest

from tests.program.forked import Forks
from tests.program.running import loaded
from tests.provider.server import FaultyProvider, faulty
from tests.venue_server.server import VenueServer, venue_server


@pytest.fixture(scope="session")
def forked() -> Forks:
    """Starts `arena` without the seconds that it takes to load."""
    return loaded()


@pytest.fixture
def venue() -> Iterator[VenueServer]:
    """A venue over HTTP, which answers what a test tells it to."""
    with venue_server() as server:
        yield server


@pytest.fixture
def provider() -> Iterator[FaultyProvider]:
    """A provider over HTTP, whose models answer as they are named."""
    with faulty() as server:
        yield server
