"""Records that were changed with the file in hand."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any


def tamper(path: Path, *statements: str, values: tuple[Any, ...] = ()) -> None:
    """Change a record as only someone with the file in hand can: no trigger and no check is in the way."""
    with closing(sqlite3.connect(path, isolation_level=None)) as database, unguarded(database):
        for statement in statements:
            database.execute(statement, values)


@contextmanager
def unguarded(database: sqlite3.Connection) -> Iterator[None]:
    """Remove the triggers for as long as the block lasts; the version of the schema stays the same."""
    for setting in ("foreign_keys = OFF", "ignore_check_constraints = ON", "synchronous = OFF"):
        database.execute(f"PRAGMA {setting}")
    columns = "type, name, tbl_name, rootpage, sql"
    database.execute("PRAGMA writable_schema = ON")
    triggers = database.execute(f"SELECT {columns} FROM sqlite_master WHERE type = 'trigger'").fetchall()
    database.execute("DELETE FROM sqlite_master WHERE type = 'trigger'")
    database.commit()
    database.execute("PRAGMA writable_schema = RESET")
    yield
    database.execute("PRAGMA writable_schema = ON")
    database.executemany(f"INSERT INTO sqlite_master ({columns}) VALUES (?, ?, ?, ?, ?)", triggers)
    database.commit()
    database.execute("PRAGMA writable_schema = RESET")
