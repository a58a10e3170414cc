"""`arena demo`: a whole season, offline, without a key."""

import sys
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from arena.cli.board import leaderboard_page, read_leaderboard
from arena.cli.board_columns import COLUMNS
from arena.cli.dashboard import ListenAddress, free_port, serve
from arena.cli.init import template
from arena.cli.options import LEAVE_FAILED, Options, command, flag, option
from arena.cli.output import interruptible, prints_aside, program, progress, run_async, without_password
from arena.cli.page import Page
from arena.cli.table import TableChoice
from arena.clock import timer
from arena.cohorts.freeze import plan_of
from arena.config import Config
from arena.errors import ArenaError, count_text
from arena.record.hashes import state_hash
from arena.record.queries.cohorts import count_facts, read_newest_time
from arena.record.record import Record
from arena.record.schema.database import reading
from arena.rounds.open_world import open_world
from arena.rounds.season import play_season
from arena.scores.refresh import refresh_leaderboards

FOLDER = Path(".demo")
RECORD = FOLDER / "demo.db"


@command(table=True)
def demo(
    chosen: Options,
    headless: bool = flag("Print the results only."),
    seed: int | None = option("Play a different simulated world.", min=0),
    rounds: int | None = option("Stop after this many decision times.", min=1),
    resume: bool = flag("Continue where the record ends."),
    port: int = option("The dashboard's port, or the next free one.", default=8501),
    leave_failed: bool = LEAVE_FAILED,
) -> None:
    """Play a whole simulated season, offline and without a key, then show the leaderboard and dashboard.

    The record is .demo/demo.db. Each run replaces it, unless --resume or --database is given.

    Example: arena demo --headless --json --seed 7

    Next: arena dashboard --database .demo/demo.db
    """
    chosen.table.of(COLUMNS)  # nothing is played for a table that can't be shown
    address = chosen.database or str(RECORD)
    settings = chosen.load_to_play(default=template("demo.yaml"))
    settings = settings if seed is None else settings.with_seed(seed)
    prepare(address, resume, default=chosen.database is None)
    with prints_aside():
        found = play(settings, address, rounds, leave_failed)
    chosen.answer(found, say, found, replace(chosen.table, width=80))
    if chosen.json:
        return
    if headless or not sys.stdout.isatty():
        print(f"\nNext: {program()} dashboard --database {without_password(address)}")
        return
    serve(address, ListenAddress(port=free_port(port)))


def prepare(address: str, resume: bool, default: bool) -> None:
    """Make room for a new season. Only the demo's own record is ever thrown away."""
    if default:
        try:
            FOLDER.mkdir(exist_ok=True)
            for path in () if resume else FOLDER.glob(f"{RECORD.name}*"):
                path.unlink()
        except OSError as error:
            hint = "go to a writable folder, or name a record: --database PATH"
            raise ArenaError("not_writable", f"{FOLDER} can't be used: {error.strerror}", hint) from error
        return
    with closing(Record.open(address)) as record:
        if not resume and not record.is_empty():
            hint = "add --resume to continue it, or name another record"
            raise ArenaError("not_empty", f"{address} already holds a season", hint)


def play(config: Config, address: str, rounds: int | None, leave_failed: bool = False) -> dict[str, Any]:
    """Play the season into the record; what it came to."""
    tell = partial(print, file=sys.stderr, flush=True)

    async def season() -> None:
        async with open_world(config, record) as world:
            with progress("Playing the season", None) as moved:
                plan = plan_of(config, world.now(), record.begun())
                await play_season(
                    plan, replace(world, leaves_failed=leave_failed), record, rounds, moved, tell
                )

    started = timer()
    hint = f"arena demo --resume --database {address} continues it"
    with closing(Record.open(address)) as record, interruptible("stopped; what was played is kept", hint):
        run_async(season())
        found = outcome(record)
        return {"database": address, "seed": config.seed, "seconds": round(timer() - started, 2)} | found


def outcome(record: Record) -> dict[str, Any]:
    """The record in figures: its hash, how much is in it, and the leaderboard."""
    at = record.read(read_newest_time)
    with progress("Computing the leaderboards") as moved:
        if at is not None:
            refresh_leaderboards(record, at, moved)
    with reading(record.engine) as connection:
        return (
            {"state_hash": state_hash(connection)} | record.read(count_facts) | read_leaderboard(connection)
        )


def say(found: dict[str, Any], choice: TableChoice) -> Page:
    """Yield the leaderboard, and what was played."""
    yield from leaderboard_page(found, choice)
    parts = ("cohort", "round", "market", "event", "turn", "fill", "settlement", "call")
    played = ", ".join(count_text(found[f"{part}s"], part) for part in parts)
    yield f"Played: {played}, in {found['seconds']} s."
    yield f"State hash {found['state_hash']}"
