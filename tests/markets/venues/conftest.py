"""What a venue says over the wire, served here."""

from collections.abc import Iterator

import pytest

from tests.venue_server.server import VenueServer, venue_server


@pytest.fixture
def server() -> Iterator[VenueServer]:
    """Yield a server on which tests put a venue's answers."""
    with venue_server() as started:
        yield started
