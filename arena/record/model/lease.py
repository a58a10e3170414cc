"""Who is at work: the name that a claim carries, whether its bearer still lives, and how it stays alive."""

import asyncio
import os
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from functools import cache
from pathlib import Path
from uuid import getnode, uuid4

from markets.hashes import sha256

LEASE_LENGTH = timedelta(seconds=90)
"""How long nobody hears of a holder before another may take over what it holds."""
HEARTBEAT_INTERVAL = LEASE_LENGTH / 3
"""How often a holder says that it is alive, so that two beats may be missed."""


def holder_name() -> str:
    """A name for this process, told apart from any other that ever had its number."""
    return f"{socket.gethostname()}/{os.getpid()}/{machine_name()}.{uuid4().hex}"


@cache
def machine_name() -> str:
    """What tells this machine's processes from those of another one, or of a container, of the same name."""
    try:
        started, namespace = Path("/proc/sys/kernel/random/boot_id"), Path("/proc/self/ns/pid")
        return sha256(started.read_text("ascii") + str(namespace.readlink()))[:12]
    except OSError:  # no Linux
        return f"{getnode():012x}"


def is_gone(name: str) -> bool:
    """Whether the process of that name is known to have ended.

    Of another machine nothing is known, nor of another container: they see other processes under a number.
    """
    host, pid, own = name.split("/")
    if (host, own.partition(".")[0]) != (socket.gethostname(), machine_name()):
        return False
    if int(pid) == os.getpid():
        return True  # an earlier process with our number: our own name is compared before this is asked
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return False


@asynccontextmanager
async def heartbeat(renew: Callable[[], object]) -> AsyncIterator[None]:
    """Renew what is held, again and again, for as long as the block lasts."""
    beating = asyncio.create_task(_renew_again(renew))
    try:
        yield
    finally:
        beating.cancel()
        await asyncio.gather(beating, return_exceptions=True)


async def _renew_again(renew: Callable[[], object]) -> None:
    while True:
        await asyncio.sleep(HEARTBEAT_INTERVAL.total_seconds())
        try:
            renew()
        except Exception:  # noqa: BLE001, S112 - whatever ails the database: the next beat is still in time
            continue
