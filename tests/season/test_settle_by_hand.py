"""Markets that a venue closes and never settles: what tells of them, and a person's decision on them."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from agents.model import Decision
from arena.operations.incidents import note_job, note_played, note_unsettled
from arena.operations.status import read_status_by_config
from arena.operations.today import read_tasks
from arena.rounds.round import play_round, track_cohort
from arena.rounds.settled_by_hand import HandSettlement, settle_by_hand
from arena.verify import verify
from markets.model import MarketId, Resolution
from portfolio.rules import REALISTIC
from tests.builders import NOW, RAIN, usd
from tests.opened_record import OpenedRecord, opened_record
from tests.program.running import AGREES, arena_json
from tests.records.full_record import Season
from tests.records.full_record import a_cohort as a_small_cohort
from tests.records.little_world import WEEK, LittleVenue, a_cohort, a_world, begun, begun_live, says
from tests.records.mixed_record import CUP, FORMS, LAUNCH, SALES, a_question, stated

DAY = timedelta(days=1)
SNOW = "sim:snow"
WHY = "both services show YES as paid"
BUYERS = {"ann": says("0.7", ("500", RAIN)), "bob": says("0.6", ("300", RAIN))}


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """Yield a folder whose record has ann and bob holding rain, which closed and was never settled."""
    record = OpenedRecord.at(tmp_path / "arena.db")
    venue = LittleVenue(closes_at=NOW + 3 * DAY)
    stored = begun_live(record, "ann", "bob")
    play(stored.id, 1, venue, record)
    record.close()
    yield tmp_path
    with closing(opened(tmp_path)) as record, record.reading() as connection:
        assert verify(connection) == []


def opened(folder: Path) -> OpenedRecord:
    return OpenedRecord.at(folder / "arena.db")


def play(cohort_id: int, number: int, venue: LittleVenue, record: OpenedRecord) -> None:
    stored = record.cohort(cohort_id)
    world = a_world(venue, BUYERS, now=stored.cohort.calendar.time(number))
    asyncio.run(play_round(stored, number, world, record))


def look(folder: Path, at: datetime, venue: LittleVenue | None = None) -> dict[str, int]:
    """Settle and mark the cohort, and return the cash of each agent."""
    with closing(opened(folder)) as record:
        [stored] = record.cohorts()
        world = a_world(venue or LittleVenue(silent={RAIN, SNOW}), BUYERS, now=at)
        asyncio.run(track_cohort(stored, at, world, record))
        return {name: account.cash for name, account in record.holdings(stored.id).items()}


def settle(
    folder: Path, *words: str, status: int = 0, because: str = WHY, market: str = RAIN
) -> dict[str, object]:
    asked = ("--database", "arena.db", "admin", "settle", market, *words, "--because", because)
    told: dict[str, object] = arena_json(folder, *asked, status=status)
    return told


def error_code(told: dict[str, object]) -> object:
    error = told["error"]
    assert isinstance(error, dict)
    return error["code"]


# --- what tells of them


def noted(record: OpenedRecord) -> list[tuple[str, datetime | None]]:
    told = record.incidents(9)
    return [(one.incident.text, one.ended_at) for one in told if one.incident.kind == "market_unsettled"]


def test_a_held_market_is_told_two_weeks_after_it_closed_until_it_is_settled(folder: Path) -> None:
    closed = NOW + 3 * DAY
    words = f"{RAIN} closed on {closed:%Y-%m-%d} and is not settled: held by ann, bob"
    with closing(opened(folder)) as record:
        note_unsettled(record, closed + 14 * DAY - timedelta(minutes=1))
        assert noted(record) == []
        for days in (14, 15):
            note_job(record, "resolutions", "little", closed + days * DAY, None)
        note_played(record, "little", NOW, closed + 16 * DAY, None)
        assert noted(record) == [(words, None)]
        assert [told.incident.kind for told in record.untold(closed)] == ["market_unsettled"]
        with record.reading() as connection:
            status = read_status_by_config(connection, closed + 16 * DAY, None)
            tasks = read_tasks(connection, status)
        assert status.word == "trouble"
        assert ("market_unsettled", f"admin settle {RAIN} --payout … --because …") in [
            (task.code, task.command) for task in tasks
        ]
        assert [reason.text for reason in status.reasons if reason.code == "market_unsettled"] == [words]

        record.resolve([Resolution(MarketId(RAIN), 1, closed, 0)], closed + 20 * DAY, True)
        note_unsettled(record, closed + 21 * DAY)
        assert noted(record) == [(words, closed + 21 * DAY)]


def test_a_market_that_was_closed_early_is_told_once_it_had_no_price_for_two_weeks(tmp_path: Path) -> None:
    with closing(opened(tmp_path)) as record:
        stored = begun_live(record, "ann")
        play(stored.id, 1, LittleVenue(closes_at=NOW + 99 * WEEK), record)
        note_unsettled(record, NOW + 5 * WEEK)
        assert noted(record) == [], "nobody has looked since: it may be open"
        look(tmp_path, NOW + WEEK, LittleVenue(closes_at=NOW + 99 * WEEK))
        look(tmp_path, NOW + 2 * WEEK)
        note_unsettled(record, NOW + 2 * WEEK)
        assert noted(record) == []
        note_unsettled(record, NOW + 3 * WEEK)
        assert len(noted(record)) == 1


def test_what_is_made_up_or_held_by_nobody_is_not_told(tmp_path: Path) -> None:
    with closing(opened(tmp_path)) as record:
        cohort = a_cohort(["ann"])
        play(begun(record, cohort).id, 1, LittleVenue(closes_at=NOW + DAY), record)
        note_unsettled(record, NOW + 9 * WEEK)
        assert noted(record) == []


def test_on_postgresql_they_are_told_and_decided_the_same(new_server_record: Callable[[], str]) -> None:
    with opened_record(new_server_record()) as record:
        stored = begun_live(record, "ann", "bob")
        play(stored.id, 1, LittleVenue(closes_at=NOW + 3 * DAY), record)
        note_unsettled(record, NOW + 17 * DAY)
        assert len(noted(record)) == 1
        first = HandSettlement(MarketId(RAIN), usd(1), WHY)
        record.write_unfenced(settle_by_hand, first, NOW + 18 * DAY)
        record.write_unfenced(settle_by_hand, replace(first, withdrawn=True), NOW + 19 * DAY)
        assert RAIN in record.unresolved_markets(NOW + 999 * DAY)
        assert record.read(verify) == []


# --- a person's decision


@pytest.mark.parametrize(
    ("payout", "share"),
    [("1", "1"), ("0", "0"), ("0.25", "0.25"), ("50-50", "0.5"), ("refund", None), ("1.000000", "1")],
)
def test_a_decision_is_kept_paid_and_verified(folder: Path, payout: str, share: str | None) -> None:
    told = settle(folder, "--payout", payout)
    assert (told["market"], told["version"], told["source"]) == (RAIN, 1, f"by hand: {WHY}")
    assert told["payout"] == (None if share is None else float(share))
    assert (told["refund"], told["withdrawn"], told["because"]) == (share is None, False, WHY)

    known_at = datetime.fromisoformat(str(told["known_at"]))
    with closing(opened(folder)) as record:
        [stored] = record.cohorts()
        lots = {
            name: account.lots[MarketId(RAIN), "YES"] for name, account in record.holdings(stored.id).items()
        }
    cash = look(folder, known_at + DAY)
    for name, lot in lots.items():
        spent = {"ann": usd(500), "bob": usd(300)}[name]
        paid = lot.cost if share is None else lot.shares * usd(share) // usd(1)
        assert cash[name] == usd(10_000) - spent + paid

    assert arena_json(folder, "--database", "arena.db", "admin", "verify").items() >= AGREES.items()
    shown = arena_json(folder, "--database", "arena.db", "show", "market", RAIN)
    assert [end["source"] for end in shown["resolutions"]] == [f"by hand: {WHY}"]
    assert shown["status"] == "ended"


def test_a_later_decision_and_the_venues_own_word_reverse_it(folder: Path) -> None:
    bare = look(folder, NOW + 4 * DAY)
    told = settle(folder, "--payout", "1")
    start = datetime.fromisoformat(str(told["known_at"]))
    assert all(cash > bare[name] for name, cash in look(folder, start + DAY).items())
    with closing(opened(folder)) as record:
        assert RAIN in record.unresolved_markets(start + 999 * DAY), "the venue is still asked"

    assert error_code(settle(folder, "--payout", "1", status=1)) == "unchanged"
    assert settle(folder, "--payout", "0", because="the page was misread")["version"] == 2
    assert look(folder, start + 2 * DAY) == bare

    venue = LittleVenue(endings=[Resolution(MarketId(RAIN), 1, start + 2 * DAY, usd("0.5"), "little: half")])
    assert all(cash > bare[name] for name, cash in look(folder, start + 3 * DAY, venue).items())
    assert error_code(settle(folder, "--payout", "1", status=1)) == "settled"
    shown = arena_json(folder, "--database", "arena.db", "show", "market", RAIN)
    assert [end["payout"] for end in shown["resolutions"]] == [1, 0, 0.5]
    with closing(opened(folder)) as record:
        assert RAIN not in record.unresolved_markets(start + 999 * DAY)


@pytest.mark.parametrize("payout", ["1", "0", "refund", None])
def test_a_venue_that_says_the_same_as_a_person_has_the_last_word(folder: Path, payout: str | None) -> None:
    """Without a payout the decision was withdrawn, and the venue refunds as well."""
    told = settle(folder, "--payout", payout or "1")
    if payout is None:
        told = settle(folder, "--withdraw")
    at = datetime.fromisoformat(str(told["known_at"])) + DAY
    cash = look(folder, at)

    paid = {"1": usd(1), "0": 0}.get(payout or "refund")
    for days in (1, 2):
        venue = LittleVenue(endings=[Resolution(MarketId(RAIN), 1, at, paid, "little: told")])
        assert look(folder, at + days * DAY, venue) == cash

    shown = arena_json(folder, "--database", "arena.db", "show", "market", RAIN)
    newest = shown["resolutions"][-1]
    assert (newest["source"], len(shown["resolutions"])) == ("little: told", int(str(told["version"])) + 1)
    assert error_code(settle(folder, "--payout", "0.5", status=1)) == "settled"
    assert error_code(settle(folder, "--withdraw", status=1)) == "settled"
    with closing(opened(folder)) as record:
        assert RAIN not in record.unresolved_markets(at + 999 * DAY)


def test_a_decision_is_withdrawn_by_a_refund(folder: Path) -> None:
    assert error_code(settle(folder, "--withdraw", status=1)) == "no_decision"
    told = settle(folder, "--payout", "1")
    start = datetime.fromisoformat(str(told["known_at"]))
    look(folder, start + DAY)
    withdrawn = settle(folder, "--withdraw", because="too early")
    assert (withdrawn["version"], withdrawn["refund"], withdrawn["withdrawn"]) == (2, True, True)
    assert withdrawn["source"] == "by hand, withdrawn: too early"
    assert look(folder, start + 2 * DAY) == {"ann": usd(10_000), "bob": usd(10_000)}
    assert error_code(settle(folder, "--withdraw", status=1)) == "no_decision"
    assert settle(folder, "--payout", "0")["version"] == 3


def test_a_cohort_that_has_ended_is_paid_at_once(folder: Path) -> None:
    told = settle(folder, "--payout", "1")
    start = datetime.fromisoformat(str(told["known_at"]))
    paid = look(folder, start + DAY)
    with closing(opened(folder)) as record:
        [stored] = record.cohorts()
        record.end(stored.id, start + DAY)
    settle(folder, "--payout", "0")
    with closing(opened(folder)) as record:
        now_paid = {name: account.cash for name, account in record.holdings(stored.id).items()}
    assert all(now_paid[name] < cash for name, cash in paid.items())


def test_it_goes_through_an_export_and_its_incident_is_over(folder: Path) -> None:
    with closing(opened(folder)) as record:
        note_unsettled(record, NOW + 4 * WEEK)
        assert len(noted(record)) == 1
    settle(folder, "--payout", "1")
    with closing(opened(folder)) as record:
        assert noted(record)[0][1] is not None
    arena_json(folder, "--database", "arena.db", "share", "export", "out")
    arena_json(folder, "--database", "copy.db", "admin", "restore", "out")
    shown = [
        arena_json(folder, "--database", name, "show", "market", RAIN) for name in ("arena.db", "copy.db")
    ]
    assert shown[0] == shown[1]
    assert arena_json(folder, "--database", "copy.db", "admin", "verify").items() >= AGREES.items()


REFUSED = [
    (("--payout", "1"), WHY, "sim:hail", 1, "unknown_market"),
    (("--payout", "2"), WHY, RAIN, 64, "bad_payout"),
    (("--payout", "-0.1"), WHY, RAIN, 64, "bad_payout"),
    (("--payout", "yes"), WHY, RAIN, 64, "bad_payout"),
    (("--payout", "1.5"), WHY, RAIN, 64, "bad_payout"),
    (("--payout", "nan"), WHY, RAIN, 64, "bad_payout"),
    (("--payout", "0,5"), WHY, RAIN, 64, "bad_payout"),
    (("--payout", "1"), "", RAIN, 64, "no_reason"),
    (("--payout", "1"), " \n\t ", RAIN, 64, "no_reason"),
    (("--payout", "1"), "x" * 501, RAIN, 64, "bad_reason"),
    (("--payout", "1"), "a\x1b[31mb", RAIN, 64, "bad_reason"),
    ((), WHY, RAIN, 64, "no_payout"),
    (("--payout", "1", "--withdraw"), WHY, RAIN, 64, "no_payout"),
]


def test_what_cannot_be_decided_is_refused_and_nothing_is_written(folder: Path) -> None:
    for words, because, market, status, code in REFUSED:
        told = settle(folder, *words, because=because, market=market, status=status)
        assert error_code(told) == code, words
    shown = arena_json(folder, "--database", "arena.db", "show", "market", RAIN)
    assert shown["resolutions"] == []


@pytest.mark.parametrize(
    ("stamp", "code"), [("live", "not_closed"), ("simulated", "not_live"), ("replay", "not_live")]
)
def test_an_open_market_and_one_of_another_world_are_refused(tmp_path: Path, stamp: str, code: str) -> None:
    closes_at = NOW + 900_000 * DAY if stamp == "live" else NOW + DAY
    with closing(opened(tmp_path)) as record:
        stored = begun(record, replace(a_cohort(["ann"]), stamp=stamp))
        play(stored.id, 1, LittleVenue(closes_at=closes_at), record)
    told = settle(tmp_path, "--payout", "1", status=1)
    assert error_code(told) == code


@pytest.fixture
def asked(tmp_path: Path) -> Path:
    """Return a live record of questions of options, a number and a date, all of them closed."""
    season = Season(OpenedRecord.at(tmp_path / "arena.db"))
    season.start(replace(a_small_cohort(1, NOW, REALISTIC, "ann"), stamp="live", evidence="none"))
    closed = [a_question(market) for market in FORMS]
    season.look(1, NOW, *(replace(x, market=replace(x.market, closes_at=NOW + DAY)) for x in closed))
    season.turn(1, "ann", Decision(tuple(stated((5, 3, 2), *FORMS))))
    season.value(1, NOW)
    season.record.close()
    return tmp_path


@pytest.mark.parametrize(
    ("market", "outcome", "answer"),
    [
        (CUP, "blau", "Blau"),
        (CUP, "called off", ""),
        (SALES, "41.50", "41.5"),
        (LAUNCH, "2026-03-01T00:00:00Z", "2026-03-01"),
    ],
)
def test_a_question_is_settled_by_what_it_came_to(
    asked: Path, market: str, outcome: str, answer: str
) -> None:
    told = settle(asked, "--outcome", outcome, market=market)
    assert (told["answer"], told["payout"], told["refund"]) == (answer, None, False)
    assert error_code(settle(asked, "--outcome", outcome, market=market, status=1)) == "unchanged"
    shown = arena_json(asked, "--database", "arena.db", "show", "market", market)
    assert [end["answer"] for end in shown["resolutions"]] == [answer]
    assert settle(asked, "--withdraw", market=market)["version"] == 2
    with closing(opened(asked)) as record, record.reading() as connection:
        assert verify(connection) == []


@pytest.mark.parametrize(
    ("market", "words", "code"),
    [
        (CUP, ("--outcome", "Gelb"), "bad_outcome"),
        (SALES, ("--outcome", "many"), "bad_outcome"),
        (LAUNCH, ("--outcome", "soon"), "bad_outcome"),
        (SALES, ("--outcome", "-1"), "bad_outcome"),
        (LAUNCH, ("--outcome", "2027-01-01"), "bad_outcome"),
        (CUP, ("--payout", "1"), "bad_payout"),
        (CUP, ("--outcome", "Blau", "--payout", "1"), "no_payout"),
    ],
)
def test_a_question_is_not_settled_by_what_it_cannot_come_to(
    asked: Path, market: str, words: tuple[str, ...], code: str
) -> None:
    status = 64 if code == "no_payout" else 1
    assert error_code(settle(asked, *words, market=market, status=status)) == code


def test_a_market_that_pays_has_no_other_outcome(folder: Path) -> None:
    assert error_code(settle(folder, "--outcome", "YES", status=1)) == "bad_outcome"
