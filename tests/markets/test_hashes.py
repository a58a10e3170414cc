"""A quote's hash is of what it says, not of when."""

from dataclasses import fields, replace
from datetime import UTC, timedelta, timezone
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from markets.hashes import ADDED_TO_PAGES, FIGURES, digest, market_hash, quote_hash
from markets.model import Level, Market, MarketId, Quote
from tests.builders import NOW, a_market, a_quote


def changed(field: str, value: Any) -> Any:
    """Another value for a field."""
    if field in ("id", "market_id"):
        return MarketId("sim:other")
    if isinstance(value, tuple):
        return (Level(1, 1),)
    if isinstance(value, str):
        return value + "!"
    return value + timedelta(1) if field.endswith("at") else (value or 0) + 1


def test_a_quote_that_says_the_same_later_has_the_same_hash() -> None:
    assert quote_hash(a_quote(at=NOW)) == quote_hash(a_quote(at=NOW + timedelta(days=1)))


def test_any_other_change_of_a_quote_shows_in_its_hash() -> None:
    quote = a_quote()
    hashes = {
        quote_hash(replace(quote, **{field.name: changed(field.name, getattr(quote, field.name))}))
        for field in fields(Quote)
    }
    assert len(hashes) == len(fields(Quote))


def test_any_change_of_a_market_shows_in_its_hash() -> None:
    market = a_market()
    hashes = {
        market_hash(replace(market, **{field.name: changed(field.name, getattr(market, field.name))}))
        for field in fields(Market)
    }
    assert market_hash(market) not in hashes
    assert len(hashes) == len(fields(Market))


TEXT, NUMBER = st.text(), st.integers(-(2**63), 2**63)
TIME = st.datetimes(timezones=st.sampled_from([UTC, timezone(timedelta(hours=-9, minutes=30))]))
PRICE = st.none() | NUMBER
LEVELS = st.lists(st.builds(Level, NUMBER, NUMBER), max_size=3).map(tuple)


@given(st.builds(Market, *[TEXT] * 5, TIME, TIME, NUMBER, NUMBER, NUMBER, *[TEXT] * 4))
def test_a_market_is_hashed_as_its_canonical_json_without_what_was_added_and_is_empty(market: Market) -> None:
    said = {field.name: getattr(market, field.name) for field in fields(Market)}
    assert market_hash(market) == digest(
        {name: x for name, x in said.items() if name not in ADDED_TO_PAGES or x}
    )


@given(st.builds(Quote, TEXT, TIME, PRICE, PRICE, PRICE, PRICE, NUMBER, LEVELS, LEVELS, *[PRICE] * 3))
def test_a_quote_is_hashed_as_its_canonical_json_without_its_time(quote: Quote) -> None:
    said = {field.name: getattr(quote, field.name) for field in fields(Quote) if field.name != "at"}
    told = {name: x for name, x in said.items() if name not in FIGURES or x is not None}
    assert quote_hash(quote) == digest(told)


def test_missing_sides_differ_from_sides_at_zero() -> None:
    assert quote_hash(a_quote(None, "0.42")) != quote_hash(a_quote("0", "0.42"))
