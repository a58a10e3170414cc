"""A record in memory that anyone may change: what was done to it is undone once it was looked at."""

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

from sqlalchemy import StaticPool, create_engine

from arena.verify import Difference, find
from arena.verify.reader import NOTHING_VERIFIED, VerifiedHead

SCHEMA, GUARDS = "type, name, tbl_name, rootpage, sql", "type = 'trigger'"


class TamperedRecord:
    """The record of a file as only someone with the file in hand has it: nothing is in the way of a change.

    `connection` is for who reads it, `driver` for who changes it.
    """

    def __init__(self, path: Path) -> None:
        self._engine = create_engine(
            "sqlite://",
            poolclass=StaticPool,
            connect_args={"isolation_level": None, "cached_statements": 1_000},
        )
        self.connection = self._engine.connect()
        driver = self.connection.connection.driver_connection
        assert isinstance(driver, sqlite3.Connection)
        self.driver = driver
        with closing(sqlite3.connect(path)) as file:
            file.backup(driver)
        driver.execute("PRAGMA ignore_check_constraints = ON")
        driver.execute("PRAGMA writable_schema = ON")
        self._triggers = driver.execute(f"SELECT {SCHEMA} FROM sqlite_master WHERE {GUARDS}").fetchall()
        for _, trigger, *_ in self._triggers:
            driver.execute(f"DROP TRIGGER {trigger}")

    def close(self) -> None:
        """Let go of it."""
        self.connection.close()
        self._engine.dispose()

    @contextmanager
    def undone(self) -> Iterator[None]:
        """Undo afterwards whatever is changed within."""
        self.driver.execute("BEGIN")
        try:
            yield
        finally:
            self.driver.execute("ROLLBACK")

    def differences(
        self,
        enough: Callable[[Difference], bool] = lambda _: False,
        heads: Sequence[str] = (),
        verified: VerifiedHead = NOTHING_VERIFIED,
        part: int | None = None,
    ) -> list[Difference]:
        """Return what verifying finds, with heads that were published, up to one that is `enough`.

        The triggers stand in the schema then, and are not at work. What was `verified` before is passed over,
        but for a part.
        """
        found = list[Difference]()

        def tell(difference: Difference) -> None:
            found.append(difference)
            if enough(difference):
                raise _Enough

        put = f"INSERT INTO sqlite_master ({SCHEMA}) VALUES (?, ?, ?, ?, ?)"
        self.driver.executemany(put, self._triggers)
        try:
            with suppress(_Enough):
                find(self.connection, None, tell, verified, published=heads or None, part=part)
        finally:
            self.driver.execute(f"DELETE FROM sqlite_master WHERE {GUARDS}")
        return found

    def value(self, statement: str, values: Sequence[Any] = ()) -> Any:
        """Return the one value that a query returns."""
        return self.driver.execute(statement, values).fetchone()[0]


class _Enough(BaseException):
    """No error: nothing that looks out for errors is to keep it."""
