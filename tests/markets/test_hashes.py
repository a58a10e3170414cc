"""Pages and quotes are hashed as their canonical JSON, a quote without its time."""

from dataclasses import fields
from datetime import UTC, timedelta, timezone

from hypothesis import given
from hypothesis import strategies as st

from markets.hashes import ADDED_TO_PAGES, FIGURES, digest, market_hash, quote_hash
from markets.model import Level, Market, Quote

TEXT = st.text()
NUMBER = st.integers(-(2**63), 2**63)
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
