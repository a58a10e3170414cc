"""What a provider tells one worker, all heed."""

from arena.record.model.reservation import ProviderBusy, ReservationTerms
from arena.record.record import Record
from arena.record.schema.database import reading
from arena.record.write.calls import add_call
from arena.record.write.reservations import reserve
from markets.millionths import ONE
from tests.builders import NOW
from tests.faults.places import HERE, THERE, placed, terms, too_many, yes

EIGHT: ReservationTerms = terms({}, most=8)


def lane(record: Record) -> tuple[int, bool]:
    """The room at the provider, and whether anything is known that narrows it."""
    with reading(record.engine) as connection:
        found = connection.exec_driver_sql("SELECT room, paused_until IS NOT NULL FROM lane").one()
        return found[0], bool(found[1])


def over(record: Record) -> None:
    """The pause has passed."""
    with record.engine.begin() as connection:
        connection.exec_driver_sql("UPDATE lane SET paused_until = '2000-01-01T00:00:00.000000Z'")


def test_too_many_halves_the_room_once_for_all_and_lets_the_provider_rest(record: Record) -> None:
    places = [placed(record.write_unfenced(reserve, THERE, EIGHT)) for _ in range(8)]
    assert [place.free for place in places] == [*range(7, -1, -1)]
    assert record.write_unfenced(reserve, THERE, EIGHT) == ProviderBusy()
    for place, wait in zip(places, (30, 60, *[20] * 6), strict=True):
        record.write_unfenced(add_call, 1, 1, 1, too_many(wait), NOW, place)
    assert lane(record) == (4 * ONE, True)
    rest = record.write_unfenced(reserve, THERE, EIGHT)
    assert isinstance(rest, ProviderBusy)
    assert 30 < (rest.pause or 0) <= 60, "the longest that any of them was asked for"
    over(record)
    found = placed(record.write_unfenced(reserve, THERE, EIGHT))
    assert (found.free, found.narrow) == (3, True)


def test_answers_widen_it_again_for_all_and_then_it_is_written_to_no_more(record: Record) -> None:
    record.write_unfenced(
        add_call, 1, 1, 1, too_many(30), NOW, placed(record.write_unfenced(reserve, HERE, EIGHT))
    )
    over(record)
    record.write_unfenced(add_call, 1, 1, 1, yes(5), NOW, placed(record.write_unfenced(reserve, HERE, EIGHT)))
    assert lane(record) == (4 * ONE + ONE // 4, True)
    answers = 1
    while (place := placed(record.write_unfenced(reserve, THERE, EIGHT))).narrow:
        record.write_unfenced(add_call, 1, 1, 1, yes(5), NOW, place)
        answers += 1
    assert lane(record) == (8 * ONE, False)
    assert answers == 24
    assert place.free == 7


def test_a_lane_keeps_to_the_narrower_of_what_is_known_and_what_the_config_says(record: Record) -> None:
    record.write_unfenced(
        add_call, 1, 1, 1, too_many(30), NOW, placed(record.write_unfenced(reserve, HERE, EIGHT))
    )
    over(record)
    assert placed(record.write_unfenced(reserve, HERE, terms({}, most=2))).free == 1
    assert record.write_unfenced(reserve, HERE, terms({}, most=1)) == ProviderBusy()
