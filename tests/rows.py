"""What a record holds, row by row: read without changing it, or put there without the arena."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

from sqlalchemy import Column, Connection, Engine

from arena.record.files.recording import read_sightings
from arena.record.hashes import state_hash
from arena.record.model.cohort import Cohort
from arena.record.model.columns import ForecastColumns
from arena.record.queries.cohorts import StoredCohort, read_cohorts
from arena.record.queries.forecasts import read_forecast_columns
from arena.record.schema.codec import cohort_of, cohort_text
from arena.record.schema.database import READ_ONLY_OPTION, connect, open_read_only, reading
from arena.record.schema.dialects import UtcTime, instant_text
from arena.record.schema.tables import METADATA
from markets.bundle.write import Sighting

TABLES = {table.name: table for table in METADATA.sorted_tables}
"""The tables of a record by name, for who writes or compares rows."""


def rows_in(record: Path, query: str, *values: object) -> list[Any]:
    """Return the rows that a query finds; the file is only read."""
    with closing(sqlite3.connect(f"{record.resolve().as_uri()}?mode=ro", uri=True)) as plain:
        return plain.execute(query, values).fetchall()


@contextmanager
def read_only(record: str | Path, older: bool = False) -> Iterator[Connection]:
    """Yield a connection to the record at an address, which sees it as of one instant."""
    with open_read_only(str(record), older=older) as engine, reading(engine) as connection:
        yield connection


def state_of(record: str | Path) -> str:
    """Return the state hash of the record at an address, which may be of an older version."""
    with read_only(record, older=True) as connection:
        return hash_seen(connection)


def hash_seen(connection: Connection) -> str:
    """Return the hash of all facts that a connection sees."""
    return state_hash(connection)


def cohorts_seen(connection: Connection) -> list[StoredCohort]:
    """Return the cohorts that a connection sees, oldest first."""
    return read_cohorts(connection)


def forecasts_seen(connection: Connection, cohort: int | None = None) -> ForecastColumns:
    """Return all final forecasts that a connection sees as columns, or those of one cohort."""
    return read_forecast_columns(connection, cohort)


def sightings_seen(connection: Connection, since: datetime, until: datetime) -> list[Sighting]:
    """Return what a connection sees of markets between two instants, as a recording has it."""
    return list(read_sightings(connection, since, until))


def only_reads(connection: Connection) -> bool:
    """Tell whether a connection is one that changes nothing."""
    return bool(connection.get_execution_options().get(READ_ONLY_OPTION))


@contextmanager
def opened_to_read(record: str | Path, older: bool = False) -> Iterator[Engine]:
    """Yield an engine on the record at an address, with which nothing can be changed."""
    with open_read_only(str(record), older=older) as engine:
        yield engine


@contextmanager
def changing(record: str | Path) -> Iterator[Connection]:
    """Yield a connection to the record at an address; at the end its changes are committed."""
    engine = connect(str(record))
    try:
        with engine.begin() as connection:
            yield connection
    finally:
        engine.dispose()


def make_tables(engine: Engine) -> None:
    """Make the tables of a record in an empty database, without a version or a guard."""
    METADATA.create_all(engine)


def columns_of(table: str) -> list[str]:
    """Return the names of a table's columns."""
    return [column.name for column in TABLES[table].columns]


def is_instant(column: "Column[Any]") -> bool:
    """Tell whether a column holds instants."""
    return isinstance(column.type, UtcTime)


def stored_instant(at: datetime) -> str:
    """Return an instant as a record in a file holds it."""
    return instant_text(at)


def frozen_text(cohort: Cohort) -> str:
    """Return the text that a record keeps of a cohort."""
    return cohort_text(cohort)


def thawed(text: str) -> Cohort:
    """Return the cohort of which a record keeps such a text."""
    return cohort_of(text)
