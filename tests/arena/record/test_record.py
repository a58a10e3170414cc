"""What the record keeps, it gives back; and it keeps it once."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import event

from agents.model import Call, CallError, Decision, Forecast, Message, Prompt
from arena.errors import ArenaError
from arena.record.model.cohort import Turn
from arena.record.model.reservation import SCOPE_WORDS
from arena.record.queries.accounts import read_ledgers
from arena.record.queries.cohorts import (
    read_final_forecasts,
    read_followed_markets,
)
from arena.record.queries.decisions import read_turns
from arena.record.schema.codec import book_of, book_text, cohort_of, cohort_text
from arena.record.write.listings import add_pages, add_quotes
from arena.record.write.reservations import read_spent
from arena.verify import verify
from markets.model import Level, Listing, MarketId, Quote, Snapshot
from portfolio.model import Entry, Rejection
from portfolio.rules import REALISTIC, SEED
from tests.builders import NOW, a_book, a_market, a_quote, a_resolution, usd
from tests.opened_record import OpenedRecord
from tests.records import full_record
from tests.records.full_record import RAIN, SUN, Season, a_cohort, build, decides, said, the_book, week


@pytest.fixture
def season(tmp_path: Path) -> Season:
    """Return an empty record with one cohort."""
    season = Season(OpenedRecord.at(tmp_path / "record.db"))
    season.start(a_cohort(1, NOW, REALISTIC, "ann", "bob"))
    return season


def count(record: OpenedRecord, table: str) -> int:
    with record.reading() as connection:
        return int(connection.exec_driver_sql(f"SELECT count(*) FROM {table}").scalar_one())


def test_a_cohort_that_ends_twice_ended_the_first_time(season: Season) -> None:
    season.record.end(1, week(1))
    season.record.end(1, week(2))
    assert season.record.cohorts()[0].ended_at == week(1)


def test_a_record_that_is_closed_gives_back_the_room_for_answers(tmp_path: Path) -> None:
    record = OpenedRecord.at(tmp_path / "record.db")
    record.hold_room(1)
    assert record.room.close is not None

    record.close()
    assert record.room.close is None


def test_a_snapshot_comes_back_as_it_was(season: Season) -> None:
    bare = Listing(a_market("sim:bare", question="Größer als “x”?\u2028"), None)
    odd = replace(a_quote("0.40", "0.42", "0.405", market="sim:odd", last="0.39", volume="12.5"), bid=None)
    snapshot = Snapshot(NOW, (the_book(SUN, NOW), bare), (Listing(a_market("sim:odd"), odd),))
    season.record.keep_snapshot(1, 1, snapshot, 1)
    assert season.record.snapshot(1, NOW) == (1, snapshot)
    assert season.record.snapshot(1, week(1)) is None


def test_what_a_market_says_is_kept_each_time_it_changes(season: Season) -> None:
    pages = [
        a_book([("0.4", "9")], [("0.5", "9")], SUN, at=week(k), rules=rules) for k, rules in enumerate("aba")
    ]
    for number, page in enumerate(pages):
        season.look(1, week(number), page)
    with season.record.reading() as connection:
        rows = connection.exec_driver_sql("SELECT version, rules FROM market_version ORDER BY id").all()
    assert [tuple(row) for row in rows] == [(1, "a"), (2, "b"), (3, "a")]


def test_resolutions_are_kept_once_and_known_in_their_time(season: Season) -> None:
    first = a_resolution("1", SUN, at=week(1))
    second = a_resolution(None, SUN, 2, at=week(2))
    season.look(1, NOW, the_book(SUN, NOW))
    assert season.record.unresolved_markets(NOW) == [SUN]
    assert season.record.resolve([first, first], week(1)) == 1
    assert season.record.resolve([replace(first, payout=0), second], week(2)) == 1
    assert season.record.resolutions([SUN], week(1)) == [first]
    assert season.record.resolutions([SUN], week(9)) == [first, second]
    assert season.record.unresolved_markets(week(1)) == [SUN], "what was said lately may be corrected"
    assert season.record.unresolved_markets(week(9)) == []
    assert count(season.record, "resolution") == 2


@pytest.mark.parametrize(
    ("market", "days", "wrong"),
    [(SUN, 3, []), (SUN, 9, []), (SUN, -1, ["at"]), (RAIN, 3, ["at"])],
    ids=["between snapshots", "after the last", "before it was seen", "in no snapshot"],
)
def test_a_price_between_rounds_is_one_of_a_market_that_is_followed(
    season: Season, market: MarketId, days: int, wrong: list[str]
) -> None:
    at = NOW + timedelta(days=days)
    season.look(1, NOW, the_book(SUN, NOW))
    season.look(1, week(1), the_book(SUN, week(1)))
    assert (
        season.record.read(read_followed_markets, NOW - timedelta(days=1)),
        season.record.read(read_followed_markets, NOW),
    ) == ([], [SUN])
    season.record.write(add_pages, [the_book(RAIN, NOW)], NOW)
    listing = replace(the_book(market, at), quote=a_quote("0.10", "0.12", market=market, at=at))
    assert len(season.record.write(add_quotes, [listing]).fresh) == 1
    with season.record.reading() as connection:
        assert [d.field for d in verify(connection) if d.table == "quote"] == wrong


def test_final_forecasts_come_back_and_others_do_not(season: Season) -> None:
    season.look(1, NOW, the_book(SUN, NOW), the_book(RAIN, NOW))
    blind = Forecast(SUN, 0.4, "blind")
    final = Forecast(SUN, 0.6, reason="so")
    season.turn(1, "ann", Decision((final, blind)))
    assert season.record.read(read_final_forecasts, 1, ["ann", "bob"]) == {"ann": (final,)}
    assert (
        season.record.read(read_final_forecasts, 1, ["bob"])
        == season.record.read(read_final_forecasts, 1, [])
        == {}
    )


def test_a_failed_turn_leaves_only_its_note_and_can_be_played_again(season: Season) -> None:
    """A first stage may have been answered before the second failed."""
    season.look(1, NOW, the_book(SUN, NOW))
    half = replace(decides(sun="0.5"), status="failed", note="timeout", rejections=(Rejection("side", "no"),))
    season.turn(1, "ann", half)
    assert count(season.record, "forecast") == count(season.record, "rejection") == 0
    season.turn(1, "ann", replace(half, status="played"))
    assert count(season.record, "forecast") == count(season.record, "rejection") == 1
    assert season.record.turn_statuses(1) == {1: "played"}


def test_a_late_answer_is_kept_under_the_next_number(season: Season) -> None:
    """Two workers thought that theirs was the first attempt: both have paid."""
    season.look(1, NOW, the_book(SUN, NOW))
    for reply in ("one", "two"):
        season.record.add_call(1, 1, 1, said(reply), NOW)
    assert [call.reply for call in season.record.calls(1, [1])[1]] == ["one", "two"]
    with season.record.reading() as connection:
        assert connection.exec_driver_sql("SELECT attempt FROM call").scalars().all() == [1, 2]


def test_spending_is_counted_where_it_is_known(season: Season) -> None:
    season.look(1, NOW, the_book(SUN, NOW))
    for cost, at in ((120, NOW), (None, NOW), (7, NOW - timedelta(days=1))):
        season.record.add_call(1, 1, 1, replace(said("x"), cost=cost), at)
    spent = season.record.read(read_spent, 1, 1, NOW, ("round", "agent", "day", "arena"))
    assert spent == {"round": 127, "agent": 127, "day": 120, "arena": 127}
    assert season.record.read(read_spent, 2, 1, NOW, ("round", "agent")) == {"round": 0, "agent": 127}
    assert season.record.read(read_spent, 1, 2, NOW - timedelta(days=1), ("day", "agent")) == {
        "day": 127,
        "agent": 0,
    }


def test_what_was_spent_is_summed_without_reading_prompts_and_answers(season: Season) -> None:
    asked = list[str]()

    @event.listens_for(season.record.engine, "checkout")
    def listen(driver: Any, *_: object) -> None:
        driver.set_trace_callback(asked.append)

    season.record.read(read_spent, 1, 1, NOW, tuple(SCOPE_WORDS))
    statement = next(one for one in reversed(asked) if one.startswith("SELECT"))
    with season.record.engine.connect() as connection:
        plan = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}").all()
    looks = [row.detail for row in plan if " call" in row.detail]
    assert ["COVERING INDEX" in look for look in looks] == [True] * len(SCOPE_WORDS)


def test_counts(built: Path) -> None:
    record = OpenedRecord.at(built)
    assert record.fact_counts() | {"decision_times": 4} == {
        "cohorts": 2,
        "rounds": 6,
        "decision_times": 4,
        "turns": 15,
        "entries": 39,
        "calls": 10,
        "markets": 4,
        "events": 2,
        "fills": 17,
        "settlements": 14,
    }
    record.close()


TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=30)
WHOLE = st.integers(-(2**62), 2**62)
ERRORS = st.none() | st.builds(CallError, st.sampled_from(["timeout", "refused"]), TEXT, st.booleans())
PROMPTS = st.builds(
    Prompt,
    st.lists(st.builds(Message, st.sampled_from(["system", "user"]), TEXT), max_size=3).map(tuple),
    WHOLE,
    st.sampled_from(["blind", "final"]),
    st.integers(1, 9),
)
CALLS = st.builds(
    Call, PROMPTS, st.none() | TEXT, TEXT, TEXT, TEXT, st.sampled_from(["schema", "json", "prompt"]),
    WHOLE, WHOLE, st.none() | WHOLE, WHOLE, ERRORS,
)  # fmt: skip


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> OpenedRecord:
    """Return a record with one round, for many calls."""
    return build(tmp_path_factory.mktemp("asked") / "record.db", 1)


@given(call=CALLS)
def test_any_call_comes_back_word_for_word(call: Call, asked: OpenedRecord) -> None:
    before = asked.calls(1, [1])[1]
    attempt = len(before) + 1  # the same attempt with the same answer would be kept once
    asked.add_call(1, 1, attempt, call, NOW)
    after = asked.calls(1, [1])[1]
    for one in before:
        after.remove(one)
    assert after == [call]


LEVELS = st.lists(st.builds(Level, st.integers(0, 10**6), st.integers(0, 10**15)), max_size=5).map(tuple)


@given(bids=LEVELS, asks=LEVELS)
def test_any_book_comes_back(bids: tuple[Level, ...], asks: tuple[Level, ...]) -> None:
    assert book_of(book_text(Quote(SUN, NOW, None, None, None, bids=bids, asks=asks))) == (bids, asks)


@given(number=st.integers(1, 10**9), at=st.datetimes(timezones=st.just(UTC)), name=TEXT, seed=WHOLE)
def test_any_cohort_comes_back(number: int, at: datetime, name: str, seed: int) -> None:
    cohort = replace(a_cohort(number, at, SEED, name), seed=seed)
    assert cohort_of(cohort_text(cohort)) == cohort


def test_an_entry_keeps_the_largest_amounts(season: Season) -> None:
    largest = 2**62
    entry = Entry(2, NOW, "buy", SUN, "YES", -largest, largest, largest, 0, 0, largest, "", "", "")
    season.record.add_entries({1: [entry]})
    assert season.record.read(read_ledgers, 1)["ann"][1] == entry


def test_an_entry_that_came_too_late_is_refused_as_a_race(season: Season) -> None:
    """A process that slept before it settled a round writes nothing once another is past that round."""
    later = Entry(2, NOW + timedelta(days=7), "refund", SUN, "YES", 0, 0, 0, 0, 0, 0, "", "", "")
    season.record.add_entries({1: [later]})

    with pytest.raises(ArenaError, match="another process") as error:
        season.record.add_entries({1: [replace(later, number=3, at=NOW)]})

    assert (error.value.code, error.value.status) == ("raced", 2)


def test_a_market_of_no_snapshot_can_be_no_forecast(season: Season) -> None:
    """The database refuses what has no market; nothing of the turn stays."""
    season.look(1, NOW, the_book(SUN, NOW))
    tokens = season.record.claim(1, [1], "me")
    turn = Turn("ann", usd(10_000), Decision((Forecast(MarketId("sim:none"), 0.1),)))
    with pytest.raises(Exception, match="FOREIGN KEY"):
        season.record.write_turn(1, tokens[1], turn)
    assert season.record.turn_statuses(1) == {}


WRITTEN = list[tuple[int, Turn]]


@pytest.fixture
def written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[OpenedRecord, WRITTEN]:
    """Return the small record, and every turn as it was written, with its cohort."""
    kept: WRITTEN = []
    turn = full_record.Season.turn

    def keep(self: full_record.Season, number: int, name: str, *args: Any, **more: Any) -> Turn:
        kept.append((number, turn(self, number, name, *args, **more)))
        return kept[-1][1]

    monkeypatch.setattr(full_record.Season, "turn", keep)
    return full_record.build_anew(tmp_path / "record.db"), kept


def told(turn: Turn) -> Turn:
    """Return a turn without second look, hash of settings, and an answer's faults, which are rejections."""
    forecasts = tuple(sorted(turn.decision.forecasts, key=lambda each: (each.stage, each.market_id)))
    decision = replace(turn.decision, forecasts=forecasts, rejections=())
    return replace(turn, decision=decision, second=None, settings="")


def test_every_turn_comes_back_whole(written: tuple[OpenedRecord, WRITTEN]) -> None:
    record, kept = written
    found: WRITTEN = []
    with record.reading() as connection:
        for stored in record.cohorts():
            for stored_round in record.rounds(stored.id):
                turns = read_turns(connection, stored_round.id, stored.entrant_ids.values())
                found += [(stored.cohort.number, turn) for turn in turns]
                asked = read_turns(connection, stored_round.id, [stored.entrant_ids["ann"]])
                assert asked == [turn for turn in turns if turn.entrant == "ann"]
    record.close()
    again = [(number, told(turn)) for number, turn in kept if turn.decision.status != "failed"]
    played = [(number, turn) for number, turn in found if turn.decision.status != "failed"]
    assert sorted(again, key=repr) == sorted(played, key=repr)
    assert len(played) == 14
    assert any(turn.fills and turn.entries and turn.rejections for _, turn in played)
