"""A round that is done stays as it is, though turns in it failed: nobody is asked, nothing waited for."""

import asyncio
import json
from dataclasses import replace
from pathlib import Path

import pytest

from agents.model import Ask, Call, CallError, Decision, Message, Prompt, View
from arena.config import load
from arena.errors import ArenaError
from arena.rounds.benchmark_rounds import read_questions
from arena.rounds.forecasting import AskingMethod, answered_by, begin_set, play_set
from arena.rounds.round import close_round, track_cohort
from arena.rounds.world import World
from tests.arena.config_files import write
from tests.arena.scores.files.test_forecastbench import DUE, QUESTIONS, question
from tests.builders import NOW
from tests.opened_record import OpenedRecord
from tests.records.little_world import LittleVenue, a_cohort, a_world, asks, begun, play

AWAY = CallError("unreachable", "it is away", retry=True)


class AwayModel:
    """A model whose server is away."""

    asked = 0

    async def __call__(self, prompt: Prompt) -> Call:
        self.asked += 1
        return Call(prompt, None, cost=0, error=AWAY)


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> AwayModel:
    monkeypatch.setattr("arena.calls.recorded_ask.RETRY_WAITS", ())
    return AwayModel()


@pytest.fixture
def world(model: AwayModel) -> World:
    return a_world(LittleVenue(), {"eve": asks}, model)


def test_a_round_that_was_closed_is_not_played_again(
    world: World, model: AwayModel, record: OpenedRecord
) -> None:
    stored = begun(record, a_cohort(["eve"]))
    first = play(stored, 1, world, record)
    assert (first.failed, [turn.agent for turn in first.unanswered]) == (("eve",), ["eve"])

    closed = asyncio.run(close_round(stored, 1, world, record))
    assert (closed.turns, closed.unanswered) == ((), ()), "its model is not waited for any more"
    assert (closed.waiting, closed.failed) == ((), ("eve",)), "it holds the turn itself, and plays it no more"
    assert record.rounds(stored.id)[0].done

    again = play(stored, 1, world, record)
    assert (again.turns, again.failed, again.unanswered) == ((), (), ())
    assert model.asked == 1


def test_a_turn_whose_markets_are_asked_in_parts_waits_for_each_part(
    record: OpenedRecord, model: AwayModel
) -> None:
    """The last part was answered, which is paid for; that another was not must not be lost behind it."""

    async def asks_in_parts(view: View, ask: Ask) -> Decision:
        questions = [Prompt((Message("user", f"markets {part}"),), view.seed) for part in (1, 2)]
        calls = [await ask(question) for question in questions]
        errors = [call.error.code for call in calls if call.error]
        return Decision(status="failed", note=errors[0]) if errors else Decision()

    async def answers_part_2(prompt: Prompt) -> Call:
        if prompt.messages[0].content == "markets 1":
            return await model(prompt)
        return Call(prompt, "an answer", cost=5)

    stored = begun(record, a_cohort(["eve"]))
    report = play(stored, 1, a_world(LittleVenue(), {"eve": asks_in_parts}, answers_part_2), record)
    assert [(turn.agent, turn.code) for turn in report.unanswered] == [("eve", "unreachable")]
    [progress] = record.progress()
    assert (progress.rounds[0].failed, progress.rounds[0].unanswered) == (1, 1)


def test_a_round_that_the_user_went_past_holds_up_no_later_one(world: World, record: OpenedRecord) -> None:
    """The model of the first one is still away, which was said to be no matter."""
    stored = begun(record, a_cohort(["eve"]))
    leaves = replace(world, leaves_failed=True)
    for number in (1, 2):
        play(stored, number, leaves, record)
    asyncio.run(close_round(stored, 2, world, record))
    assert play(stored, 3, world, record).number == 3


def test_a_turn_that_another_process_tries_again_is_not_closed(world: World, record: OpenedRecord) -> None:
    """Where no time passes its answer would still be good."""
    stored = begun(record, a_cohort(["eve"]))
    play(stored, 1, world, record)
    record.claim(1, [1], "elsewhere.invalid/1/x")
    with pytest.raises(ArenaError, match="another process plays eve"):
        asyncio.run(close_round(stored, 1, world, record))
    assert not record.rounds(stored.id)[0].done


def test_a_turn_that_another_process_tries_again_is_waited_for(world: World, record: OpenedRecord) -> None:
    """It may have died elsewhere: only who waits finds out, and takes the turn over."""
    stored = begun(record, a_cohort(["eve"]))
    play(stored, 1, world, record)
    record.claim(1, [1], "elsewhere.invalid/1/x")
    again = play(stored, 1, world, record)
    assert (again.waiting, again.failed, again.unanswered) == (("eve",), (), ())
    assert record.watch.is_in_doubt()


class Killed(BaseException):
    """The process ends in the middle of a turn."""


def test_a_round_that_was_broken_off_is_not_marked_before_its_turns_are_in(record: OpenedRecord) -> None:
    """Its cohort was paused meanwhile, so it is only tracked: fills come before marks."""
    stored = begun(record, a_cohort(["eve"]))

    async def dies(_view: View, _ask: Ask) -> Decision:
        raise Killed

    world = a_world(LittleVenue(), {"eve": dies})
    with pytest.raises(Killed):
        play(stored, 1, world, record)
    asyncio.run(track_cohort(stored, NOW, world, record))
    assert not record.has_marks(stored.id, NOW)


def test_a_question_set_that_was_closed_is_asked_no_more_and_its_cohort_ends(
    world: World, model: AwayModel, record: OpenedRecord, tmp_path: Path
) -> None:
    asked = question("manifold", "m1", question="Will it rain?", freeze_datetime_value="0.25")
    write(tmp_path / "question_sets", json.dumps(QUESTIONS | {"questions": [asked]}), f"{DUE}-llm.json")
    config = write(tmp_path, "markets: {venue: simulator}\nagents: [{kind: market, name: eve}]\n")
    (file, _) = read_questions(record, str(tmp_path), DUE, NOW)
    method = AskingMethod()
    begin_set(load(config), file, method, NOW, record)

    [stored] = answered_by(record, file, method)
    asyncio.run(play_set(stored, file, world, record))
    [stored] = answered_by(record, file, method)
    assert stored.ended_at is None, "its model may answer yet"

    asyncio.run(close_round(stored, 1, world, record))
    asyncio.run(play_set(stored, file, world, record))
    [stored] = answered_by(record, file, method)
    assert (model.asked, stored.ended_at) == (1, NOW)
