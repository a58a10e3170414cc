"""How much a venue's whole catalogue costs: 10,000 records like Gamma's, 30 MB, read over HTTP and stored.

The server runs in a process of its own. What is compared is CPU time of this process: against parsing the
same bytes (with orjson where that is installed, else json) and upserting them with sqlite3 itself; and for a
second look, at which nothing has changed, against reading and parsing alone.

python -m benchmarks.sync
"""

import asyncio
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

from arena.store.database import connect, reading
from arena.store.record import Record
from arena.store.sync import Source, Synced
from arena.store.verify import verify
from benchmarks.measure import Row, Timed, options, report, row, timed
from markets.model import Listing
from markets.venues.polymarket import Settings, venue

try:
    from orjson import loads

    PARSER = "orjson"
except ModuleNotFoundError:
    from json import loads

    PARSER = "json"

MARKETS, A_PAGE = 10_000, 100
AT = datetime(2026, 1, 4, tzinfo=UTC)
RUNS = 5
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
UPSERT = """
    INSERT INTO market VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (id) DO UPDATE SET question = excluded.question, rules = excluded.rules,
    bid = excluded.bid, ask = excluded.ask, last = excluded.last, volume = excluded.volume
"""
TABLE = """
    CREATE TABLE market (id TEXT PRIMARY KEY, question TEXT, rules TEXT, opens TEXT, closes TEXT,
    event TEXT, bid REAL, ask REAL, last REAL, volume REAL)
"""


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
        "description": " ".join(rng.choices(WORDS, k=110)),
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
    found = []
    for start in range(0, MARKETS, A_PAGE):
        page: dict[str, Any] = {"markets": [a_record(n) for n in range(start, start + A_PAGE)]}
        if start + A_PAGE < MARKETS:
            page["next_cursor"] = str(start + A_PAGE)
        found.append(json.dumps(page).encode())
    return found


def serve(folder: str) -> None:
    """Serve the pages in a folder until standard input ends."""
    from tests.venue_server.server import Asked, Reply, venue_server

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
        found = venue(Settings(url=url, book_url=url, per_second=1e9))
        try:
            return await found.catalogue(at)
        finally:
            await found.close()

    return asyncio.run(read())


def synced(record: Record, url: str, at: datetime) -> Synced:
    """The whole catalogue into a record."""
    return record.keep_catalogue(Source("polymarket", "live"), catalogue(url, at), at)


def plainly(base: sqlite3.Connection, sent: list[bytes]) -> None:
    """The same bytes parsed and upserted, and nothing else done to them."""
    names = ("id", "question", "description", "startDate", "endDate")
    prices = ("bestBid", "bestAsk", "lastTradePrice", "volume")
    base.execute("BEGIN IMMEDIATE")
    for page in sent:
        rows = [
            (*(x[name] for name in names), x["events"][0]["id"], *(x[name] for name in prices))
            for x in loads(page)["markets"]
        ]
        base.executemany(UPSERT, rows)
    base.execute("COMMIT")


def best(work: Callable[[int], object]) -> Timed:
    """The run with the least CPU of some, as if the CPU's time were all the time there is."""
    runs = [timed(lambda number=number: work(number), MARKETS, repeat=1) for number in range(RUNS)]
    cpu = min(run.cpu for run in runs)
    return Timed(cpu, cpu)


def measured(folder: Path) -> tuple[list[Row], list[str]]:
    sent = pages()
    with served(folder, sent) as url:
        records = [Record.open(str(folder / f"{number}.db")) for number in range(RUNS)]
        bases = [sqlite3.connect(folder / f"{number}.plain", isolation_level=None) for number in range(RUNS)]
        for base in bases:
            base.execute("PRAGMA journal_mode = WAL")
            base.execute(TABLE)
        parsed = best(lambda _: catalogue(url, AT))
        first = best(lambda number: synced(records[number], url, AT))
        again = best(lambda number: synced(records[number], url, AT + timedelta(hours=1)))
        plain = best(lambda number: plainly(bases[number], sent))
        check(records[0], bases[0])
        for opened in (*records, *bases):
            opened.close()
    size = sum(map(len, sent)) / 1e6
    return [
        row(
            "a market read over HTTP, parsed and stored", first, f"{PARSER}, upserts", plain.per_second, 1 / 3
        ),
        row(
            "a market seen again, nothing changed", again, "read and parsed alone", parsed.per_second, 1 / 1.5
        ),
        row("a market read over HTTP and parsed", parsed, f"{PARSER}, upserts", plain.per_second, 1 / 3),
    ], [f"{MARKETS:,} markets, {size:.0f} MB; all figures are for a second of CPU"]


def check(record: Record, base: sqlite3.Connection) -> None:
    """That everything is in the record, and in the plain table too."""
    with reading(connect(str(record.engine.url.database), read_only=True)) as connection:
        assert verify(connection) == []
    with closing(sqlite3.connect(str(record.engine.url.database))) as ours:
        tables = ("market", "market_version", "quote", "sighting")
        counts = {ours.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in tables}
    assert counts == {MARKETS}
    assert base.execute("SELECT count(*) FROM market").fetchone()[0] == MARKETS


def main() -> None:
    chosen = options(__doc__).parse_args()
    with tempfile.TemporaryDirectory() as folder:
        rows, notes = measured(Path(folder))
    report(rows, chosen.json, notes)


if __name__ == "__main__":
    main()
