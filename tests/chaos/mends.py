"""What was mended, taken out again one by one: a simulator that then finds nothing looks at the wrong things.

Each is the behaviour of before, by its name; what finds it is in benchmarks/README.md.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, asynccontextmanager, contextmanager
from dataclasses import replace
from datetime import datetime
from typing import Any
from unittest.mock import patch

from agents.llm import patience as waiting
from arena.operations.due import DueWork
from arena.operations.run import DueTask, due_tasks
from arena.record.queries.cohorts import StoredCohort, read_rounds
from arena.record.record import Record
from arena.rounds.round import finish_round
from arena.rounds.world import World
from tests.chaos.database_faults import DatabaseFaults
from tests.chaos.simulated_queue import Queue


async def close_earlier_rounds(stored: StoredCohort, at: datetime, world: World, record: Record) -> None:
    """A round before this time is over, whoever still plays it."""
    for stored_round in record.read(read_rounds, stored.id):
        if not stored_round.done and stored_round.at < at:
            await finish_round(stored, stored_round, world, record, late=True)


def go_past(waiting: Sequence[DueTask], resting: Collection[str]) -> list[DueTask]:
    """What another process has in hand holds nothing up."""
    return [task for task in waiting if task.name not in resting]


@contextmanager
def rounds_are_passed() -> Iterator[None]:
    """A command beside a running arena, and the arena itself, walk past a round that another plays."""
    with (
        patch("arena.operations.run.ready_tasks", go_past),
        patch("arena.rounds.round.finish_earlier_rounds", close_earlier_rounds),
    ):
        yield


@asynccontextmanager
async def timer_wins(longest: float) -> AsyncIterator[None]:
    """An answer that has arrived is thrown away where the timer is over."""
    async with asyncio.timeout(longest):
        yield


def same_connection(open_connection: Any) -> Any:
    """The queue is worked on again by the connection that is gone."""
    used: list[str] = []

    @asynccontextmanager
    async def opened(self: Any, database: str) -> AsyncIterator[list[str]]:
        async with open_connection(self, database):
            yield used

    return opened


def mark_without(todo: DueWork, *words: Any) -> list[DueTask]:
    """Cohorts that rest are marked a week later."""
    now: datetime = words[2]
    ready = tuple(one for one in todo.due if one.after is None or one.after <= now)
    return due_tasks(replace(todo, due=ready), *words)


MENDS: Mapping[str, Callable[[], AbstractContextManager[object]]] = {
    "queue": lambda: patch.object(Queue, "open", same_connection(Queue.open)),
    "rounds": rounds_are_passed,
    "timer": lambda: patch.object(waiting, "patience", timer_wins),
    "marks": lambda: patch("arena.operations.run.due_tasks", mark_without),
    "room": lambda: patch.object(DatabaseFaults, "release", lambda _faults, _room: False),
}
