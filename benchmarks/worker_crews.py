"""How many turns a second 1, 2, 4 and 8 workers play, what a turn costs them, and what one costs to start.

Agents with a model that takes a second, of which a worker plays 10 turns at a time, on a real PostgreSQL;
workers and the model's server have processes of their own. A first round, in which workers load what they
need, is not counted. The CPU is that of the worker processes alone. It reads /proc, and so needs Linux.

python -m benchmarks.worker_crews [--workers 1 2 4 8] [--agents 240] [--rounds 1]
"""

import asyncio
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import psycopg

from arena.cohorts.freeze import code_version, plan_of
from arena.config import Config
from arena.record.record import Record
from arena.record.write.turn_queue import queue_address
from arena.rounds.dispatch import dispatch_to_workers
from arena.rounds.open_world import open_world
from arena.rounds.season import play_time
from benchmarks.fanout import provider
from benchmarks.measure import Measurement, Timed, an_arena, instant, options, report, row, since, within
from tests.postgres import a_server, database

AT_ONCE = 10
WANTED = {1: 9.5, 2: 18.5, 4: 34.0, 8: 34.0}
"""Turns a second by how many workers there are, on two cores for all."""
MOST_A_TURN = 0.025
MOST_TO_START = 2.0
"""Seconds of CPU."""
TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class Played:
    """What a crew took: time a turn, seconds of its CPU a turn, and of each worker before its first turn."""

    timed: Timed
    cpu: float
    start: float


def line_up(folder: Path, url: str, agents: int, model: bool) -> Config:
    """Return the config of agents with a model of a second, or of agents that answer at once."""
    blocks = []
    for number in range(agents):
        if model:
            price = "price: {input: 1, output: 4}"
            blocks.append(f"  - {{name: a{number}, model: openai/plays, base_url: '{url}', {price}}}")
        else:
            blocks.append(f"  - {{name: a{number}, kind: constant, p: 0.3}}")
    markets = "markets: {venue: simulator, show: 20, min_volume: 0}"
    return an_arena(folder, markets, "calls: {at_once: 1000, per_provider: 1000}", "agents:", *blocks)


def cpu_of(processes: Sequence["subprocess.Popen[bytes]"]) -> float:
    """Return the seconds of CPU that processes have taken so far."""
    ticks = 0
    for process in processes:
        fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / TICKS


@contextmanager
def crew(config: Config, workers: int) -> Iterator[list["subprocess.Popen[bytes]"]]:
    """Start workers, and yield their processes once all wait for turns."""
    command = [sys.executable, "-m", "arena.cli.main", "run", "--worker", "--database", config.database]
    command += ["--config", str(config.file), "--at-once", str(AT_ONCE)]
    processes = [
        subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for _ in range(workers)
    ]
    try:
        _wait_for_workers(config.database, workers)
        yield processes
    finally:
        for process in processes:
            process.terminate()
        for process in processes:
            process.wait()


def _wait_for_workers(address: str, workers: int) -> None:
    """Return once so many workers have reported to the queue."""
    with psycopg.connect(queue_address(address), autocommit=True) as connection:
        while True:
            tables = connection.execute("SELECT to_regclass('procrastinate_workers')").fetchone()
            if tables != (None,):
                count = connection.execute("SELECT count(*) FROM procrastinate_workers").fetchone()
                if count == (workers,):
                    return
            time.sleep(0.1)


def play(config: Config, workers: int, rounds: int) -> Played:
    """Have workers play so many rounds after the first one."""
    Record.open(config.database).close()
    with crew(config, workers) as processes:
        start = cpu_of(processes) / workers
        return asyncio.run(_rounds(config, processes, rounds, start))


async def _rounds(
    config: Config, processes: Sequence["subprocess.Popen[bytes]"], rounds: int, start: float
) -> Played:
    record = Record.open(config.database)
    dispatching = dispatch_to_workers(config.database, code_version(), lambda _alone: None)
    try:
        async with open_world(config, record) as outside, dispatching as dispatch:
            world = replace(outside, dispatch=dispatch)
            plan = plan_of(config, world.now())
            first, *rest = plan.decision_times(plan.first + (rounds + 1) * plan.decide.every)[: rounds + 1]
            plan = replace(plan, count=1)
            await play_time(first, plan, world, record)

            turns = len(config.agents) * len(rest)
            cpu = cpu_of(processes)
            started = instant()
            for at in rest:
                [played] = await play_time(at, plan, world, record)
                statuses = {turn.decision.status for turn in played.turns}
                assert (statuses, len(played.turns)) == ({"played"}, len(config.agents)), statuses
            took = since(started, turns)
            return Played(took, (cpu_of(processes) - cpu) / turns, start)
    finally:
        record.close()


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2, 4, 8])
    parser.add_argument("--agents", type=int, default=240)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--without-models", action="store_true", help="agents that answer at once")
    chosen = parser.parse_args()
    rows: list[Measurement] = []
    notes = []
    with tempfile.TemporaryDirectory() as name, a_server() as server, provider() as url:
        config = line_up(Path(name), url, chosen.agents, not chosen.without_models)
        for workers in chosen.workers:
            address = database(server.get_uri(), f"crew{workers}")
            played = play(replace(config, database=address), workers, chosen.rounds)
            what = f"{workers} workers of {AT_ONCE}"
            rows.append(row(what, played.timed, "wanted", WANTED.get(workers, 34.0), 1.0))
            rows.append(within(f"{what}: CPU a turn", played.cpu, "25 ms", MOST_A_TURN))
            rows.append(within(f"{what}: CPU to start", played.start, "2 s", MOST_TO_START))
            notes.append(
                f"{workers} workers: {played.timed.per_second:.1f} turns a second, "
                f"{played.cpu * 1000:.1f} ms of CPU a turn in workers and "
                f"{played.timed.cpu * 1000:.1f} ms in arena run, {played.start:.2f} s to start"
            )
            print(notes[-1], file=sys.stderr, flush=True)
    report(rows, chosen.json, notes)


if __name__ == "__main__":
    main()
