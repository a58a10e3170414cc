"""The oracle itself: each thing that must never be is a fault, and what there is a reason for is none."""

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from tests.chaos.hold_history import HoldHistory
from tests.chaos.process_lives import ProcessLives
from tests.chaos.question_history import QuestionHistory
from tests.chaos.record_watch import CallSeen, HoldSeen, RecordChange, RecordWatch, TurnSeen

TURN = (1, 1)
QUESTION = '[["Will it?"], 7, "final", 0]'
NOTHING = RecordChange({}, {}, {}, [], {}, "")


@dataclass
class WrittenRecord(RecordWatch):
    """A record as a test writes it."""

    now: RecordChange = NOTHING
    changed: bool = False

    def is_unchanged(self) -> bool:
        """Return whether nothing was written since the last look."""
        return not self.changed

    def read(self) -> RecordChange:
        """Return what was written last."""
        self.changed = False
        self.calls = dict(self.now.calls or {})
        return self.now


@dataclass
class PlayedHistory:
    """A history in which a test plays processes."""

    moment: float = 0.0
    process: str = "worker 1"
    record: WrittenRecord = field(default_factory=lambda: WrittenRecord(Path("arena.db")))
    numbers: int = 0

    def __post_init__(self) -> None:
        self.lives = ProcessLives(lambda: self.moment)
        names = {name: name for name in ("worker 1", "worker 2", "run 1", "run 2")}
        holds = HoldHistory(self.lives, names)
        self.history = QuestionHistory(self.record, self.lives, holds, lambda: self.process, 2)

    def write(self, process: str, **values: Any) -> None:
        """Commit something, in a step of a process."""
        self.process = process
        self.record.now = replace(self.record.now, **values)
        self.record.changed = True
        self.history.look(process)

    def claim(self, process: str, token: int = 1, beat: int | None = 0) -> None:
        """Claim the turn."""
        self.write(process, claims={TURN: HoldSeen(token, process, beat)})

    def ask(self, process: str) -> int:
        """Reserve a call, and ask the question under it."""
        self.numbers += 1
        hold = TURN, HoldSeen(0, process, 0)
        self.write(process, reservations={**self.record.now.reservations, self.numbers: hold})
        return self.history.asked(QUESTION)

    def keep(self, process: str, number: int) -> None:
        """Keep the answer to a call, and give back its reservation."""
        calls = {**(self.record.now.calls or {}), number + 10: CallSeen(TURN, QUESTION, None, None, "hash")}
        reservations = dict(self.record.now.reservations)
        reservations.pop(self.history.askings[number].reservation, None)
        self.write(process, calls=calls, reservations=reservations)

    def answer(self, process: str) -> None:
        """Claim the turn, ask, and keep the answer."""
        self.claim(process)
        number = self.ask(process)
        self.history.ended(number, "answer")
        self.keep(process, number)

    def use(self, process: str) -> None:
        """Write the turn."""
        self.write(process, turns=[TurnSeen(TURN, "played", "hash")])

    @property
    def fault(self) -> str:
        """Return what was found first."""
        self.history.judge()
        return str(self.history.fault or "")


@pytest.fixture
def played() -> PlayedHistory:
    """Return an empty history."""
    return PlayedHistory()


def test_a_question_that_is_asked_answered_kept_and_used_is_no_fault(played: PlayedHistory) -> None:
    played.answer("worker 1")
    played.use("worker 1")
    assert played.fault == ""


def test_what_is_kept_is_not_asked(played: PlayedHistory) -> None:
    played.answer("worker 1")
    played.ask("worker 1")
    assert "its answer is kept" in played.fault


def test_a_living_process_that_gives_signs_is_left_what_it_asks(played: PlayedHistory) -> None:
    played.claim("worker 1")
    played.ask("worker 1")
    played.moment = 50.0
    played.claim("worker 2", token=2)
    assert "takes turn 1/1, which worker 1 holds" in played.fault


@pytest.mark.parametrize("reason", ["killed", "silent"])
def test_the_dead_and_the_silent_are_taken_over(reason: str, played: PlayedHistory) -> None:
    played.claim("worker 1")
    played.ask("worker 1")
    if reason == "killed":
        played.lives.killed("worker 1")
    else:
        played.lives.trouble("worker 1", 300.0, "suspended")
    played.moment = 100.0
    played.claim("worker 2", token=2)

    number = played.ask("worker 2")
    assert reason in played.history.askings[number].reason
    played.history.ended(number, "answer")
    played.keep("worker 2", number)
    played.use("worker 2")
    assert played.fault == ""


def test_who_was_taken_over_asks_and_writes_nothing(played: PlayedHistory) -> None:
    played.claim("worker 1")
    played.lives.trouble("worker 1", 100.0, "suspended")
    played.moment = 100.0
    played.claim("worker 2", token=2)
    played.use("worker 1")
    assert "worker 1 works at a turn that worker 2 has claimed" in played.fault


def test_an_answer_is_kept_before_its_turn_is_written(played: PlayedHistory) -> None:
    played.claim("worker 1")
    played.history.ended(played.ask("worker 1"), "answer")
    played.use("worker 1")
    assert "uses an answer that it has not kept" in played.fault


def test_an_answer_that_reached_a_living_process_is_kept(played: PlayedHistory) -> None:
    played.claim("worker 1")
    played.history.ended(played.ask("worker 1"), "answer")
    played.moment = 500.0
    assert "was never kept" in played.fault


def test_an_answer_is_kept_once(played: PlayedHistory) -> None:
    played.answer("worker 1")
    played.write(
        "worker 1", calls={**(played.record.now.calls or {}), 99: CallSeen(TURN, QUESTION, None, None, "")}
    )
    assert "that it was not given" in played.fault


def test_no_kept_answer_is_gone_after_a_power_cut(played: PlayedHistory) -> None:
    played.answer("worker 1")
    played.record.now = replace(played.record.now, calls={})
    played.history.power_cut(Path("arena.db"))
    assert "is gone after a power cut" in played.fault


def test_money_stays_reserved_only_for_a_call_of_the_dead(played: PlayedHistory) -> None:
    played.answer("worker 1")
    played.use("worker 1")
    played.write("worker 1", reservations={9: (TURN, HoldSeen(0, "worker 1", 0))})
    played.moment = 100.0
    assert "money stays reserved" in played.fault


def test_a_claim_is_renewed_while_an_answer_is_waited_for(played: PlayedHistory) -> None:
    played.claim("worker 1")
    number = played.ask("worker 1")
    played.moment = 80.0
    played.history.ended(number, "answer")
    assert "worker 1 did not renew its claim" in played.fault


def test_a_claim_is_renewed_by_its_holder_alone(played: PlayedHistory) -> None:
    played.claim("worker 1")
    played.write("worker 2", claims={TURN: HoldSeen(1, "worker 1", 1)})
    assert "worker 2 changes the hold of worker 1 on turn 1/1" in played.fault


def test_there_is_no_more_room_than_there_is(played: PlayedHistory) -> None:
    claims = {(1, entrant): HoldSeen(1, "worker 1", 0) for entrant in (1, 2, 3)}
    played.write("worker 1", claims=claims)
    for number in (1, 2, 3):
        held = (1, number), HoldSeen(0, "worker 1", 0)
        played.write("worker 1", reservations={**played.record.now.reservations, number: held})
        played.history.asked(QUESTION)
    assert "there is room for 2" in played.fault


def test_only_who_leads_goes_on_with_the_season(played: PlayedHistory) -> None:
    played.write("run 1", leases={"scheduler": HoldSeen(1, "run 1", 0)}, season="a")
    played.lives.trouble("run 1", 100.0, "suspended")
    played.moment = 100.0
    played.write("run 2", leases={"scheduler": HoldSeen(2, "run 2", 0)})
    played.write("run 1", season="b")
    assert "run 1 goes on with the season, which run 2 leads" in played.fault
