"""A record that a test opens for writing."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from arena.record.record import Record


@contextmanager
def opened_record(place: str | Path) -> Iterator[Record]:
    """Yield the record at a place, which is made where there is none."""
    with closing(Record.open(str(place))) as record:
        yield record
