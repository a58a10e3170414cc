"""How many turns a second: on SQLite, on PostgreSQL, and with workers that take them from PostgreSQL.

The agents answer at once, so that all the work is the arena's: more workers than cores can't help. They are
there before the clock starts. In `benchmarks/worker_crews.py` agents have models that take a second.

python -m benchmarks.season
"""

import asyncio
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

from arena.cohorts.freeze import code_version, plan_of
from arena.config import Config
from arena.record.record import Record
from arena.rounds.dispatch import dispatch_to_workers
from arena.rounds.open_world import open_world
from arena.rounds.season import play_time
from arena.rounds.world import Dispatch
from benchmarks.measure import Measurement, Timed, an_arena, instant, options, report, row, since
from tests.postgres import a_server, database

AGENTS, ROUNDS = 200, 3
AT_ONCE = 10


def line_up(folder: Path, blocks: Iterable[str]) -> Config:
    calls = "calls: {at_once: 1000, per_provider: 1000}"
    return an_arena(folder, "markets: {venue: simulator, show: 20, min_volume: 0}", calls, "agents:", *blocks)


def play(config: Config, workers: int = 0, at_once: int = AT_ONCE) -> Timed:
    """Return the seconds a turn, over all rounds but the first."""
    Record.open(config.database).close()
    command = [sys.executable, "-m", "arena.cli.main", "run", "--worker", "--database", config.database]
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
            world = replace(outside, dispatch=dispatch)
            plan = plan_of(config, outside.now())
            first, *rest = plan.decision_times(plan.first + ROUNDS * plan.decide.every)[:ROUNDS]
            plan = replace(plan, count=1)
            await play_time(first, plan, world, record)
            started = instant()
            turns = 0
            for at in rest:
                reports = await play_time(at, plan, world, record)
                statuses = {turn.decision.status for one in reports for turn in one.turns}
                assert statuses == {"played"}, statuses
                turns += sum(len(one.turns) for one in reports)
            assert turns == len(config.agents) * len(rest)
            return since(started, turns)
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
    with tempfile.TemporaryDirectory() as name, a_server() as server:
        folder = Path(name)
        uri = server.get_uri()
        kinds = ("random", "constant")
        config = line_up(folder, [f"  - {{name: a{n}, kind: {kinds[n % 2]}}}" for n in range(AGENTS)])
        here = play(replace(config, database=str(folder / "here.db")))
        there = play(replace(config, database=database(uri, "alone")))
        rows.append(row("instant agents, PostgreSQL, no worker", there, "SQLite", here.per_second, 0.3))
        crews = {n: play(replace(config, database=database(uri, f"i{n}")), n) for n in (1, 2, 4)}
        for n, timed in crews.items():
            rows.append(row(f"instant agents, {n} workers", timed, "one worker", crews[1].per_second, 0.9))
    report(rows, chosen.json, [f"SQLite, no worker: {here.per_second:,.0f} turns a second"])


if __name__ == "__main__":
    main()
