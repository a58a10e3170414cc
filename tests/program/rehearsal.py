"""`arena run` in this process, on a pretended clock: a folder with a config, a record and a clock."""

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from arena.clock import PretendedClock
from arena.operations.progress import RunEvent, RunProgress
from arena.operations.run import Run, run
from arena.verify import verify
from tests.opened_record import OpenedRecord
from tests.rows import hash_seen
from tests.trusted import load_trusted

SUNDAY = datetime(2026, 1, 4, tzinfo=UTC)


def clock_at(folder: Path, at: datetime = SUNDAY) -> Path:
    """Return the folder's clock, set to a time."""
    file = folder / "clock"
    file.write_text(f"{at.isoformat()}\n", "utf-8")
    return file


def address(folder: Path, record: str) -> str:
    """Return a record's address: that of a server as it is, a file's in the folder."""
    return record if "://" in record else str(folder / record)


def rehearse(
    folder: Path,
    record: str = "arena.db",
    once: bool = False,
    tell: Callable[[Run, RunEvent], None] = lambda _run, _event: None,
) -> tuple[RunProgress, list[RunEvent]]:
    """Run the arena of a folder by its clock until it is over; how it stands then, and all that it told."""
    opened = OpenedRecord.at(address(folder, record))
    events = list[RunEvent]()

    def told(event: RunEvent) -> None:
        events.append(event)
        tell(running, event)

    running = Run(
        load_trusted(folder / "config.yaml", database=address(folder, record)),
        opened,
        lambda: PretendedClock.read(folder / "clock"),
        told,
        once,
    )
    try:
        asyncio.run(run(running))
    finally:
        opened.close()
    return running.progress, events


def content(folder: Path, record: str = "arena.db") -> dict[str, Any]:
    """Return what is in a folder's record."""
    return content_at(address(folder, record))


def content_at(place: str) -> dict[str, Any]:
    """Return a record's content: its hash, its counts, which cohorts have ended, and what is wrong."""
    opened = OpenedRecord.at(place)
    try:
        with opened.reading() as connection:
            found = {"hash": hash_seen(connection), "differences": verify(connection)}
            marks = connection.exec_driver_sql("SELECT count(*), sum(cash + value) FROM mark").one()
        ended = [(stored.cohort.number, stored.ended_at) for stored in opened.cohorts()]
        return found | opened.fact_counts() | {"marks": tuple(marks), "ended": ended}
    finally:
        opened.close()


def rows(folder: Path, query: str, record: str = "arena.db") -> list[tuple[Any, ...]]:
    """Return the answer of a folder's record to a query in SQL."""
    opened = OpenedRecord.at(address(folder, record))
    try:
        with opened.reading() as connection:
            return [tuple(row) for row in connection.exec_driver_sql(query)]
    finally:
        opened.close()
