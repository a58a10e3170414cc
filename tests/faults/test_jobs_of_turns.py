"""Jobs of several turns: each turn is played once and paid once, whatever becomes of job and worker."""

import asyncio
import os
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
from sqlalchemy import event

from agents.model import Call, Prompt
from arena.cohorts.freeze import code_version
from arena.record.write.turn_queue import TurnJob
from arena.rounds.worker import OtherVersion, once_at_a_time, play_job
from arena.rounds.world import Player, World
from tests.faults.test_late import HOUR, Model, asks_and_bets, facts, waiting, worker
from tests.opened_record import OpenedRecord, opened_record

NAMES = ("ann", "bob", "eve")
JOB = TurnJob(1, 1, NAMES, code_version())
QUESTIONS = ["question 1", "question 2"]
TAKEN = "not played: done, or taken by another worker"


class Told(dict[str, str]):
    """The outcome of each agent, told once."""

    def __call__(self, agent: str, outcome: str) -> None:
        assert agent not in self
        self[agent] = outcome


def with_models(world: World, models: Mapping[str, Model]) -> World:
    """The same worker, but each agent has a model of its own."""
    players = {}
    for name, model in models.items():
        players[name] = Player(asks_and_bets, model, lambda _: 10, "somewhere")
    return replace(world, player=lambda _cohort, entrant: players[entrant.name])


def outcomes_of(job: TurnJob, world: World, record: OpenedRecord) -> Told:
    told = Told()
    asyncio.run(play_job(job, told, world, record))
    return told


class Together(Model):
    """Answers once so many questions have come."""

    def __init__(self, questions: int) -> None:
        super().__init__()
        self.barrier = asyncio.Barrier(questions)
        self.now = self.most = 0

    async def __call__(self, prompt: Prompt) -> Call:
        self.now += 1
        self.most = max(self.most, self.now)
        async with asyncio.timeout(5):
            await self.barrier.wait()
        call = await super().__call__(prompt)
        self.now -= 1
        return call


@pytest.mark.parametrize("places", [2, 4])
def test_the_turns_of_a_job_are_played_at_the_same_time_in_the_places_of_the_worker(
    places: int, database: str
) -> None:
    names = ("ann", "bob", "eve", "fay")
    with waiting(database, *names) as record:
        told, models = Told(), list[Together]()

        async def go() -> None:
            models.append(Together(places))
            world = replace(worker(record, "a", models[0]), turn_places=asyncio.Semaphore(places))
            await play_job(TurnJob(1, 1, names, code_version()), told, world, record)

        asyncio.run(go())
        assert told == dict.fromkeys(names, "played")
        assert models[0].most == places


def test_a_job_sends_hardly_more_statements_for_eight_turns_than_for_one(database: str) -> None:
    names = tuple(f"a{number}" for number in range(9))
    with waiting(database, *names) as record:
        sent = list[str]()
        event.listen(record.engine, "before_cursor_execute", lambda *given: sent.append(given[2]))

        async def silent(*_: Any) -> Any:
            raise ValueError("no model and no answer")

        player = Player(silent, silent, lambda _: 0)
        world = replace(worker(record, "a", Model()), player=lambda _cohort, _entrant: player)
        one = outcomes_of(TurnJob(1, 1, names[:1], code_version()), world, record)
        for_one = len(sent)
        eight = outcomes_of(TurnJob(1, 1, names[1:], code_version()), world, record)
        assert {*one.values(), *eight.values()} == {"failed"}
        assert len(sent) - for_one <= 1.5 * for_one


def test_what_a_killed_worker_had_done_of_a_job_is_not_done_again(database: str) -> None:
    """Of its three turns one is written, one has its first answer, and one waits for it."""
    with waiting(database, *NAMES) as record:
        child = os.fork()
        if child == 0:
            die_within_a_job(database)
        _, status = os.waitpid(child, 0)
        assert os.waitstatus_to_exitcode(status) == 9

        assert facts(record) == {"call": 3, "turn": 1, "fill": 1, "entry": 4, "reservation": 2}
        record.release(1, [1, 2, 3])
        models = {name: Model() for name in NAMES}
        told = outcomes_of(JOB, with_models(worker(record, "b", Model()), models), record)
        assert told == {"ann": TAKEN, "bob": "played", "eve": "played"}
        assert [models[name].asked for name in NAMES] == [[], ["question 2"], QUESTIONS]
        assert facts(record) == {"call": 6, "turn": 3, "fill": 3, "entry": 6, "reservation": 2}


def die_within_a_job(database: str) -> None:
    """Play a job in a process that is gone as soon as its first turn is written."""
    try:
        record, ann_is_in = OpenedRecord.at(database), asyncio.Event()

        class Fatal(Model):
            async def __call__(self, prompt: Prompt) -> Call:
                if self.asked:
                    await ann_is_in.wait()
                    os._exit(9)
                return await super().__call__(prompt)

        class Silent(Model):
            async def meanwhile(self) -> None:
                await asyncio.Event().wait()

        models = {"ann": Model(), "bob": Fatal(), "eve": Silent()}
        world = with_models(worker(record, "a", Model()), models)
        asyncio.run(play_job(JOB, lambda *_: ann_is_in.set(), world, record))
    finally:
        os._exit(1)


def test_a_job_that_two_workers_are_given_is_played_once(database: str) -> None:
    with waiting(database, *NAMES) as record, opened_record(database) as other:
        model, told = Model(), [Told(), Told()]

        async def both() -> None:
            await asyncio.gather(
                play_job(JOB, told[0], worker(record, "a", model), record),
                play_job(JOB, told[1], worker(other, "b", model), other),
            )

        asyncio.run(both())
        for name in NAMES:
            assert sorted(each[name] for each in told) == [TAKEN, "played"]
        assert sorted(model.asked) == sorted(3 * QUESTIONS)
        assert facts(record) == {"call": 6, "turn": 3, "fill": 3, "entry": 6, "reservation": 0}


def test_a_turn_in_two_jobs_of_one_worker_is_asked_once(database: str) -> None:
    """The worker was not heard of, so that its turns are delivered again in other jobs: it takes these."""
    with waiting(database, *NAMES) as record:
        again = Told()

        class Slow(Model):
            async def meanwhile(self) -> None:
                await play(replace(JOB, agents=("bob", "eve")), again)

        model, told = Slow(), Told()
        play = once_at_a_time(partial(play_job, world=worker(record, "a", model), record=record))

        async def go() -> None:
            await play(replace(JOB, agents=("ann", "bob")), told)

        asyncio.run(go())
        assert told == {"ann": "played", "bob": "played"}
        assert again == {"bob": "not played: this worker already has it", "eve": "played"}
        assert sorted(model.asked) == sorted(3 * QUESTIONS)


def test_what_can_not_be_played_of_a_job_keeps_nothing_else_from_being_played(database: str) -> None:
    with waiting(database, *NAMES) as record:
        told = outcomes_of(replace(JOB, agents=("ann", "nobody")), worker(record, "a", Model()), record)
        assert told == {"ann": "played", "nobody": "not played: it is not in this record, or over"}

        model = Model()
        late = outcomes_of(JOB, worker(record, "a", model, 7 * HOUR), record)
        assert late == dict.fromkeys(NAMES, "not played: too late")
        assert model.asked == []


def test_of_a_job_of_another_version_no_turn_is_played(database: str) -> None:
    with waiting(database, *NAMES) as record:
        model = Model()
        with pytest.raises(OtherVersion):
            outcomes_of(replace(JOB, version="0.0.0"), worker(record, "a", model), record)
        assert facts(record) == {"call": 0, "turn": 0, "fill": 0, "entry": 3, "reservation": 0}
