"""`arena worker`: play turns that `arena run` delivers, on as many machines as wanted."""

import json
import os
import signal
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from arena.cli.markets_show import plain
from arena.cli.options import ConfigFile, Database, Json, options
from arena.errors import ArenaError

if TYPE_CHECKING:
    from arena.config import Config
    from arena.rounds.worker import JobOutcome, OnJob


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
    as_json: Json = False,
) -> None:
    """Play turns that `arena run` delivers: start as many as you like, on any machine that sees the record.

    The record must be on PostgreSQL, and `run.workers` true in the config of `arena run`, which is started
    first where there is no record yet. Every worker needs the same config folder and the keys of the models.
    Limits on calls and budgets hold over all workers together. A worker may be stopped or killed at any time:
    what it had begun goes to another one. With --json every line is a JSON object.

    Example: arena worker --database postgresql+psycopg://arena@db/arena --at-once 50

    Next: arena run
    """
    chosen = options(context, config, database)
    settings = chosen.load(os.environ)
    _needs_postgres()
    import asyncio

    asyncio.run(_serve(settings, at_once or settings.calls.at_once, grace, _as_json if as_json else _as_text))


def _needs_postgres() -> None:
    """A clear word where the extra is not installed."""
    try:
        import procrastinate  # noqa: F401
    except ModuleNotFoundError as error:
        hint = 'pip install "paper-arena[postgres]"'
        raise ArenaError("no_driver", f"{error.name} is not installed", hint) from error


async def _serve(config: "Config", at_once: int, grace: float, told: "OnJob") -> None:
    import asyncio

    from arena.rounds.worker import serve_turns

    def stopping() -> None:
        if stop.is_set():
            raise KeyboardInterrupt
        told(f"stopping: turns under way have {grace:g} seconds; once more to stop at once")
        stop.set()

    stop, loop = asyncio.Event(), asyncio.get_running_loop()
    for name in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(name, stopping)
    await serve_turns(config, at_once, grace, stop, told)
    told("stopped")


def _as_text(what: "JobOutcome | str") -> None:
    """A line for people."""
    if isinstance(what, str):
        print(plain(what), flush=True)
        return
    job = what.job
    words = f"cohort {job.cohort}, round {job.round}, {plain(job.agent)}: {plain(what.outcome)}"
    print(words, flush=True)


def _as_json(what: "JobOutcome | str") -> None:
    """A line for programs."""
    if isinstance(what, str):
        told: dict[str, object] = {"told": what}
    else:
        told = asdict(what.job) | {"outcome": what.outcome}
    print(json.dumps(told, ensure_ascii=False), flush=True)
