"""A call whose worker is lost may have to be paid: it goes on counting, and soon takes no room any more."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from time import sleep

from arena.record.model.reservation import CallRefused, ProviderBusy
from arena.record.record import Record
from arena.record.write.calls import add_call
from arena.record.write.reservations import read_spent, renew_reservations, reserve
from tests.builders import NOW
from tests.faults.forking import forking
from tests.faults.hammer import COST, hang
from tests.faults.places import HERE, THERE, placed, terms, yes

DAY, OVER = timedelta(days=1), timedelta()


def test_of_a_worker_killed_in_a_call_the_money_stays_held_and_the_room_is_free(
    record: Record, database: str, tmp_path: Path
) -> None:
    sign, context = tmp_path / "calling", forking()
    worker = context.Process(target=hang, args=(database, str(sign)))
    worker.start()
    while not sign.exists():
        assert worker.is_alive()
        sleep(0.01)
    two = terms({"arena": 2 * COST})
    assert record.write_unfenced(reserve, HERE, two) == ProviderBusy(), (
        "it lives, and the provider has room for one"
    )
    worker.kill()
    worker.join()
    record.write_unfenced(
        add_call, 1, 1, 1, yes(COST), NOW, placed(record.write_unfenced(reserve, HERE, two))
    )
    assert record.read(read_spent, 1, 1, NOW, ["round", "agent", "day", "arena"]) == dict.fromkeys(
        ("round", "agent", "day", "arena"), 2 * COST
    )
    third = record.write_unfenced(reserve, HERE, two)
    assert isinstance(third, CallRefused)
    assert "$0.0020 of the arena's $0.0020 is spent" in third.why


def test_a_worker_elsewhere_has_its_room_until_its_lease_is_over(record: Record) -> None:
    three = terms({"day": 3 * COST})
    lost = placed(record.write_unfenced(reserve, THERE, three))
    assert record.write_unfenced(reserve, HERE, three) == ProviderBusy()
    record.write_unfenced(renew_reservations, [lost.id], OVER)
    mine = placed(record.write_unfenced(reserve, HERE, three))
    assert record.write_unfenced(reserve, HERE, three) == ProviderBusy(), (
        "the one that was lost is forgotten, not this one"
    )
    record.write_unfenced(add_call, 1, 1, 1, yes(COST), NOW, mine)
    assert isinstance(record.write_unfenced(reserve, HERE, terms({"day": 2 * COST})), CallRefused)
    tomorrow = replace(HERE, made_at=NOW + DAY)
    assert isinstance(record.write_unfenced(reserve, tomorrow, terms({"arena": 2 * COST})), CallRefused)
    placed(record.write_unfenced(reserve, tomorrow, terms({"day": COST})))


def test_a_late_but_paid_answer_costs_what_it_costs(record: Record) -> None:
    lost = placed(record.write_unfenced(reserve, THERE, terms({})))
    record.write_unfenced(renew_reservations, [lost.id], OVER)
    assert record.read(read_spent, 1, 1, NOW, ["arena"]) == {"arena": COST}
    record.write_unfenced(add_call, 1, 1, 1, yes(3), NOW, lost)
    assert record.read(read_spent, 1, 1, NOW, ["arena"]) == {"arena": 3}
