"""Workers that come late, or whose clocks are wrong: every turn is played once, and paid answers are kept."""

import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta

import pytest

from agents.model import Ask, Call, Decision, Message, Prompt, View
from arena.rounds.round import play_round
from arena.rounds.world import Player, World
from arena.verify import verify
from tests.builders import NOW, RAIN, a_bet
from tests.opened_record import OpenedRecord, opened_record
from tests.records.little_world import (
    LittleVenue,
    a_cohort,
    a_world,
    begun,
    live,
    open_round,
    reservations_within,
    turns_of,
)

HOUR = timedelta(hours=1)


async def asks_and_bets(view: View, ask: Ask) -> Decision:
    """An agent that asks twice, and then buys."""
    for number in (1, 2):
        await ask(Prompt((Message("user", f"question {number}"),), view.seed))
    return Decision(bets=(a_bet(500, "YES", RAIN),))


def worker(record: OpenedRecord, name: str, model: "Model", ahead: timedelta = timedelta()) -> World:
    """A worker on some machine, whose clock is ahead by so much."""
    world = a_world(LittleVenue(), {}, now=NOW + ahead)
    mind = Player(asks_and_bets, model, lambda prompt: 10, "somewhere")
    return replace(
        world,
        player=lambda cohort, entrant: mind,
        holder=f"{name}.invalid/1/x",
        reservations=reservations_within(record, {"arena": 10**6}),
    )


class Model:
    """Answers for 5 millionths of a dollar; something may happen while the first answer is waited for."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def meanwhile(self) -> None:
        """Nothing happens."""

    async def __call__(self, prompt: Prompt) -> Call:
        self.asked.append(prompt.messages[0].content)
        if len(self.asked) == 1:
            await self.meanwhile()
        await asyncio.sleep(0)
        return Call(prompt, f"answer {len(self.asked)}", cost=5)


@contextmanager
def waiting(database: str, *names: str) -> Iterator[OpenedRecord]:
    """A record with a live round that has its snapshot and waits for its turns; it agrees with itself."""
    with opened_record(database) as record:
        stored = begun(record, live(a_cohort(names)))
        open_round(stored, a_world(LittleVenue(), {}), record)
        yield record
        assert record.read(verify) == []


def facts(record: OpenedRecord) -> dict[str, int]:
    with record.reading() as connection:
        tables = ("call", "turn", "fill", "entry", "reservation")
        return {
            name: connection.exec_driver_sql(f"SELECT count(*) FROM {name}").scalar_one() for name in tables
        }


def test_a_late_workers_turn_is_refused_its_paid_answer_kept_and_it_asks_no_more(database: str) -> None:
    """Its claim is lost while it waits for an answer; another plays the turn; then the answer comes."""
    with waiting(database, "ann") as record, opened_record(database) as other:
        [stored] = record.cohorts()
        quick, played = Model(), list[str]()

        class Slow(Model):
            async def meanwhile(self) -> None:
                record.release(1, [1])
                report = await play_round(stored, 1, worker(other, "b", quick), other)
                played.extend(turns_of(report))

        slow = Slow()
        late = asyncio.run(play_round(stored, 1, worker(record, "a", slow), record))
        assert played == ["ann"]
        assert (late.turns, late.done) == ((), True)
        assert (slow.asked, quick.asked) == (["question 1"], ["question 1", "question 2"])
        assert facts(record) == {"call": 3, "turn": 1, "fill": 1, "entry": 2, "reservation": 0}
        assert record.spent("arena") == 15


def test_workers_whose_clocks_are_an_hour_apart_play_each_turn_once(database: str) -> None:
    names = [f"a{number}" for number in range(12)]
    with waiting(database, *names) as record:
        [stored] = record.cohorts()
        model = Model()
        others = [OpenedRecord.at(database) for _ in range(3)]
        workers = [
            (one, worker(one, f"w{number}", model, number * HOUR))
            for number, one in enumerate([record, *others], -2)
        ]

        async def all_at_once() -> list[str]:
            reports = await asyncio.gather(*(play_round(stored, 1, world, one) for one, world in workers))
            return [name for report in reports for name in turns_of(report)]

        assert sorted(asyncio.run(all_at_once())) == sorted(names)
        assert len(model.asked) == 2 * len(names)
        whole = {"call": 2 * len(names), "turn": len(names), "fill": len(names), "entry": 2 * len(names)}
        assert facts(record) == whole | {"reservation": 0}
        for one in others:
            one.close()


@pytest.mark.parametrize("want", ["turns", "duty"])
def test_of_many_that_come_at_the_same_moment_one_gets_it(want: str, database: str) -> None:
    """Nobody ever held it, so that there is no row that one could wait for."""
    with waiting(database, *(f"a{number}" for number in range(20))):
        ids, others = [*range(1, 21)], [OpenedRecord.at(database) for _ in range(6)]

        def take(number: int) -> list[int]:
            holder = f"w{number}.invalid/1/x"
            if want == "turns":
                return sorted(others[number].claim(1, ids, holder))
            token = others[number].take_lease("scheduler", holder)
            return [] if token is None else [token]

        with ThreadPoolExecutor(len(others)) as pool:
            taken = list(pool.map(take, range(len(others))))
        assert sorted(taken_id for some in taken for taken_id in some) == (ids if want == "turns" else [1])
        for one in others:
            one.close()
