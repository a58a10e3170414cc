"""Workers, and turns that come late, twice, or after their round: each is played once and paid once."""

import asyncio
from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import partial

from agents.model import Call, Prompt
from arena.rounds.round import close_round, play_round
from arena.rounds.worker import OnTurn, once_at_a_time, play_job
from arena.rounds.world import MissingTurns
from tests.builders import NOW
from tests.faults.test_late import HOUR, Model, facts, waiting, worker
from tests.opened_record import a_turn_job, opened_record
from tests.records.little_world import LittleVenue, a_cohort, a_world, begun, live

JOB = a_turn_job("ann")


def tell_to(outcomes: list[str]) -> OnTurn:
    """Keep what is told of turns."""
    return lambda _agent, outcome: outcomes.append(outcome)


def test_workers_play_a_round_that_is_caught_up_a_day_later(database: str) -> None:
    """It was missed, and its prices are of when it was looked at: its time counts from then."""
    with opened_record(database) as record:
        stored, day = begun(record, live(a_cohort(["ann"]))), 24 * HOUR
        scheduler, outcomes = replace(a_world(LittleVenue(), {}, now=NOW + day), dispatch=None), list[str]()

        async def dispatch(
            _stored: object,
            _round: object,
            names: Sequence[str],
            missing: MissingTurns,
            _again: bool,
        ) -> Collection[str]:
            assert missing() == set(names)
            await play_job(JOB, tell_to(outcomes), worker(record, "a", Model(), day), record)
            return ()

        report = asyncio.run(play_round(stored, 1, replace(scheduler, dispatch=dispatch), record))
        assert outcomes == ["played"]
        assert report.done


def test_a_turn_that_its_own_worker_is_given_again_is_asked_once(database: str) -> None:
    """The worker was not heard of for half a minute: its job is given out anew, and it takes it itself."""
    with waiting(database, "ann") as record:
        again = list[str]()

        class Slow(Model):
            async def meanwhile(self) -> None:
                await play(JOB, tell_to(again))

        model = Slow()
        world = worker(record, "a", model)
        play = once_at_a_time(partial(play_job, world=world, record=record))
        first = list[str]()

        async def go() -> None:
            await play(JOB, tell_to(first))

        asyncio.run(go())
        assert first == ["played"]
        assert again == ["not played: this worker already has it"]
        assert model.asked == ["question 1", "question 2"]
        assert facts(record) == {"call": 2, "turn": 1, "fill": 1, "entry": 2, "reservation": 0}


class Down(Model):
    """A model whose server is away."""

    async def __call__(self, prompt: Prompt) -> Call:
        raise ConnectionError("not today")


def test_of_a_round_that_is_over_a_worker_asks_nothing_more(database: str) -> None:
    """It has closed the round itself, so that its own claims would not stop it."""
    with waiting(database, "ann") as record:
        [stored] = record.cohorts()
        asyncio.run(play_round(stored, 1, worker(record, "a", Down()), record))
        assert asyncio.run(close_round(stored, 1, worker(record, "a", Model(), 7 * HOUR), record)).done

        model = Model()
        outcomes = list[str]()
        asyncio.run(play_job(JOB, tell_to(outcomes), worker(record, "a", model), record))
        assert outcomes == ["not played: it is not in this record, or over"]
        assert model.asked == []


def test_a_job_that_comes_when_its_prices_are_too_old_is_left_to_the_scheduler(database: str) -> None:
    with waiting(database, "ann") as record:
        model = Model()
        outcomes = list[str]()
        asyncio.run(play_job(JOB, tell_to(outcomes), worker(record, "a", model, 7 * HOUR), record))
        assert outcomes == ["not played: too late"]
        assert model.asked == []
        assert facts(record) == {"call": 0, "turn": 0, "fill": 0, "entry": 1, "reservation": 0}


def test_a_turn_that_failed_is_played_no_more_once_its_round_was_closed(database: str) -> None:
    """Somebody still asks for it as another closes the round and marks it: what was marked stays true."""
    with waiting(database, "ann") as record, opened_record(database) as other:
        [stored] = record.cohorts()

        class Slow(Model):
            async def meanwhile(self) -> None:
                report = await close_round(stored, 1, worker(other, "b", Model(), 7 * HOUR), other)
                assert report.done

        asyncio.run(play_round(stored, 1, worker(record, "c", Down()), record))
        record.release(1, [1])
        outcomes = list[str]()
        asyncio.run(play_job(JOB, tell_to(outcomes), worker(record, "a", Slow()), record))
        assert outcomes == ["not played: done, or taken by another worker"]
        token = record.claim(1, [1], "a.invalid/1/x", gone=True)[1]
        assert not record.decide_nothing(1, token, cash=10_000_000_000)
        assert record.turn_statuses(1) == {1: "failed"}
        assert facts(record) == {"call": 1, "turn": 1, "fill": 0, "entry": 1, "reservation": 1}
