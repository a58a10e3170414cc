"""A worker: a process that plays turns that `arena run` hands out, on any machine that reaches the record."""

import asyncio
import os
import signal
from contextlib import closing
from functools import partial

from arena.config import Config
from arena.operations.service import service_notices, wait_to_open
from arena.record.record import Record
from arena.record.write.turn_queue import queue_address
from arena.rounds.worker import OnJob, serve_turns


def run_worker(config: Config, at_once: int, report: OnJob) -> None:
    """Play turns until stopped, at most `at_once` at a time; wait for a record that can't be reached yet.

    Raise `ArenaError` for a record that is a file, which has no workers.
    """
    queue_address(config.database)
    join = partial(Record.join, config.database)
    with closing(wait_to_open(join, report, "unreachable", "no_record")) as record:
        asyncio.run(_work(config, record, at_once, report))


async def _work(config: Config, record: Record, at_once: int, report: OnJob) -> None:
    """Play turns until a signal comes; those in progress then have `run.grace` seconds."""
    stop = asyncio.Event()
    grace = config.run.grace

    def stop_working() -> None:
        if stop.is_set():
            raise KeyboardInterrupt
        report(f"stopping: turns in progress have {grace:g} seconds; press Ctrl-C again to stop at once")
        stop.set()

    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop_working)
    async with service_notices(os.environ):
        await serve_turns(config, record, at_once, grace, stop, report)
    report("stopped")
