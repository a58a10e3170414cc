"""A database's clock that is ahead of the machine's, or behind it."""

import sqlite3
from collections.abc import Callable
from typing import Any

from sqlalchemy import Connection, Engine, event


class SteppedClock:
    """How far the clocks of databases are ahead; it can be changed while they are in use."""

    def __init__(self, seconds: int = 0) -> None:
        self.seconds = seconds
        self.plain = sqlite3.connect(":memory:", check_same_thread=False)

    def put_into(self, driver: Any, _: object = None) -> None:
        """Have a connection of SQLite read this clock wherever it says 'now'."""
        if isinstance(driver, sqlite3.Connection):
            driver.create_function("strftime", -1, self._of("strftime"))
            driver.create_function("julianday", -1, self._of("julianday"))

    def _of(self, name: str) -> Callable[..., Any]:
        def stepped(*words: str) -> Any:
            shift = [f"{self.seconds} seconds"] if "now" in words else []
            marks = ", ".join("?" * (len(words) + len(shift)))
            return self.plain.execute(f"SELECT {name}({marks})", (*words, *shift)).fetchone()[0]

        return stepped


def put_clock_ahead(seconds: int) -> None:
    """Have every connection of this process that is opened from now on read such a clock."""
    event.listen(Engine, "connect", SteppedClock(seconds).put_into)


STEPPED_NOW = """CREATE OR REPLACE FUNCTION public.{name}() RETURNS timestamptz LANGUAGE sql VOLATILE AS
    $$ SELECT pg_catalog.{name}() + interval '{seconds} seconds' $$"""


def step_server(connection: Connection, seconds: int) -> None:
    """Put a PostgreSQL's clock ahead, as connections opened from now on have it."""
    for name in ("now", "clock_timestamp"):
        connection.exec_driver_sql(STEPPED_NOW.format(name=name, seconds=seconds))
    database = connection.engine.url.database
    connection.exec_driver_sql(f'ALTER DATABASE "{database}" SET search_path = public, pg_catalog')
