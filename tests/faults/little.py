"""A little season for faults to happen in, and a witness of every state that was committed in it.

As a program it plays the season in a folder: of its standard input each line allows some more commits.
"""

import asyncio
import sys
from collections.abc import Callable
from pathlib import Path

from sqlalchemy import Connection, event

from arena.cohorts.freeze import plan_of
from arena.config import load
from arena.rounds.open_world import open_world
from arena.rounds.season import play_season
from arena.verify.content import verified_content
from tests.opened_record import OpenedRecord, opened_record
from tests.rows import hash_seen, only_reads, read_only

CONFIG = """\
database: season.db
markets:
  venue: simulator
  show: 12
  simulator: {{start: 2026-01-04, weeks: {weeks}, markets: 16, events: 6}}
cohorts: {{rounds: 3, count: {cohorts}, bankroll: 1000, corrected_within: 8d}}
agents:
  - kind: market
  - {{kind: oracle, noise: 0.2}}
  - {{kind: kelly, of: oracle}}
"""
AT_A_TIME = 6
"""Commits that a line allows."""


def write_config(folder: Path, weeks: int = 5, cohorts: int = 3) -> None:
    """The season's config, in a folder."""
    folder.mkdir(exist_ok=True)
    (folder / "config.yaml").write_text(CONFIG.format(weeks=weeks, cohorts=cohorts), "utf-8")


def play(record: OpenedRecord, folder: Path) -> None:
    """The season, from where the record stops."""
    config = load(folder / "config.yaml")

    async def season() -> None:
        async with open_world(config, record) as world:
            plan = plan_of(config, world.now(), record.begun())
            await play_season(plan, world, record, None, lambda done, whole: None)

    asyncio.run(season())


def hash_of(database: Path) -> str:
    """The state hash of a record that agrees with itself."""
    with read_only(database) as connection:
        return verified_content(connection, database).state_hash


def witnessed(record: OpenedRecord, committing: Callable[[str], None]) -> None:
    """Before every commit of what was written, `committing` is told the state hash that it will bring."""

    @event.listens_for(record.engine, "commit")
    def tell(connection: Connection) -> None:
        if not only_reads(connection):
            committing(hash_seen(connection))


def main() -> None:
    """Play in the folder that the first argument names; the second one names the log."""
    folder, log = (Path(argument) for argument in sys.argv[1:])
    left = 0

    def committing(state: str) -> None:
        nonlocal left
        with log.open("a", encoding="utf-8") as file:
            file.write(f"{state}\n")
        left -= 1
        if left < 0:
            left = AT_A_TIME if sys.stdin.readline() else sys.maxsize

    with opened_record(folder / "season.db") as record:
        witnessed(record, committing)
        play(record, folder)


if __name__ == "__main__":
    main()
