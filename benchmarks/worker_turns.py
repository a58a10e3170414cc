"""What a turn costs a worker, by the size of the line-up that it is one of.

A round of so many agents without a model, whose first jobs are played as one of two workers plays them, on
SQLite: the CPU of this process, and how many statements a turn sends. The ceiling is the same at any size.

python -m benchmarks.worker_turns
"""

import asyncio
import tempfile
from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path

from sqlalchemy import event

from arena.cohorts.freeze import code_version, plan_of
from arena.record.queries.cohorts import StoredCohort, StoredRound
from arena.record.record import Record
from arena.record.write.turn_queue import TurnJob
from arena.rounds.dispatch import groups_of_turns
from arena.rounds.open_world import open_world
from arena.rounds.season import play_time
from arena.rounds.worker import play_job
from arena.rounds.world import MissingTurns
from benchmarks.measure import Timed, an_arena, instant, options, report, since, within

SIZES = 50, 800, 3_200
JOBS, WORKERS = 5, 2
MOST = 0.004
"""Seconds of CPU a turn."""


async def cost_of_turns(agents: int, folder: Path) -> tuple[Timed, float]:
    """Return what a job takes in a line-up of that size, and how many statements it sends."""
    blocks = [f"  - {{kind: constant, name: a{n}, p: 0.3}}" for n in range(agents)]
    lines = ["markets: {venue: simulator, show: 20}", "cohorts: {rounds: 1}", "agents:", *blocks]
    config = an_arena(folder, *lines)
    record = Record.open(str(folder / f"{agents}.db"))
    costs: list[tuple[Timed, float]] = []
    sent = [0]

    def count(*_: object) -> None:
        sent[0] += 1

    async with open_world(config, record) as world:

        async def first_by_jobs(
            stored: StoredCohort,
            stored_round: StoredRound,
            names: Sequence[str],
            _missing: MissingTurns,
            again: bool,
        ) -> Collection[str]:
            """Play some turns as jobs; the rest is left to the process itself."""
            place = stored.cohort.number, stored_round.number
            outcomes = list[str]()

            async def play(group: tuple[str, ...]) -> None:
                job = TurnJob(*place, group, code_version(), again)
                await play_job(job, lambda _agent, outcome: outcomes.append(outcome), world, record)

            first, *groups = groups_of_turns(names, WORKERS)
            await play(first)  # what a process does once
            before = sent[0]
            started = instant()
            for group in groups[:JOBS]:
                await play(group)
            turns = len(outcomes) - len(first)
            costs.append((since(started, turns), (sent[0] - before) / turns))
            assert outcomes == ["played"] * len(outcomes)
            return names[len(outcomes) :]

        event.listen(record.engine, "before_cursor_execute", count)
        plan = plan_of(config, world.now())
        await play_time(plan.first, plan, replace(world, dispatch=first_by_jobs), record)

    record.close()
    return costs[0]


def main() -> None:
    chosen = options(__doc__).parse_args()
    rows = []
    notes = []
    with tempfile.TemporaryDirectory() as name:
        for size in SIZES:
            took, statements = asyncio.run(cost_of_turns(size, Path(name)))
            rows.append(within(f"a turn of {size:,} agents", took.cpu, "4 ms of CPU", MOST))
            notes.append(
                f"{size:,} agents: {took.cpu * 1000:.1f} ms of CPU and {statements:.0f} statements a turn"
            )
    report(rows, chosen.json, notes)


if __name__ == "__main__":
    main()
