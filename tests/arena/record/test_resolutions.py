"""How markets ended: what is kept, which version it is, and what is refused."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.record.queries.cohorts import has_open_questions
from arena.verify import verify
from markets.distributions import QuestionForm
from markets.millionths import ONE
from markets.model import Listing, MarketId, Resolution
from markets.venue import QuarantinedRecord
from portfolio.rules import REALISTIC
from tests.arena.record.histories import begun, minute, played
from tests.builders import NOW, a_listing, a_market, a_resolution, usd
from tests.opened_record import OpenedRecord
from tests.records.full_record import SUN, WEEK, Season, a_cohort, the_book
from tests.rows import sightings_seen

FOG = MarketId("sky:fog")
MIST = MarketId("sky:mist")


@pytest.fixture
def record(empty: Path, tmp_path: Path) -> Iterator[OpenedRecord]:
    record = seen(begun(empty, tmp_path / "record.db"))
    yield record
    record.close()


def seen(record: OpenedRecord) -> OpenedRecord:
    listings = [a_listing(market=market, at=minute(0)) for market in (FOG, MIST)]
    record.sync("sky", listings, minute(0))
    return record


def told(record: OpenedRecord) -> list[tuple[str, int, int | None]]:
    ends = record.resolutions([FOG, MIST], minute(99))
    return [(end.market_id, end.version, end.payout) for end in ends]


def asides(record: OpenedRecord) -> list[tuple[str, str, str]]:
    return [(aside.record, aside.kind, aside.code) for aside in record.quarantined()]


@pytest.mark.parametrize("live", [True, False])
@pytest.mark.parametrize(
    ("bad", "code"),
    [
        (a_resolution("1.000001", FOG), "bad_payout"),
        (a_resolution("-0.000001", FOG), "bad_payout"),
        (a_resolution("1", FOG, version=0), "bad_version"),
        (a_resolution("1", FOG, version=-3), "bad_version"),
        (a_resolution("1", "sky:never"), "unknown_market"),
    ],
)
def test_what_cannot_be_is_set_aside_and_the_rest_kept(
    bad: Resolution, code: str, live: bool, record: OpenedRecord
) -> None:
    assert record.resolve([bad, a_resolution("1", MIST)], NOW, live) == 1
    assert told(record) == [(MIST, 1, ONE)]
    assert asides(record) == [(bad.market_id.removeprefix("sky:"), "resolution", code)]


def test_a_numbered_version_is_kept_once(record: OpenedRecord) -> None:
    first = a_resolution("1", FOG)
    second = a_resolution("0", FOG, version=2)
    assert record.resolve([first, second, replace(first, payout=0)], NOW) == 2
    assert record.resolve([replace(first, payout=5), second], NOW) == 0
    assert told(record) == [(FOG, 1, ONE), (FOG, 2, 0)]


def test_a_live_venue_that_changes_its_mind_gives_the_next_version(record: OpenedRecord) -> None:
    ends = [("1", 3), ("1", 4), ("0", 5), ("0", 6), (None, 7), ("1", 8)]
    fresh = [
        record.resolve([a_resolution(payout, FOG, at=minute(at))], minute(at), live=True)
        for payout, at in ends
    ]
    assert fresh == [1, 0, 1, 0, 1, 1]
    assert told(record) == [(FOG, 1, ONE), (FOG, 2, 0), (FOG, 3, None), (FOG, 4, ONE)]
    known = [end.known_at for end in record.resolutions([FOG], minute(99))]
    assert known == [minute(at) for at in (3, 5, 7, 8)]


CUP = MarketId("sky:cup")
CUP_FORM = QuestionForm("multiple_choice", ("Red", "Blue")).text


def with_a_question(record: OpenedRecord) -> OpenedRecord:
    """Return the record after a question of options was seen too."""
    page = a_market(CUP, form=CUP_FORM)
    record.sync("sky", [Listing(page, None)], minute(1))
    return record


def test_an_answer_that_a_live_venue_changes_is_the_next_version(record: OpenedRecord) -> None:
    with_a_question(record)
    said = [("Red", 3), (" red", 4), ("Blue", 5), ("Blue", 6), ("", 7), ("Blue", 8)]
    fresh = [
        record.resolve([Resolution(CUP, 1, minute(2), None, "x", answer)], minute(at), live=True)
        for answer, at in said
    ]
    assert fresh == [1, 0, 1, 0, 1, 1]
    ends = record.resolutions([CUP], minute(99))
    assert [end.answer for end in ends] == ["Red", "Blue", "", "Blue"]
    assert [end.known_at for end in ends] == [minute(at) for at in (2, 5, 7, 8)]
    assert record.read(verify) == []


@pytest.mark.parametrize(
    ("bad", "code"),
    [
        (Resolution(CUP, 1, NOW, None, "x", "Green"), "bad_answer"),
        (Resolution(CUP, 1, NOW, ONE, "x"), "bad_payout"),
        (Resolution(CUP, 1, NOW, ONE, "x", "Red"), "bad_payout"),
        (Resolution(FOG, 1, NOW, None, "x", "Red"), "bad_answer"),
    ],
)
@pytest.mark.parametrize("live", [True, False])
def test_what_a_question_cannot_come_to_is_set_aside(
    bad: Resolution, code: str, live: bool, record: OpenedRecord
) -> None:
    with_a_question(record)
    good = Resolution(CUP, 1, NOW, None, "x", "BLUE")
    assert record.resolve([bad, a_resolution("1", MIST), good], NOW, live) == 2
    ends = record.resolutions([CUP, FOG, MIST], NOW)
    assert [(end.market_id, end.payout, end.answer) for end in ends] == [(CUP, None, "Blue"), (MIST, ONE, "")]
    assert asides(record) == [(bad.market_id.removeprefix("sky:"), "resolution", code)]
    assert record.read(verify) == []


@given(payouts=st.lists(st.none() | st.integers(-1, 3).map(lambda n: n * usd("0.5")), max_size=8))
def test_live_versions_are_the_changes_among_what_can_be(payouts: list[int | None], empty: Path) -> None:
    with played(empty, []) as record:
        seen(record)
        for at, payout in enumerate(payouts):
            record.resolve([Resolution(FOG, 1, minute(at), payout)], minute(at), live=True)
        good = [payout for payout in payouts if payout is None or 0 <= payout <= ONE]
        changes = [payout for place, payout in enumerate(good) if place == 0 or payout != good[place - 1]]
        assert told(record) == [(FOG, version, payout) for version, payout in enumerate(changes, 1)]
        assert record.read(verify) == []


def test_live_ends_are_known_from_when_they_were_learnt(record: OpenedRecord) -> None:
    """The venue dates all back to its close, corrections and what had to wait too."""
    early = a_resolution("1", FOG, at=minute(1))
    record.resolve([early], minute(3), live=True)
    record.resolve([replace(early, payout=0)], minute(9), live=True)
    record.quarantine([QuarantinedRecord("sky", "mist", "resolution", "disputed", "it waits")], minute(4))
    record.resolve([a_resolution("1", MIST, at=minute(1))], minute(8), live=True)
    ends = record.resolutions([FOG, MIST], minute(99))
    known = [(end.market_id, end.payout, end.known_at) for end in ends]
    assert known == [(FOG, ONE, minute(1)), (FOG, 0, minute(9)), (MIST, ONE, minute(8))]
    with record.reading() as connection:
        sightings = sightings_seen(connection, minute(0), minute(99))
    told = {(end.market_id, end.version): end.known_at for x in sightings for end in x.resolutions}
    assert told == {(FOG, 1): minute(3), (FOG, 2): minute(9), (MIST, 1): minute(8)}


def test_a_question_is_open_until_its_end_was_learnt_though_that_is_dated_back(tmp_path: Path) -> None:
    """Else a cohort would have ended or not by when somebody asks: another one may learn of it meanwhile."""
    season = Season(OpenedRecord.at(tmp_path / "record.db"))
    season.start(a_cohort(1, NOW, REALISTIC, "ann"))
    season.look(1, NOW, the_book(SUN, NOW))
    [stored] = season.record.cohorts()
    later = NOW + 2 * WEEK
    end = a_resolution("1", SUN, at=NOW + WEEK)
    season.record.resolve([end], later)
    is_open = [season.record.read(has_open_questions, stored.id, at) for at in (NOW + WEEK, later)]
    assert is_open == [True, False]
    season.record.close()
