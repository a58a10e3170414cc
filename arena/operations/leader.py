"""Leader or standby: of all `arena run` processes on one record, only the leader does what is due."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import timedelta
from functools import partial

from arena.clock import sleep_unless_stopped
from arena.errors import ArenaError
from arena.record.record import Record
from arena.record.write.operations import LeaseLost, release_lease, renew_lease, take_lease

LEADER_LEASE = "scheduler"
LEASE = timedelta(seconds=60)
"""How long the lease lasts unless it is renewed."""
BEAT = timedelta(seconds=15)
"""How often the leader renews the lease."""
LOOK = timedelta(seconds=3)
"""How often a standby looks whether the lease is free."""


def take_lead(record: Record, holder: str) -> int | None:
    """Take the lease if nobody holds it, or its holder is dead; return its token, or None."""
    is_over = partial(record.watch.is_over, lease=LEASE)
    return record.write_unfenced(take_lease, LEADER_LEASE, holder, is_over)


async def wait_to_lead(
    record: Record,
    holder: str,
    stop: asyncio.Event,
    on_standby: Callable[[], None],
    on_error: Callable[[ArenaError], None],
) -> int | None:
    """Wait for the lease and take it; return its token, or None if `stop` is set before.

    `on_standby` is called once, the first time that another process holds the lease. `on_error` is called
    each time that the record becomes unusable; the wait goes on until it can be used again.
    """
    standing_by = False
    usable = True

    while not stop.is_set():
        try:
            token = take_lead(record, holder)
            usable = True
        except ArenaError as error:
            if usable:
                on_error(error)
            usable = False
        else:
            if token is not None:
                return token
            if not standing_by:
                on_standby()
            standing_by = True

        await sleep_unless_stopped(LOOK, stop)
    return None


async def work_as_leader(record: Record, token: int, work: Callable[[Record], Awaitable[None]]) -> bool:
    """Work while the lease is held, then release it; return whether the work ended before it was lost."""
    working = asyncio.ensure_future(work(record.fenced(LEADER_LEASE, token)))
    renewing = asyncio.create_task(keep_lease(record, token))

    try:
        await asyncio.wait({working, renewing}, return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            return False
        await working
        return True
    except LeaseLost:
        return False
    finally:
        for task in (working, renewing):
            task.cancel()
        await asyncio.gather(working, renewing, return_exceptions=True)
        with suppress(ArenaError):  # if the record can't be reached, the lease runs out by itself
            record.write_unfenced(release_lease, LEADER_LEASE, token)


async def keep_lease(record: Record, token: int) -> None:
    """Renew the lease until it is lost: another holds it, or the record was unreachable for too long."""
    timer = asyncio.get_running_loop().time
    never = asyncio.Event()
    renewed_at = timer()

    while timer() - renewed_at < LEASE.total_seconds():
        await sleep_unless_stopped(BEAT, never)
        try:
            if not record.write_unfenced(renew_lease, LEADER_LEASE, token):
                return
            renewed_at = timer()
        except Exception:  # noqa: BLE001, S112 - a database that is unreachable for a moment is tried again
            continue
