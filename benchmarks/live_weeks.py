"""Three live weeks at a venue of 50,000 markets with every fault it can have: is each draw made from all?

`arena run --clock` plays daily rounds over HTTP, on a pretended clock, so that waiting takes no time. The
venue is down, slow to be sorry, sends half a page, repeats a page or gives a cursor that leads nowhere, at
random hours and when rounds are due. Told is how late each round was, the arena's CPU and memory, the bytes
that were read against those of the whole list, how the record grew, and whether every draw is made again.

python -m benchmarks.live_weeks [--markets N] [--days N]
"""

import json
import resource
import signal
import sqlite3
import subprocess
import tempfile
import time
from collections import Counter
from contextlib import closing
from datetime import datetime, timedelta
from functools import lru_cache
from pathlib import Path
from random import Random
from typing import Any

from arena.clock import PretendedClock
from benchmarks.measure import options
from markets.hashes import sha256
from tests.program.command_line import command, environment
from tests.program.rehearsal import SUNDAY, clock_at
from tests.program.running import arena_json
from tests.serving import Reply
from tests.venue_server.many import polymarket
from tests.venue_server.polymarket import A_PAGE, CLOB, GAMMA, Raw, a_book, a_book_end, condition, token
from tests.venue_server.server import HTML, RESET, TRUNCATED, Asked, VenueServer, status

HOUR = timedelta(hours=1)
DAY = timedelta(days=1)
FAULTS = ("down", "refused", "limited", "cut", "reset", "repeats", "lost")
SHARE_OF_HOURS, RECORD = 0.05, "rehearsal.db"
CONFIG = """\
markets:
  venue: polymarket
  polymarket: {{url: "{url}{gamma}", book_url: "{url}{clob}", per_second: 5}}
cohorts: {{first: 2026-01-04, decide: 1d, rounds: {days}, count: 1}}
run: {{backup: off}}
agents: [{{kind: market}}, {{kind: constant}}]
"""


class LongVenue(VenueServer):
    """The venue. What it shows depends on the arena's clock: half of all prices move a day, markets end."""

    def __init__(self, folder: Path, count: int, days: int, seed: int = 1) -> None:
        super().__init__()
        self.folder = folder
        self.sent = Counter[str]()
        self.raws = {raw["id"]: raw for raw in polymarket(count, seed)}
        self.by_token = {token(name): name for name in self.raws}
        self.by_condition = {condition(name): name for name in self.raws}
        rng = Random(f"{seed}/faults")
        hours = [SUNDAY + number * HOUR for number in range(24 * days)]
        self.faults = {at: rng.choice(FAULTS) for at in hours if rng.random() < SHARE_OF_HOURS}
        due = [SUNDAY + 3 * number * DAY for number in range(1, days // 3)]
        self.faults |= dict(zip(due, FAULTS, strict=False))
        self.route(f"{GAMMA}/markets/keyset", self.listed)
        self.route(f"{CLOB}/books", lambda asked: [self.book(each["token_id"]) for each in asked.body])
        self.route(f"{CLOB}/markets/", self.end)

    def now(self) -> datetime:
        return PretendedClock.read(self.folder / "clock").now()

    def fault(self) -> str:
        return self.faults.get(self.now().replace(minute=0, second=0, microsecond=0), "")

    def answer(self, asked: Asked) -> Reply:
        fault = self.fault()
        plain = {"down": status(503), "refused": HTML, "limited": status(429)}
        plain |= {"cut": TRUNCATED, "reset": RESET}
        said = plain.get(fault) or super().answer(asked)
        self.sent["a list" if "id" not in asked.query else "chosen"] += len(said.body)
        return said

    def listed(self, asked: Asked) -> Reply:
        at = self.now()
        if "id" in asked.query:
            closed = asked.params["closed"] == "true"
            names = [name for name in asked.query["id"] if (self.over(name, at)) is closed]
            return Reply(json.dumps({"markets": [self.page(name, at) for name in names]}).encode())
        wanted = asked.params.get("volume_num_min", "0"), asked.params.get("end_date_max", "~")
        pages = self.pages(at.date().isoformat(), *wanted)
        fault = self.fault()
        number = int(asked.params.get("after_cursor", 0))
        if fault == "repeats":
            number = min(number, 1)
        return Reply(b'{"markets": [], "next_cursor": 7}') if fault == "lost" and number else pages[number]

    @lru_cache(maxsize=2)  # noqa: B019 - there is one venue
    def pages(self, day: str, volume: str, until: str) -> list[Reply]:
        """Return the list of a day by the filters that the venue knows."""
        at = datetime.fromisoformat(f"{day}T00:00:00Z")
        there = (
            x for x in self.raws.values() if float(x["volume"]) >= float(volume) and x["endDate"] <= until
        )
        names = [raw["id"] for raw in there if not self.over(raw["id"], at)]
        parts = [names[start : start + A_PAGE] for start in range(0, len(names), A_PAGE)] or [[]]
        found: list[Reply] = []
        for number, part in enumerate(parts, 1):
            more = {"next_cursor": str(number)} if number < len(parts) else {}
            found.append(Reply(json.dumps({"markets": [self.page(x, at) for x in part], **more}).encode()))
        return found

    def over(self, name: str, at: datetime) -> bool:
        return bool(self.raws[name]["endDate"] <= f"{at - 2 * HOUR:%Y-%m-%dT%H:%M:%SZ}")

    def page(self, name: str, at: datetime) -> Raw:
        """Return a market's state today; its price moves on every second day, half of all on each."""
        raw = self.raws[name]
        if self.over(name, at):
            paid = int(sha256(name), 16) % 2
            ended = {"closed": True, "acceptingOrders": False, "umaResolutionStatus": "resolved"}
            return raw | ended | {"outcomePrices": json.dumps([str(paid), str(1 - paid)])}
        moved = (at - SUNDAY) // DAY + int(name) % 2
        shift = Random(f"{name}/{moved // 2}").randrange(-3, 4) / 100
        bid = min(max(raw["bestBid"] + shift, 0.02), 0.95)
        prices = json.dumps([f"{bid + 0.01:.2f}", f"{0.99 - bid:.2f}"])
        return raw | {"bestBid": round(bid, 2), "bestAsk": round(bid + 0.02, 2), "outcomePrices": prices}

    def book(self, asked: str) -> Raw:
        name = self.by_token[asked]
        page = self.page(name, self.now())
        bid = f"{page['bestBid']:.2f}"
        ask = f"{page['bestAsk']:.2f}"
        return a_book(name, [(bid, "5000")], [(ask, "5000")])

    def end(self, asked: Asked) -> Any:
        name = self.by_condition[asked.path.rpartition("/")[2]]
        won = "Yes" if int(sha256(name), 16) % 2 else "No"
        return a_book_end(name, won=won) if self.over(name, self.now()) else status(404)


def played(folder: Path, venue: LongVenue, days: int) -> dict[str, Any]:
    """Play the weeks, and return what they cost."""
    shape = {"url": venue.url, "gamma": GAMMA, "clob": CLOB, "days": days}
    (folder / "config.yaml").write_text(CONFIG.format(**shape), "utf-8")
    clock_at(folder)
    words = command("run", "--clock", "clock", "--database", RECORD)
    peak = 0.0
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(words, cwd=folder, env=environment(), stdout=log, stderr=log)
        while process.poll() is None and venue.now() < SUNDAY + days * DAY:
            time.sleep(0.2)
            peak = max(peak, peak_memory(process.pid))
        process.send_signal(signal.SIGINT)
        process.wait(timeout=120)
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    if process.returncode not in (0, 2, 130):
        raise SystemExit((folder / "log").read_text("utf-8")[-2000:])
    proved = arena_json(folder, "admin", "verify", "--draws", "--database", RECORD)
    whole = sum(len(json.dumps(raw)) for raw in venue.raws.values())
    with closing(sqlite3.connect(folder / RECORD)) as base:
        [reads] = base.execute("SELECT count(*) FROM sync").fetchone()
    return {
        "markets": len(venue.raws),
        "days": days,
        "faults": len(venue.faults),
        "cpu_seconds": round(usage.ru_utime + usage.ru_stime, 1),
        "peak_mb": round(peak),
        "readings": reads,
        "bytes_a_reading": venue.sent["a list"] // reads,
        "of_the_whole_list": round(venue.sent["a list"] / reads / whole, 3),
        "cpu_a_day": round((usage.ru_utime + usage.ru_stime) / days, 1),
        "record_mb_a_day": round((folder / RECORD).stat().st_size / 1e6 / days, 2),
        "record_mb": round((folder / RECORD).stat().st_size / 1e6, 1),
        "rounds_drawn_again": proved["draws"],
        "differences": proved["count"],
        "unproved": proved["unproved"],
    }


def peak_memory(process: int) -> float:
    """Return a process's peak memory in megabytes; that of an ended child includes its parent's."""
    told = dict(line.split(":", 1) for line in Path(f"/proc/{process}/status").read_text().splitlines())
    return int(told["VmHWM"].split()[0]) / 1024 if "VmHWM" in told else 0.0  # none of one that has ended


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("--markets", type=int, default=50_000)
    parser.add_argument("--days", type=int, default=21)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        from tests.serving import serving

        with serving(LongVenue(Path(folder), asked.markets, asked.days)) as venue:
            found = played(Path(folder), venue, asked.days)
    if asked.json:
        print(json.dumps(found))
        return
    for name, value in found.items():
        print(f"{name.replace('_', ' ')}: {value}")


if __name__ == "__main__":
    main()
