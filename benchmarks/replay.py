"""How fast is a replay? A year of weekly cohorts, 50 agents that play by rules, 200 markets.

Against the loop in `benchmarks/bare.py`, which does the same in floats with sqlite3 and nothing else.

python -m benchmarks.replay [--weeks 10]
"""

import asyncio
import itertools
import tempfile
from collections import Counter
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from typing import Any

from arena.config import Config
from arena.record.queries.cohorts import count_facts
from arena.record.record import Record
from arena.rounds.open_world import open_world
from arena.rounds.replay import arrange_replay, open_recording, play_replay
from benchmarks import bare
from benchmarks.measure import Timed, an_arena, options, report, row, timed
from markets.bundle import Sighting, write
from markets.simulation.settings import Settings
from markets.venues.simulator import venue

WORLD = Settings(start=date(2026, 1, 4), weeks=52, markets=200, events=60)
LEAST = 0.35
"""What a turn is to reach of the loop's speed."""
AGENTS: tuple[tuple[str, float], ...] = (
    ("market", 0.5),
    *(("constant", round(0.2 + 0.025 * place, 3)) for place in range(25)),
    *(("random", 0.5) for _ in range(24)),
)


def recording(folder: Path, weeks: int) -> Path:
    """Record the simulated year's first weeks and the three after, sampled every third day."""
    world = venue(WORLD)
    seen = dict[Any, None]()
    looks = []
    for number in range(0, 7 * (weeks + 3), 3):
        at = datetime.combine(WORLD.start, time(), UTC) + timedelta(days=number)
        seen |= dict.fromkeys(x.market.id for x in asyncio.run(world.catalogue(at)).listings)
        listings = tuple(asyncio.run(world.listings(at, list(seen))))
        looks.append(Sighting(at, listings, tuple(asyncio.run(world.resolutions(at, list(seen))))))
    write(folder, looks)
    return folder


def config(folder: Path) -> Config:
    """Return an arena's config with the line-up."""
    blocks = [
        f"  - {{name: {name}-{place}, kind: {name}{f', p: {p}' if name == 'constant' else ''}}}"
        for place, (name, p) in enumerate(AGENTS)
    ]
    return an_arena(folder, "markets: {venue: simulator, min_volume: 0}", "agents:", *blocks)


def ours(folder: Path, database: Path) -> Counter[str]:
    """Play the season with the arena into a record, and count what is in it."""
    bundle = open_recording(folder)
    season = arrange_replay(folder, bundle, config(folder.parent))

    async def played() -> None:
        async with open_world(season.config, record) as world:
            await play_replay(season, world, record, lambda _done, _of: None)

    record = Record.open(str(database))
    try:
        asyncio.run(played())
        return Counter(record.read(count_facts))
    finally:
        record.close()


def main() -> None:
    parser = options(__doc__)
    parser.add_argument(
        "--weeks", type=int, default=WORLD.weeks, help="only the year's first weeks, and the three after"
    )
    chosen = parser.parse_args()
    if not 2 <= chosen.weeks <= WORLD.weeks:
        parser.error(f"--weeks is from 2 to {WORLD.weeks}")
    with tempfile.TemporaryDirectory() as name:
        folder = recording(Path(name) / "year", chosen.weeks)
        places = itertools.count()
        bundle = open_recording(folder)
        # As many cohorts as the arena starts: in a part of the year also those of its last three weeks.
        weeks = len(arrange_replay(folder, bundle, config(folder.parent)).times()[0])
        counts: dict[str, Counter[str]] = {}

        def plain() -> None:
            counts["bare"] = bare.play(folder, Path(name) / f"bare-{next(places)}.db", AGENTS, weeks)

        def arena() -> None:
            counts["arena"] = ours(folder, Path(name) / f"arena-{next(places)}.db")

        turns = weeks * bare.ROUNDS * len(AGENTS)
        loop = timed(plain, turns)
        took = timed(arena, turns)
    notes = [f"{who}: {', '.join(f'{n:,} {of}' for of, n in made.items())}" for who, made in counts.items()]
    rows = [
        row("a turn of a replayed year", took, "the bare loop, this run", loop.per_second, LEAST),
        row("the same in CPU time", Timed(took.cpu, took.cpu), "the bare loop's CPU", 1 / loop.cpu, LEAST),
    ]
    report(rows, chosen.json, notes)


if __name__ == "__main__":
    main()
