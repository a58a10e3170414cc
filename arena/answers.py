"""What a venue answers in a round: what it set aside is kept, and a round goes on without it if it must."""

from collections.abc import Awaitable
from datetime import datetime
from typing import TypeVar

from arena.errors import ArenaError
from arena.store.read import StoredCohort
from arena.store.record import Record
from arena.turns import is_late
from arena.world import World
from markets.venue import SetAside, VenueError

Found = TypeVar("Found")


async def answer(
    question: Awaitable[list[Found]], stored: StoredCohort, at: datetime, world: World, record: Record
) -> list[Found]:
    """A venue's answer, or nothing where it has none and asking again is of no use.

    A live venue that is down is asked again when the round is tried again, so that is an error; once the
    round's time is over, and in a made-up or recorded world, it is played without: nothing is on offer,
    and what is held keeps its last known price.
    """
    try:
        return await question
    except VenueError as error:
        if stored.cohort.stamp == "live" and not is_late(stored.cohort, at, world.now()):
            raise as_error(error, f"`arena round --at {at:%Y-%m-%dT%H:%MZ}` tries again") from error
        world.asides.append(SetAside(stored.cohort.venue, "", "page", error.code, error.message))
        return []
    finally:
        record.keep_asides(world.asides, at)
        world.asides.clear()


def as_error(error: VenueError, next: str = "") -> ArenaError:
    """A venue's trouble as the command line tells it, and what can be done next."""
    return ArenaError(error.code, error.message, "; ".join(part for part in (error.mend, next) if part))
