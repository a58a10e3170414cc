"""The record that the pages read: short looks, each of one instant, and nothing ever written."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import streamlit as st

from arena.record.queries.progress import read_record_version
from arena.record.schema.database import Connection, cached_engine, check_schema, reading, url_of

Answer = TypeVar("Answer")

OLDEST = 60
"""Seconds after which an answer is read anew, whatever the record says of itself."""

cached = st.cache_data(ttl=OLDEST, max_entries=64, show_spinner=False)
"""For queries: an answer is kept until the record, or what is asked, is another."""


@dataclass(frozen=True, slots=True)
class RecordSource:
    """A record and its state: answers are kept until one of the two is another."""

    address: str
    version: tuple[str, ...]


def source(address: str) -> RecordSource:
    """The record at an address, as it is now; an error that says what to do where it can't be read."""
    check_schema(cached_engine(address, _file(address)))
    return RecordSource(address, (_file(address), *ask(RecordSource(address, ()), read_record_version)))


def _file(address: str) -> str:
    """Which file it is: a record may be thrown away and made anew under its name. Empty for a server."""
    url = url_of(address)
    path = Path(url.database or "") if url.get_backend_name() == "sqlite" else None
    return str(path.stat().st_ino) if path is not None and path.exists() else ""


def ask(record: RecordSource, question: Callable[[Connection], Answer]) -> Answer:
    """What the record answers to a question, read in one consistent look."""
    engine = cached_engine(record.address, _file(record.address))
    try:
        with reading(engine) as connection:
            return question(connection)
    finally:
        engine.dispose()
