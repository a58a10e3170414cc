"""`arena run --worker`: plays turns that `arena run` hands out, on any machine that reaches the record."""

import asyncio
import json
import os
import signal
from contextlib import closing
from dataclasses import asdict
from functools import partial

from arena.cli.options import Options
from arena.cli.output import plain
from arena.config import Config
from arena.operations.service import service_notices, wait_to_open
from arena.record.record import Record
from arena.record.write.turn_queue import queue_address
from arena.rounds.worker import JobOutcome, OnJob, serve_turns


def work(chosen: Options, at_once: int | None) -> None:
    """Play turns until stopped; it needs a record on PostgreSQL, and `run.workers: true` in the config."""
    config = chosen.load_to_play(os.environ)

    def report(outcome: JobOutcome | str) -> None:
        if isinstance(outcome, str):
            data = {"told": outcome}
            line = outcome
        else:
            job = outcome.job
            data = asdict(job) | {"outcome": outcome.outcome}
            line = f"cohort {job.cohort}, round {job.round}, {job.agent}: {outcome.outcome}"
        print(json.dumps(data, ensure_ascii=False) if chosen.json else plain(line), flush=True)

    # First, for a record that is a file has no workers.
    queue_address(config.database)
    join = partial(Record.join, config.database)
    with closing(wait_to_open(join, report, "unreachable", "no_record")) as record:
        asyncio.run(serve(config, record, at_once or config.calls.at_once, report))


async def serve(config: Config, record: Record, at_once: int, report: OnJob) -> None:
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
