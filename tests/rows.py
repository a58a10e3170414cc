"""What a record holds, read without changing it."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from arena.record.hashes import state_hash
from arena.record.schema.database import Connection, open_read_only, reading


def rows_in(record: Path, query: str, *values: object) -> list[Any]:
    """Return the rows that a query finds; the file is only read."""
    with closing(sqlite3.connect(f"{record.resolve().as_uri()}?mode=ro", uri=True)) as plain:
        return plain.execute(query, values).fetchall()


@contextmanager
def read_only(record: str | Path, older: bool = False) -> Iterator[Connection]:
    """Yield a connection to the record at an address, which sees it as of one instant."""
    with open_read_only(str(record), older=older) as engine, reading(engine) as connection:
        yield connection


def state_of(record: str | Path) -> str:
    """Return the state hash of the record at an address, which may be of an older version."""
    with read_only(record, older=True) as connection:
        return state_hash(connection)
