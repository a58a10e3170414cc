"""A timeout for answers: one that has arrived is read, whatever the timer says.

A process that was suspended, or whose event loop was held up, wakes to an answer and to a timer that ended
long ago; so nothing is broken off before the loop has had time to read.
"""

import asyncio
import math
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

LAST_READ = 0.05
"""Seconds that the loop has to read what has arrived, once the time is over."""


@asynccontextmanager
async def patience(longest: float, idle: float = math.inf) -> AsyncIterator[Callable[[], None]]:
    """Raise `TimeoutError` if the block takes too long, or gives no sign of life for too long.

    The block gives one by calling the function that it gets. A timer that comes late ends as much later, up
    to twice the longest time.
    """
    loop = asyncio.get_running_loop()
    start = loop.time()
    heard_at = start
    timer: asyncio.TimerHandle

    def heard() -> None:
        nonlocal heard_at
        heard_at = loop.time()

    def wait(seconds: float, last: bool) -> None:
        nonlocal timer
        timer = loop.call_later(seconds, look, loop.time() + seconds, last)

    def look(due: float, last: bool) -> None:
        now = loop.time()
        left = min(start + longest, heard_at + idle) - now
        late = now - due

        if left > 0:
            wait(left, last=False)
        elif last and late <= LAST_READ:
            limit.reschedule(now)
        else:
            wait(max(LAST_READ, min(late, longest)), last=True)

    first = min(longest, idle)
    timer = loop.call_later(first, look, start + first, False)
    async with asyncio.timeout(None) as limit:
        try:
            yield heard
        finally:
            timer.cancel()
