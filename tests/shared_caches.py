"""What a process makes again for each record or command line, though it is the same: made once in tests."""

from functools import cache
from typing import Any

import typer.main
import typer.testing
from sqlalchemy import Engine
from sqlalchemy.dialects.sqlite.pysqlite import SQLiteDialect_pysqlite
from sqlalchemy.util import LRUCache

STATEMENTS = 4_000
"""As many as all tests ask of records have room."""


def share_caches() -> None:
    """Keep the commands of the command line, and what each statement is in SQL, for all that come later.

    Typer makes all commands anew for each call, and SQLAlchemy each statement for each record that is opened.
    In the records of most tests both take longer than what is done then.
    """
    commands = cache(typer.main.get_command)
    vars(typer.main)["get_command"] = vars(typer.testing)["_get_command"] = commands
    _share_statements(LRUCache(STATEMENTS))


def _share_statements(cached: "LRUCache[Any, Any]") -> None:
    """All engines on files share a cache, and take a dialect for the same as any other of its class."""
    dialect: Any = SQLiteDialect_pysqlite
    dialect.__eq__ = lambda one, other: type(one) is type(other)
    dialect.__hash__ = lambda one: hash(type(one))
    engine: Any = Engine
    make = engine.__init__

    def made(self: Engine, *given: Any, **named: Any) -> None:
        make(self, *given, **named)
        if type(self.dialect) is SQLiteDialect_pysqlite:
            self.update_execution_options(compiled_cache=cached)

    engine.__init__ = made
