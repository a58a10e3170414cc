"""Marks on every kind of bad price: verifying agrees with the writer, and names what is not so."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.record.schema.database import reading
from arena.verify.checks.marks import HoldingsSum, OpenLots, SnapshotPrices
from arena.verify.cohort import ListedPlace
from arena.verify.differences import Row
from markets.model import Listing, MarketId
from portfolio.rules import REALISTIC
from tests.builders import a_bet, a_quote
from tests.records.full_record import (
    RAIN,
    SNOW,
    SUN,
    WEEK,
    WIND,
    Season,
    a_cohort,
    decides,
    replace_cap,
    the_book,
    week,
)

RULES = replace_cap(REALISTIC)
LATER = week(1)
LATE = timedelta(hours=5, microseconds=999_999)


def listed(market: MarketId, quote_age: timedelta | None, **prices: Any) -> Listing:
    """A market as it was a week before, with another quote, or with none."""
    before = the_book(market, week(0))
    if quote_age is None:
        return replace(before, quote=None)
    return replace(before, quote=a_quote(market=market, at=LATER - quote_age, **prices))


@pytest.fixture
def season(tmp_path: Path) -> Season:
    """Ann holds four lots; a week later one has an old price, one a last trade, one a bid, one nothing."""
    season = Season.begun(tmp_path / "record.db", a_cohort(1, week(0), RULES, "ann", "bob", rounds=1))
    sides = (a_bet(100, market=SUN), a_bet(100, "NO", RAIN), a_bet(100, market=SNOW), a_bet(100, "NO", WIND))
    season.turn(1, "ann", decides(*sides))
    season.turn(1, "bob", decides())
    season.value(1, week(0))
    held = (
        listed(SUN, LATE, bid="0.30", ask="0.34"),
        listed(RAIN, WEEK, bid=None, ask="0.90", last="0.20"),
        listed(SNOW, 2 * WEEK, bid="0.10", ask=None),
        listed(WIND, None),
    )
    season.look(1, LATER, held=held)
    season.value(1, LATER)
    return season


def test_lots_without_a_good_price_are_marked_as_verifying_has_it(season: Season) -> None:
    with reading(season.record.engine) as connection:
        query = "SELECT entrant_id, stale, age FROM mark ORDER BY at, entrant_id"
        marks = [tuple(row) for row in connection.exec_driver_sql(query)]
    assert marks == [(1, 0, 0), (2, 0, 0), (1, 4, WEEK.total_seconds()), (2, 0, 0)]
    assert season.differences() == []


@pytest.mark.parametrize("age", [0, 5 * 60 * 60, 2 * 7 * 24 * 60 * 60])
def test_an_age_that_is_not_that_of_the_oldest_price_is_named(season: Season, age: int) -> None:
    """Neither that of a newer price, nor that of a quote which has no price."""
    with season.record.engine.begin() as connection:
        connection.exec_driver_sql(f"UPDATE mark SET age = {age} WHERE entrant_id = 1 AND stale = 4")
    (difference,) = season.differences()
    assert (difference.table, difference.field, difference.found) == ("mark", "age", age)
    assert difference.expected == WEEK.total_seconds()


NUMBER = st.integers(0, 10**6) | st.integers(-(2**63), 2**63 - 1)
LOTS = st.dictionaries(
    st.tuples(st.sampled_from("abc"), st.sampled_from(["YES", "NO"])), st.tuples(NUMBER, NUMBER)
)


@given(
    st.dictionaries(st.integers(1, 5), LOTS),
    st.fixed_dictionaries({name: st.tuples(*[st.none() | NUMBER] * 4) for name in "ab"}),
)
def test_lots_in_columns_are_worth_what_they_are_one_by_one(
    held: dict[int, dict[tuple[str, str], tuple[int, int]]], said: dict[str, tuple[int | None, ...]]
) -> None:
    """Also with numbers that 64 bits don't hold once they are multiplied."""
    at = "2026-01-04T00:00:00.000000Z"
    places = [
        ListedPlace(1, 0, name, 1, 1, at, 1, name, "", name, at, bid, ask, mid, last, "", at)
        for name, (bid, ask, mid, last) in said.items()
    ]
    prices = SnapshotPrices(Row(taken_at=at), places, None)
    lots = OpenLots({entrant_id: HoldingsSum(lots=lots) for entrant_id, lots in held.items()})
    found = lots.worth(prices)
    for entrant_id, own in held.items():
        value = brought = stale = 0
        for (market, side), (shares, cost) in own.items():
            bid, ask, mid, last = said.get(market, (None,) * 4)
            price = last if mid is None else mid
            sale, price = (bid, price) if side == "YES" else (_other(ask), _other(price))
            value += cost if price is None else shares * price // 1_000_000
            brought += shares * (sale or 0) // 1_000_000
            stale += mid is None
        assert found.get(entrant_id, (0, 0, 0, 0)) == (value, brought, stale, 0)


def _other(price: int | None) -> int | None:
    return None if price is None else 1_000_000 - price
