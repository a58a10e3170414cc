"""Stopping in good order: nothing new is begun, and what is under way has some time to end."""

import asyncio
from collections.abc import Coroutine
from typing import Any

from arena.board import Stop
from arena.underway import UnderWay

SETTLES = 1.0
"""The seconds in which answers that came in last are written down."""


async def until_stopped(
    work: Coroutine[Any, Any, None], stop: Stop, under_way: UnderWay, grace: float
) -> None:
    """Work until it is over. When told to stop, calls to models have so many seconds; then all is broken off.

    What is broken off is not half done: a call that may have to be paid is kept so, a turn is whole or not.
    """
    working, asked, hurry, quiet = (
        asyncio.ensure_future(work),
        asyncio.create_task(stop.asked.wait()),
        asyncio.create_task(stop.hurry.wait()),
        asyncio.create_task(under_way.quiet.wait()),
    )
    try:
        await asyncio.wait({working, asked}, return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            under_way.close()
            ends = {working, hurry, quiet}
            await asyncio.wait(ends, timeout=grace, return_when=asyncio.FIRST_COMPLETED)
            ends = {working, hurry}
            await asyncio.wait(ends, timeout=SETTLES, return_when=asyncio.FIRST_COMPLETED)
            working.cancel()
        await working
    except asyncio.CancelledError:
        if not stop.asked.is_set() or not working.done():
            raise
    finally:
        for task in (working, asked, hurry, quiet):
            task.cancel()
        await asyncio.gather(working, asked, hurry, quiet, return_exceptions=True)
