"""`arena demo`: a whole season, offline, without a key."""

import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from arena.cli.dashboard import serve
from arena.cli.dashboard_address import ListenAddress, free_port
from arena.cli.init import template
from arena.cli.leaderboard import print_leaderboard, read_leaderboard
from arena.cli.options import Options, command
from arena.cli.output import print_json, program, progress
from arena.errors import ArenaError, count_text

if TYPE_CHECKING:
    from arena.config import Config
    from arena.record.record import Record

FOLDER = Path(".demo")
RECORD = FOLDER / "demo.db"


@command(table=True)
def demo(
    chosen: Options,
    headless: Annotated[
        bool, typer.Option("--headless", help="Play and print, without a dashboard.")
    ] = False,
    seed: Annotated[int | None, typer.Option(help="Another world and other luck.", min=0)] = None,
    rounds: Annotated[int | None, typer.Option(help="Stop after so many decision times.", min=1)] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on where the record stops.")] = False,
    port: Annotated[int, typer.Option(help="The dashboard's port; the next free one if taken.")] = 8501,
) -> None:
    """Play a whole simulated season offline, without a key; then show the leaderboard and the dashboard.

    The record goes to .demo/demo.db and is made anew each time, unless --resume or --database says
    otherwise. Everything an arena does is in it: agents that play by rules, models asked over HTTP,
    bets, settlements.

    Example: arena demo --headless --json --seed 7

    Next: arena dashboard --database .demo/demo.db
    """
    address = chosen.database or str(RECORD)
    settings = chosen.load(default=template("demo.yaml"))
    settings = settings if seed is None else settings.with_seed(seed)
    prepare(address, resume, default=chosen.database is None)
    with redirect_stdout(sys.stderr):  # an extension may print, and the answer may be JSON
        found = play(settings, address, rounds)
    if chosen.json:
        print_json(found)
        return
    print_leaderboard(found, chosen.table)
    print(summary(found))
    if headless or not sys.stdout.isatty():
        print(f"\nNext: {program()} dashboard --database {address}")
        return
    serve(address, ListenAddress(port=free_port(port)))


def prepare(address: str, resume: bool, default: bool) -> None:
    """Make room for a new season. Only the demo's own record is ever thrown away."""
    from arena.record.record import Record

    if default:
        try:
            FOLDER.mkdir(exist_ok=True)
            for path in () if resume else FOLDER.glob(f"{RECORD.name}*"):
                path.unlink()
        except OSError as error:
            hint = "go to a folder in which you may write, or name a record: --database PATH"
            raise ArenaError("not_writable", f"{FOLDER} can't be used: {error.strerror}", hint) from error
        return
    record = Record.open(address)
    try:
        if not resume and not record.is_empty():
            hint = "add --resume to go on with it, or name another record"
            raise ArenaError("not_empty", f"{address} already holds a season", hint)
    finally:
        record.close()


def play(config: "Config", address: str, rounds: int | None) -> dict[str, Any]:
    """Play the season into the record; what it came to."""
    import asyncio

    from arena.clock import timer
    from arena.cohorts.freeze import plan_of
    from arena.record.record import Record
    from arena.rounds.open_world import open_world
    from arena.rounds.season import play_season

    async def season() -> None:
        async with open_world(config, record) as world:
            with progress("Playing the season", None) as moved:
                plan = plan_of(config, world.now(), record.begun())
                await play_season(plan, world, record, rounds, moved)

    started = timer()
    record = Record.open(address)
    try:
        asyncio.run(season())
        found = outcome(record)
        return {"database": address, "seed": config.seed, "seconds": round(timer() - started, 2)} | found
    except KeyboardInterrupt:
        hint = f"arena demo --resume --database {address} goes on where it stopped"
        raise ArenaError("interrupted", "stopped; what was played is kept", hint, status=130) from None
    finally:
        record.close()


def outcome(record: "Record") -> dict[str, Any]:
    """The record in figures: its hash, how much is in it, and the leaderboard."""
    from arena.record.hashes import state_hash
    from arena.record.queries.cohorts import count_facts, read_newest_time
    from arena.record.schema.database import reading
    from arena.scores.refresh import refresh_leaderboards

    at = record.read(read_newest_time)
    with progress("Computing the leaderboards") as moved:
        if at is not None:
            refresh_leaderboards(record, at, moved)
    with reading(record.engine) as connection:
        return (
            {"state_hash": state_hash(connection)} | record.read(count_facts) | read_leaderboard(connection)
        )


def summary(found: dict[str, Any]) -> str:
    """What was played, in two lines."""
    parts = ("cohort", "round", "market", "event", "turn", "fill", "settlement", "call")
    played = ", ".join(count_text(found[f"{part}s"], part) for part in parts)
    return (
        f"Simulated markets, play money: {played}, in {found['seconds']} s.\nState hash {found['state_hash']}"
    )
