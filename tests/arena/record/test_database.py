"""Opening a record: odd paths work, and what is no record is told in plain words."""

import asyncio
import socket
import sqlite3
import struct
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from select import select as wait_for_input
from socketserver import StreamRequestHandler, ThreadingTCPServer
from threading import Thread, Timer

import pytest
from sqlalchemy import Connection, Engine, text

from arena.errors import ArenaError
from arena.record.model.lease import LEASE_LENGTH
from arena.record.queries import cohorts
from arena.record.schema.database import (
    LONGEST_CHANGE,
    TIMEOUTS,
    NoRecord,
    allow_long_change,
    connect,
    open_read_only,
    reading,
    url_of,
)
from arena.record.schema.statements import insert_rows
from arena.record.write.turn_queue import open_queue
from markets.hashes import digest
from tests.builders import NOW
from tests.opened_record import OpenedRecord, new_record
from tests.rows import TABLES

ODD = [
    "plain.db",
    "with space.db",
    "50%.db",
    "a#b.db",
    "what?.db",
    "q?mode=ro.db",
    "é ü.db",
    "a&b=c.db",
    "%20.db",
]


@pytest.mark.parametrize("name", ODD)
def test_any_file_name_will_do_and_of_looking_no_file_is_left(name: str, tmp_path: Path) -> None:
    path = tmp_path / "a folder%" / name
    path.parent.mkdir()
    new_record(path)
    before = {file.name: file.read_bytes() for file in path.parent.iterdir()}
    assert list(before) == [name]
    with open_read_only(str(path)) as engine, reading(engine) as connection:
        assert cohorts.read_cohorts(connection) == []
    assert {file.name: file.read_bytes() for file in path.parent.iterdir()} == before


def test_a_new_record_waits_for_another_process_that_makes_it_too(tmp_path: Path) -> None:
    other = sqlite3.connect(tmp_path / "a.db", isolation_level=None, check_same_thread=False)
    other.execute("BEGIN IMMEDIATE")  # as it does to change the journal's mode
    committing = Timer(0.2, other.execute, ["COMMIT"])
    committing.start()
    new_record(tmp_path / "a.db")
    committing.join()
    assert other.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    other.close()


def test_a_url_is_taken_as_it_is() -> None:
    url = url_of("postgresql+psycopg://ann@host:1234/arena")
    assert (url.get_backend_name(), url.host, url.port, url.database) == ("postgresql", "host", 1234, "arena")
    with pytest.raises(ArenaError) as caught:
        url_of("://nothing")
    assert caught.value.code == "bad_database"


def code_of(path: Path | str, *, read_only: bool) -> str:
    """Return the code of the error that opening raises."""
    with pytest.raises(ArenaError) as caught:
        connect(path, read_only=True) if read_only else OpenedRecord.at(path)
    assert str(path) in caught.value.message
    assert caught.value.hint
    return caught.value.code


def test_no_file(tmp_path: Path) -> None:
    assert code_of(tmp_path / "none.db", read_only=True) == "no_record"
    with pytest.raises(NoRecord), open_read_only(str(tmp_path / "none.db")):
        pass
    assert list(tmp_path.iterdir()) == []
    assert code_of(tmp_path / "none" / "record.db", read_only=False) == "cannot_open"
    for read_only in (True, False):
        assert code_of(tmp_path, read_only=read_only) == "cannot_open"


@pytest.mark.parametrize("folder", [".", "/"])
def test_a_folder_is_no_record(folder: str) -> None:
    with pytest.raises(ArenaError, match="is a folder, not a record"), open_read_only(folder):
        pass


def test_an_empty_address_is_no_record() -> None:
    with pytest.raises(ArenaError, match="'' is not a database"), open_read_only(""):
        pass


@pytest.mark.parametrize("read_only", [True, False])
def test_a_file_that_is_no_database(read_only: bool, tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("Dear diary, " * 100, encoding="utf-8")
    assert code_of(path, read_only=read_only) == "not_a_record"
    assert path.read_text(encoding="utf-8").startswith("Dear diary")


@pytest.mark.parametrize("read_only", [True, False])
def test_into_a_database_of_another_program_nothing_is_written(read_only: bool, tmp_path: Path) -> None:
    sqlite3.connect(tmp_path / "other.db").execute("CREATE TABLE mine (a)").connection.close()
    assert code_of(tmp_path / "other.db", read_only=read_only) == "not_a_record"
    with closing(sqlite3.connect(tmp_path / "other.db")) as other:
        assert other.execute("SELECT name FROM sqlite_master").fetchall() == [("mine",)]


@pytest.mark.parametrize("read_only", [True, False])
def test_a_record_of_a_newer_arena(read_only: bool, copy: Path) -> None:
    database = sqlite3.connect(copy)
    database.execute("UPDATE alembic_version SET version_num = '9999'")
    database.commit()
    database.close()
    with pytest.raises(ArenaError) as caught:
        connect(copy, read_only=True) if read_only else OpenedRecord.at(copy)
    assert caught.value.code == "newer_record"
    assert "9999" in caught.value.message


def test_a_reader_sees_one_state_while_another_writes(copy: Path) -> None:
    record = OpenedRecord.at(copy)
    engine = connect(copy, read_only=True)
    count = "SELECT count(*) FROM cohort WHERE ended_at IS NOT NULL"
    with reading(engine) as connection:
        before = connection.exec_driver_sql(count).scalar()
        record.end(2, record.cohorts()[0].cohort.starts_at)
        assert connection.exec_driver_sql(count).scalar() == before == 1
    with reading(engine) as connection:
        assert connection.exec_driver_sql(count).scalar() == 2
    engine.dispose()
    record.close()


SECRET = "hush-hush"


@pytest.fixture
def refusing() -> Iterator[int]:
    """Yield the port of a server that speaks PostgreSQL's protocol until it refuses the password."""
    said = b'SFATAL\x00C28P01\x00Mpassword authentication failed for user "ann"\x00\x00'

    class Refuse(StreamRequestHandler):
        def handle(self) -> None:
            (length,) = struct.unpack("!I", self.rfile.read(4))
            self.rfile.read(length - 4)
            self.wfile.write(b"E" + struct.pack("!I", len(said) + 4) + said)

    with ThreadingTCPServer(("127.0.0.1", 0), Refuse) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_address[1]
        server.shutdown()


@pytest.fixture
def silent() -> Iterator[int]:
    """Yield the port of a server that accepts everyone, says nothing, and hangs up after some seconds."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        hangs_up = Timer(8, server.close)
        hangs_up.start()
        yield server.getsockname()[1]
        hangs_up.cancel()


def refused(address: str) -> ArenaError:
    """Return the error that opening a record at an address raises, after checking it for the password."""
    with pytest.raises(ArenaError) as caught:
        OpenedRecord.at(address)
    assert SECRET not in f"{caught.value.message} {caught.value.hint}"
    return caught.value


@pytest.mark.parametrize("query", ["", f"?password={SECRET}"])
def test_a_server_that_can_not_be_reached(query: str) -> None:
    error = refused(f"postgresql+psycopg://ann:{SECRET}@127.0.0.1:1/arena{query}")
    assert error.code == "unreachable"
    assert error.message.startswith("postgresql+psycopg://ann:***@127.0.0.1:1/arena can't be reached: ")
    assert "refused" in error.message
    assert error.hint


def test_a_server_that_refuses_the_password(refusing: int) -> None:
    error = refused(f"postgresql+psycopg://ann:{SECRET}@127.0.0.1:{refusing}/arena?sslmode=disable")
    assert error.code == "unreachable"
    assert "password authentication failed" in error.message


def test_a_server_that_says_nothing_is_not_waited_for(silent: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(TIMEOUTS, "connect_timeout", "2")  # the least that there is
    error = refused(f"postgresql+psycopg://ann:{SECRET}@127.0.0.1:{silent}/arena")
    assert error.code == "unreachable"
    assert "timeout expired" in error.message


def test_a_server_that_goes_away_is_noticed_on_connections_that_are_there(
    new_database: Callable[[], str],
) -> None:
    engine = connect(new_database())
    with engine.connect() as connection:
        driver = connection.connection.driver_connection
        assert driver is not None
        assert driver.info.get_parameters().items() >= TIMEOUTS.items()
    engine.dispose()


def test_a_writer_that_is_suspended_within_a_transaction_holds_no_lock_for_ever(
    new_database: Callable[[], str],
) -> None:
    address = new_database()
    with closing(OpenedRecord.at(address)) as suspended, closing(OpenedRecord.at(address)) as other:
        suspended.write(keep_prompt, "one")

        def change(connection: Connection) -> None:
            assert connection.scalar(IDLE_MS) < LEASE_LENGTH.total_seconds() * 1_000
            keep_prompt(connection, "two")
            connection.execute(text("SET LOCAL idle_in_transaction_session_timeout = 200"))
            other.write(keep_prompt, "two")  # it waits until the server has ended this transaction
            keep_prompt(connection, "three")

        with pytest.raises(ArenaError, match="has closed a connection that was idle") as caught:
            suspended.write(change)
        assert caught.value.code == "unreachable"
        suspended.write(keep_prompt, "four")
        texts = other.read(lambda connection: set(prompts(connection)))
        assert texts == {"one", "two", "four"}


def test_in_a_long_change_a_writer_may_be_silent_for_longer(new_database: Callable[[], str]) -> None:
    with closing(OpenedRecord.at(new_database())) as record:
        usual = record.write(Connection.scalar, IDLE_MS)

        def change(connection: Connection) -> int:
            allow_long_change(connection)
            return int(connection.scalar(IDLE_MS))

        assert record.write(change) == 5 * usual
        assert record.write(Connection.scalar, IDLE_MS) == usual


def test_a_writer_that_is_suspended_between_many_rows_holds_no_lock_for_ever(
    new_database: Callable[[], str],
) -> None:
    """Its server waits for the rest of the rows, and does not call it idle."""
    address = new_database()
    with closing(OpenedRecord.at(address)) as suspended, closing(OpenedRecord.at(address)) as other:

        def change(connection: Connection) -> None:
            assert connection.scalar(text("SHOW transaction_timeout")) == LONGEST_CHANGE
            allow_long_change(connection)
            connection.execute(text("SET LOCAL transaction_timeout = 300"))
            driver = connection.connection.driver_connection
            assert driver is not None
            with driver.pipeline():
                driver.execute("INSERT INTO prompt (hash, text) VALUES (%s, %s)", (digest("two"), "two"))
                driver.pgconn.send_flush_request()
                driver.pgconn.flush()
                assert wait_for_input([driver.pgconn.socket], [], [], 60)[0], "the server has the row"
                other.write(keep_prompt, "two")  # it waits until the server has ended this transaction

        assert suspended.read(Connection.scalar, text("SHOW transaction_timeout")) == "0"
        with pytest.raises(ArenaError, match="can't be reached"):
            suspended.write(change)
        assert other.read(prompts) == ["two"]


def test_a_change_that_takes_too_long_is_undone_and_said_so(new_database: Callable[[], str]) -> None:
    def change(connection: Connection) -> None:
        keep_prompt(connection, "one")
        allow_long_change(connection)
        connection.execute(text("SET LOCAL transaction_timeout = 300"))
        connection.execute(text("SELECT pg_sleep(20)"))

    with closing(OpenedRecord.at(new_database())) as record:
        with pytest.raises(ArenaError, match="has ended a change that took too long") as caught:
            record.write(change)
        assert caught.value.code == "unreachable"
        assert record.read(prompts) == []


IDLE_MS = text("SELECT setting::int FROM pg_settings WHERE name = 'idle_in_transaction_session_timeout'")


def prompts(connection: Connection) -> list[str]:
    return list(connection.exec_driver_sql("SELECT text FROM prompt").scalars())


def keep_prompt(connection: Connection, text: str) -> None:
    insert_rows(connection, TABLES["prompt"], [{"hash": digest(text), "text": text}])


def test_a_queue_whose_server_is_away_says_so_as_a_record_does() -> None:
    async def opened() -> None:
        async with open_queue(f"postgresql+psycopg://ann:{SECRET}@127.0.0.1:1/arena"):
            pass

    with pytest.raises(ArenaError, match=r"ann:\*\*\*@127\.0\.0\.1:1/arena can't be reached: ") as caught:
        asyncio.run(opened())
    assert (caught.value.code, bool(caught.value.hint)) == ("unreachable", True)


def test_a_driver_that_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    error = refused(f"postgresql+psycopg://ann:{SECRET}@127.0.0.1:1/arena")
    assert (error.code, error.message) == ("no_driver", "psycopg is not installed")
    assert 'pip install "paper-arena[postgres]"' in error.hint


@pytest.mark.parametrize(
    "start", ["nothing", "mysql", "postgresql+nothing", "postgresql+asyncpg", "sqlite+nothing"]
)
def test_a_dialect_that_no_record_is_kept_in(start: str) -> None:
    error = refused(f"{start}://ann:{SECRET}@127.0.0.1:1/record?password={SECRET}")
    assert error.code == "bad_database"
    assert error.message.startswith(f"'{start}://***@127.0.0.1:1/record' is not a database")


def test_a_port_that_is_none_does_not_tell_the_password() -> None:
    assert refused(f"postgresql://ann:{SECRET}@host:port/arena").code == "bad_database"


def add_prompt(engine: Engine) -> None:
    with engine.begin() as connection:
        connection.execute(TABLES["prompt"].insert().values(hash="h", text="t"))


def test_a_fact_that_another_process_wrote_first(copy: Path) -> None:
    mine = connect(copy)
    theirs = connect(copy)
    add_prompt(theirs)
    with pytest.raises(ArenaError) as caught:
        add_prompt(mine)
    error = caught.value
    assert (error.code, error.status) == ("raced", 2)
    assert error.message == f"another process wrote to {copy} at the same time"
    assert error.hint == "start it again to play what is missing"
    mine.dispose()
    theirs.dispose()


def test_rows_in_bulk_refuse_a_time_that_nobody_knows(tmp_path: Path) -> None:
    """They go past SQLAlchemy's own types, and still every instant has its zone."""
    record = OpenedRecord.at(tmp_path / "record.db")
    naive = NOW.replace(tzinfo=None)
    with pytest.raises(ValueError, match="has no time zone"), record.engine.begin() as connection:
        insert_rows(connection, TABLES["market"], [{"id": "sim:rain", "first_seen_at": naive}])
    with record.reading() as connection:
        assert connection.execute(TABLES["market"].select()).all() == []
    record.close()


def test_what_somebody_else_is_writing_is_left_alone(tmp_path: Path) -> None:
    record = OpenedRecord.at(tmp_path / "record.db")
    with record.engine.begin() as connection:
        connection.execute(TABLES["prompt"].insert().values(hash="h", text="t"))
    before = sorted(path.name for path in tmp_path.iterdir())
    with open_read_only(str(tmp_path / "record.db")) as engine, reading(engine) as connection:
        assert cohorts.read_prompts(connection, ["h"]) == {"h": "t"}
    assert sorted(path.name for path in tmp_path.iterdir()) == before
    assert "record.db-wal" in before
    record.close()
