"""What a venue answers in a round: what it set aside is kept, and a round goes on without it if it must."""

from collections.abc import Awaitable
from datetime import datetime
from typing import TypeVar

from arena.errors import ArenaError
from arena.fault import in_words
from arena.store.read import StoredCohort
from arena.store.record import Record
from arena.turns import is_late
from arena.world import World
from markets.venue import SetAside, VenueError

Found = TypeVar("Found")


class NoAnswer(ArenaError):
    """A round that could not be played now, since its live venue is down; which one that is."""

    def __init__(self, code: str, message: str, mend: str, venue: str, status: int = 1):
        super().__init__(code, message, mend, status)
        self.venue = venue


async def answer(
    question: Awaitable[list[Found]],
    stored: StoredCohort,
    at: datetime,
    world: World,
    record: Record,
    decides: bool = True,
) -> list[Found]:
    """A venue's answer, or nothing where it has none and asking again is of no use.

    A live venue that is down is asked again when the round is tried again, so that is an error. In a made-up
    or recorded world, and for a cohort that decides nothing, it goes on without: nothing is on offer, and
    what is held keeps its last known price.
    """
    try:
        return await question
    except VenueError as error:
        if decides and stored.cohort.stamp == "live":
            words = f"cohort {stored.cohort.number} was not played: {error.message}"
            late = is_late(stored.cohort, at, world.now())
            mend = "" if late else f"`arena round --at {at:%Y-%m-%dT%H:%MZ}` tries again"
            mends = "; ".join(x for x in (error.mend, mend) if x)
            raise NoAnswer(error.code, words, mends, stored.cohort.venue) from error
        world.asides.append(SetAside(stored.cohort.venue, "", "page", error.code, in_words(error)))
        return []
    finally:
        record.keep_asides(world.asides, at)
        world.asides.clear()


def as_error(error: VenueError) -> ArenaError:
    """A venue's trouble as the command line tells it."""
    return ArenaError(error.code, error.message, error.mend)
