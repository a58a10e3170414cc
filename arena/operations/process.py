"""`arena run` as a process: it tells a service manager that it is alive, and obeys signals."""

import asyncio
import signal
from collections.abc import Mapping

from arena.operations.run import Run, run
from arena.operations.service import service_notices

STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM)


async def run_as_process(running: Run, environ: Mapping[str, str]) -> None:
    """Run the arena until it is over or stopped by a signal."""
    loop = asyncio.get_running_loop()
    for number in STOP_SIGNALS:
        loop.add_signal_handler(number, _stop, running, loop)

    async with service_notices(environ):
        await run(running)


def _stop(running: Run, loop: asyncio.AbstractEventLoop) -> None:
    """Stop in good order at the first signal, at once at the second, and like any program at the third."""
    running.ask_to_stop()
    if running.stop.hurry.is_set():
        for number in STOP_SIGNALS:
            loop.remove_signal_handler(number)
