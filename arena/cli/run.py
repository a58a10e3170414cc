"""`arena run`: what is due, when it is due."""

import os
import signal
import sys
from collections.abc import Callable
from contextlib import redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from arena.cli.options import Baselines, ConfigFile, Database, Json, options
from arena.cli.output import print_json, program
from arena.cli.run_list import as_dict, say, upcoming
from arena.cli.run_log import logger
from arena.errors import ArenaError

if TYPE_CHECKING:
    import asyncio

    from arena.cli.run_log import RunLog
    from arena.clock import Clock
    from arena.config import Config
    from arena.operations.run import Run


def run(
    context: typer.Context,
    once: Annotated[
        bool, typer.Option("--once", help="Do all that is due now, and end; for cron and the like.")
    ] = False,
    listing: Annotated[
        bool, typer.Option("--list", help="Say what is done how often and when next, and do nothing.")
    ] = False,
    log: Annotated[
        Literal["auto", "text", "json"],
        typer.Option(
            help="Lines for people or for programs; auto is a live status in a terminal, else lines."
        ),
    ] = "auto",
    quiet: Annotated[bool, typer.Option("--quiet", help="Only tell what goes wrong.")] = False,
    clock: Annotated[
        Path | None,
        typer.Option(
            "--clock",
            metavar="FILE",
            help="Rehearse: pretend the time in this file, whose first line (such as 2026-01-04T00:00Z) "
            "starts it. Waiting takes no time; the file goes along. It needs a --database of its own.",
        ),
    ] = None,
    baselines: Baselines = False,
    config: ConfigFile = None,
    database: Database = None,
    as_json: Json = False,
) -> None:
    """Run the arena until stopped: start cohorts, play rounds, read prices, settle and mark, all in time.

    What is due comes from the record, so it can be stopped, killed and started again at any time: it goes on
    where it was. On one record one of them works; a second one stands by and takes over when the first is
    gone. What fails, a venue or a model that is down, holds up nothing else and is tried again, turns within
    six hours of their prices. The config is read once: start it again after a change.

    Ctrl-C or SIGTERM stop it: calls under way have `run.grace` to end, the rest is taken up by the next
    start. A second Ctrl-C stops it at once. The exit status is 0 when it was stopped or all is over; with
    --once it is 2 when something failed, or another one is at work.

    Example: arena run

    Next: arena leaderboard
    """
    chosen, open_clock = options(context, config, database), clock_of(clock)
    settings = chosen.load(None if listing else os.environ)
    if listing:
        found = upcoming(settings, open_clock())
        if as_json:
            print_json(as_dict(found))
        else:
            say(found)
        return
    if clock is not None and chosen.database is None:
        words = "a rehearsal would be written into this arena's own record"
        raise ArenaError("no_database", words, "give it one of its own: --database rehearsal.db")
    with logger(log, quiet, as_json) as tell, redirect_stdout(sys.stderr):  # an extension may print
        done = play(settings, once, open_clock, tell, baselines)
    progress = done.progress
    if as_json:
        print_json(
            {
                "rounds": progress.rounds,
                "turns": progress.turns,
                "jobs": progress.jobs,
                "failed": progress.failed,
            }
        )
    elif not quiet:
        print(f"Stopped: {progress.summary()}.\nNext: {program()} leaderboard{chosen.again()}")
    if done.stop.hurry.is_set():
        raise typer.Exit(130)
    if once and progress.failed:
        raise typer.Exit(2)


def clock_of(file: Path | None) -> "Callable[[], Clock]":
    """What opens the clock: that of a file where one is named, which must be readable already."""
    from arena.clock import PretendedClock, SystemClock

    if file is None:
        return SystemClock
    PretendedClock.read(file)
    return lambda: PretendedClock.read(file)


def play(
    config: "Config", once: bool, open_clock: "Callable[[], Clock]", tell: "RunLog", baselines: bool = False
) -> "Run":
    """Run the arena until it is over or stopped; how it went."""
    import asyncio

    from arena.cohorts.freeze import check_keys
    from arena.config import environment
    from arena.operations.run import Run, run
    from arena.record.record import Record
    from markets.garbage_collection import gc_seldom

    async def season() -> None:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, _signalled, running, loop)
        await run(running)

    record = Record.open(config.database)
    running = Run(config, record, open_clock, tell.told, once, baselines)
    tell.watch(running.progress, record)
    try:
        if not baselines and not record.cohorts():
            check_keys(config, environment(config.folder, os.environ))
        with gc_seldom():
            asyncio.run(season())
    except KeyboardInterrupt:
        words, hint = "stopped at once; what was done is kept", "the next start goes on where it stopped"
        raise ArenaError("interrupted", words, hint, status=130) from None
    finally:
        record.close()
    return running


def _signalled(running: "Run", loop: "asyncio.AbstractEventLoop") -> None:
    """Told to stop: the first time in good order, the second time at once, the third time as any program."""
    running.stop.signal()
    if running.stop.hurry.is_set():
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)
