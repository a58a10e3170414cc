"""From the record to columns: what is a row, what is a skip, and what is left out."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from sqlalchemy import Connection, event

from arena.record.model.columns import NO_SCORE, OPEN, BetColumns, ForecastColumns, rows_of_agent, take_rows
from arena.record.queries.forecasts import TurnMarketPairs, read_bet_columns, read_forecast_columns
from tests.arena.small_record import SmallRecord


@pytest.fixture
def record() -> Iterator[SmallRecord]:
    """Yield a cohort of ann and bob, whose round 1 shows rain and snow of one event, and vote of another."""
    with SmallRecord() as record:
        record.cohort(1, ann="llm", bob="llm")
        record.market("rain", "weather")
        record.market("snow", "weather")
        record.market("vote")
        record.round(1, 1, rain="0.40", snow="0.20", vote="0.50")
        yield record


def stated_rows(rows: ForecastColumns) -> list[tuple[str, str, int, int, bool]]:
    """Return agent, market, forecast, mid and stated, as a reader would list them."""
    columns = (rows.agent, rows.market, rows.forecast, rows.mid, rows.stated)
    named = [(rows.agents[a], rows.markets[m], f, mid, s) for a, m, f, mid, s in zip(*columns, strict=True)]
    return [(a, m, int(f), int(mid), bool(s)) for a, m, f, mid, s in named]


def test_a_turn_gives_one_row_per_market_shown_and_a_skip_is_the_mid(record: SmallRecord) -> None:
    record.turn(1, 1, "ann", rain="0.7", snow="0.2")
    assert stated_rows(read_forecast_columns(record.connection)) == [
        ("ann", "rain", 700_000, 400_000, True),
        ("ann", "snow", 200_000, 200_000, True),
        ("ann", "vote", 500_000, 500_000, False),
    ]


def test_events_of_one_story_are_one_and_an_event_without_is_its_own(record: SmallRecord) -> None:
    record.market("storm", "sea", story="weather")
    record.market("tide", "moon", story="sky")
    record.round(1, 2, storm="0.40", tide="0.30", vote="0.50")
    record.turn(1, 2, "ann", storm="0.7")
    record.turn(1, 1, "ann", rain="0.7")
    rows = read_forecast_columns(record.connection)
    stories = {rows.markets[m]: rows.stories[s] for m, s in zip(rows.market, rows.story, strict=True)}
    assert stories == {
        "rain": "weather", "snow": "weather", "storm": "weather", "tide": "sky", "vote": "vote",
    }  # fmt: skip
    assert {"weather", "sea", "moon", "vote"} == set(rows.events)


def test_without_a_price_a_skip_is_one_half(record: SmallRecord) -> None:
    record.round(1, 2, rain=None, snow="", vote="0")
    record.turn(1, 2, "ann", snow="0.9")
    assert stated_rows(read_forecast_columns(record.connection)) == [
        ("ann", "rain", 500_000, 500_000, False),
        ("ann", "snow", 900_000, 500_000, True),
        ("ann", "vote", 0, 0, False),
    ]


def test_who_is_shown_no_prices_agrees_with_none_of_them(record: SmallRecord) -> None:
    record.cohort(2, without_prices=("eve",), eve="llm")
    record.round(2, 1, rain="0.40", snow="0.20")
    record.turn(2, 1, "eve", rain="0.7")
    assert stated_rows(read_forecast_columns(record.connection)) == [
        ("eve", "rain", 700_000, 400_000, True),
        ("eve", "snow", 500_000, 200_000, False),
    ]


@pytest.mark.parametrize("status", ["malformed", "declined", "failed", "late"])
def test_a_turn_without_an_answer_was_shown_everything_and_said_nothing(
    record: SmallRecord, status: str
) -> None:
    record.turn(1, 1, "ann", status, rain="0.7")
    assert [(f, said) for _, _, f, _, said in stated_rows(read_forecast_columns(record.connection))] == [
        (400_000, False),
        (200_000, False),
        (500_000, False),
    ]


def test_who_was_shown_nothing_has_no_rows_and_a_forecast_of_0_is_no_skip(record: SmallRecord) -> None:
    record.turn(1, 1, "ann", "out")
    record.turn(1, 1, "bob", rain="0")
    rows = read_forecast_columns(record.connection)
    assert rows.agents == ("bob",)
    assert rows_of_agent(rows, "ann").agent.size == 0
    assert stated_rows(rows)[0] == ("bob", "rain", 0, 400_000, True)


def test_what_is_only_held_was_not_asked_about(record: SmallRecord) -> None:
    record.round(1, 2, held={"vote": "0.5"}, rain="0.6")
    record.turn(1, 2, "ann", rain="0.6")
    assert [market for _, market, *_ in stated_rows(read_forecast_columns(record.connection))] == ["rain"]


def test_a_blind_answer_is_not_the_final_one(record: SmallRecord) -> None:
    record.turn(1, 1, "ann", snow="0.6")
    record.forecast(1, 1, "ann", "rain", "0.9", "blind")
    assert read_forecast_columns(record.connection).stated.tolist() == [False, True, False]


BETS = {
    "0.40 + 0.2 · 0.60 is 0.52": ("YES", "500", [("0.39", "300"), ("0.41", "300")], 0.4, 0.2, 0.52),
    "NO at 0.75 is YES at 0.25": ("NO", "1250", [("0.75", "1000")], 0.25, 0.5, 0.125),
    "weighted by shares": ("YES", "500", [("0.30", "900"), ("0.50", "100")], 0.32, 0.2, 0.456),
    "no fortune overflows": (
        "YES", "90000000000", [("0.99", "90000000000"), ("0.01", "90000000000")], 0.5, 1.0, 1.0,
    ),
}  # fmt: skip


@pytest.mark.parametrize(
    ("side", "amount", "levels", "price", "implied", "anchored"), BETS.values(), ids=BETS
)
def test_a_bet_is_read_by_what_it_asked_for_and_what_was_paid(
    record: SmallRecord,
    side: str,
    amount: str,
    levels: list[tuple[str, str]],
    price: float,
    implied: float,
    anchored: float,
) -> None:
    """The most that may be bet is a quarter of $10,000."""
    record.turn(1, 1, "ann")
    base = "360000000000" if len(amount) > 4 else "10000"
    record.fill((1, 1, "ann"), "rain", side, amount, *levels, base=base)
    bets = read_bet_columns(record.connection)
    assert (bets.yes.tolist(), bets.amount.tolist()) == ([side == "YES"], [int(amount) * 1_000_000])
    assert (bets.price.tolist(), bets.implied.tolist()) == ([price], [implied])
    assert bets.anchored.tolist() == pytest.approx([anchored], abs=1e-12)


@pytest.mark.parametrize(
    ("payout", "outcome"), [("1", 1), ("0", 0), ("0.5", NO_SCORE), ("0.999999", NO_SCORE), (None, NO_SCORE)]
)
def test_only_a_whole_yes_or_no_is_an_outcome(record: SmallRecord, payout: str | None, outcome: int) -> None:
    record.turn(1, 1, "ann")
    record.fill((1, 1, "ann"), "rain", "YES", "500", ("0.40", "1250"))
    record.resolved("rain", payout)
    assert read_forecast_columns(record.connection).outcome.tolist() == [outcome, OPEN, OPEN]
    assert read_bet_columns(record.connection).outcome.tolist() == [outcome]


def test_the_latest_version_of_a_resolution_counts(record: SmallRecord) -> None:
    record.turn(1, 1, "ann")
    record.resolved("rain", "1", version=2)
    record.resolved("rain", "0", version=10)
    record.resolved("snow", "1", version=3)
    record.resolved("snow", None, version=1)
    assert read_forecast_columns(record.connection).outcome.tolist() == [0, 1, OPEN]


def test_confidence_is_measured_by_the_base_and_the_frozen_rules(record: SmallRecord) -> None:
    record.cohort(2, max_bet="0.10", ann="llm")
    record.round(2, 1, rain="0.40")
    for cohort in (1, 2):
        record.turn(cohort, 1, "ann")
        record.fill((cohort, 1, "ann"), "rain", "YES", "400", ("0.40", "1000"), base="8000")
    assert read_bet_columns(record.connection).implied.tolist() == [0.2, 0.5]


def test_a_bet_sold_later_still_counts_and_the_sale_does_not(record: SmallRecord) -> None:
    record.turn(1, 1, "ann")
    record.fill((1, 1, "ann"), "rain", "YES", "500", ("0.40", "1250"))
    record.round(1, 2, rain="0.6")
    record.turn(1, 2, "ann")
    record.fill((1, 2, "ann"), "rain", "YES", "1250", ("0.60", "1250"), action="sell")
    assert read_bet_columns(record.connection).round.tolist() == [1]


def test_one_cohort_can_be_read_alone(record: SmallRecord) -> None:
    record.cohort(2, ann="llm")
    record.round(2, 1, vote="0.5")
    for cohort in (1, 2):
        record.turn(cohort, 1, "ann")
        record.fill((cohort, 1, "ann"), "vote", "YES", "400", ("0.50", "800"))
    assert read_forecast_columns(record.connection).cohort.tolist() == [1, 1, 1, 2]
    assert read_forecast_columns(record.connection, 2).cohort.tolist() == [2]
    assert read_bet_columns(record.connection, 2).cohort.tolist() == [2]


def test_an_empty_record_has_empty_columns(record: SmallRecord) -> None:
    stated = read_forecast_columns(record.connection)
    bets = read_bet_columns(record.connection)
    assert stated.agent.size == bets.agent.size == 0
    assert (stated.agents, bets.markets) == ((), ())


def test_taking_rows_takes_them_from_every_column(record: SmallRecord) -> None:
    record.turn(1, 1, "ann", rain="0.7")
    record.turn(1, 1, "bob", snow="0.3")
    rows = read_forecast_columns(record.connection)
    assert stated_rows(take_rows(rows, rows.stated)) == [stated_rows(rows)[0], stated_rows(rows)[4]]
    assert stated_rows(take_rows(rows, np.array([5, 0]))) == [stated_rows(rows)[5], stated_rows(rows)[0]]


@pytest.mark.parametrize("read", [read_forecast_columns, read_bet_columns])
def test_more_turns_do_not_mean_more_queries(
    record: SmallRecord, read: Callable[[Connection], ForecastColumns | BetColumns]
) -> None:
    asked: list[str] = []

    @event.listens_for(record.engine, "before_cursor_execute")
    def note(*facts: Any) -> None:
        if str(facts[2]).startswith("SELECT"):
            asked.append(facts[2])

    def queries() -> int:
        asked.clear()
        read(record.connection)
        return len(asked)

    record.turn(1, 1, "ann", rain="0.7")
    record.fill((1, 1, "ann"), "rain", "YES", "500", ("0.40", "1250"))
    few = queries()
    for number in range(2, 12):
        record.round(1, number, rain="0.4", snow="0.3")
        record.turn(1, number, "ann", rain="0.7")
        record.fill((1, number, "ann"), "rain", "YES", "500", ("0.40", "1250"))
    assert queries() == few <= 9


def test_a_turn_that_is_left_out_takes_nobody_elses_rows() -> None:
    market = np.array([0, 0])
    pairs = TurnMarketPairs(ids=np.array([3, 5]), turn=np.array([0, 1]), markets=("rain",), market=market)

    rows, there = pairs.rows([3, 4, 5, 6], ["rain"] * 4)  # 4 and 6 are of rounds that are hidden

    assert rows.tolist() == [0, 1]
    assert there.tolist() == [True, False, True, False]
