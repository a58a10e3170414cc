"""Workers, and turns that come late, twice, or after their round: each is played once and paid once."""

import asyncio
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace

import pytest

from arena.plan import code_version
from arena.round import look, play_round, settle
from arena.store.queue import TurnJob
from arena.store.read import StoredCohort, StoredRound
from arena.store.record import Record
from arena.worker import play_job
from arena.world import Missing, World
from tests.arena.little_world import LittleVenue, a_cohort, a_world, begun, live
from tests.builders import NOW
from tests.faults.test_late import HOUR, Model, facts, worker

JOB = TurnJob(1, 1, "ann", code_version())


def test_workers_play_a_round_that_is_caught_up_a_day_later(database: str) -> None:
    """It was missed, and its prices are of when it was looked at: its time counts from then."""
    with closing(Record.open(database)) as record:
        stored, day = begun(record, live(a_cohort(["ann"]))), 24 * HOUR
        scheduler, outcomes = replace(a_world(LittleVenue(), {}, now=NOW + day), crew=None), list[str]()

        async def crew(
            _stored: StoredCohort, _round: StoredRound, names: Sequence[str], missing: Missing
        ) -> None:
            assert missing() == set(names)
            outcomes.append(await play_job(JOB, worker(record, "a", Model(), day), record))

        report = asyncio.run(play_round(stored, 1, replace(scheduler, crew=crew), record))
        assert outcomes == ["played"]
        assert report.done
