"""A named duty has one holder at a time, and what a late one would write is refused."""

import shutil
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.record.model.cohort import Turn
from arena.record.queries.cohorts import count_facts, read_calls, read_rounds
from arena.record.record import Record
from arena.record.write.calls import add_call
from arena.record.write.cohorts import end_cohort, put_marks
from arena.record.write.operations import LeaseLost, release_lease, renew_lease, take_lease
from arena.record.write.turns import TurnUnderClaim, claim_turns
from portfolio.rules import REALISTIC
from tests.builders import NOW, usd
from tests.records.full_record import SUN, Season, a_cohort, decides, said, the_book

LONG, OVER = timedelta(minutes=5), timedelta()
"""A lease that outlasts any test, and one that has run out as it is given."""


def nobody(name: str) -> bool:
    """No holder is known to have ended."""
    return False


def everybody(name: str) -> bool:
    """All holders are known to have ended."""
    return True


def take(
    record: Record, holder: str, length: timedelta = LONG, is_gone: Callable[[str], bool] = nobody
) -> int | None:
    return record.write_unfenced(take_lease, "scheduler", holder, length, is_gone)


def test_the_first_to_come_is_on_duty_and_the_second_stands_by(record: Record) -> None:
    assert take(record, "one") == 1
    assert take(record, "two") is None
    assert record.write_unfenced(take_lease, "janitor", "two", LONG, nobody) == 1, "another duty"


def test_a_duty_is_taken_over_when_it_has_run_out_was_let_go_or_its_holder_is_gone(record: Record) -> None:
    take(record, "one", OVER)
    assert take(record, "two") == 2
    record.write_unfenced(release_lease, "scheduler", 2)
    assert take(record, "three") == 3
    assert take(record, "four", is_gone=lambda name: name == "three") == 4
    assert take(record, "four") == 5, "who comes back under its own name has a new token"


def test_who_renews_stays_and_who_was_replaced_is_told(record: Record) -> None:
    take(record, "one", OVER)
    assert record.write_unfenced(renew_lease, "scheduler", 1, LONG), "late, but nobody else has come"
    assert take(record, "two") is None
    assert record.write_unfenced(renew_lease, "scheduler", 1, OVER)
    take(record, "two")
    assert not record.write_unfenced(renew_lease, "scheduler", 1, LONG)
    record.write_unfenced(release_lease, "scheduler", 1)
    assert take(record, "three") is None, "the first can't let go of what the second has"


@given(steps=st.lists(st.tuples(st.sampled_from("abc"), st.booleans(), st.booleans()), max_size=12))
def test_tokens_only_grow_and_one_holds(
    steps: list[tuple[str, bool, bool]], empty: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    record = Record.open(str(shutil.copy(empty, tmp_path_factory.mktemp("duty") / "record.db")))
    held: tuple[str, int] | None = None
    last = 0
    for holder, short, dead in steps:
        token = take(record, holder, OVER if short else LONG, everybody if dead else nobody)
        assert token == (last + 1 if held is None or dead or held[0] == holder else None)
        if token is not None:
            last, held = token, None if short else (holder, token)
    record.close()


def a_season(record: Record) -> Season:
    season = Season(record)
    season.start(a_cohort(1, NOW, REALISTIC, "ann", "bob"))
    season.look(1, NOW, the_book(SUN, NOW))
    return season


def test_who_was_replaced_writes_no_fact_but_keeps_what_was_paid(record: Record) -> None:
    a_season(record)
    late = record.fenced("scheduler", take(record, "one", OVER) or 0)
    token = late.write(claim_turns, 1, [1], "one", LONG, nobody)[1]
    turn = TurnUnderClaim(1, token, Turn("ann", usd(10_000), decides(sun="0.5")))
    now = record.fenced("scheduler", take(record, "two") or 0)
    for write in (
        lambda: late.add_turns(1, (1, 1), [turn], "1"),
        lambda: late.write(end_cohort, 1, NOW),
        lambda: late.write(put_marks, 1, {}, over=1),
        lambda: Season(late).start(a_cohort(2, NOW, REALISTIC, "ann")),
        lambda: Season(late).look(1, NOW + timedelta(weeks=1), the_book(SUN, NOW)),
    ):
        before = record.read(count_facts)
        with pytest.raises(LeaseLost, match="another process has taken over as scheduler") as raised:
            write()
        assert raised.value.code == "superseded"
        assert record.read(count_facts) == before
    assert not record.read(read_rounds, 1)[0].done
    late.write_unfenced(add_call, 1, 1, 1, said("paid for"), NOW)
    assert [call.reply for call in record.read(read_calls, 1, [1])[1]] == ["paid for"]
    assert now.add_turns(1, (1, 1), [turn], "1") == {1}
    assert record.add_turns(1, (1, 1), [], "1") == set(), "without a fence anyone writes"
