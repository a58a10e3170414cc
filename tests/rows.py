"""What a record's file holds, asked by plain SQL."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any


def rows_in(record: Path, query: str, *values: object) -> list[Any]:
    """The rows that a query finds; the file is only read."""
    with closing(sqlite3.connect(f"{record.resolve().as_uri()}?mode=ro", uri=True)) as plain:
        return plain.execute(query, values).fetchall()
