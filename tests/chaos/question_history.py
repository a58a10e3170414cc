"""What became of each question of a simulated season, checked as it happens.

A question is asked, answered, kept and used. Each of these is looked at from outside: the provider tells who
asks it and whom an answer reaches, and a reader of its own sees what commits have changed in the record. A
question may be asked again only where the call before is known not to come to anything, and why is noted.
"""

import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from arena.calls.recorded_ask import DATABASE_WAITS
from tests.chaos.hold_history import LEASE, HoldHistory
from tests.chaos.process_lives import ProcessLives
from tests.chaos.record_reads import Broken
from tests.chaos.record_watch import CallSeen, RecordChange, RecordWatch, TurnKey, TurnSeen

LONGEST_KEEPING = 0.8 * sum(DATABASE_WAITS)
"""Seconds for which a database must be away before an answer may be lost."""
ANSWER_CODES = (None, "declined")
"""The errors with which a call is an answer all the same: a refusal is one."""
MOST_EVENTS = 25


@dataclass
class Asking:
    """One time that a question was asked: by whom, in which turn, and what became of it.

    `outcome` is what reached the process: an answer or an error; without one the call is under way, or was
    given up. `kept` is the number of the row that keeps its answer, `reason` why it was asked though another
    call for it was open.
    """

    process: str
    question: str
    turn: TurnKey
    reservation: int
    asked_at: float
    reason: str = ""
    outcome: str = ""
    ended_at: float = 0.0
    kept: int | None = None

    @property
    def is_open(self) -> bool:
        """Return whether it may still come to a kept answer."""
        return self.kept is None and self.outcome != "error"


@dataclass
class QuestionHistory:
    """All that was asked in a season, by turn and question; `fault` is the first thing that must not be."""

    watch: RecordWatch
    lives: ProcessLives
    holds: HoldHistory
    process: Callable[[], str]
    room: int
    """How many calls the provider may have at once."""
    rounds_are_closed: bool = False
    """Whether an operator ends rounds before all turns in them are played."""
    askings: list[Asking] = field(default_factory=list)
    by_turn: dict[TurnKey, dict[str, list[Asking]]] = field(default_factory=dict)
    kept: dict[int, CallSeen] = field(default_factory=dict)
    kept_by: dict[int, tuple[str, float]] = field(default_factory=dict)
    """The process that kept each call, and when."""
    turns: dict[TurnKey, TurnSeen] = field(default_factory=dict)
    events: dict[TurnKey, list[str]] = field(default_factory=lambda: defaultdict(list))
    fault: Broken | None = None

    # ---- what happens

    def asked(self, question: str) -> int:
        """Note that the process at work asks a question; return the number of the call."""
        process = self.process()
        self.look(process)
        turn, reservation = self.holds.newest_reservation(process)
        if turn is None:
            self.broke(None, f"{process} asks without a reservation")
            turn = (0, 0)

        asking = Asking(process, question, turn, reservation, self.lives.time())
        self.note(turn, f"{process} asks {short(question)}")
        self._check_asking(asking)
        self.askings.append(asking)
        self.by_turn.setdefault(turn, {}).setdefault(question, []).append(asking)
        return len(self.askings) - 1

    def ended(self, number: int, outcome: str) -> None:
        """Note that an answer, or an error, has reached the process that asked."""
        asking = self.askings[number]
        self.look(asking.process)
        asking.outcome = outcome
        asking.ended_at = self.lives.time()
        self.note(asking.turn, f"{asking.process} has an {outcome} to {short(asking.question)}")
        self._report(asking.turn, self.holds.unrenewed(asking.process, asking.turn, asking.reservation))

    def look(self, process: str) -> None:
        """Read what was committed since the last look, by the process whose step it was."""
        if not process or self.watch.is_unchanged():
            return

        change = self.watch.read()
        if change is None:
            return
        for fault in self.holds.changed(change, process, self.turns):
            self.broke(None, fault)
        if change.calls is not None:
            self._check_calls(change.calls, process)
        self._check_turns(change, process)

    def power_cut(self, file: Path) -> None:
        """Note that the power was cut, and which file is left.

        What was committed and not synced may be gone, but no kept answer.
        """
        self.watch.close()
        self.watch.file = file
        change = self.watch.read()
        if change is None:
            if self.kept:
                self.broke(None, "the record is gone after a power cut")
            change = RecordChange({}, {}, {}, [], {}, "")

        calls = self.watch.calls
        for number, call in self.kept.items():
            if calls.get(number) != call:
                self.broke(call.turn, f"a kept answer to {short(call.question)} is gone after a power cut")
        self.kept = dict(calls)
        self.turns = {turn.key: turn for turn in change.turns}
        self.holds.begin_again(change)

    # ---- what is allowed

    def _check_asking(self, asking: Asking) -> None:
        """Check that a question may be asked now, and note why where it was asked before."""
        self._report(asking.turn, self.holds.held_by_another(asking.process, asking.turn))
        reasons = [*self._reasons_though_kept(asking), *self._reasons_though_open(asking)]
        asking.reason = "; ".join(reasons)
        if reasons:
            self.note(asking.turn, f"again, since {asking.reason}")

        under_way = [call for call in self.askings if self._takes_room(call)]
        if len(under_way) >= self.room and self.holds.is_under_way(asking.reservation):
            askers = ", ".join(call.process for call in under_way)
            self.broke(asking.turn, f"{asking.process} asks beside {askers}: there is room for {self.room}")

    def _reasons_though_kept(self, asking: Asking) -> Iterator[str]:
        """Yield why a question may be asked of which answers are kept.

        Who claims a turn reads what is kept then. What another keeps later, it does not see.
        """
        claimed_at = self.holds.claimed_at(asking.turn)
        for number, call in self.kept.items():
            if call.code not in ANSWER_CODES or (call.turn, call.question) != (asking.turn, asking.question):
                continue
            keeper, kept_at = self.kept_by[number]
            if keeper != asking.process and kept_at >= claimed_at:
                yield f"{keeper} kept an answer after the turn was taken from it"
            else:
                self.broke(asking.turn, f"{asking.process} asks {short(asking.question)}: its answer is kept")

    def _reasons_though_open(self, asking: Asking) -> Iterator[str]:
        """Yield why a question may be asked for which other calls are open."""
        for earlier in self.by_turn.get(asking.turn, {}).get(asking.question, ()):
            if not earlier.is_open:
                continue
            reason = self.excuse(earlier)
            if reason:
                yield reason
            else:
                text = f"{asking.process} asks {short(asking.question)}, which {earlier.process} has in hand"
                self.broke(asking.turn, text)

    def _takes_room(self, asking: Asking) -> bool:
        """Return whether a call is under way, and was never taken for lost."""
        if asking.outcome or asking.kept is not None or self.lives.is_dead(asking.process):
            return False
        return self.holds.is_under_way(asking.reservation)

    def excuse(self, asking: Asking) -> str:
        """Return why a call that is open may be made again, or nothing where it may not."""
        process = asking.process
        life = self.lives.lives[process]
        if life.died_at is not None:
            return f"{process} was killed"
        if life.lost_lead_at is not None and life.lost_lead_at >= asking.asked_at:
            return f"{process} has lost the lead"
        if self.lives.was_silent_for(process, LEASE):
            return f"{process} was silent for a lease"
        if asking.outcome:
            longest = self.lives.longest_without_database(process, asking.ended_at)
            if longest >= LONGEST_KEEPING:
                return f"{process} had no database for {longest:.0f} s"
        return ""

    def _check_calls(self, calls: Mapping[int, CallSeen], process: str) -> None:
        """Check the rows of calls: none goes, and each new one keeps what its process was answered."""
        for number in sorted(self.kept.keys() - calls.keys()):
            call = self.kept.pop(number)
            self.broke(call.turn, f"a kept call to {short(call.question)} is gone")
        for number in sorted(calls.keys() - self.kept.keys()):
            call = calls[number]
            self.kept[number] = call
            self._check_kept(number, call, process)

    def _check_kept(self, number: int, call: CallSeen, process: str) -> None:
        """Check a call that was kept just now."""
        self.kept_by[number] = process, self.lives.time()
        self.note(call.turn, f"{process} keeps {call.code or 'an answer'} to {short(call.question)}")
        if call.code not in ANSWER_CODES:
            return

        # Of several answers that a process was given, those that it could not keep came first.
        for asking in reversed(self.by_turn.get(call.turn, {}).get(call.question, ())):
            if asking.process == process and asking.outcome == "answer" and asking.kept is None:
                asking.kept = number
                if self.holds.has_reservation(asking.reservation):
                    self.broke(call.turn, f"{process} keeps an answer and goes on reserving money for it")
                return
        self.broke(call.turn, f"{process} keeps an answer to {short(call.question)} that it was not given")

    def _check_turns(self, change: RecordChange, process: str) -> None:
        """Check the rows of turns: one that was played stays, and is written by who holds it."""
        for turn in change.turns:
            before = self.turns.get(turn.key)
            if turn == before:
                continue
            self.turns[turn.key] = turn
            self.note(turn.key, f"{process} writes the turn: {turn.status}")
            if before is not None and before.status != "failed":
                self.broke(turn.key, f"{process} changes a turn that was played")
            self._report(turn.key, self.holds.held_by_another(process, turn.key))
            if turn.status == "failed":
                continue
            for asking in self._askings_of(turn.key):
                if asking.process == process and asking.outcome == "answer" and asking.kept is None:
                    self.broke(turn.key, f"{process} uses an answer that it has not kept")

        gone = self.turns.keys() - {turn.key for turn in change.turns}
        for key in sorted(gone):
            self.broke(key, f"a turn is gone in a step of {process}")
            del self.turns[key]

    # ---- the end

    def judge(self) -> None:
        """Check at the end that each answer was kept and used, and that no money stays reserved."""
        self._judge_answers()
        self._judge_uses()
        self._judge_reservations()

    def _judge_answers(self) -> None:
        """Check that each answer that reached a process was kept, unless there is a reason."""
        for asking in self.askings:
            if asking.outcome == "answer" and asking.kept is None and not self.excuse(asking):
                text = f"the answer to {short(asking.question)} that reached {asking.process} was never kept"
                self.broke(asking.turn, text)

    def _judge_uses(self) -> None:
        """Check that one turn of record rests on each question that was answered."""
        used = {turn.key for turn in self.turns.values() if turn.status != "failed" or self.rounds_are_closed}
        for call in self.kept.values():
            if call.code in ANSWER_CODES and call.turn not in used:
                self.broke(call.turn, f"{short(call.question)} was answered, and no turn rests on that")

    def _judge_reservations(self) -> None:
        """Check that money stays reserved only for calls that were under way as their process died."""
        by_reservation = {asking.reservation: asking for asking in self.askings}
        for reservation, (turn, process) in self.holds.reserved().items():
            asking = by_reservation.get(reservation)
            if asking is None and not self.holds.is_overdue(process, f"call {reservation}"):
                continue  # the next heartbeat gives it back
            if asking is None:
                # It was killed between the reservation and the call, or could not give it back.
                is_explained = self.lives.is_dead(process) or self.lives.ended_without_database(process)
            else:
                is_explained = not asking.outcome or bool(self.excuse(asking))
            if not is_explained:
                self.broke(turn, f"money stays reserved for a call of {process} that is not under way")

    def under_way(self, process: str) -> int:
        """Return how many calls a process has under way, or has not kept yet."""
        return sum(asking.process == process and asking.is_open for asking in self.askings)

    def _askings_of(self, turn: TurnKey) -> Iterator[Asking]:
        """Yield what was asked in a turn."""
        for askings in self.by_turn.get(turn, {}).values():
            yield from askings

    # ---- what is said of it

    def note(self, turn: TurnKey, text: str) -> None:
        """Remember an event of a turn, for who looks at a seed that failed."""
        self.events[turn].append(f"{self.lives.time():8.2f} {text}")

    def _report(self, turn: TurnKey, fault: str) -> None:
        """Keep a fault, if there is one."""
        if fault:
            self.broke(turn, fault)

    def broke(self, turn: TurnKey | None, text: str) -> None:
        """Keep the first thing that must not be. It can't be raised: a process would take it for its own."""
        if self.fault is not None:
            return

        self.fault = Broken(f"{self.lives.time():.2f} {text}")
        if turn is not None:
            self.fault.add_note("\n".join([f"the turn {turn}:", *self.events[turn][-MOST_EVENTS:]]))


def short(question: str) -> str:
    """Return a question in few letters: its last words, seed, stage and sample."""
    contents, *rest = json.loads(question)
    return f"…{contents[-1][-20:]!r} {rest}"
