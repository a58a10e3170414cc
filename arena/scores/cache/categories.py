"""The categories from which the list of markets can be narrowed, those with most markets first."""

from datetime import datetime

from pydantic import TypeAdapter

from arena.record.queries.forecasts import Connection
from arena.record.queries.markets import count_shown_rounds, read_categories
from arena.record.write.rollups import Rollup, read_basis
from arena.scores.cache.entry import read_entry, to_rollup

METHOD = "categories 1"
NAME = "categories"
FORM = TypeAdapter(tuple[str, ...])


def cached_categories(connection: Connection) -> tuple[str, ...]:
    """The categories as they were found last; none where they were not looked for yet."""
    found = read_entry(connection, NAME, _basis(connection), FORM)
    return () if found is None else found.value


def stale_categories(connection: Connection) -> bool:
    """Whether agents were shown more since."""
    return read_basis(connection, NAME) != _basis(connection)


def compute_categories(connection: Connection, at: datetime) -> Rollup:
    """The categories of all that agents were shown."""
    return to_rollup(NAME, _basis(connection), at, FORM, tuple(read_categories(connection)))


def _basis(connection: Connection) -> str:
    return f"{METHOD}: {count_shown_rounds(connection)} rounds"
