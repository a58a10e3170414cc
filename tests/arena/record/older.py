"""A record that an earlier arena wrote: the first two weeks of the small season, at schema 0001."""

import sqlite3
from pathlib import Path

TEXT = Path(__file__).parent / "records" / "schema-0001.sql"
STATE_HASH = "e61cbf7ae361a4948515390bef0429020f0a2f66cc898356b3b24b72a3c145e9"
"""What that arena printed for it."""


def old_record(path: Path) -> Path:
    """That record, as a file."""
    database = sqlite3.connect(path)
    database.executescript(TEXT.read_text("utf-8"))
    database.close()
    return path
