"""What one round of 100 markets takes, by how many agents with a model there are: CPU, rows and bytes.

Rounds of 10 and of 40 agents are played against a provider of this machine's own; the difference is what an
agent takes, and what is left is the snapshot's. Up from there the figures are computed.

python -m benchmarks.round_size
"""

import asyncio
import json
import tempfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from sqlalchemy import func, select

from arena.cohorts.freeze import plan_of
from arena.config import Config
from arena.record.record import Record
from arena.record.schema.tables import METADATA
from arena.rounds.open_world import open_world
from arena.rounds.season import play_time
from benchmarks.fanout import provider
from benchmarks.measure import an_arena, instant, options, since
from tests.postgres import a_server, database

FEW, SOME = 10, 40
SIZES = 10, 100, 1_000, 10_000
MARKETS = 100


@dataclass(frozen=True, slots=True)
class Cost:
    """What a round takes: seconds of CPU, rows of the record, and bytes on SQLite and on PostgreSQL."""

    cpu: float
    rows: float
    sqlite: float
    postgresql: float


def line_up(folder: Path, url: str, agents: int) -> Config:
    """Return the config of so many agents that all ask the same model."""
    model = f"model: openai/plays, base_url: '{url}', price: {{input: 1, output: 4}}"
    blocks = [f"  - {{name: a{number}, {model}}}" for number in range(agents)]
    simulator = f"simulator: {{markets: {10 * MARKETS}, events: {5 * MARKETS}}}"
    markets = f"markets: {{venue: simulator, show: {MARKETS}, min_volume: 0, max_spread: 1, {simulator}}}"
    return an_arena(folder, markets, "calls: {at_once: 1000, per_provider: 1000}", "agents:", *blocks)


def played(config: Config) -> tuple[float, int, int]:
    """Return what a first round takes: seconds of CPU, rows, and bytes."""
    record = Record.open(config.database)

    async def play() -> float:
        async with open_world(config, record) as world:
            plan = plan_of(config, world.now())
            started = instant()
            [report] = await play_time(plan.first, plan, world, record)
            took = since(started).cpu
            assert {turn.decision.status for turn in report.turns} == {"played"}
            assert len(report.turns) == len(config.agents)
            [stored] = record.cohorts()
            taken = record.snapshot(stored.id, plan.first)
            assert taken is not None
            assert len(taken[1].shown) == MARKETS
            return took

    empty_rows, empty_bytes = size_of(record)
    cpu = asyncio.run(play())
    rows, size = size_of(record)
    record.close()
    return cpu, rows - empty_rows, size - empty_bytes


def size_of(record: Record) -> tuple[int, int]:
    """Return how many rows a record has, and its bytes."""
    with record.reading() as connection:
        counts = [connection.scalar(select(func.count()).select_from(t)) for t in METADATA.tables.values()]
        if record.engine.dialect.name == "postgresql":
            size = connection.exec_driver_sql("SELECT pg_database_size(current_database())")
        else:
            size = connection.exec_driver_sql(
                "SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()"
            )
        return sum(count or 0 for count in counts), int(size.scalar_one())


def measured(folder: Path, url: str, server: str) -> Mapping[int, Cost]:
    """Return what rounds of few and of some more agents take."""
    costs = {}
    for agents in (1, FEW, SOME):  # with the first one what a process loads once
        config = line_up(folder, url, agents)
        cpu, rows, sqlite = played(replace(config, database=str(folder / f"{agents}.db")))
        _, _, postgresql = played(replace(config, database=database(server, f"size{agents}")))
        costs[agents] = Cost(cpu, rows, sqlite, postgresql)
    return costs


def main() -> None:
    chosen = options(__doc__).parse_args()
    with tempfile.TemporaryDirectory() as name, a_server() as server, provider() as url:
        costs = measured(Path(name), url, server.get_uri())

    few = asdict(costs[FEW])
    some = asdict(costs[SOME])
    rows = []
    for agents in SIZES:
        row: dict[str, float] = {"agents": agents}
        for what, least in few.items():
            each = (some[what] - least) / (SOME - FEW)
            row[what] = least + each * (agents - FEW)
        rows.append(row)

    if chosen.json:
        print(json.dumps(rows, indent=1))
        return
    for row in rows:
        print(
            f"{row['agents']:>6,.0f} agents: {row['cpu']:,.1f} s of CPU, {row['rows']:,.0f} rows, "
            f"{row['sqlite'] / 1e6:,.1f} MB on SQLite, {row['postgresql'] / 1e6:,.1f} MB on PostgreSQL"
        )


if __name__ == "__main__":
    main()
