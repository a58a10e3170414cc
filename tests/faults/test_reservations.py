"""Calls that are reserved: one whose worker is lost goes on counting; what a provider tells one, all heed."""

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import wait as wait_for
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from time import sleep

import pytest
from sqlalchemy import Connection

from agents.model import Call, CallError, Message, Prompt
from arena.calls.reservations import new_reservation_id
from arena.record.model.lease import Watch, holder_name
from arena.record.model.reservation import (
    Budget,
    CallRefused,
    ModelPaused,
    Payer,
    ProviderBusy,
    Reservation,
    ReservationAnswer,
    ReservationRequest,
    ReservationTerms,
    Scope,
)
from arena.record.write.reservations import (
    read_spent,
    reserve,
    withdraw_reservations,
)
from markets.millionths import ONE
from tests.builders import NOW
from tests.faults.hammer import COST, forking, hang
from tests.opened_record import OpenedRecord, opened_record

DAY = timedelta(days=1)
THERE = ReservationRequest(Payer(1, 1), "somewhere", COST, "elsewhere.invalid/1/x", NOW)
HERE = replace(THERE, holder=holder_name())
SCOPES: tuple[Scope, ...] = ("round", "agent", "day", "arena")
PROMPT = Prompt((Message("user", "?"),))


def terms(limits: Mapping[Scope, int], most: int = 1) -> ReservationTerms:
    """So many calls at a time, within these limits."""
    return ReservationTerms(Budget(limits=limits), most, Watch().is_over)


def asked(record: OpenedRecord, request: ReservationRequest, on: ReservationTerms) -> ReservationAnswer:
    return record.write_unfenced(reserve, request, on, new_reservation_id())


def placed(record: OpenedRecord, request: ReservationRequest, on: ReservationTerms) -> Reservation:
    """The place, which there must be."""
    answer = asked(record, request, on)
    assert isinstance(answer, Reservation)
    return answer


def ended(record: OpenedRecord, place: Reservation, cost: int = 0, wait: float | None = None) -> None:
    """The call is over: answered at a cost, or turned down by a provider that wants to be left alone."""
    error = None if wait is None else CallError("rate_limit", "slow down", retry=True, wait=wait)
    call = Call(PROMPT, "yes" if error is None else None, cost=cost, error=error)
    record.add_call(1, 1, 1, call, NOW, place)


def test_of_a_worker_killed_in_a_call_the_money_stays_held_and_the_room_is_free(
    record: OpenedRecord, database: str, tmp_path: Path
) -> None:
    sign, context = tmp_path / "calling", forking()
    worker = context.Process(target=hang, args=(database, str(sign)))
    worker.start()
    while not sign.exists():
        assert worker.is_alive()
        sleep(0.01)
    two = terms({"arena": 2 * COST})
    assert asked(record, HERE, two) == ProviderBusy(), "it lives, and the provider has room for one"
    worker.kill()
    worker.join()
    ended(record, placed(record, HERE, two), COST)
    assert record.read(read_spent, 1, 1, NOW, SCOPES) == dict.fromkeys(SCOPES, 2 * COST)
    third = asked(record, HERE, two)
    assert isinstance(third, CallRefused)
    assert "$0.0020 of the arena's $0.0020 is spent" in third.why


def test_a_worker_elsewhere_has_its_room_until_its_call_is_lost(record: OpenedRecord) -> None:
    three = terms({"day": 3 * COST})
    lost = placed(record, THERE, three)
    assert asked(record, HERE, three) == ProviderBusy()
    record.lose([lost.id])
    mine = placed(record, HERE, three)
    assert asked(record, HERE, three) == ProviderBusy(), "the one that was lost is forgotten, not this one"
    ended(record, mine, COST)
    assert isinstance(asked(record, HERE, terms({"day": 2 * COST})), CallRefused)
    tomorrow = replace(HERE, made_at=NOW + DAY)
    assert isinstance(asked(record, tomorrow, terms({"arena": 2 * COST})), CallRefused)
    placed(record, tomorrow, terms({"day": COST}))


def test_a_late_but_paid_answer_costs_what_it_costs(record: OpenedRecord) -> None:
    lost = placed(record, THERE, terms({}))
    record.lose([lost.id])
    assert record.read(read_spent, 1, 1, NOW, ["arena"]) == {"arena": COST}
    ended(record, lost, 3)
    assert record.read(read_spent, 1, 1, NOW, ["arena"]) == {"arena": 3}


EIGHT = terms({}, most=8)


@pytest.mark.parametrize("database", ["postgresql"], indirect=True)
def test_a_reservation_whose_commit_comes_late_is_withdrawn_all_the_same(
    database: str, record: OpenedRecord
) -> None:
    """Its client was cut off, and the server is still at it."""
    reservation_id = new_reservation_id()
    with opened_record(database) as cut_off, ThreadPoolExecutor(1) as pool:
        with cut_off.engine.begin() as late:
            assert isinstance(reserve(late, THERE, terms({}), reservation_id), Reservation)
            withdrawing = pool.submit(record.write_unfenced, withdraw_reservations, [reservation_id])
            wait_for([withdrawing], 0.3)
        withdrawing.result()
    assert record.read(count_reservations) == 0


def count_reservations(connection: Connection) -> int:
    """Return how many calls are under way or lost."""
    return int(connection.exec_driver_sql("SELECT count(*) FROM reservation").scalar_one())


def lane(record: OpenedRecord) -> tuple[int, bool]:
    """The room at the provider, and whether anything is known that narrows it."""
    with record.reading() as connection:
        found = connection.exec_driver_sql("SELECT room, paused_until IS NOT NULL FROM lane").one()
        return found[0], bool(found[1])


def pause_over(record: OpenedRecord) -> None:
    with record.engine.begin() as connection:
        connection.exec_driver_sql("UPDATE lane SET paused_until = '2000-01-01T00:00:00.000000Z'")


def test_too_many_halves_the_room_once_for_all_and_lets_the_provider_rest(record: OpenedRecord) -> None:
    places = [placed(record, THERE, EIGHT) for _ in range(8)]
    assert [place.free for place in places] == [*range(7, -1, -1)]
    assert asked(record, THERE, EIGHT) == ProviderBusy()
    for place, wait in zip(places, (30, 60, *[20] * 6), strict=True):
        ended(record, place, wait=wait)
    assert lane(record) == (4 * ONE, True)
    rest = asked(record, THERE, EIGHT)
    assert isinstance(rest, ProviderBusy)
    assert 30 < (rest.pause or 0) <= 60, "the longest that any of them was asked for"
    pause_over(record)
    found = placed(record, THERE, EIGHT)
    assert (found.free, found.narrow) == (3, True)


def test_answers_widen_it_again_for_all_and_then_it_is_written_to_no_more(record: OpenedRecord) -> None:
    """A config that says less than is known narrows it all the same."""
    ended(record, placed(record, HERE, EIGHT), wait=30)
    pause_over(record)
    narrow = placed(record, HERE, terms({}, most=2))
    assert narrow.free == 1
    assert asked(record, HERE, terms({}, most=1)) == ProviderBusy()
    ended(record, narrow, 5)
    ended(record, placed(record, HERE, EIGHT), 5)
    assert lane(record) == (4 * ONE + ONE // 4, True)
    answers = 1
    while (place := placed(record, THERE, EIGHT)).narrow:
        ended(record, place, 5)
        answers += 1
    assert lane(record) == (8 * ONE, False)
    assert (answers, place.free) == (24, 7)


SHARP, BLUNT = (replace(HERE, model=f"somewhere/{name}") for name in ("sharp", "blunt"))


def limit_over(record: OpenedRecord) -> None:
    """Every pause has passed, and nobody has been asked since."""
    pause_over(record)
    with record.engine.begin() as connection:
        connection.exec_driver_sql("UPDATE model_limit SET paused_until = '2000-01-01T00:00:00.000000Z'")


def paused(record: OpenedRecord) -> list[str]:
    return [pause.name for pause in record.pauses()]


def test_a_limit_of_over_a_minute_pauses_its_model_and_no_other(record: OpenedRecord) -> None:
    ended(record, placed(record, SHARP, EIGHT), wait=600)
    assert paused(record) == ["somewhere/sharp"]
    rest = asked(record, SHARP, EIGHT)
    assert isinstance(rest, ModelPaused)
    assert 590 < rest.seconds < 601
    other = placed(record, BLUNT, EIGHT)
    assert (other.free, other.narrow, other.limited) == (7, False, False), "it is not halved either"
    ended(record, other, 5)
    assert isinstance(asked(record, SHARP, EIGHT), ModelPaused), "another's answer ends no pause"
    assert placed(record, SHARP, replace(EIGHT, timed=False)).limited, "on a pretended clock none takes time"


def test_a_limit_that_nobody_waits_out_pauses_nobody(record: OpenedRecord) -> None:
    for wait in (1_801, 72_000):
        ended(record, placed(record, SHARP, EIGHT), wait=wait)
    assert paused(record) == []
    assert not placed(record, SHARP, EIGHT).narrow


def test_a_short_limit_pauses_the_provider_once_and_then_its_model_alone_until_that_answers(
    record: OpenedRecord,
) -> None:
    ended(record, placed(record, SHARP, EIGHT), wait=30)
    assert paused(record) == ["somewhere"], "it may be the whole provider's"
    assert isinstance(asked(record, BLUNT, EIGHT), ProviderBusy)
    for _ in range(2):
        limit_over(record)
        ended(record, placed(record, SHARP, EIGHT), wait=30)
        assert paused(record) == ["somewhere/sharp"], "a second one in a row is its own"
        assert isinstance(asked(record, SHARP, EIGHT), ModelPaused)
        ended(record, placed(record, BLUNT, EIGHT), 5)
    limit_over(record)
    again = placed(record, SHARP, EIGHT)
    assert again.limited
    ended(record, again, 5)
    fresh = placed(record, SHARP, EIGHT)
    assert not fresh.limited
    ended(record, fresh, wait=30)
    assert paused(record) == ["somewhere"]


def test_an_answer_to_an_earlier_call_does_not_end_a_pause_that_began_later(record: OpenedRecord) -> None:
    first, second = (placed(record, SHARP, EIGHT) for _ in range(2))
    ended(record, first, wait=600)
    ended(record, second, 5)
    assert paused(record) == ["somewhere/sharp"]
    limit_over(record)
    third, fourth = (placed(record, SHARP, EIGHT) for _ in range(2))
    ended(record, third, wait=600)
    ended(record, fourth, 5)
    assert paused(record) == ["somewhere/sharp"]


@pytest.mark.parametrize("wait", [30, 600])
def test_a_clock_that_is_put_back_leaves_no_pause_behind_that_is_longer_than_any(
    wait: int, record: OpenedRecord
) -> None:
    """Pauses end by the database's clock: put back by a day, it would be a day until this one ends."""
    ended(record, placed(record, SHARP, EIGHT), wait=wait)
    assert len(paused(record)) == 1
    with record.engine.begin() as connection:
        for table in ("lane", "model_limit"):
            connection.exec_driver_sql(f"UPDATE {table} SET paused_until = '2999-01-01T00:00:00.000000Z'")
    assert paused(record) == []

    again = placed(record, SHARP, EIGHT)
    ended(record, again, wait=600)
    assert paused(record) == ["somewhere/sharp"], "a new limit is held as ever"
    rest = asked(record, SHARP, EIGHT)
    assert isinstance(rest, ModelPaused)
    assert 590 < rest.seconds < 601
