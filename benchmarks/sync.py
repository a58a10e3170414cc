"""How much a venue's whole catalogue costs: 10,000 records like Gamma's, 30 MB, read over HTTP and stored.

The server runs in a process of its own. What is compared is CPU time of this process: against parsing the
same bytes with orjson and upserting the same rows with sqlite3 itself; and for a second look, at which
nothing has changed, against reading and parsing alone. They take turns, so that what else the machine does
is the same for all of them, and of each the run with the least CPU counts.

python -m benchmarks.sync
"""

import asyncio
import gc
import json
import sqlite3
import tempfile
from collections.abc import Callable
from contextlib import closing
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from orjson import loads

from arena.record.record import Record
from arena.record.write.sync import SyncResult, VenueSource, add_catalogue
from arena.verify import verify
from benchmarks.measure import Measurement, Timed, options, report, row, timed
from markets.model import Listing
from markets.venues.polymarket import Settings, venue
from tests.venue_server.many import START, elsewhere, polymarket
from tests.venue_server.polymarket import A_PAGE

MARKETS, SIZE = 10_000, 3_000
AT = START + timedelta(hours=1)
RUNS = 7
Rows = dict[str, tuple[list[str], list[tuple[Any, ...]]]]
TABLES = ("market", "market_version", "quote", "sync", "sighting")


def catalogue(url: str, at: datetime) -> list[Listing]:
    """Read and parse the whole catalogue."""

    async def read() -> list[Listing]:
        source = venue(Settings.model_validate({"url": url, "book_url": url, "per_second": 1e9}))
        try:
            return list((await source.catalogue(at)).listings)
        finally:
            await source.close()

    return asyncio.run(read())


def synced(record: Record, url: str, at: datetime) -> SyncResult:
    """Write the whole catalogue into a record."""
    return record.write(add_catalogue, VenueSource("polymarket", "live"), catalogue(url, at), at)


def plainly(base: sqlite3.Connection, sent: list[bytes], rows: Rows) -> None:
    """Parse the same bytes, and upsert the rows that the record keeps of them as they are."""
    records = [loads(page) for page in sent]
    assert sum(map(len, records)) == MARKETS
    base.execute("BEGIN IMMEDIATE")
    for table, (columns, lines) in rows.items():
        changes = ", ".join(f"{name} = excluded.{name}" for name in columns)
        marks = ", ".join("?" * len(columns))
        base.executemany(f"INSERT INTO {table} VALUES ({marks}) ON CONFLICT DO UPDATE SET {changes}", lines)
    base.execute("COMMIT")


def rows_of(path: Path) -> Rows:
    """Return what a sync has put into each table, and the names of its columns."""
    rows = {}
    with closing(sqlite3.connect(path)) as base:
        for table in TABLES:
            cursor = base.execute(f"SELECT * FROM {table}")
            rows[table] = [column[0] for column in cursor.description], cursor.fetchall()
    return rows


def an_empty_record(path: Path) -> sqlite3.Connection:
    """Return the tables of a record behind sqlite3 itself."""
    Record.open(str(path)).close()
    return sqlite3.connect(path, isolation_level=None)


def one_run(folder: Path, url: str, sent: list[bytes]) -> dict[str, float]:
    """Return CPU seconds a market for each piece of work, done once, with a record of its own."""
    record = Record.open(str(folder / "ours.db"))
    measured = {
        "parsed": cpu(lambda: catalogue(url, AT)),
        "first": cpu(lambda: synced(record, url, AT)),
        "again": cpu(lambda: synced(record, url, AT + timedelta(hours=1))),
    }
    with record.reading() as connection:
        assert verify(connection) == []
    counts = {
        table: len(lines) for table, (_, lines) in rows_of(Path(str(record.engine.url.database))).items()
    }
    assert counts == dict.fromkeys(TABLES, MARKETS) | {"sync": 2}
    record.close()
    rows = rows_of(folder / "ours.db")
    with closing(an_empty_record(folder / "plain.db")) as base:
        measured["plain"] = cpu(lambda: plainly(base, sent, rows))
    return measured


def cpu(work: Callable[[], object]) -> float:
    gc.collect()  # or one would pay for what another has left behind
    return timed(work, MARKETS, repeat=1).cpu


def measured(folder: Path) -> tuple[list[Measurement], list[str]]:
    records = polymarket(MARKETS, size=SIZE)
    sent = [json.dumps(records[start : start + A_PAGE]).encode() for start in range(0, MARKETS, A_PAGE)]
    runs = []
    with elsewhere(MARKETS, size=SIZE) as url:
        for number in range(RUNS):
            place = folder / str(number)
            place.mkdir()
            runs.append(one_run(place, url, sent))
    least = {name: min(run[name] for run in runs) for name in runs[0]}
    parsed, first, again = (Timed(least[name], least[name]) for name in ("parsed", "first", "again"))
    size = sum(map(len, sent)) / 1e6
    against = "orjson, same rows"
    plain = 1 / least["plain"]
    return [
        row("a market read over HTTP, parsed and stored", first, against, plain, 1 / 3),
        row("a market seen again, nothing changed", again, "read and parsed", parsed.per_second, 1 / 1.5),
        row("a market read over HTTP and parsed", parsed, against, plain, 1 / 3),
    ], [f"{MARKETS:,} markets, {size:.0f} MB; all figures are for a second of CPU"]


def main() -> None:
    chosen = options(__doc__).parse_args()
    with tempfile.TemporaryDirectory() as folder:
        rows, notes = measured(Path(folder))
    report(rows, chosen.json, notes)


if __name__ == "__main__":
    main()
