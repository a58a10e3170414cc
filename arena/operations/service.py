"""What a service manager such as systemd hears: that the process has begun, and that its loop still turns."""

import asyncio
import socket
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from time import sleep
from typing import TypeVar

from arena.errors import ArenaError

T = TypeVar("T")
PAUSE = 5.0
"""Seconds between two looks for a record that is not there yet."""
FOR_GOOD = ("authentication failed", "does not exist")
"""What a server says of an address that waiting does not mend."""


@asynccontextmanager
async def service_notices(environ: Mapping[str, str]) -> AsyncIterator[None]:
    """Within, whoever started the process is told that it is ready and alive, if it asks to be."""
    place = environ.get("NOTIFY_SOCKET", "")
    if not place:
        yield
        return
    address = f"\0{place[1:]}" if place.startswith("@") else place
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as wire:

        def tell(words: str) -> None:
            with suppress(OSError):  # a manager that went away is no reason to stop
                wire.sendto(words.encode(), address)

        tell("READY=1")
        beats = asyncio.create_task(_beat(tell, int(environ.get("WATCHDOG_USEC", "0")) / 1_000_000))
        try:
            yield
        finally:
            tell("STOPPING=1")
            beats.cancel()


async def _beat(tell: Callable[[str], None], within: float) -> None:
    while within:
        tell("WATCHDOG=1")
        await asyncio.sleep(within / 3)


def wait_to_open(open_record: Callable[[], T], say: Callable[[str], None], *codes: str) -> T:
    """What is opened, as soon as it can be: an error with one of these codes is said once, and waited out."""
    said = ""
    while True:
        try:
            return open_record()
        except ArenaError as error:
            if error.code not in codes or any(words in error.message for words in FOR_GOOD):
                raise
            if error.message != said:
                say(f"{error.message}; looking again every {PAUSE:g} seconds")
            said = error.message
        sleep(PAUSE)
