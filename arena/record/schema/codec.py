"""Structured texts in the record: frozen cohorts, orders, books."""

import json
from dataclasses import fields
from datetime import datetime, timedelta
from functools import lru_cache
from operator import attrgetter
from typing import Any

from agents.guard import Guard
from agents.model import Decision
from agents.secrets import without_credentials
from arena.record.model.cohort import Cohort, Entrant, Turn
from arena.record.schema.fields import added_columns
from arena.record.schema.turn import CallRow
from markets.hashes import canonical, canonical_bytes, plain_value, quote_hash
from markets.model import Level, Quote, Snapshot
from markets.universe import Universe
from portfolio.model import Bet, Sale
from portfolio.rules import Rules

ADDED_FIELDS = {
    name: Cohort.__dataclass_fields__[name].default
    for name in ("config_hash", "by_hand", "offset", "min_coverage", "hidden")
}
"""What cohorts of older records do not say. Left out where it is the default, it is as if they had."""
ADDED_TO_CALLS = added_columns(CallRow)
FROZEN_OF_ENTRANT = ("position", "name", "kind", "settings")
EMPTY_BOOK = canonical({"bids": (), "asks": ()})


def cohort_text(cohort: Cohort) -> str:
    """Return a cohort as its frozen canonical JSON."""
    frozen: dict[str, Any] = {}
    for field in fields(cohort):
        value = getattr(cohort, field.name)
        if field.name in ADDED_FIELDS and value == ADDED_FIELDS[field.name]:
            continue
        if isinstance(value, timedelta):
            value = int(value.total_seconds())
        frozen[field.name] = value

    frozen_entrants = map(attrgetter(*FROZEN_OF_ENTRANT), cohort.entrants)
    frozen["entrants"] = [dict(zip(FROZEN_OF_ENTRANT, values, strict=True)) for values in frozen_entrants]
    return canonical(frozen)


def published_text(text: str) -> str:
    """Return a JSON text of settings without credentials in addresses, which older configs could hold."""
    settings = json.loads(text) if "://" in text else None
    published = without_credentials(settings)
    return text if published == settings else canonical(published)


@lru_cache(maxsize=1024)
def cohort_of(text: str) -> Cohort:
    """Return the cohort in a frozen JSON text, cached because every decision time needs all of them."""
    frozen = json.loads(text)
    for name in ("every", "offset"):
        if name in frozen:
            frozen[name] = timedelta(seconds=frozen[name])

    frozen["starts_at"] = datetime.fromisoformat(frozen["starts_at"])
    frozen["rules"] = Rules.model_validate(frozen["rules"])
    frozen["universe"] = Universe.model_validate(frozen["universe"])
    frozen["guard"] = Guard.model_validate(frozen["guard"])
    frozen["entrants"] = tuple(Entrant(**entrant) for entrant in frozen["entrants"])
    return Cohort(**frozen)


def orders_text(decision: Decision) -> str:
    """Return the bets and sales of a decision as text."""
    return canonical({"bets": decision.bets, "sales": decision.sales})


def orders_of(text: str) -> tuple[tuple[Bet, ...], tuple[Sale, ...]]:
    """Return the bets and sales in the text of a turn's orders."""
    orders = json.loads(text)
    bets = tuple(Bet(**bet) for bet in orders["bets"])
    sales = tuple(Sale(**sale) for sale in orders["sales"])
    return bets, sales


def book_text(quote: Quote) -> str:
    """Return both sides of a book as text: pairs of price and shares, best first."""
    if not quote.bids and not quote.asks:
        return EMPTY_BOOK
    bids = [(level.price, level.shares) for level in quote.bids]
    asks = [(level.price, level.shares) for level in quote.asks]
    return canonical({"bids": bids, "asks": asks})


def book_of(text: str) -> tuple[tuple[Level, ...], tuple[Level, ...]]:
    """Return the bids and asks in a book's JSON."""
    book = json.loads(text)
    bids = tuple(Level(*pair) for pair in book["bids"])
    asks = tuple(Level(*pair) for pair in book["asks"])
    return bids, asks


def turn_text(cohort: int, number: int, turn: Turn, orders: str) -> str:
    """Return the text over which a turn is hashed; its fills and entries have hashes of their own.

    Status and orders have in it the names that their columns had first, so that hashes stay what they were.
    """
    decision = turn.decision
    forecasts = []
    for forecast in decision.forecasts:
        values = [forecast.market_id, forecast.stage, forecast.millionths, forecast.reason]
        if forecast.distribution:
            values.append(forecast.distribution)
        forecasts.append(values)
    rejections = [[rejected.code, rejected.message, rejected.market_id] for rejected in turn.rejections]
    content = {
        "cohort": cohort,
        "round": number,
        "entrant": turn.entrant,
        "verdict": decision.status,
        "note": decision.note,
        "cash": turn.cash,
        "wishes": orders,
        "forecasts": sorted(forecasts),
        "rejections": rejections,
    }
    if turn.settings:
        content["settings"] = turn.settings
    if decision.repaired:
        content["repaired"] = canonical(decision.repaired)
    if turn.reader:
        content["reader"] = turn.reader
    if turn.second is not None:
        content["second_quotes"] = _second_quotes(turn.second)
    return canonical_bytes(content)


def _second_quotes(second: Snapshot) -> list[list[Any]]:
    """Return the prices read after an answer, in the form of a turn's hash."""
    seen_at = plain_value(second.seen_at)
    quotes = []
    for listing in second:
        quote = listing.quote
        if quote is None:
            quotes.append([listing.market.id, None, None, seen_at])
        else:
            quotes.append([listing.market.id, quote_hash(quote), plain_value(quote.at), seen_at])
    return sorted(quotes)


def call_fact(row: dict[str, Any], turn_key: dict[str, Any]) -> dict[str, Any]:
    """Return the values over which a call is hashed: its place, and its row without ids and the hash.

    A column that earlier versions don't have is left out where it says nothing.
    """
    fact = dict(turn_key)
    for name, value in row.items():
        is_unhashed = name in ("id", "round_id", "entrant_id", "hash")
        says_nothing = name in ADDED_TO_CALLS and value == ADDED_TO_CALLS[name]
        if not is_unhashed and not says_nothing:
            fact[name] = plain_value(value)
    return fact
