"""What does a venue's past cost? 2,000 markets with 200 prices each, over HTTP, killed twice and resumed.

The venue is a local server that speaks the documented forms of Polymarket, Kalshi and Manifold. The bare
reference asks the same requests by httpx, parses them and writes the same rows. What is compared is CPU.
What was killed is to end as the same bundle, which is then replayed and probed for leaks.

python -m benchmarks.history [--markets N] [--venue NAME]
"""

import asyncio
import csv
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from multiprocessing import get_context
from pathlib import Path
from random import Random
from typing import Any

import httpx
import orjson

from benchmarks.measure import Measurement, options, report, within
from markets.venues.wire.http import CONNECTIONS
from tests.program.command_line import command, environment
from tests.serving import Reply, serving
from tests.venue_server import kalshi, manifold
from tests.venue_server.polymarket import CLOB, GAMMA, PolymarketWire, a_book_end, a_market, an_end, token
from tests.venue_server.server import Asked, VenueServer

MARKETS, PRICES = 2_000, 200
MOST_CPU, TIMES_BARE = 20.0, 5
START = datetime(2026, 1, 1, tzinfo=UTC)
DAY = timedelta(days=1)
STEP = timedelta(hours=6)
SPAN = ("--since", "2026-01-01", "--until", "2026-02-20")
FIGURES = ("markets", "prices", "resolutions")
KILLS = (0.3, 0.4)
"""After which parts of all requests it is killed, counted anew each time."""


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("--markets", type=int, default=MARKETS)
    parser.add_argument("--venue", choices=[*VENUES], action="append")
    chosen = parser.parse_args()
    rows = list[Measurement]()
    notes = list[str]()
    for name in chosen.venue or VENUES:
        with tempfile.TemporaryDirectory() as folder:
            found, note = past_of(name, Path(folder), chosen.markets)
        rows += found
        notes.append(note)
    report(rows, chosen.json, notes)


def past_of(venue: str, folder: Path, count: int) -> tuple[list[Measurement], str]:
    """Measure a venue's past: read by the arena, read plainly, killed twice; then replayed and probed."""
    with serving(VenueServer()) as server:
        file = VENUES[venue](folder, server, count)
        words = (venue, *SPAN, "--top", str(count), "--config", str(file), "--json")
        calm, ours = cpu_of(lambda: arena(folder, ("study", "bundle", "calm", *words)))
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
        asked = [(each.path, dict(each.query), each.body) for each in server.log]
        _, bare = cpu_of(lambda: in_a_process(plainly, server.url, asked, folder / "calm" / "prices.csv"))
        for part in KILLS:
            kill(folder, ("study", "bundle", "past", *words), server, int(len(asked) * part))
        past = arena(folder, ("study", "bundle", "past", *words))
        again = len(server.log) - 2 * len(asked)
    for what in FIGURES:
        assert past[what] == calm[what], (what, past, calm)
    read, resumed = ((folder / name / "prices.csv").read_bytes() for name in ("calm", "past"))
    assert read == resumed, "another bundle"
    replay = ("study", "replay", "past", "--config", str(file), "--json")
    season = arena(folder, replay)
    leaks = arena(folder, (*replay, "--probe-leaks"))
    assert leaks["ok"], leaks
    facts = sum(sum(each["compared"].values()) for each in leaks["probes"])
    return [
        within(f"{venue}'s past: {ours:.1f} s of CPU", ours, f"{MOST_CPU:g} s", MOST_CPU),
        within("", ours, f"{TIMES_BARE} times the same requests and rows, bare", TIMES_BARE * bare),
    ], (
        f"{venue}: {', '.join(f'{calm[what]:,} {what}' for what in FIGURES)}; "
        f"{peak:.0f} MB at most, of any command so far; "
        f"{len(asked):,} requests, {again:,} where it was killed twice, and the same bundle; "
        f"replayed: {season['turns']:,} turns, {season['fills']:,} fills; no leak in {facts:,} facts"
    )


def kill(folder: Path, words: Sequence[str], server: VenueServer, requests: int) -> None:
    """Start a command, and kill it once it has asked so often."""
    first = len(server.log)
    process = subprocess.Popen(command(*words), cwd=folder, env=environment(), stdout=subprocess.DEVNULL)

    def look(_asked: Asked) -> Reply | None:
        if len(server.log) - first >= requests and process.poll() is None:
            os.kill(process.pid, signal.SIGKILL)
        return None

    server.before = [look]
    status = process.wait()
    server.before = []
    assert status == -signal.SIGKILL, status


def arena(folder: Path, words: Sequence[str]) -> Any:
    """Return the output of a command."""
    done = subprocess.run(
        command(*words), cwd=folder, env=environment(), stdout=subprocess.PIPE, text=True, check=False
    )
    if done.returncode:
        sys.exit(f"{words[0]} ended with {done.returncode}: {done.stdout[-2000:]}")
    return json.loads(done.stdout)


def cpu_of(work: Callable[[], Any]) -> tuple[Any, float]:
    """Return the result of some work, and the CPU seconds of the processes that it starts."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    found = work()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return found, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def in_a_process(work: Callable[..., None], *asked: Any) -> None:
    """Do some work in a process of its own."""
    process = get_context("spawn").Process(target=work, args=asked)
    process.start()
    process.join()
    assert process.exitcode == 0


def plainly(url: str, asked: Sequence[tuple[str, dict[str, list[str]], Any]], prices: Path) -> None:
    """Ask, parse, and write the rows of a bundle."""

    async def ask_all() -> None:
        seats = asyncio.Semaphore(CONNECTIONS)
        async with httpx.AsyncClient(base_url=url) as client:

            async def ask(path: str, query: dict[str, list[str]], body: Any) -> object:
                async with seats:
                    method = "GET" if body is None else "POST"
                    answer = await client.request(method, path, params=query, json=body)
                    return orjson.loads(answer.content)

            await asyncio.gather(*(ask(*each) for each in asked))

    asyncio.run(ask_all())
    with prices.open(encoding="utf-8", newline="") as file, prices.with_suffix(".bare").open("w") as copy:
        csv.writer(copy).writerows(csv.reader(file))


def config(folder: Path, venue: str, **settings: Any) -> Path:
    places = json.dumps({**settings, "per_second": 5_000})
    file = folder / f"{venue}.yaml"
    markets = f"markets: {{venue: {venue}, min_volume: 0, {venue}: {places}}}"
    agents = "agents: [{kind: market}, {kind: constant}, {kind: random}]"
    file.write_text(f"{markets}\ncohorts: {{decide: daily}}\n{agents}\n", "utf-8")
    return file


def ended_at(number: int) -> datetime | None:
    """Return the end of a market; three of four end in the last week, so that all have some 200 prices."""
    return None if number % 4 == 0 else START + 44 * DAY + timedelta(hours=number % 150)


def stamp(at: datetime) -> str:
    return f"{at:%Y-%m-%dT%H:%M:%SZ}"


def priced(number: int) -> Iterator[tuple[int, datetime, float]]:
    """Yield every price of a market: its number, its time and its value."""
    ended = ended_at(number)
    for step in range(PRICES):
        at = START + step * STEP
        if ended is None or at < ended:
            yield step, at, round(0.2 + Random(f"{number}/{step // 8}").random() * 0.6, 3)


def at_polymarket(folder: Path, server: VenueServer, count: int) -> Path:
    wire = PolymarketWire()
    for number in range(count):
        name = str(100_001 + number)
        ended = ended_at(number)
        more: dict[str, Any] = {
            "slug": f"rain-{number}",
            "startDate": stamp(START - 5 * DAY),
            "endDate": stamp((ended or START + 90 * DAY) - timedelta(hours=1)),
            "volume": str(90_000 + number),
            "events": [{"id": str(7_000 + number // 3), "slug": f"e{number // 3}"}],
        }
        wire.markets.append(
            an_end(name, closedTime=stamp(ended), **more) if ended else a_market(name, **more)
        )
        wire.ends += [a_book_end(name)] if ended else []
        wire.past[token(name)] = [{"t": int(at.timestamp()), "p": price} for _, at, price in priced(number)]
    wire.serve(server)
    return config(folder, "polymarket", url=server.url + GAMMA, book_url=server.url + CLOB)


def at_kalshi(folder: Path, server: VenueServer, count: int) -> Path:
    wire = kalshi.KalshiWire(cutoff="2026-01-01T00:00:00Z")
    markets = list[Any]()
    wire.series = [kalshi.a_series(fee_multiplier=0.5)]
    for number in range(count):
        name = f"RAIN-26-{number}"
        ended = ended_at(number)
        more: dict[str, Any] = {"open_time": stamp(START), "volume_fp": f"{90_000 + number}.00"}
        if ended:
            more |= {"close_time": stamp(ended), "settlement_ts": stamp(ended + timedelta(hours=5))}
        markets.append((kalshi.an_end if ended else kalshi.a_market)(name, **more))
        wire.candles[name] = [
            {
                "end_period_ts": int(at.timestamp()),
                "yes_bid": {"close_dollars": f"{price:.2f}00"},
                "yes_ask": {"close_dollars": f"{price + 0.02:.2f}00"},
                "price": {"close_dollars": f"{price + 0.01:.2f}00"},
            }
            for _, at, price in priced(number)
        ]
    wire.events = [kalshi.an_event(*markets[i : i + 50]) for i in range(0, count, 50)]
    return config(folder, "kalshi", url=wire.serve(server))


def at_manifold(folder: Path, server: VenueServer, count: int) -> Path:
    wire = manifold.ManifoldWire()
    for number in range(count):
        name = f"m{number}"
        ended = ended_at(number)
        closed = int((ended or START).timestamp()) * 1000
        times: dict[str, Any] = {"closeTime": closed, "resolutionTime": closed + 18_000_000} if ended else {}
        made = manifold.an_end if ended else manifold.a_market
        wire.markets.append(made(name, volume=90_000 + number, **times))
        wire.bets += [
            manifold.a_bet(f"{name}-{step}", int(at.timestamp()) * 1000, price, name)
            for step, at, price in reversed([*priced(number)])
        ]
    return config(folder, "manifold", url=wire.serve(server))


VENUES = {"polymarket": at_polymarket, "kalshi": at_kalshi, "manifold": at_manifold}


if __name__ == "__main__":
    main()
