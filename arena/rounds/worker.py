"""A worker plays turns that a scheduler has delivered, on this machine or another, until it is stopped."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import AbstractAsyncContextManager, aclosing, suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from typing import Any

from arena.clock import sleep_unless_stopped
from arena.cohorts.freeze import code_version
from arena.config import Config
from arena.errors import ArenaError
from arena.record.queries.cohorts import read_cohorts, read_rounds, read_taken_at
from arena.record.record import Record
from arena.record.write.turn_queue import PlayTurns, TurnEnded, TurnJob, open_queue, run_worker
from arena.rounds.error_text import error_text
from arena.rounds.open_world import open_world
from arena.rounds.turns import is_late, play_turns
from arena.rounds.world import World

DATABASE_WAITS = (1.0, 2.0, 5.0, 10.0, 30.0)
"""Seconds before a worker looks whether the database is back, the longest again and again."""


@dataclass(frozen=True, slots=True)
class JobOutcome:
    """A turn of a job, and its outcome in words: its status, or why it was not played."""

    job: TurnJob
    agent: str
    outcome: str


class OtherVersion(ArenaError):
    """The scheduler that delivered a turn is of another version than this worker."""

    def __init__(self, theirs: str):
        text = f"arena run is paper-arena {theirs}, this worker is {code_version()}: it plays no turns"
        super().__init__("other_version", text, "install the same version on both, then restart the worker")


OnJob = Callable[[JobOutcome | str], None]
"""Called with the outcome of each turn, and with a text when something happens to the worker itself."""
OnTurn = Callable[[str, str], None]
"""Called with an agent and the outcome of its turn."""
PlayJob = Callable[[TurnJob, OnTurn], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class TurnQueue:
    """A queue of turns: how it is opened, and how its turns are worked on until that is cancelled."""

    open: Callable[[str], AbstractAsyncContextManager[Any]]
    work: Callable[[Any, PlayTurns, int, float], Coroutine[Any, Any, None]]


POSTGRESQL_QUEUE = TurnQueue(open_queue, run_worker)


async def serve_turns(
    config: Config,
    record: Record,
    at_once: int,
    grace: float,
    stop: asyncio.Event,
    on_job: OnJob,
    queue: TurnQueue = POSTGRESQL_QUEUE,
) -> None:
    """Take turns from a queue until `stop` is set; then turns under way have `grace` seconds to end.

    If the queue is lost it is opened anew, for as long as that takes. Raise `OtherVersion` if the scheduler
    is of another version.
    """
    async with open_world(config, record, report_wait=on_job) as world:
        faults: list[ArenaError] = []  # those that end the worker
        at_work = replace(world, turn_places=asyncio.Semaphore(at_once))
        play_once = once_at_a_time(partial(play_job, world=at_work, record=record))
        on_job(f"waiting for turns, {at_once} at once; Ctrl-C ends it")

        async def play(job: TurnJob, ended: TurnEnded) -> None:
            def tell(agent: str, outcome: str) -> None:
                on_job(JobOutcome(job, agent, outcome))
                ended()

            try:
                await play_once(job, tell)
            except OtherVersion as error:
                faults.append(error)
                stop.set()
            except Exception as error:  # noqa: BLE001 - it is reported; the turns are delivered again
                on_job(f"cohort {job.cohort}, round {job.round}: interrupted: {error_text(error)}")

        failures = 0
        while not stop.is_set():
            try:
                async with queue.open(config.database) as app:
                    failures = 0
                    await _work_until(stop, queue.work(app, play, at_once, grace))
            except ArenaError as error:
                on_job(error.message)

            pause = DATABASE_WAITS[min(failures, len(DATABASE_WAITS) - 1)]
            await sleep_unless_stopped(timedelta(seconds=pause), stop)
            failures += 1

        if faults:
            raise faults[0]


def once_at_a_time(play: PlayJob) -> PlayJob:
    """Return `play`, but so that a turn which this process already plays is not begun again.

    A worker of which nothing was heard for a while gets its own turns again, maybe in other jobs, and its own
    claims would not stop it.
    """
    under_way = set()

    async def play_once(job: TurnJob, tell: OnTurn) -> None:
        free = []
        for agent in job.agents:
            if (job.cohort, job.round, agent) in under_way:
                tell(agent, "not played: this worker already has it")
            else:
                free.append(agent)

        turns = [(job.cohort, job.round, agent) for agent in free]
        under_way.update(turns)
        try:
            if free:
                await play(replace(job, agents=tuple(free)), tell)
        finally:
            under_way.difference_update(turns)

    return play_once


async def _work_until(stop: asyncio.Event, working: Coroutine[Any, Any, None]) -> None:
    """Work until `stop` is set, or until the work ends by itself."""
    work = asyncio.create_task(working)
    stopped = asyncio.create_task(stop.wait())
    try:
        await asyncio.wait({work, stopped}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        stopped.cancel()
        if not work.done():
            work.cancel()

    with suppress(asyncio.CancelledError):
        await work


async def play_job(job: TurnJob, tell: OnTurn, world: World, record: Record) -> None:
    """Play the turns of a job that are still to be played, all at once, and tell the outcome of each.

    Raise `OtherVersion` if it was delivered by another version of the code.
    """
    if job.version != code_version():
        raise OtherVersion(job.version)

    cohorts = record.read(read_cohorts, record.line_ups, only_open=True)
    stored = next((stored for stored in cohorts if stored.cohort.number == job.cohort), None)
    rounds = record.read(read_rounds, stored.id) if stored else []
    stored_round = next((begun for begun in rounds if begun.number == job.round), None)

    # Why each agent's turn is not played, until it is.
    reasons = dict.fromkeys(job.agents, "not played: it is not in this record, or over")
    if stored is not None and stored_round is not None and not stored_round.done:
        seen_at = record.read(read_taken_at, stored.id, stored_round.at) or stored_round.at
        agents = stored.entrant_ids.keys() & job.agents
        if is_late(stored.cohort, seen_at, world.now()):
            reasons |= dict.fromkeys(agents, "not played: too late")
        else:
            reasons |= dict.fromkeys(agents, "not played: done, or taken by another worker")
            playing = play_turns(stored, stored_round, world, record, False, job.again, agents)
            async with aclosing(playing) as played_turns:
                async for turn in played_turns:
                    del reasons[turn.entrant]
                    tell(turn.entrant, turn.decision.status)

    for agent, reason in reasons.items():
        tell(agent, reason)
