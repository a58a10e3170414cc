"""`arena demo`: plays a whole season offline, without a key, and prints the results."""

import sys
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from arena.cli.board import leaderboard_page
from arena.cli.output import Data, interruptible, progress, run_async
from arena.cli.page import Page
from arena.cli.table import TableChoice
from arena.clock import timer
from arena.cohorts.freeze import plan_of
from arena.config import Config
from arena.errors import ArenaError, count_text
from arena.record.hashes import state_hash
from arena.record.queries.cohorts import count_facts, read_newest_time
from arena.record.record import Record
from arena.rounds.open_world import open_world
from arena.rounds.season import play_season
from arena.scores.board_data import board_data
from arena.scores.refresh import refresh_cache

RECORD = Path(".demo/demo.db")
REAL_RECORD = Path(".demo/real.db")
"""The default records of the simulated season and of the one over real markets."""


def prepare_record(address: str | None, resume: bool, own_record: Path) -> str:
    """Make room for a new season and return its record's address; only the demo's own record is deleted."""
    if address is None:
        try:
            own_record.parent.mkdir(exist_ok=True)
            if not resume:
                # SQLite keeps files of the same name and a suffix beside a database.
                for path in own_record.parent.glob(f"{own_record.name}*"):
                    path.unlink()
        except OSError as error:
            hint = "go to a writable folder, or name a record: --database PATH"
            message = f"{own_record.parent} can't be used: {error.strerror}"
            raise ArenaError("not_writable", message, hint) from error
        return str(own_record)

    with closing(Record.open(address)) as record:
        if not resume and not record.is_empty():
            hint = "add --resume to continue it, or name another record"
            raise ArenaError("not_empty", f"{address} already holds a season", hint)
    return address


def play(config: Config, address: str, rounds: int | None, leave_failed: bool = False) -> dict[str, Any]:
    """Play the season into the record, and return the results for JSON."""
    started = timer()
    say = partial(print, file=sys.stderr, flush=True)

    async def play_rounds() -> None:
        async with open_world(config, record) as opened:
            world = replace(opened, leaves_failed=leave_failed)
            with progress("Playing the season", None) as report_progress:
                plan = plan_of(config, world.now(), record.begun())
                await play_season(plan, world, record, rounds, report_progress, say)

    hint = f"arena demo --resume --database {address} continues it"
    with closing(Record.open(address)) as record, interruptible("stopped; what was played is kept", hint):
        run_async(play_rounds())
        figures = season_figures(record)
    seconds = round(timer() - started, 2)
    return {"database": address, "seed": config.seed, "seconds": seconds} | figures


def season_figures(record: Record) -> dict[str, Any]:
    """Return the state hash of the record, the counts of its facts, and the leaderboard."""
    at = record.read(read_newest_time)
    with progress("Computing what the pages show") as report_progress:
        if at is not None:
            refresh_cache(record, at, report_progress)
    with record.reading() as connection:
        return {
            "state_hash": state_hash(connection),
            **count_facts(connection),
            **board_data(connection),
        }


def season_page(data: Data, choice: TableChoice) -> Page:
    """Yield the leaderboard, the counts of what was played, and the state hash."""
    yield from leaderboard_page(data, choice)
    kinds = ("cohort", "round", "market", "event", "turn", "fill", "settlement", "call")
    played = ", ".join(count_text(data[f"{kind}s"], kind) for kind in kinds)
    yield f"Played: {played}, in {data['seconds']} s."
    yield f"State hash {data['state_hash']}"
