"""The migrations make exactly the tables of the code, on both databases."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import CheckConstraint, Connection, inspect, make_url
from sqlalchemy.schema import CreateIndex, CreateTable

from arena.errors import ArenaError
from arena.record.schema.database import (
    MIGRATIONS,
    connect,
    newest_schema_version,
    schema_version,
    schema_versions,
    upgrade,
)
from arena.record.schema.tables import METADATA
from tests.opened_record import new_record


def _opened(path: Path) -> Connection:
    engine = connect(path)
    upgrade(engine)
    return engine.connect()


def test_the_versions_are_those_that_alembic_knows(tmp_path: Path) -> None:
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    scripts = ScriptDirectory.from_config(config)
    assert tuple(script.revision for script in scripts.walk_revisions())[::-1] == schema_versions()
    assert scripts.get_current_head() == newest_schema_version()
    with _opened(tmp_path / "record.db") as connection:
        assert schema_version(connection) == MigrationContext.configure(connection).get_current_revision()
        connection.engine.dispose()


@pytest.mark.parametrize(
    ("change", "whose", "what"),
    [
        ("ALTER TABLE attempt DROP COLUMN note", "an earlier arena", "without attempt.note"),
        ("DROP TABLE lease", "an earlier arena", "without lease."),
        ("ALTER TABLE turn ADD COLUMN mood TEXT", "another arena", "with turn.mood"),
    ],
)
def test_a_record_of_another_form_is_refused_before_anything_is_read_or_written(
    copy: Path, change: str, whose: str, what: str
) -> None:
    """Its version is today's: tables are added to the one migration until there is a release."""
    with closing(sqlite3.connect(copy)) as driver:
        driver.execute(change)
        before = list(driver.iterdump())
    for opened in (lambda: upgrade(connect(copy)), lambda: connect(copy, read_only=True)):
        with pytest.raises(
            ArenaError, match=f"written by {whose} .schema {newest_schema_version()} {what}"
        ) as told:
            opened()
        assert (told.value.code, "arena admin restore X.zip" in told.value.hint) == ("former_record", True)
    with closing(sqlite3.connect(copy)) as driver:
        assert list(driver.iterdump()) == before


def test_an_emptied_file_is_named_by_its_path(tmp_path: Path) -> None:
    (path := tmp_path / "of one.db").touch()
    with pytest.raises(ArenaError) as told:
        connect(path, read_only=True)
    assert told.value.message == f"there is no record at {path}"


SHOWN = {
    "forecast of the record is a view": (
        "ALTER TABLE forecast RENAME TO other; CREATE VIEW forecast AS SELECT * FROM other"
    ),
    "attempt.note of the record is computed": (
        "ALTER TABLE attempt DROP COLUMN note; ALTER TABLE attempt ADD COLUMN note TEXT AS ('fine')"
    ),
}


@pytest.mark.parametrize("what", SHOWN)
def test_what_shows_other_values_than_were_written_is_named_for_what_it_is(copy: Path, what: str) -> None:
    with closing(sqlite3.connect(copy)) as driver:
        driver.executescript(SHOWN[what])
    for opened in (lambda: upgrade(connect(copy)), lambda: connect(copy, read_only=True)):
        with pytest.raises(ArenaError, match=what) as told:
            opened()
        assert told.value.code == "altered"


def test_a_column_that_is_computed_on_a_server_is_named_too(new_database: Callable[[], str]) -> None:
    address = new_database()
    new_record(address)
    engine = connect(address)
    with engine.begin() as connection:
        connection.exec_driver_sql("ALTER TABLE lease ADD COLUMN held text GENERATED ALWAYS AS (name) STORED")
    engine.dispose()
    with pytest.raises(ArenaError, match=r"lease\.held of the record is computed"):
        connect(address, read_only=True)


def test_migrations_make_the_tables_and_the_checks_of_the_code(tmp_path: Path) -> None:
    """Alembic compares no checks, and no STRICT."""
    with _opened(tmp_path / "record.db") as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, METADATA) == []
        for name, table in METADATA.tables.items():
            ours = {str(check.sqltext) for check in table.constraints if isinstance(check, CheckConstraint)}
            there = {check["sqltext"] for check in inspect(connection).get_check_constraints(name)}
            assert there == ours, name
            made = connection.exec_driver_sql(f"SELECT sql FROM sqlite_master WHERE name = '{name}'").scalar()
            assert str(made).rstrip().endswith("STRICT"), name
        connection.engine.dispose()


def test_postgresql_takes_the_tables() -> None:
    dialect = make_url("postgresql://").get_dialect()()
    made = [str(CreateTable(table).compile(dialect=dialect)) for table in METADATA.sorted_tables]
    indexes = [index for table in METADATA.sorted_tables for index in table.indexes]
    made += [str(CreateIndex(index).compile(dialect=dialect)) for index in indexes]
    whole = "\n".join(made)
    assert "STRICT" not in whole
    assert "TIMESTAMP WITH TIME ZONE" in whole
    assert "balance BIGINT" in whole
    assert " INTEGER" not in whole
