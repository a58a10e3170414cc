"""Leader and standby: of all `arena run` on one record, only the leader does what is due."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial

from arena.clock import sleep_unless_stopped
from arena.errors import ArenaError
from arena.record.record import Record
from arena.record.write.operations import LeaseLost, read_lease, release_lease, renew_lease, take_lease

LEADER_LEASE = "scheduler"
LEASE = timedelta(seconds=60)
"""How long the lease is held after it was renewed."""
BEAT = timedelta(seconds=15)
"""How often the lease is renewed."""
LOOK = timedelta(seconds=3)
"""How often a process that stands by looks whether the lease is free."""


@dataclass(frozen=True, slots=True)
class FormerLead:
    """A lead that was not released: its holder, and its last renewal by the database's clock."""

    holder: str
    renewed_at: datetime | None


def read_held_lead(record: Record, me: str) -> FormerLead | None:
    """Return the lead that another process holds or left behind; None if it is free or our own."""
    hold = record.read(read_lease, LEADER_LEASE)
    if hold is None or hold.beat is None or hold.holder == me:
        return None
    return FormerLead(hold.holder, hold.renewed_at)


def take_lead(record: Record, holder: str) -> int | None:
    """Take the lease and return its token; None while another process that is not dead holds it."""
    is_over = partial(record.watch.is_over, lease=LEASE)
    return record.write_unfenced(take_lease, LEADER_LEASE, holder, is_over)


async def wait_to_lead(
    record: Record,
    holder: str,
    stop: asyncio.Event,
    on_standby: Callable[[], None],
    on_error: Callable[[ArenaError], None],
    on_takeover: Callable[[FormerLead], None] = lambda _: None,
) -> int | None:
    """Wait for the lease, take it and return its token; return None if told to stop first.

    Call `on_standby` once, `on_error` each time that the record becomes unusable, which is waited out, and
    `on_takeover` if the lease was not let go of by who had it.
    """
    reported_standby = False
    usable = True

    while not stop.is_set():
        try:
            former = read_held_lead(record, holder)
            token = take_lead(record, holder)
            usable = True
        except ArenaError as error:
            if usable:
                on_error(error)
            usable = False
        else:
            if token is not None and former is not None:
                on_takeover(former)
            if token is not None:
                return token
            if not reported_standby:
                on_standby()
            reported_standby = True

        await sleep_unless_stopped(LOOK, stop)

    return None


async def work_as_leader(record: Record, token: int, work: Callable[[Record], Awaitable[None]]) -> bool:
    """Work for as long as the lease is held, then release it; return False if it was lost."""
    working = asyncio.ensure_future(work(record.fenced(LEADER_LEASE, token)))
    beating = asyncio.create_task(keep_lease(record, token))

    try:
        await asyncio.wait({working, beating}, return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            return False
        await working
        return True
    except LeaseLost:
        return False
    finally:
        for task in (working, beating):
            task.cancel()
        await asyncio.gather(working, beating, return_exceptions=True)
        with suppress(ArenaError):  # a record that is away: the lease runs out by itself
            record.write_unfenced(release_lease, LEADER_LEASE, token)


async def keep_lease(record: Record, token: int) -> None:
    """Renew the lease until it is lost: another has it, or the record could not be reached for too long."""
    timer = asyncio.get_running_loop().time
    never = asyncio.Event()
    renewed = timer()

    while timer() - renewed < LEASE.total_seconds():
        await sleep_unless_stopped(BEAT, never)
        try:
            if not record.write_unfenced(renew_lease, LEADER_LEASE, token):
                return
            renewed = timer()
        except Exception:  # noqa: BLE001, S112 - a database that is away for a moment is asked again
            continue
