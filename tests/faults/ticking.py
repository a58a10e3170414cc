"""A machine that does what is due at every tick of its clock, as cron would have it: `arena run --once`."""

import asyncio
import json
import os
import time
from datetime import UTC, datetime, timedelta
from functools import partial
from multiprocessing.synchronize import Barrier
from pathlib import Path
from random import Random

from arena.clock import PretendedClock
from arena.config import load
from arena.errors import ArenaError
from arena.operations.progress import RunEvent
from arena.operations.run import Run, run
from tests.opened_record import opened_record

START, HOUR = datetime(2028, 2, 20, tzinfo=UTC), timedelta(hours=1)
DONE = ("start", "play", "close", "track", "job", "ended", "missed", "failed")
"""Events that something was done, or should have been."""


def tick(address: str, config: str, zone: str, clock: range, together: Barrier, log: str) -> None:
    """A tick at each of these hours since the start by its clock, at the same moment as the other machines.

    Who finds another one at work leaves it to that one. What is done is told to the log.
    """
    os.environ["TZ"] = zone
    time.tzset()
    told = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)

    def tell(event: RunEvent) -> None:
        if event.kind in DONE:
            what = [event.kind, event.data.get("name", event.words), event.data.get("due")]
            os.write(told, json.dumps(what).encode() + b"\n")

    try:
        settings, chance = load(Path(config)), Random(f"ticks in {zone}")
        together.wait(60)  # whoever comes first makes the record
        with opened_record(address) as record:
            for hour in clock:
                now = PretendedClock(Path("nowhere"), START + hour * HOUR)
                here = Run(settings, record, partial(_same, now), tell, once=True)
                together.wait(60)
                time.sleep(chance.uniform(0, 0.015))
                asyncio.run(_once(here))
    except BaseException:
        together.abort()
        raise
    os.close(told)


def _same(clock: PretendedClock) -> PretendedClock:
    return clock


async def _once(one: Run) -> None:
    """Do what is due, unless another one is at it."""
    try:
        await run(one)
    except ArenaError as error:
        if error.code != "busy":
            raise
