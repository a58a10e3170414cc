"""A record whose turns have a `verdict` and `wishes` is brought to `status` and `orders`."""

from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import Connection, inspect
from sqlalchemy.exc import DBAPIError

from arena.errors import ArenaError
from arena.record.files.backup import backup
from arena.verify import verify
from arena.verify.checks.schema import TRIGGERS
from arena.verify.content import verified_content
from tests.builders import NOW
from tests.opened_record import OpenedRecord, moved
from tests.rows import hash_seen, opened_to_read, read_only

FAILED = (
    "OLD.verdict = 'failed' AND NEW.id = OLD.id AND NEW.round_id = OLD.round_id "
    "AND NEW.entrant_id = OLD.entrant_id"
)
GUARD = {
    "sqlite": [
        (
            f"CREATE TRIGGER turn_no_update BEFORE UPDATE ON turn WHEN NOT ({FAILED}) "
            "BEGIN SELECT RAISE(ABORT, 'turn: the record is append-only'); END"
        ),
    ],
    "postgresql": [
        (
            "CREATE OR REPLACE FUNCTION turn_no_update() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
            f"IF NOT ({FAILED}) THEN RAISE EXCEPTION 'turn: the record is append-only'; END IF; RETURN NEW; "
            "END $$"
        ),
        (
            'CREATE TRIGGER turn_no_update BEFORE UPDATE ON "turn" '
            "FOR EACH ROW EXECUTE FUNCTION turn_no_update()"
        ),
    ],
}
ADDED_BY_0006 = {
    "market_version": ("slug", "event_slug", "tags"),
    "quote": ("volume_24h", "liquidity", "open_interest"),
    "sync": ("left_out", "rejected"),
}


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest, built: Path, tmp_path: Path) -> str:
    """Return the address of a database with the small record."""
    if request.param == "sqlite":
        address = str(tmp_path / "arena.db")
    else:
        new_database: Callable[[], str] = request.getfixturevalue("new_database")
        address = new_database()
    moved(built, address)
    return address


def put_back(connection: Connection, version: str) -> None:
    """Make the table of turns what it was under an earlier version of the schema."""
    is_server = connection.dialect.name == "postgresql"
    connection.exec_driver_sql(f"DROP TRIGGER turn_no_update{' ON turn' if is_server else ''}")
    connection.exec_driver_sql("DROP INDEX ix_turn_status")
    connection.exec_driver_sql("ALTER TABLE turn RENAME COLUMN status TO verdict")
    connection.exec_driver_sql("ALTER TABLE turn RENAME COLUMN orders TO wishes")
    connection.exec_driver_sql("CREATE INDEX ix_turn_verdict ON turn (verdict)")
    for statement in GUARD[connection.dialect.name]:
        connection.exec_driver_sql(statement)

    if version == "0005":
        for table, names in ADDED_BY_0006.items():
            for name in names:
                connection.exec_driver_sql(f"ALTER TABLE {table} DROP COLUMN {name}")
    connection.exec_driver_sql(f"UPDATE alembic_version SET version_num = '{version}'")


@pytest.mark.parametrize("version", ["0005", "0011"])
def test_the_columns_are_renamed_and_nothing_else_is_another(
    database: str, version: str, tmp_path: Path
) -> None:
    record = OpenedRecord.at(database)
    query = TRIGGERS[record.engine.dialect.name]
    with record.reading() as connection:
        before = hash_seen(connection)
        guards = sorted(map(tuple, connection.exec_driver_sql(query)))
    with record.engine.begin() as connection:
        put_back(connection, version)
    record.close()
    with pytest.raises(ArenaError, match=f"older arena .schema {version}"), read_only(database):
        raise AssertionError("an older record was opened")
    with opened_to_read(database, older=True) as older:
        saved = backup(older, tmp_path / "saved", 3, NOW, verified_content)
    assert (saved.content.schema, saved.content.state_hash) == (version, before)

    engine = OpenedRecord.at(database).engine
    with OpenedRecord(engine).reading() as connection:
        assert verify(connection) == []
        assert hash_seen(connection) == before
        assert sorted(map(tuple, connection.exec_driver_sql(query))) == guards
        indexes = {index["name"]: index["column_names"] for index in inspect(connection).get_indexes("turn")}
        assert indexes["ix_turn_status"] == ["status"]
        assert "ix_turn_verdict" not in indexes
    with engine.connect() as connection, pytest.raises(DBAPIError, match="append-only"):
        connection.exec_driver_sql("UPDATE turn SET note = 'better' WHERE status = 'played'")
    with engine.connect() as connection:
        assert connection.exec_driver_sql("UPDATE turn SET note = '' WHERE status = 'failed'").rowcount >= 0
    engine.dispose()
