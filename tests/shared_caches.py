"""What a process makes again for each record or command line, though it is the same: made once in tests."""

from collections.abc import Iterator
from functools import cache
from typing import Any, ClassVar

import alembic.command
import typer.main
import typer.testing
from alembic.config import Config
from ruamel.yaml import YAML
from ruamel.yaml.events import Event
from ruamel.yaml.nodes import Node
from sqlalchemy import Connection, Engine, event
from sqlalchemy.dialects.sqlite.pysqlite import SQLiteDialect_pysqlite
from sqlalchemy.util import LRUCache

from arena.config import document

STATEMENTS = 4_000
"""As many as all tests ask of records have room."""


@cache
def share_caches() -> None:
    """Keep the commands of the command line, and what each statement is in SQL, for all that come later.

    Typer makes all commands anew for each call, and SQLAlchemy each statement for each record that is opened.
    Alembic works out anew how a record's tables are made. In the records of most tests all of this takes
    longer than what is done then.
    """
    commands = cache(typer.main.get_command)
    vars(typer.main)["get_command"] = vars(typer.testing)["_get_command"] = commands
    _share_statements(LRUCache(STATEMENTS))
    _share_migrations()
    vars(document)["YAML"] = YamlReadOnce


class YamlReadOnce(YAML):
    """Reads each text of a config once: hundreds of tests have the same one."""

    events: ClassVar[dict[str, list[Event]]] = {}
    nodes: ClassVar[dict[str, Node]] = {}

    def parse(self, stream: Any) -> Iterator[Event]:
        """Yield the events of a text; they are kept when all of them were good."""
        if stream in self.events:
            yield from self.events[stream]
            return

        found = list[Event]()
        for part in super().parse(stream):
            found.append(part)
            yield part

        self.events[stream] = found

    def compose(self, stream: Any) -> Any:
        """Return the nodes of a text, which nobody changes."""
        if stream not in self.nodes:
            self.nodes[stream] = super().compose(stream)
        return self.nodes[stream]


def _share_statements(cached: "LRUCache[Any, Any]") -> None:
    """Share one cache among all engines on files, and treat dialects of one class as the same."""
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


def _share_migrations() -> None:
    """Create an empty file's tables by the statements that Alembic sent to the first one."""
    sent: dict[tuple[str | None, str], list[tuple[str, Any]]] = {}
    migrate = alembic.command.upgrade

    def upgrade(config: Config, revision: str) -> None:
        connection: Connection = config.attributes["connection"]
        place = (config.get_main_option("script_location"), revision)
        if connection.dialect.name != "sqlite" or _has_tables(connection):
            migrate(config, revision)
        elif place in sent:
            for statement, values in sent[place]:
                connection.exec_driver_sql(statement, values)
        else:
            heard: list[tuple[str, Any]] = []

            def hear(_: object, __: object, statement: str, values: Any, *___: object) -> None:
                if not statement.lstrip().startswith(("PRAGMA", "SELECT")):
                    heard.append((statement, values))

            event.listen(connection, "before_cursor_execute", hear)
            migrate(config, revision)
            event.remove(connection, "before_cursor_execute", hear)
            sent[place] = heard

    vars(alembic.command)["upgrade"] = upgrade


def _has_tables(connection: Connection) -> bool:
    return bool(connection.exec_driver_sql("SELECT count(*) FROM sqlite_master").scalar_one())
