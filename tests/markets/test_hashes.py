"""A quote's hash is of what it says, not of when."""

from dataclasses import fields, replace
from datetime import timedelta
from typing import Any

from markets.hashes import market_hash, quote_hash
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


def test_missing_sides_differ_from_sides_at_zero() -> None:
    assert quote_hash(a_quote(None, "0.42")) != quote_hash(a_quote("0", "0.42"))
