"""What `arena run` keeps up beside its work: the health endpoint, and the messages to the webhook."""

import asyncio
import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import datetime

from arena.answers import NoAnswer
from arena.clock import now as this_instant
from arena.config import Config, environment
from arena.errors import ArenaError
from arena.health import serving
from arena.messages import webhook_of
from arena.notify import telling
from arena.noting import note_played, note_rounds
from arena.standing import source_of
from arena.store.record import Record


async def passed_on(
    config: Config, record: Record, due: datetime, fault: BaseException | None, say: Callable[[str], None]
) -> None:
    """Note how a decision time went that was played by itself, and tell what should be heard of, once.

    What does not arrive is sent again by whoever plays next. That another process plays is no news.
    """
    if isinstance(fault, ArenaError) and fault.code == "busy":
        return
    webhook = webhook_of(config.watch, environment(config.folder, os.environ))
    venue = fault.venue if isinstance(fault, NoAnswer) else config.markets.venue
    try:
        note_played(record, venue, due, this_instant(), fault)
    except ArenaError as error:
        say(f"what happened could not be noted: {error.message}")
    at_once = asyncio.Event()
    at_once.set()
    await telling(record, webhook, this_instant, at_once, say)


@asynccontextmanager
async def watched(
    config: Config, record: Record, now: Callable[[], datetime], me: str, say: Callable[[str], None]
) -> AsyncIterator[None]:
    """While the block lasts health can be asked for, and what should be heard of is told.

    `now` is the arena's time, which may be pretended; messages are sent by the real one.
    """
    webhook = webhook_of(config.watch, environment(config.folder, os.environ))
    note_rounds(record, now())
    stop = asyncio.Event()
    async with serving(source_of(record, config, now, me), config.watch.health):
        task = asyncio.create_task(telling(record, webhook, this_instant, stop, say))
        try:
            yield
        finally:
            stop.set()
            await task
