"""The texts in the record that are more than text: frozen cohorts, orders, books."""

import json
from dataclasses import fields
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any

from agents.guard import Guard
from agents.model import Decision
from agents.secrets import without_credentials
from arena.record.model.cohort import Cohort, Entrant, Turn
from arena.record.schema.fields import added_columns
from arena.record.schema.turn import CallRow
from markets.hashes import canonical, canonical_bytes, plain_value, quote_hash
from markets.model import Level, Quote
from markets.universe import Universe
from portfolio.model import Bet, Sale
from portfolio.rules import Rules

ADDED_FIELDS = {
    name: Cohort.__dataclass_fields__[name].default
    for name in ("config_hash", "by_hand", "offset", "min_coverage")
}
"""What cohorts of older records do not say. Left out where it is the default, it is as if they had."""
ADDED_TO_CALLS = added_columns(CallRow)
FROZEN_OF_ENTRANT = ("position", "name", "kind", "settings")
EMPTY_BOOK = canonical({"bids": (), "asks": ()})


def cohort_text(cohort: Cohort) -> str:
    """Write a cohort as its frozen canonical JSON."""
    whole = {f.name: getattr(cohort, f.name) for f in fields(cohort)}
    line_up = [{name: getattr(x, name) for name in FROZEN_OF_ENTRANT} for x in cohort.entrants]
    shape = {name: x for name, x in whole.items() if name not in ADDED_FIELDS or x != ADDED_FIELDS[name]}
    lengths = {name: int(x.total_seconds()) for name, x in shape.items() if isinstance(x, timedelta)}
    return canonical(shape | lengths | {"entrants": line_up})


def published_text(text: str) -> str:
    """Return a JSON text of settings without credentials in addresses, which older configs could hold."""
    value = json.loads(text) if "://" in text else None
    cleaned = without_credentials(value)
    return text if cleaned == value else canonical(cleaned)


@lru_cache(maxsize=1024)
def cohort_of(text: str) -> Cohort:
    """Return the cohort behind its frozen JSON, read once: every decision time asks for all of them."""
    shape = json.loads(text)
    return Cohort(
        **shape
        | {
            "starts_at": datetime.fromisoformat(shape["starts_at"]),
            **{name: timedelta(seconds=shape[name]) for name in ("every", "offset") if name in shape},
            "rules": Rules.model_validate(shape["rules"]),
            "universe": Universe.model_validate(shape["universe"]),
            "guard": Guard.model_validate(shape["guard"]),
            "entrants": tuple(Entrant(**entrant) for entrant in shape["entrants"]),
        }
    )


def orders_text(decision: Decision) -> str:
    """Write the bets and sales of a decision, as they were asked for."""
    return canonical({"bets": decision.bets, "sales": decision.sales})


def orders_of(text: str) -> tuple[tuple[Bet, ...], tuple[Sale, ...]]:
    """Return the bets and sales behind the text of a turn's orders."""
    orders = json.loads(text)
    return tuple(Bet(**bet) for bet in orders["bets"]), tuple(Sale(**sale) for sale in orders["sales"])


def book_text(quote: Quote) -> str:
    """Write both sides of a book as pairs of price and shares, best first."""
    if not quote.bids and not quote.asks:
        return EMPTY_BOOK
    return canonical(
        {side: [(level.price, level.shares) for level in getattr(quote, side)] for side in ("bids", "asks")}
    )


def book_of(text: str) -> tuple[tuple[Level, ...], tuple[Level, ...]]:
    """Return the bids and asks behind a book's JSON."""
    book = json.loads(text)
    bids, asks = (tuple(Level(*pair) for pair in book[side]) for side in ("bids", "asks"))
    return bids, asks


def turn_text(cohort: int, number: int, turn: Turn, orders: str) -> str:
    """Return the text that a turn's hash is taken over; its fills and entries carry hashes of their own.

    Status and orders have in it the names that their columns had first, so that hashes stay what they were.
    """
    decision = turn.decision
    fact = {
        "cohort": cohort,
        "round": number,
        "entrant": turn.entrant,
        "verdict": decision.status,
        "note": decision.note,
        "cash": turn.cash,
        "wishes": orders,
        "forecasts": sorted([f.market_id, f.stage, f.millionths, f.reason] for f in decision.forecasts),
        "rejections": [[r.code, r.message, r.market_id] for r in turn.rejections],
    }
    if turn.settings:
        fact["settings"] = turn.settings
    if decision.repaired:
        fact["repaired"] = canonical(decision.repaired)
    if turn.reader:
        fact["reader"] = turn.reader
    if turn.second is not None:
        fact["second_quotes"] = sorted(
            [market, quote and quote_hash(quote), plain_value(quote and quote.at), plain_value(at)]
            for at, market, quote in ((turn.second.seen_at, x.market.id, x.quote) for x in turn.second)
        )
    return canonical_bytes(fact)


def call_fact(row: dict[str, Any], place: dict[str, Any]) -> dict[str, Any]:
    """Return what a call's hash is taken over: its place and all of its row but ids and the hash.

    A column that earlier versions don't have is left out where it says nothing.
    """
    left_out = {"id", "round_id", "entrant_id", "hash"}
    told = {key: value for key, value in row.items() if key not in left_out}
    return place | {
        key: plain_value(value)
        for key, value in told.items()
        if key not in ADDED_TO_CALLS or value != ADDED_TO_CALLS[key]
    }
