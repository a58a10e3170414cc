"""A worker that asks as fast as it can: four of them share a record, a budget and a provider."""

import asyncio
import multiprocessing
import os
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from multiprocessing.context import ForkServerContext
from pathlib import Path
from random import Random

from agents.model import Call, Message, Prompt
from arena.calls.rate_limit import RateLimiter
from arena.record.model.reservation import Payer, Scope
from arena.rounds.turns import ask_of_player
from arena.rounds.world import Player
from tests.opened_record import OpenedRecord
from tests.records.little_world import LittleVenue, a_world, asks, reservations_within

COST = 1_000
"""What a call costs, and the most that it may."""


def forking() -> ForkServerContext:
    """What makes processes that are there at once: all tests of a run share the one they are forked from."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.faults.hammer", "tests.faults.ticking"])
    return context


def work(
    address: str, number: int, ticks: int, per_provider: int, limits: Mapping[Scope, int], log: str
) -> None:
    """So many questions, eight at a time, each told to the log as it starts and as it ends."""
    record, chance = OpenedRecord.at(address), Random(f"hammer {number}")
    reservations = reservations_within(
        record, limits, RateLimiter(8, per_provider, Random(f"waits {number}"))
    )
    world = replace(a_world(LittleVenue(), {}), reservations=reservations)
    told = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)

    async def answer(prompt: Prompt) -> Call:
        os.write(told, b"+\n")
        await asyncio.sleep(chance.uniform(0, 0.004))
        os.write(told, b"-\n")
        return Call(prompt, "yes", cost=COST)

    mind = Player(asks, answer, lambda prompt: COST, "somewhere")

    async def all_of_them() -> None:
        ways = [
            ask_of_player(mind, Payer(1, entrant), f"a{entrant}", [], world, record)
            for entrant in (1, 2, 3, 4)
        ]
        prompts = [Prompt((Message("user", f"{number}/{tick}"),)) for tick in range(ticks)]
        await asyncio.gather(*(ways[tick % 4](prompt) for tick, prompt in enumerate(prompts)))

    asyncio.run(all_of_them())
    os.close(told)
    record.close()


def most_at_once(log: Path) -> Counter[str]:
    """How many calls were made, and how many were under way at once at most."""
    here, found = 0, Counter[str]()
    for line in log.read_text("ascii").split():
        here += 1 if line == "+" else -1
        found["made"] += line == "+"
        found["most"] = max(found["most"], here)
    assert here == 0
    return found


def hang(address: str, sign: str) -> None:
    """Make one call that never ends, and leave a sign once it is under way."""
    record = OpenedRecord.at(address)
    reservations = reservations_within(record, {"arena": 10 * COST})
    world = replace(a_world(LittleVenue(), {}), reservations=reservations)

    async def never(prompt: Prompt) -> Call:
        os.close(os.open(sign, os.O_CREAT))
        await asyncio.sleep(3_600)
        raise AssertionError("it was to be killed")

    ask = ask_of_player(
        Player(asks, never, lambda prompt: COST, "somewhere"), Payer(1, 1), "ann", [], world, record
    )

    async def asked() -> None:
        await ask(Prompt((Message("user", "Are you there?"),)))

    asyncio.run(asked())
