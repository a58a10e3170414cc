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
import random
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from orjson import loads

from arena.record.record import Record
from arena.record.schema.database import reading
from arena.record.write.sync import SyncResult, VenueSource, add_catalogue
from arena.verify import verify
from benchmarks.measure import Measurement, Timed, options, report, row, timed
from markets.model import Listing
from markets.venues.polymarket import Settings, venue

MARKETS, A_PAGE = 10_000, 100
AT = datetime(2026, 1, 4, tzinfo=UTC)
RUNS = 7
Rows = dict[str, tuple[list[str], list[tuple[Any, ...]]]]
WORDS = (
    "the",
    "market",
    "resolves",
    "to",
    "yes",
    "if",
    "this",
    "is",
    "so",
    "before",
    "the",
    "end",
    "of",
    "it",
)
FIGURES = (
    "volumeNum",
    "liquidityNum",
    "volume24hr",
    "volume1wk",
    "volume1mo",
    "volume1yr",
    "spread",
    "competitive",
)
TRUE = (
    "active",
    "acceptingOrders",
    "enableOrderBook",
    "feesEnabled",
    "approved",
    "ready",
    "funded",
    "automaticallyActive",
)
FALSE = (
    "closed",
    "archived",
    "new",
    "featured",
    "restricted",
    "cyom",
    "negRisk",
    "clearBookOnStart",
    "pagerDutyNotificationEnabled",
)
TABLES = ("market", "market_version", "quote", "sync", "sighting")


def a_record(number: int) -> dict[str, Any]:
    """A market as Gamma sends it: what we read, and much that we don't."""
    rng = random.Random(f"gamma/{number}")
    name, bid = str(100_000 + number), rng.randint(2, 95)
    fees = {"rate": 0.04, "exponent": 1, "takerOnly": True, "rebateRate": 0.25}
    event = {
        "id": str(number // 3),
        "ticker": f"event-{number // 3}",
        "slug": f"event-{number // 3}",
        "title": f"What comes of {number // 3}?",
        "description": " ".join(rng.choices(WORDS, k=40)),
        "startDate": "2025-12-01T13:29:55.211Z",
        "endDate": "2026-07-31T12:00:00Z",
        "active": True,
        "closed": False,
        "liquidity": rng.randint(0, 10**9) / 10**6,
        "volume": rng.randint(0, 10**12) / 10**6,
        "enableNegRisk": False,
        "negRiskAugmented": False,
        "commentCount": rng.randint(0, 500),
    }
    record = {
        "id": name,
        "question": f"Will the {rng.choice(WORDS)} of case {number} {' '.join(rng.choices(WORDS, k=6))}?",
        "conditionId": f"0x{number:064x}",
        "slug": f"case-{number}",
        "resolutionSource": "",
        "endDate": "2026-07-31T12:00:00Z",
        "startDate": f"2025-12-{rng.randint(1, 28):02}T16:09:33.80427Z",
        "createdAt": "2025-12-01T13:29:55.211Z",
        "updatedAt": "2026-01-03T23:29:55.211133Z",
        "image": f"https://example.org/images/{number}.png",
        "icon": f"https://example.org/images/{number}.png",
        "description": " ".join(rng.choices(WORDS, k=200)),
        "outcomes": '["Yes", "No"]',
        "outcomePrices": json.dumps([str((bid + 1) / 100), str((99 - bid) / 100)]),
        "clobTokenIds": json.dumps([f"9{number:076}", f"8{number:076}"]),
        "volume": str(rng.randint(0, 10**12) / 10**6),
        "liquidity": str(rng.randint(0, 10**9) / 10**6),
        "orderPriceMinTickSize": 0.01,
        "orderMinSize": 5,
        "bestBid": bid / 100,
        "bestAsk": (bid + 2) / 100,
        "lastTradePrice": (bid + 1) / 100,
        "feeSchedule": fees,
        "tags": [{"id": "100639", "slug": slug, "label": slug} for slug in ("politics", "world")],
        "events": [event],
    }
    record |= {name: rng.randint(0, 10**9) / 10**6 for name in FIGURES}
    return record | dict.fromkeys(TRUE, True) | dict.fromkeys(FALSE, False)


def pages() -> list[bytes]:
    """The catalogue as it is sent, page by page."""
    bodies = []
    for start in range(0, MARKETS, A_PAGE):
        page: dict[str, Any] = {"markets": [a_record(n) for n in range(start, start + A_PAGE)]}
        if start + A_PAGE < MARKETS:
            page["next_cursor"] = str(start + A_PAGE)
        bodies.append(json.dumps(page).encode())
    return bodies


def serve(folder: str) -> None:
    """Serve the pages in a folder until standard input ends."""
    from tests.serving import Reply
    from tests.venue_server.server import Asked, venue_server

    sent = [path.read_bytes() for path in sorted(Path(folder).glob("*.json"))]

    def page(asked: Asked) -> Reply:
        return Reply(sent[int(asked.params.get("after_cursor", "0")) // A_PAGE])

    with venue_server() as server:
        server.route("/markets/keyset", page)
        print(server.url, flush=True)
        sys.stdin.read()


@contextmanager
def served(folder: Path, sent: list[bytes]) -> Iterator[str]:
    """The address of a server with these pages, in a process of its own."""
    for number, page in enumerate(sent):
        (folder / f"{number:05}.json").write_bytes(page)
    command = [sys.executable, "-c", f"from benchmarks.sync import serve; serve({str(folder)!r})"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
        assert process.stdin is not None
        process.stdin.close()


def catalogue(url: str, at: datetime) -> list[Listing]:
    """The whole catalogue, read and parsed."""

    async def read() -> list[Listing]:
        source = venue(Settings.model_validate({"url": url, "book_url": url, "per_second": 1e9}))
        try:
            return await source.catalogue(at)
        finally:
            await source.close()

    return asyncio.run(read())


def synced(record: Record, url: str, at: datetime) -> SyncResult:
    """The whole catalogue into a record."""
    return record.write(add_catalogue, VenueSource("polymarket", "live"), catalogue(url, at), at)


def plainly(base: sqlite3.Connection, sent: list[bytes], rows: Rows) -> None:
    """The same bytes parsed, and the rows that the record keeps of them upserted as they are."""
    records = [loads(page)["markets"] for page in sent]
    assert sum(map(len, records)) == MARKETS
    base.execute("BEGIN IMMEDIATE")
    for table, (columns, lines) in rows.items():
        changes = ", ".join(f"{name} = excluded.{name}" for name in columns)
        marks = ", ".join("?" * len(columns))
        base.executemany(f"INSERT INTO {table} VALUES ({marks}) ON CONFLICT DO UPDATE SET {changes}", lines)
    base.execute("COMMIT")


def rows_of(path: Path) -> Rows:
    """What a sync has put into each table, and the names of its columns."""
    rows = {}
    with closing(sqlite3.connect(path)) as base:
        for table in TABLES:
            cursor = base.execute(f"SELECT * FROM {table}")
            rows[table] = [column[0] for column in cursor.description], cursor.fetchall()
    return rows


def an_empty_record(path: Path) -> sqlite3.Connection:
    """The tables of a record behind sqlite3 itself."""
    Record.open(str(path)).close()
    return sqlite3.connect(path, isolation_level=None)


def one_run(folder: Path, url: str, sent: list[bytes]) -> dict[str, float]:
    """CPU seconds a market of each piece of work, done once, with a record of its own."""
    record = Record.open(str(folder / "ours.db"))
    measured = {
        "parsed": cpu(lambda: catalogue(url, AT)),
        "first": cpu(lambda: synced(record, url, AT)),
        "again": cpu(lambda: synced(record, url, AT + timedelta(hours=1))),
    }
    check(record)
    record.close()
    rows = rows_of(folder / "ours.db")
    with closing(an_empty_record(folder / "plain.db")) as base:
        measured["plain"] = cpu(lambda: plainly(base, sent, rows))
    return measured


def cpu(work: Callable[[], object]) -> float:
    gc.collect()  # or one would pay for what another has left behind
    return timed(work, MARKETS, repeat=1).cpu


def measured(folder: Path) -> tuple[list[Measurement], list[str]]:
    sent, runs = pages(), []
    with served(folder, sent) as url:
        for number in range(RUNS):
            place = folder / str(number)
            place.mkdir()
            runs.append(one_run(place, url, sent))
    least = {name: min(run[name] for run in runs) for name in runs[0]}
    parsed, first, again = (Timed(least[name], least[name]) for name in ("parsed", "first", "again"))
    size = sum(map(len, sent)) / 1e6
    against, plain = "orjson, same rows", 1 / least["plain"]
    return [
        row("a market read over HTTP, parsed and stored", first, against, plain, 1 / 3),
        row("a market seen again, nothing changed", again, "read and parsed", parsed.per_second, 1 / 1.5),
        row("a market read over HTTP and parsed", parsed, against, plain, 1 / 3),
    ], [f"{MARKETS:,} markets, {size:.0f} MB; all figures are for a second of CPU"]


def check(record: Record) -> None:
    """That everything is in the record, once, and that the record agrees with itself."""
    with reading(record.engine) as connection:
        assert verify(connection) == []
    counts = {
        table: len(lines) for table, (_, lines) in rows_of(Path(str(record.engine.url.database))).items()
    }
    assert counts == dict.fromkeys(TABLES, MARKETS) | {"sync": 2}


def main() -> None:
    chosen = options(__doc__).parse_args()
    with tempfile.TemporaryDirectory() as folder:
        rows, notes = measured(Path(folder))
    report(rows, chosen.json, notes)


if __name__ == "__main__":
    main()
