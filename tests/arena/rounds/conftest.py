"""What tests of rounds share."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from arena.record.record import Record
from arena.record.schema.database import reading
from arena.verify import verify


@pytest.fixture
def record(tmp_path: Path) -> Iterator[Record]:
    """Yield a new record, and check at the end of a test that it agrees with itself."""
    record = Record.open(str(tmp_path / "arena.db"))
    yield record
    with reading(record.engine) as connection:
        assert verify(connection) == []
    record.close()
