"""Notices to a service manager such as systemd, and waiting for a record that is not there yet."""

import asyncio
import socket
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from time import sleep
from typing import TypeVar

from arena.errors import ArenaError

T = TypeVar("T")
PAUSE = 5.0
"""Seconds between two tries to open a record that is not there yet."""
FOR_GOOD = ("authentication failed", "does not exist")
"""Parts of a server's messages after which waiting is of no use."""


@asynccontextmanager
async def service_notices(environ: Mapping[str, str]) -> AsyncIterator[None]:
    """Notify the service manager, if there is one, that this process is ready, alive and finally stopping."""
    path = environ.get("NOTIFY_SOCKET", "")
    if not path:
        yield
        return

    address = f"\0{path[1:]}" if path.startswith("@") else path
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as connection:

        def notify(state: str) -> None:
            """Send a state to the manager."""
            with suppress(OSError):  # a manager that has ended is no reason to stop
                connection.sendto(state.encode(), address)

        notify("READY=1")
        period = int(environ.get("WATCHDOG_USEC", "0")) / 1_000_000
        watchdog = asyncio.create_task(_feed_watchdog(notify, period))
        try:
            yield
        finally:
            notify("STOPPING=1")
            watchdog.cancel()


async def _feed_watchdog(notify: Callable[[str], None], period: float) -> None:
    """Send a sign of life three times in each period, which is 0 where the manager wants none."""
    while period:
        notify("WATCHDOG=1")
        await asyncio.sleep(period / 3)


def wait_to_open(open_record: Callable[[], T], say: Callable[[str], None], *codes: str) -> T:
    """Open a record, trying again for as long as that raises an error with one of these codes.

    Each new message of an error is passed to `say` once.
    """
    last_message = ""
    while True:
        try:
            return open_record()
        except ArenaError as error:
            if error.code not in codes or any(part in error.message for part in FOR_GOOD):
                raise
            if error.message != last_message:
                say(f"{error.message}; looking again every {PAUSE:g} seconds")
            last_message = error.message
        sleep(PAUSE)
