"""A turn is played by one worker and a duty has one holder, whoever else thinks so too."""

import asyncio
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.errors import ArenaError
from arena.record.model.cohort import Turn
from arena.record.model.lease import (
    FORGOTTEN,
    MOST_SILENCES,
    Hold,
    Watch,
    heartbeat,
    holder_name,
    is_gone,
    machine_name,
    process_state,
)
from arena.record.write.operations import LeaseLost, release_lease, take_lease
from arena.record.write.turns import TurnUnderClaim, claim_turns, renew_claims
from portfolio.rules import REALISTIC
from tests.builders import NOW, usd
from tests.opened_record import OpenedRecord, beat_every
from tests.records.full_record import SUN, Season, a_cohort, decides, said, the_book


def gone(*holders: str) -> Callable[[Hold], bool]:
    """Say that these holders, and no others, are dead."""
    return lambda hold: hold.holder in holders


def nobody(hold: Hold) -> bool:
    """Say that no holder is dead."""
    return False


@pytest.fixture
def record(tmp_path: Path) -> OpenedRecord:
    """Return a record with a round that waits for two turns."""
    return waiting(tmp_path / "record.db")


def waiting(path: Path) -> OpenedRecord:
    """Return a new record with a round that waits for two turns."""
    season = Season(OpenedRecord.at(path))
    season.start(a_cohort(1, NOW, REALISTIC, "ann", "bob"))
    season.look(1, NOW, the_book(SUN, NOW))
    return season.record


def claim(record: OpenedRecord, holder: str, dead: Callable[[Hold], bool] = nobody) -> dict[int, int]:
    return record.write(claim_turns, 1, [1, 2], holder, dead)


def play(record: OpenedRecord, token: int, entrant: int = 1) -> set[int]:
    turn = Turn("ann", usd(10_000), decides(sun="0.5"))
    return record.add_turns(1, (1, 1), [TurnUnderClaim(entrant, token, turn)], "1")


def test_the_first_to_come_has_the_turn(record: OpenedRecord) -> None:
    assert claim(record, "one") == {1: 1, 2: 1}
    assert claim(record, "two") == {}
    play(record, 1)
    assert record.turn_statuses(1) == {1: "played"}


def test_a_claim_lasts_until_it_is_let_go_of_or_taken_over(record: OpenedRecord) -> None:
    tokens = claim(record, "one")
    assert record.write_unfenced(renew_claims, 1, tokens) == {1, 2}
    assert claim(record, "two") == {}
    record.release(1, [2])
    assert claim(record, "two") == {2: 2}
    assert record.write_unfenced(renew_claims, 1, tokens) == {1}, "who was replaced is told"
    assert record.write_unfenced(renew_claims, 1, {}) == set()


def test_a_turn_that_was_played_meanwhile_is_not_taken_over(record: OpenedRecord) -> None:
    claim(record, "one")
    play(record, 1)
    assert claim(record, "two", gone("one")) == {2: 2}
    failed = Turn("bob", usd(10_000), decides(status="failed"))
    assert record.add_turns(1, (1, 1), [TurnUnderClaim(2, 2, failed)], "1") == {2}
    assert claim(record, "two") == {2: 3}, "one that failed may be tried again"


def test_a_turn_that_failed_may_be_tried_again_by_anyone_at_once(record: OpenedRecord) -> None:
    claim(record, "one")
    failed = Turn("bob", usd(10_000), decides(status="failed"))
    assert record.add_turns(1, (1, 1), [TurnUnderClaim(2, 1, failed)], "1") == {2}
    assert claim(record, "two") == {2: 2}, "ann's is still held"
    assert record.add_turns(1, (1, 1), [TurnUnderClaim(2, 1, failed)], "1") == set(), "it is another's now"
    assert claim(record, "three") == {}


def test_a_worker_back_from_the_dead_writes_nothing(record: OpenedRecord) -> None:
    claim(record, "one")
    claim(record, "two", gone("one"))
    assert play(record, 1) == set()
    assert record.turn_statuses(1) == {}
    assert play(record, 2) == {1}
    assert record.turn_statuses(1) == {1: "played"}


def test_of_turns_that_end_together_those_whose_claims_hold_are_written(record: OpenedRecord) -> None:
    claim(record, "one")
    record.write(claim_turns, 1, [2], "two", gone("one"))
    turns = [
        TurnUnderClaim(key, 1, Turn(name, usd(10_000), decides())) for key, name in ((1, "ann"), (2, "bob"))
    ]
    assert record.add_turns(1, (1, 1), turns, "1") == {1}
    assert record.turn_statuses(1) == {1: "played"}


def test_nobody_plays_without_a_claim(record: OpenedRecord) -> None:
    assert play(record, 1) == set()


@pytest.fixture(scope="module")
def lasting(tmp_path_factory: pytest.TempPathFactory) -> OpenedRecord:
    """Return a record for many examples."""
    return waiting(tmp_path_factory.mktemp("claims") / "record.db")


@given(steps=st.lists(st.tuples(st.sampled_from("abc"), st.booleans(), st.booleans()), max_size=12))
def test_tokens_only_grow_and_one_holds(steps: list[tuple[str, bool, bool]], lasting: OpenedRecord) -> None:
    last = claim(lasting, "new", gone("new", "a", "b", "c"))[1]
    held: str | None = "new"
    for holder, lets_go, dead in steps:
        taken = claim(lasting, holder, gone("new", "a", "b", "c") if dead else nobody)
        assert taken == ({1: last + 1, 2: last + 1} if dead or held in (None, holder) else {})
        if taken:
            last += 1
            held = holder
        if lets_go and held == holder:
            lasting.release(1, [1, 2])
            held = None


def take(record: OpenedRecord, holder: str, dead: Callable[[Hold], bool] = nobody) -> int | None:
    return record.write_unfenced(take_lease, "scheduler", holder, dead)


def test_the_first_to_come_is_on_duty_and_the_second_stands_by(record: OpenedRecord) -> None:
    assert take(record, "one") == 1
    assert take(record, "two") is None
    assert record.write_unfenced(take_lease, "janitor", "two", nobody) == 1, "another duty"


def test_a_duty_is_taken_over_when_it_was_let_go_or_its_holder_is_dead(record: OpenedRecord) -> None:
    take(record, "one")
    assert take(record, "two", gone("one")) == 2
    record.write_unfenced(release_lease, "scheduler", 2)
    assert take(record, "three") == 3
    assert take(record, "four", gone("three")) == 4
    assert take(record, "four") == 5, "who comes back under its own name has a new token"


def test_who_renews_stays_and_who_was_replaced_is_told(record: OpenedRecord) -> None:
    take(record, "one")
    assert record.renew_lease("scheduler", 1)
    assert take(record, "two") is None
    take(record, "two", gone("one"))
    assert not record.renew_lease("scheduler", 1)
    record.write_unfenced(release_lease, "scheduler", 1)
    assert take(record, "three") is None, "the first can't let go of what the second has"


@given(steps=st.lists(st.tuples(st.sampled_from("abc"), st.booleans(), st.booleans()), max_size=12))
def test_tokens_of_a_duty_only_grow_and_one_holds(
    steps: list[tuple[str, bool, bool]], empty: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    record = OpenedRecord.at(shutil.copy(empty, tmp_path_factory.mktemp("duty") / "record.db"))
    held: tuple[str, int] | None = None
    last = 0
    for holder, lets_go, dead in steps:
        token = take(record, holder, gone("a", "b", "c", "one", "two") if dead else nobody)
        assert token == (last + 1 if held is None or dead or held[0] == holder else None)
        if token is not None:
            last = token
            held = (holder, token)
            if lets_go:
                record.write_unfenced(release_lease, "scheduler", token)
                held = None
    record.close()


def test_who_was_replaced_writes_no_fact_but_keeps_what_was_paid(record: OpenedRecord) -> None:
    late = record.fenced("scheduler", take(record, "one") or 0)
    token = late.write(claim_turns, 1, [1], "one", nobody)[1]
    turn = TurnUnderClaim(1, token, Turn("ann", usd(10_000), decides(sun="0.5")))
    now = record.fenced("scheduler", take(record, "two", gone("one")) or 0)
    for write in (
        lambda: late.add_turns(1, (1, 1), [turn], "1"),
        lambda: late.end(1, NOW),
        lambda: late.value(1, {}, finished_round_id=1),
        lambda: Season(late).start(a_cohort(2, NOW, REALISTIC, "ann")),
        lambda: Season(late).look(1, NOW + timedelta(weeks=1), the_book(SUN, NOW)),
    ):
        before = record.fact_counts()
        with pytest.raises(LeaseLost, match="another process has taken over as scheduler") as raised:
            write()
        assert raised.value.code == "superseded"
        assert record.fact_counts() == before
    assert not record.rounds(1)[0].done
    late.add_call(1, 1, 1, said("paid for"), NOW)
    assert [call.reply for call in record.calls(1, [1])[1]] == ["paid for"]
    assert now.add_turns(1, (1, 1), [turn], "1") == {1}
    assert record.add_turns(1, (1, 1), [], "1") == set(), "without a fence anyone writes"


def named(pid: int, place: str = machine_name()) -> str:
    return f"{socket.gethostname()}/{pid}/{place}.x"


def test_every_holder_has_a_name_of_its_own() -> None:
    assert holder_name() != holder_name()


def test_a_process_that_ended_is_gone_and_so_is_an_earlier_one_with_our_number() -> None:
    """Of another machine nothing is known, nor of a container, which may have its host's name."""
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    assert is_gone(named(ended.pid))
    assert is_gone(named(os.getpid()))
    assert not is_gone(named(os.getppid()))
    for elsewhere in ("elsewhere.invalid/1/x", named(ended.pid, "another"), named(os.getpid(), "another")):
        assert not is_gone(elsewhere)


def test_a_zombie_is_gone_and_so_is_whoever_had_a_number_before() -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        host, _, own = holder_name().split("/")
        machine, _, unique = own.split(".")
        began = process_state(process.pid).started
        its_name = f"{host}/{process.pid}/{machine}.{began}.{unique}"
        another = f"{host}/{process.pid}/{machine}.{int(began) + 1}.{unique}"
        assert (is_gone(its_name), is_gone(another)) == (False, True)
        process.kill()
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)  # it has ended, and is there all the same
        assert is_gone(its_name)


def test_a_name_of_another_form_is_that_of_nobody_here() -> None:
    assert not is_gone("me")


def test_what_a_process_of_this_machine_held_is_over_at_the_first_look_once_it_has_ended() -> None:
    """Its claims need no lease to run out, as those of a process that may still live do."""
    watch = Watch(lambda: 0.0)
    assert watch.is_over(Hold("turn 1/1", named(os.getpid()), (1, 0))), "an earlier process with our number"
    assert not watch.is_over(Hold("turn 1/1", named(os.getppid()), (1, 0)))


def test_a_watch_forgets_what_nobody_wants_any_more() -> None:
    moment = 0.0
    watch = Watch(lambda: moment)
    for number in range(MOST_SILENCES):
        assert not watch.is_over(Hold(f"call {number}", "a.invalid/1/x", (0, 0)))
    moment = FORGOTTEN + 1
    assert not watch.is_over(Hold("turn 1/1", "a.invalid/1/x", (0, 0)))
    assert [*watch.silences] == ["turn 1/1"]


def test_a_heart_beats_while_the_block_lasts_and_outlives_a_database_that_is_away(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    beat_every(timedelta(milliseconds=1), monkeypatch)

    async def go() -> tuple[int, int]:
        beats = 0
        enough = asyncio.Event()

        def renew() -> None:
            nonlocal beats
            beats += 1
            if beats == 2:
                raise ArenaError("locked", "in use by another process")
            if beats == 3:
                raise RuntimeError("two servers' transactions waited for each other")
            if beats == 4:
                enough.set()

        async with heartbeat(renew):
            await asyncio.wait_for(enough.wait(), 10)
        seen = beats
        await asyncio.sleep(0.02)
        return seen, beats

    seen, later = asyncio.run(go())
    assert seen >= 4
    assert later == seen


def test_of_a_new_holder_nothing_was_heard_yet() -> None:
    """That another one was heard of before says nothing of it."""
    watch = Watch(lambda: 0.0)
    for holder, renewals in (("a.invalid/1/x", 0), ("a.invalid/1/x", 1), ("b.invalid/1/x", 0)):
        assert not watch.is_over(Hold("turn 1/1", holder, (1, renewals)))
        assert watch.is_in_doubt() == (renewals == 0)
