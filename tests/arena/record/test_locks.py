"""What a transaction on a server keeps to itself until it ends: rows, and locks of the whole server."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import timedelta
from time import sleep
from typing import Any

import pytest
from sqlalchemy import Connection, text
from sqlalchemy.exc import OperationalError

from agents.model import Call, Message, Prompt
from arena.errors import ArenaError
from arena.record.model.cohort import Turn
from arena.record.model.lease import Hold
from arena.record.model.reservation import Budget, Payer, ReservationRequest, ReservationTerms
from arena.record.schema.database import UPGRADE_LOCK, upgrade_connection
from arena.record.write.calls import add_call
from arena.record.write.cohorts import lock_round, put_marks
from arena.record.write.desk import open_desk_turn, read_ended_turns
from arena.record.write.heads import CHAIN_LOCK, add_head
from arena.record.write.operations import Fence, check_fence, take_lease
from arena.record.write.reservations import MONEY_LOCK, reserve
from arena.record.write.turn_queue import SCHEMA_LOCK, upgrade_queue
from arena.record.write.turns import TurnUnderClaim, add_turns, claim_turns, renew_claims
from portfolio.rules import REALISTIC
from tests.builders import NOW, usd
from tests.opened_record import OpenedRecord
from tests.records.full_record import SUN, Season, a_cohort, decides, the_book

SECONDS_LEFT = 3_600.0
ASKED = ReservationRequest(Payer(1, 1), "somewhere", 1, "one", NOW)
TERMS = ReservationTerms(Budget(limits={"arena": 1_000}), 2, lambda _: False)


def nobody(hold: Hold) -> bool:
    """Say that no holder is dead."""
    return False


@pytest.fixture(scope="module")
def address(new_server_record: Callable[[], str]) -> str:
    """Return a record on a server: a round with claims, a duty, a turn at the desk, a provider asked."""
    where = new_server_record()
    season = Season(OpenedRecord.at(where))
    season.start(a_cohort(1, NOW, REALISTIC, "ann", "bob", "eve"))
    season.look(1, NOW, the_book(SUN, NOW))

    record = season.record
    record.write(claim_turns, 1, [1, 2], "one", nobody)
    record.write(take_lease, "scheduler", "one", nobody)
    record.write(open_desk_turn, 1, 1, "{}", -SECONDS_LEFT)
    record.write(reserve, ASKED, TERMS, 1)
    record.close()
    return where


@pytest.fixture
def record(address: str) -> Iterator[OpenedRecord]:
    opened = OpenedRecord.join(address)
    yield opened
    opened.close()


def keeps_call(connection: Connection) -> None:
    add_call(connection, 1, 1, 1, Call(Prompt((Message("user", "?"),)), "yes", cost=0), NOW)


def writes_turn(connection: Connection) -> None:
    """Write a turn under a token that has expired, so that nothing is written."""
    turn = Turn("ann", usd(10_000), decides(sun="0.5"))
    assert add_turns(connection, 1, (1, 1), [TurnUnderClaim(1, 99, turn)], "1") == {}


@dataclass(frozen=True)
class Case:
    """What a transaction does, and the row that nobody else can take meanwhile."""

    does: Callable[[Connection], Any]
    row: str


CASES = {
    "renewing claims, the claims": Case(
        lambda one: renew_claims(one, 1, {1: 99}), "claim WHERE entrant_id = 1"
    ),
    "writing turns, the claims": Case(writes_turn, "claim WHERE entrant_id = 1"),
    "keeping a call, the claim": Case(keeps_call, "claim WHERE entrant_id = 1"),
    "keeping a call, the round": Case(keeps_call, "round WHERE id = 1"),
    "looking whether a round is over, the round": Case(lambda one: lock_round(one, 1), "round WHERE id = 1"),
    "writing marks, the round": Case(lambda one: put_marks(one, 1, {}), "round WHERE id = 1"),
    "looking for answers, the turn at the desk": Case(
        lambda one: read_ended_turns(one, [1], locked=True), "desk_turn WHERE entrant_id = 1"
    ),
    "looking whether a duty is free, the duty": Case(
        lambda one: take_lease(one, "scheduler", "two", nobody), "lease WHERE name = 'scheduler'"
    ),
    "writing under a fence, the duty": Case(
        lambda one: check_fence(one, Fence("scheduler", 1)), "lease WHERE name = 'scheduler'"
    ),
    "reserving a call, the provider": Case(
        lambda one: reserve(one, ASKED, TERMS, 2), "lane WHERE provider = 'somewhere'"
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_until_a_transaction_ends_nobody_else_has(case: str, record: OpenedRecord) -> None:
    """What was read there is still so when it is written."""
    row = text(f"SELECT 1 FROM {CASES[case].row} FOR NO KEY UPDATE NOWAIT")
    with record.engine.connect() as one, record.engine.connect() as other:
        CASES[case].does(one)
        with pytest.raises(OperationalError, match="could not obtain lock"):
            other.execute(row)
        other.rollback()

        one.rollback()
        assert other.execute(row).all() == [(1,)]


LOCKS: dict[str, tuple[int, Callable[[Connection], Any]]] = {
    "looking for money": (MONEY_LOCK, lambda one: reserve(one, ASKED, TERMS, 2)),
    "adding a head": (CHAIN_LOCK, lambda one: add_head(one, NOW, {"sync": [["sky", 1, "hash"]]})),
    "upgrading": (UPGRADE_LOCK, upgrade_connection),
}


@pytest.mark.parametrize("what", LOCKS)
def test_one_transaction_of_a_server_at_a_time_is(what: str, record: OpenedRecord) -> None:
    number, does = LOCKS[what]
    is_free = text(f"SELECT pg_try_advisory_xact_lock({number})")
    with record.engine.connect() as one, record.engine.connect() as other:
        does(one)
        assert other.scalar(is_free) is False
        one.rollback()
        assert other.scalar(is_free) is True


def test_who_makes_the_tables_of_the_queue_waits_for_another_that_does(
    record: OpenedRecord, address: str
) -> None:
    database = record.engine.url.database
    with record.engine.connect() as one:
        one.execute(text(f"ALTER DATABASE \"{database}\" SET lock_timeout = '50ms'"))
        one.commit()
        one.execute(text(f"SELECT pg_advisory_xact_lock({SCHEMA_LOCK})"))
        with pytest.raises((ArenaError, OperationalError), match="lock"):
            upgrade_queue(address, make=True)
        one.rollback()
        one.execute(text(f'ALTER DATABASE "{database}" RESET lock_timeout'))
        one.commit()


WAITING = text("SELECT count(*) FROM pg_stat_activity WHERE datname = :name AND wait_event_type = 'Lock'")


def test_of_two_that_claim_a_turn_in_the_same_moment_one_has_it(record: OpenedRecord) -> None:
    """Both have looked before either has written."""
    with record.engine.connect() as one, record.engine.connect() as looking, ThreadPoolExecutor() as pool:
        assert claim_turns(one, 1, [3], "one", nobody) == {3: 1}
        second = pool.submit(record.write, claim_turns, 1, [3], "two", nobody)
        while not looking.scalar(WAITING, {"name": record.engine.url.database}):
            assert not second.done()
            looking.rollback()
            sleep(timedelta(milliseconds=5).total_seconds())
        one.commit()
        assert second.result() == {}
