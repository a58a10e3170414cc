"""A live turn has six hours from its prices on: whoever answers, begins or waits longer is too late."""

import asyncio
from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from agents.model import Ask, Decision, View
from arena.rounds.round import play_round
from arena.rounds.season import play_time
from arena.rounds.world import World
from tests.builders import NOW
from tests.opened_record import OpenedRecord
from tests.records.little_world import LittleVenue, a_plan, a_world, begun_live, says

LATE = NOW + timedelta(hours=7)
STATES = says("0.7")


@dataclass
class HandClock:
    """A clock that a test moves."""

    at: datetime = NOW

    def now(self) -> datetime:
        return self.at


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


def a_live_world(clock: HandClock, agent: Any = STATES) -> World:
    return replace(a_world(LittleVenue(), {"ann": agent}), now=clock.now)


def test_an_answer_that_takes_too_long_is_late(clock: HandClock, record: OpenedRecord) -> None:
    stored = begun_live(record, "ann")

    async def thinks(view: View, ask: Ask) -> Decision:
        clock.at = LATE
        return await STATES(view, ask)

    [turn] = asyncio.run(play_round(stored, 1, a_live_world(clock, thinks), record)).turns
    assert turn.decision.status == "late"
    assert "answered 7 h after its prices" in turn.decision.note


def test_a_round_whose_time_is_over_is_not_begun(clock: HandClock, record: OpenedRecord) -> None:
    stored = begun_live(record, "ann")
    clock.at = LATE
    assert asyncio.run(play_time(NOW, a_plan(), a_live_world(clock), record)) == []
    assert record.rounds(stored.id) == []


def test_workers_are_waited_for_until_it_is_too_late(clock: HandClock, record: OpenedRecord) -> None:
    """Then the turn is late, and not played by who had waited."""
    stored = begun_live(record, "ann")
    missing_then: list[Collection[str]] = []

    async def dispatch(_stored: Any, _round: Any, names: Any, missing: Any, _again: bool) -> Collection[str]:
        missing_then.append(missing())
        clock.at = LATE
        missing_then.append(missing())
        return list(names)

    world = replace(a_live_world(clock), dispatch=dispatch)
    report = asyncio.run(play_round(stored, 1, world, record))
    assert missing_then == [{"ann"}, ()]
    assert report.turns == ()
