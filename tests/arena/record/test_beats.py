"""A record whose claims, leases and reservations expired at an instant is brought to counts of renewals."""

from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import Connection, Engine

from arena.record.files.backup import backup
from arena.verify import verify
from arena.verify.content import verified_content
from portfolio.rules import REALISTIC
from tests.builders import NOW
from tests.opened_record import OpenedRecord
from tests.records.full_record import SUN, Season, a_cohort, the_book
from tests.rows import opened_to_read

PAST, FUTURE = "2001-01-01T00:00:00.000000Z", "2999-01-01T00:00:00.000000Z"
TIME = {"sqlite": "TEXT", "postgresql": "TIMESTAMP WITH TIME ZONE"}


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Return the address of a database for a new record."""
    if request.param == "sqlite":
        return str(tmp_path / "arena.db")
    new_record: Callable[[], str] = request.getfixturevalue("new_server_record")
    return new_record()


def put_back(connection: Connection) -> None:
    """Make the tables what they were before, with rows that have expired and rows that have not."""
    kind = TIME[connection.dialect.name]
    for table in ("claim", "lease", "reservation"):
        for column in ("beat", "renewed_at"):
            if column == "beat" or table == "lease":
                connection.exec_driver_sql(f"ALTER TABLE {table} DROP COLUMN {column}")
        connection.exec_driver_sql(
            f"ALTER TABLE {table} ADD COLUMN expires_at {kind} NOT NULL DEFAULT '{PAST}'"
        )
    connection.exec_driver_sql("DROP TABLE model_limit")
    connection.exec_driver_sql("UPDATE alembic_version SET version_num = '0009'")
    for entrant, until in ((1, PAST), (2, FUTURE)):
        connection.exec_driver_sql(
            f"INSERT INTO claim (round_id, entrant_id, token, holder, expires_at) "
            f"VALUES (1, {entrant}, 3, 'a.invalid/1/x', '{until}')"
        )
        connection.exec_driver_sql(
            "INSERT INTO reservation "
            f"(id, round_id, entrant_id, provider, worst, holder, made_at, expires_at) "
            f"VALUES ({entrant}, 1, {entrant}, 'demo', 9, 'a.invalid/1/x', '{PAST}', '{until}')"
        )
    connection.exec_driver_sql(
        f"INSERT INTO lease (name, token, holder, expires_at) VALUES ('scheduler', 7, 'x', '{FUTURE}')"
    )


def read(engine: Engine, query: str) -> list[tuple[object, ...]]:
    with OpenedRecord(engine).reading() as connection:
        return [tuple(row) for row in connection.exec_driver_sql(query)]


def test_what_had_expired_is_free_and_what_had_not_is_held(database: str, tmp_path: Path) -> None:
    record = OpenedRecord.at(database)
    season = Season(record)
    season.start(a_cohort(1, NOW, REALISTIC, "ann", "bob"))
    season.look(1, NOW, the_book(SUN, NOW))
    with record.engine.begin() as connection:
        put_back(connection)
    record.close()
    with opened_to_read(database, older=True) as older:
        assert backup(older, tmp_path / "saved", 3, NOW, verified_content).content.schema == "0009"

    engine = OpenedRecord.at(database).engine
    assert read(engine, "SELECT entrant_id, token, beat FROM claim ORDER BY 1") == [(1, 3, None), (2, 3, 0)]
    assert read(engine, "SELECT id, worst, beat FROM reservation ORDER BY 1") == [(1, 9, None), (2, 9, 0)]
    assert read(engine, "SELECT token, beat, renewed_at IS NOT NULL FROM lease") == [(7, 0, True)]
    assert read(engine, "SELECT count(*) FROM model_limit") == [(0,)]
    with OpenedRecord(engine).reading() as connection:
        assert verify(connection) == []
    engine.dispose()
