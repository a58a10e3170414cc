"""What does a venue's past cost? 2,000 markets with 200 prices each, over HTTP, killed twice and resumed.

The venue is a local server that speaks the documented forms of Polymarket, Kalshi and Manifold. The bare
reference asks the same requests by httpx, parses them and writes the same rows. What comes of it is replayed
at once, and probed for leaks.

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
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from multiprocessing import get_context
from pathlib import Path
from random import Random
from typing import Any

import httpx
import orjson

from benchmarks.measure import options
from markets.venues.wire.http import CONNECTIONS
from tests.program.command_line import command, environment
from tests.serving import Reply, serving
from tests.venue_server import kalshi, manifold
from tests.venue_server.polymarket import CLOB, GAMMA, PolymarketWire, a_book_end, a_market, an_end, token
from tests.venue_server.server import Asked, VenueServer

MARKETS, PRICES = 2_000, 200
MOST_CPU = 20.0
START = datetime(2026, 1, 1, tzinfo=UTC)
DAY, STEP = timedelta(days=1), timedelta(hours=6)
SPAN = ("--since", "2026-01-01", "--until", "2026-02-20")
KILLS = (0.3, 0.4)
"""After which parts of all requests it is killed, counted anew each time."""


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("--markets", type=int, default=MARKETS)
    parser.add_argument("--venue", choices=[*VENUES], action="append")
    chosen = parser.parse_args()
    results = {name: past_of(name, chosen.markets) for name in chosen.venue or VENUES}
    if chosen.json:
        print(json.dumps(results, indent=1))
        return
    for name, found in results.items():
        parts = (f"{found[what]:,} {what}" for what in ("markets", "prices", "resolutions"))
        print(f"{name}: {', '.join(parts)}")
        for what in ("requests", "cpu", "bare_cpu", "cpu_killed", "peak_mb", "replay", "leaks"):
            print(f"  {what:12} {found[what]}")
        good = found["cpu"] <= MOST_CPU and found["leaks"]["ok"]
        print(f"  {'good' if good else 'NOT GOOD'}: at most {MOST_CPU:g} s of CPU wanted, and no leak")


def past_of(venue: str, count: int) -> dict[str, Any]:
    """One venue's past, read whole and killed twice, then replayed and probed."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with serving(VenueServer()) as server:
            file = VENUES[venue](folder, server, count)
            words = ("history", venue, "{}", *SPAN, "--top", str(count), "--config", str(file), "--json")
            calm, cpu, peak = run(folder, [w.format("calm") for w in words])
            asked = len(server.log)
            plain = bare_cpu(server, folder / "calm" / "prices.csv", asked)
            again, killed = [w.format("past") for w in words], 0.0
            for part in KILLS:
                killed += killed_after(folder, again, server, int(asked * part))
            found, rest, _ = run(folder, again)
            killed_asked = len(server.log) - 2 * asked
            requests = {"calm": asked, "killed": killed_asked, "on_disk": found["answers_on_disk"]}
        for what in ("markets", "prices", "resolutions"):
            assert found[what] == calm[what], (what, found, calm)
        same = (folder / "past" / "prices.csv").read_bytes() == (folder / "calm" / "prices.csv").read_bytes()
        assert same, "another bundle"
        replay = ("replay", "past", "--config", str(file), "--json")
        season, played, _ = run(folder, replay)
        leaks, probed, _ = run(folder, (*replay, "--probe-leaks"))
    about = {key: season[key] for key in ("rounds", "turns", "fills", "settlements", "state_hash")}
    facts = sum(sum(each["compared"].values()) for each in leaks["probes"])
    return {
        **{key: found[key] for key in ("markets", "prices", "resolutions")},
        "requests": requests,
        "cpu": round(cpu, 1),
        "bare_cpu": round(plain, 1),
        "cpu_killed": round(killed + rest, 1),
        "peak_mb": round(peak),
        "replay": about | {"cpu": round(played, 1)},
        "leaks": {"ok": leaks["ok"], "facts": facts, "cpu": round(probed, 1)},
    }


def run(folder: Path, words: Sequence[str]) -> tuple[Any, float, float]:
    """What a command answers, its CPU time, and the most memory of any so far in megabytes."""
    before = cpu_of_children()
    done = subprocess.run(
        command(*words), cwd=folder, env=environment(), stdout=subprocess.PIPE, text=True, check=False
    )
    if done.returncode:
        sys.exit(f"{words[0]} ended with {done.returncode}: {done.stdout[-2000:]}")
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    return json.loads(done.stdout), cpu_of_children() - before, peak


def bare_cpu(server: VenueServer, prices: Path, count: int) -> float:
    """CPU seconds of a plain program, in a process of its own, for the same requests and rows."""
    asked = [(each.path, dict(each.query), each.body) for each in server.log[:count]]
    before = cpu_of_children()
    process = get_context("spawn").Process(target=plainly, args=(server.url, asked, prices))
    process.start()
    process.join()
    assert process.exitcode == 0
    return cpu_of_children() - before


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


def cpu_of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def killed_after(folder: Path, words: Sequence[str], server: VenueServer, requests: int) -> float:
    """Kill it once it has asked so often; its CPU time."""
    before, first = cpu_of_children(), len(server.log)
    process = subprocess.Popen(command(*words), cwd=folder, env=environment(), stdout=subprocess.DEVNULL)

    def kill(_asked: Asked) -> Reply | None:
        if len(server.log) - first >= requests and process.poll() is None:
            os.kill(process.pid, signal.SIGKILL)
        return None

    server.before = [kill]
    status = process.wait()
    server.before = []
    assert status == -signal.SIGKILL, status
    return cpu_of_children() - before


def config(folder: Path, venue: str, **settings: Any) -> Path:
    places = json.dumps({**settings, "per_second": 5_000})
    agents = "agents: [{kind: market}, {kind: constant}, {kind: random}]"
    file = folder / f"{venue}.yaml"
    markets = f"markets: {{venue: {venue}, min_volume: 0, {venue}: {places}}}"
    text = f"{markets}\ncohorts: {{decide: daily}}\n{agents}\n"
    file.write_text(text, "utf-8")
    return file


def ended_at(n: int) -> datetime | None:
    """Three of four have ended, in the last week, so that all have some 200 prices."""
    return None if n % 4 == 0 else START + 44 * DAY + timedelta(hours=n % 150)


def stamp(at: datetime) -> str:
    return f"{at:%Y-%m-%dT%H:%M:%SZ}"


def price(n: int, step: int) -> float:
    return round(0.2 + Random(f"{n}/{step // 8}").random() * 0.6, 3)


def at_polymarket(folder: Path, server: VenueServer, count: int) -> Path:
    wire = PolymarketWire()
    for n in range(count):
        name, ended = str(100_001 + n), ended_at(n)
        more: dict[str, Any] = {"slug": f"rain-{n}", "startDate": stamp(START - 5 * DAY)}
        more |= {
            "endDate": stamp((ended or START + 90 * DAY) - timedelta(hours=1)),
            "volume": str(90_000 + n),
        }
        more["events"] = [{"id": str(7_000 + n // 3), "slug": f"e{n // 3}"}]
        raw = an_end(name, closedTime=stamp(ended), **more) if ended else a_market(name, **more)
        wire.markets.append(raw)
        wire.ends += [a_book_end(name)] if ended else []
        times = (START + step * STEP for step in range(PRICES))
        points = [{"t": int(at.timestamp()), "p": price(n, step)} for step, at in enumerate(times)]
        wire.past[token(name)] = [each for each in points if ended is None or each["t"] < ended.timestamp()]
    wire.serve(server)
    return config(folder, "polymarket", url=server.url + GAMMA, book_url=server.url + CLOB)


def at_kalshi(folder: Path, server: VenueServer, count: int) -> Path:
    wire, markets = kalshi.KalshiWire(cutoff="2026-01-01T00:00:00Z"), list[Any]()
    wire.series = [kalshi.a_series(fee_multiplier=0.5)]
    for n in range(count):
        name, ended = f"RAIN-26-{n}", ended_at(n)
        more: dict[str, Any] = {"open_time": stamp(START), "volume_fp": f"{90_000 + n}.00"}
        if ended:
            times = {"close_time": stamp(ended), "settlement_ts": stamp(ended + timedelta(hours=5))}
            markets.append(kalshi.an_end(name, **more, **times))
        else:
            markets.append(kalshi.a_market(name, **more))
        wire.candles[name] = [
            {
                "end_period_ts": int((START + step * STEP).timestamp()),
                "yes_bid": {"close_dollars": f"{price(n, step):.2f}00"},
                "yes_ask": {"close_dollars": f"{price(n, step) + 0.02:.2f}00"},
                "price": {"close_dollars": f"{price(n, step) + 0.01:.2f}00"},
            }
            for step in range(PRICES)
            if ended is None or START + step * STEP < ended
        ]
    wire.events = [kalshi.an_event(*markets[i : i + 50]) for i in range(0, count, 50)]
    return config(folder, "kalshi", url=wire.serve(server))


def at_manifold(folder: Path, server: VenueServer, count: int) -> Path:
    wire = manifold.ManifoldWire()
    for n in range(count):
        name, ended = f"m{n}", ended_at(n)
        closed = int((ended or START).timestamp()) * 1000
        times: dict[str, Any] = {"closeTime": closed, "resolutionTime": closed + 18_000_000} if ended else {}
        made = manifold.an_end if ended else manifold.a_market
        wire.markets.append(made(name, volume=90_000 + n, **times))
        wire.bets += [
            manifold.a_bet(f"{name}-{step}", int(at.timestamp()) * 1000, price(n, step), name)
            for step in range(PRICES - 1, -1, -1)
            for at in [START + step * STEP]
            if ended is None or at < ended
        ]
    return config(folder, "manifold", url=wire.serve(server))


VENUES = {"polymarket": at_polymarket, "kalshi": at_kalshi, "manifold": at_manifold}


if __name__ == "__main__":
    main()
