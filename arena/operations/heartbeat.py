"""The dead man's switch: an address elsewhere hears of good steps, so that somebody notices when none comes.

That the address does not answer is an incident, and nothing waits for it.
"""

import asyncio
from collections.abc import Callable, Mapping
from datetime import datetime

from arena.config.field_types import is_address
from arena.errors import ArenaError
from arena.operations.webhook import Webhook, WebhookReply, ask
from arena.record.model.incident import ping_failed
from arena.record.record import Record
from arena.record.write.operations import add_incidents, end_incidents

PING = "ARENA_PING"
"""The environment variable with the address: whoever knows it can ping, so it is no setting."""
EVERY = 60.0
"""Seconds from one ping to the next, at least."""
PAUSES = (5.0, 20.0)
"""Seconds before each of the tries after the first."""


def ping_of(environ: Mapping[str, str]) -> Webhook | None:
    """The address to be pinged; None where the environment has none."""
    if not (url := environ.get(PING, "")):
        return None
    if not is_address(url):
        raise ArenaError("no_ping", f"{PING} should hold the address to be pinged", "set it so, or unset it")
    return Webhook(url)


async def keep_pinging(
    record: Record,
    address: Webhook | None,
    good_step: asyncio.Event,
    now: Callable[[], datetime],
    stop: asyncio.Event,
    say: Callable[[str], None],
) -> None:
    """Ping after good steps, until told to stop. The first failure is told, and that it is over is noted."""
    was_well = None
    while address is not None and await _until(good_step, stop):
        good_step.clear()
        reply = await ping(address, stop)
        if reply.ok is not was_well and not stop.is_set():
            try:
                if reply.ok:
                    end_incidents(record.engine, "ping_failed", now())
                else:
                    add_incidents(
                        record.engine, [ping_failed(now(), address.name, reply.words)], unless="ping@"
                    )
                    say(f"{address.name} was not pinged: it {reply.words}")
                was_well = reply.ok
            except ArenaError as error:
                say(f"a ping could not be recorded: {error.message}")
        await _within(EVERY, stop)


async def ping(address: Webhook, stop: asyncio.Event) -> WebhookReply:
    """Ask at the address, a few times at most; how it answered last."""
    reply = await ask(address, "GET")
    for pause in PAUSES:
        if reply.ok or stop.is_set():
            break
        await _within(pause, stop)
        reply = await ask(address, "GET")
    return reply


async def _until(good_step: asyncio.Event, stop: asyncio.Event) -> bool:
    """Wait for a good step; False where one is told to stop before."""
    waits = [asyncio.create_task(event.wait()) for event in (good_step, stop)]
    try:
        await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in waits:
            task.cancel()
    return good_step.is_set()


async def _within(seconds: float, stop: asyncio.Event) -> None:
    """So many seconds, or less when told to stop."""
    try:
        async with asyncio.timeout(seconds):
            await stop.wait()
    except TimeoutError:
        return
