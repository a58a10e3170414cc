"""`arena worker`: play turns that `arena run` delivers, on as many machines as wanted."""

import asyncio
import os
import signal
import sys
from contextlib import redirect_stdout
from typing import TYPE_CHECKING, Annotated

import typer

from arena.cli.markets_show import plain
from arena.cli.options import ConfigFile, Database, options
from arena.errors import ArenaError

if TYPE_CHECKING:
    from arena.config import Config
    from arena.worker import Done


def worker(
    context: typer.Context,
    at_once: Annotated[
        int | None,
        typer.Option("--at-once", min=1, max=1000, help="Turns at a time; by default calls.at_once."),
    ] = None,
    grace: Annotated[
        float, typer.Option("--grace", min=0, help="Seconds that turns under way have to end when stopped.")
    ] = 30.0,
    config: ConfigFile = None,
    database: Database = None,
) -> None:
    """Play turns that `arena run` delivers: start as many as you like, on any machine that sees the record.

    The record must be on PostgreSQL, and `run.workers` true in the config of `arena run`. Every worker needs
    the same config folder and the keys of the models. Limits on calls and budgets hold over all workers
    together. A worker may be stopped or killed at any time: what it had begun goes to another one.

    Example: arena worker --database postgresql+psycopg://arena@db/arena --at-once 50

    Next: arena run
    """
    chosen = options(context, config, database)
    settings = chosen.load(os.environ)
    _needs_postgres()
    with redirect_stdout(sys.stderr):
        asyncio.run(_serve(settings, at_once or settings.calls.at_once, grace))


def _needs_postgres() -> None:
    """A clear word where the extra is not installed."""
    try:
        import procrastinate  # noqa: F401
    except ModuleNotFoundError as error:
        mend = 'pip install "paper-arena[postgres]"'
        raise ArenaError("no_driver", f"{error.name} is not installed", mend) from error


async def _serve(config: "Config", at_once: int, grace: float) -> None:
    from arena.worker import serve

    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for name in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(name, _stopping, stop, grace)
    print(f"waiting for turns, {at_once} at once; Ctrl-C ends it")
    await serve(config, at_once, grace, stop, _tell)
    print("stopped")


def _stopping(stop: asyncio.Event, grace: float) -> None:
    if stop.is_set():
        raise KeyboardInterrupt
    print(f"stopping: turns under way have {grace:g} seconds; once more to stop at once")
    stop.set()


def _tell(what: "Done | str") -> None:
    if isinstance(what, str):
        print(plain(what))
        return
    job = what.job
    print(f"cohort {job.cohort}, round {job.round}, {plain(job.agent)}: {plain(what.outcome)}", flush=True)
