"""What may be written again, as by one who could not learn whether it was: it is there once."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from agents.model import Call, CallError, Message, Prompt
from arena.record.model.incident import Incident
from arena.record.model.reservation import (
    Budget,
    Payer,
    Reservation,
    ReservationRequest,
    ReservationTerms,
)
from arena.record.write.calls import add_call
from arena.record.write.desk import open_desk_turn, put_desk_key
from arena.record.write.operations import add_incident
from arena.record.write.reservations import free_reservation, reserve
from portfolio.rules import REALISTIC
from tests.builders import NOW
from tests.opened_record import OpenedRecord
from tests.records.full_record import SUN, WEEK, Season, a_cohort, the_book, the_news

TOO_MANY = CallError("rate_limit", "slow down", retry=True, wait=60)
ASKED = ReservationRequest(Payer(1, 1), "somewhere", 1, "one", NOW, "somewhere/clever")
TERMS = ReservationTerms(Budget(), 9, lambda _: False)


@pytest.fixture
def record(tmp_path: Path) -> Iterator[OpenedRecord]:
    """Yield a record with two rounds that wait for a turn."""
    with closing(OpenedRecord.at(tmp_path / "record.db")) as opened:
        season = Season(opened)
        season.start(a_cohort(1, NOW, REALISTIC, "ann"))
        for at in (NOW, NOW + WEEK):
            season.look(1, at, the_book(SUN, at))
        yield opened


def reserved(record: OpenedRecord, reservation_id: int) -> Reservation:
    place = record.write(reserve, ASKED, TERMS, reservation_id)
    assert isinstance(place, Reservation)
    return place


def test_a_second_key_is_put_in_place_of_the_first(record: OpenedRecord) -> None:
    for key_hash in ("first", "second"):
        record.write(put_desk_key, "ann", key_hash, NOW)
    with record.engine.connect() as connection:
        assert connection.exec_driver_sql("SELECT hash FROM desk_key").scalars().all() == ["second"]


def test_a_turn_that_is_open_at_the_desk_stays_as_it_is_until_the_next_round(record: OpenedRecord) -> None:
    """A round that was broken off goes on with what was shown."""
    shown = []
    for round_id, view in ((1, "first"), (1, "again"), (2, "second")):
        shown.append(record.write(open_desk_turn, 1, round_id, view, 60.0)[0])
    assert shown == ["first", "first", "second"]


def test_an_article_that_is_gathered_again_is_there_once(record: OpenedRecord) -> None:
    for round_id in (1, 2):
        record.gather(round_id, (1, round_id), {SUN: the_news(SUN, NOW)})
    shown = [len(record.evidence(round_id)[SUN]) for round_id in (1, 2)]
    with record.engine.connect() as connection:
        stored = connection.exec_driver_sql("SELECT count(*) FROM article").scalar_one()
    # The older of the two articles is the same in both rounds, which had gathered it before.
    assert (shown, stored) == ([2, 2], 3)


def test_a_job_has_one_state_the_last(record: OpenedRecord) -> None:
    for failures in (1, 2):
        record.put_job("marks", NOW, NOW, NOW, failures)
    assert record.jobs()["marks"].failures == 2


def test_an_incident_is_told_once(record: OpenedRecord) -> None:
    for text in ("it is down", "it is still down"):
        record.write(add_incident, Incident("venue_down", "sky", NOW, text))
    with record.engine.connect() as connection:
        [body] = connection.exec_driver_sql("SELECT body FROM incident").scalars().all()
    assert "still" not in body


def test_a_call_that_is_reserved_again_under_its_number_has_one_place(record: OpenedRecord) -> None:
    assert reserved(record, 7).id == reserved(record, 7).id == 7
    with record.engine.connect() as connection:
        assert connection.exec_driver_sql("SELECT id FROM reservation").scalars().all() == [7]


def test_an_answer_that_is_kept_again_under_its_reservation_is_there_once(record: OpenedRecord) -> None:
    """Whoever stores it again could not learn whether it was stored."""
    place = reserved(record, 1)
    answer = Call(Prompt((Message("user", "?"),)), "yes", cost=5)
    for _ in range(2):
        record.write_answer(add_call, 1, 1, 1, answer, NOW, place)
    calls = record.calls(1, [1])[1]
    assert [call.reply for call in calls] == ["yes"]


def test_an_attempt_has_the_next_number_though_one_before_it_was_not_kept(record: OpenedRecord) -> None:
    """Parts of a question are counted together, and kept as they come."""
    answer = Call(Prompt((Message("user", "?"),)), "yes", cost=5)
    record.write_answer(add_call, 1, 1, 2, answer, NOW, reserved(record, 1))
    with record.engine.connect() as connection:
        assert connection.exec_driver_sql("SELECT attempt FROM call").scalars().all() == [1]


def test_a_provider_and_a_model_may_be_limited_more_than_once(record: OpenedRecord) -> None:
    """Calls that were under way together come back with "too many requests" one after another."""
    for place in [reserved(record, number) for number in (1, 2)]:
        assert record.write(free_reservation, place, TOO_MANY)
    [paused] = record.pauses()
    assert paused.name == "somewhere"
