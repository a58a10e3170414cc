"""What a record's file holds, asked by plain SQL."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from arena.record.hashes import state_hash
from arena.record.schema.database import open_read_only, reading


def rows_in(record: Path, query: str, *values: object) -> list[Any]:
    """Return the rows that a query finds; the file is only read."""
    with closing(sqlite3.connect(f"{record.resolve().as_uri()}?mode=ro", uri=True)) as plain:
        return plain.execute(query, values).fetchall()


def state_of(record: str | Path) -> str:
    """Return the state hash of the record at an address, which may be of an older version."""
    with open_read_only(str(record), older=True) as engine, reading(engine) as connection:
        return state_hash(connection)
