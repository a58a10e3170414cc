"""A turn is played by one worker, whoever else thinks so too; and nothing that is written at once is lost."""

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.record.model.cohort import Turn
from arena.record.queries.cohorts import read_turn_statuses
from arena.record.record import Record
from arena.record.write.turns import TurnUnderClaim, claim_turns, renew_claims
from portfolio.rules import REALISTIC
from tests.builders import NOW, usd
from tests.records.full_record import LEASE, SUN, Season, a_cohort, decides, the_book

OVER = timedelta()
"""The length of a lease that has run out as it is given."""


def gone(*holders: str) -> Callable[[str], bool]:
    """That these holders, and no others, are known to have ended."""
    return lambda name: name in holders


def nobody(name: str) -> bool:
    """No holder is known to have ended."""
    return False


@pytest.fixture
def record(tmp_path: Path) -> Record:
    """A record with a round that waits for two turns."""
    return waiting(tmp_path / "record.db")


def waiting(path: Path) -> Record:
    """A new record with a round that waits for two turns."""
    season = Season(Record.open(str(path)))
    season.start(a_cohort(1, NOW, REALISTIC, "ann", "bob"))
    season.look(1, NOW, the_book(SUN, NOW))
    return season.record


def claim(
    record: Record, holder: str, length: timedelta = LEASE, ended: Callable[[str], bool] = nobody
) -> dict[int, int]:
    return record.write(claim_turns, 1, [1, 2], holder, length, ended)


def play(record: Record, token: int, entrant: int = 1) -> set[int]:
    turn = Turn("ann", usd(10_000), decides(sun="0.5"))
    return record.add_turns(1, (1, 1), [TurnUnderClaim(entrant, token, turn)], "1")


def test_the_first_to_come_has_the_turn(record: Record) -> None:
    assert claim(record, "one") == {1: 1, 2: 1}
    assert claim(record, "two") == {}
    play(record, 1)
    assert record.read(read_turn_statuses, 1) == {1: "played"}


def test_a_claim_lasts_for_as_long_as_it_is_renewed(record: Record) -> None:
    tokens = claim(record, "one", OVER)
    assert record.write_unfenced(renew_claims, 1, tokens, LEASE) == {1, 2}, "late, but nobody else has come"
    assert claim(record, "two") == {}
    assert record.write_unfenced(renew_claims, 1, {2: 1}, OVER) == {2}
    assert claim(record, "two") == {2: 2}
    assert record.write_unfenced(renew_claims, 1, tokens, LEASE) == {1}, "who was replaced is told"
    assert record.write_unfenced(renew_claims, 1, {}, LEASE) == set()


def test_a_turn_that_was_played_meanwhile_is_not_taken_over(record: Record) -> None:
    claim(record, "one", OVER)
    play(record, 1)
    assert claim(record, "two") == {2: 2}
    failed = Turn("bob", usd(10_000), decides(status="failed"))
    assert record.add_turns(1, (1, 1), [TurnUnderClaim(2, 2, failed)], "1") == {2}
    assert claim(record, "two") == {2: 3}, "one that failed may be tried again"


def test_a_turn_that_failed_may_be_tried_again_by_anyone_at_once(record: Record) -> None:
    claim(record, "one")
    failed = Turn("bob", usd(10_000), decides(status="failed"))
    assert record.add_turns(1, (1, 1), [TurnUnderClaim(2, 1, failed)], "1") == {2}
    assert claim(record, "two") == {2: 2}, "ann's is still held"
    assert record.add_turns(1, (1, 1), [TurnUnderClaim(2, 1, failed)], "1") == set(), "it is another's now"
    assert claim(record, "three") == {}


def test_a_worker_back_from_the_dead_writes_nothing(record: Record) -> None:
    claim(record, "one")
    claim(record, "two", ended=gone("one"))
    assert play(record, 1) == set()
    assert record.read(read_turn_statuses, 1) == {}
    assert play(record, 2) == {1}
    assert record.read(read_turn_statuses, 1) == {1: "played"}


def test_of_turns_that_end_together_those_whose_claims_hold_are_written(record: Record) -> None:
    claim(record, "one")
    record.write(claim_turns, 1, [2], "two", LEASE, gone("one"))
    turns = [
        TurnUnderClaim(key, 1, Turn(name, usd(10_000), decides())) for key, name in ((1, "ann"), (2, "bob"))
    ]
    assert record.add_turns(1, (1, 1), turns, "1") == {1}
    assert record.read(read_turn_statuses, 1) == {1: "played"}


def test_nobody_plays_without_a_claim(record: Record) -> None:
    assert play(record, 1) == set()


@pytest.fixture(scope="module")
def lasting(tmp_path_factory: pytest.TempPathFactory) -> Record:
    """A record for many examples."""
    return waiting(tmp_path_factory.mktemp("claims") / "record.db")


@given(steps=st.lists(st.tuples(st.sampled_from("abc"), st.booleans(), st.booleans()), max_size=12))
def test_tokens_only_grow_and_one_holds(steps: list[tuple[str, bool, bool]], lasting: Record) -> None:
    last = claim(lasting, "new", ended=gone("new", "a", "b", "c"))[1]
    held: str | None = "new"
    for holder, short, dead in steps:
        taken = claim(
            lasting, holder, OVER if short else LEASE, gone("new", "a", "b", "c") if dead else nobody
        )
        assert taken == ({1: last + 1, 2: last + 1} if dead or held in (None, holder) else {})
        if taken:
            last, held = last + 1, None if short else holder
