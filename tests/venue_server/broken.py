"""Records and pages with something wrong in them, drawn by a seed; and what must hold all the same."""

import copy
import random
from typing import Any

from markets.millionths import ONE
from markets.model import Listing
from markets.venue import QuarantinedRecord
from tests.venue_server.visit import Answer

DEEP: Any = [[]]
for _ in range(60):
    DEEP = [DEEP]
GONE = object()
NONSENSE: tuple[Any, ...] = (
    *(GONE, None, "", "x", " 0.5", "-0.1000", "1.2000", "NaN", "1e999", "0,5", "\0", "\ud800", "٣", "<html>"),
    *(-1, -0.1, 1.2, float("inf"), 2**63, 10**400, 10**4000),
    *([], {}, [[1]], DEEP, {"a": DEEP}, "y" * 200_000, "../.."),
)
NO_LISTS = (
    "[",
    "[]",
    "{}",
    "[" * 90_000,
    "null",
    "1",
    '["0.5"]',
    '["Yes", 1]',
    '["-1", "2"]',
    '["1e9", "NaN"]',
)
"""What a list that is sent as text may be instead."""


def broken(records: list[Any], rng: random.Random, deep: bool = False) -> tuple[list[Any], int, str]:
    """Return a copy with one thing wrong in one record: which record, and where."""
    number = rng.randrange(len(records))
    found = [copy.deepcopy(raw) if place == number else raw for place, raw in enumerate(records)]
    if rng.random() < 0.05:
        found[number] = rng.choice([value for value in NONSENSE if value is not GONE])
        return found, number, "all of it"
    inner = found[number]
    where = key = rng.choice(sorted(inner))
    while deep and isinstance(inner[key], dict | list) and inner[key] and rng.random() < 0.9:
        inner = inner[key]
        key = rng.choice(sorted(inner) if isinstance(inner, dict) else range(len(inner)))
        where = f"{where}.{key}"
    as_text = isinstance(inner[key], str) and inner[key].startswith("[")
    value = rng.choice(NO_LISTS if as_text and rng.random() < 0.5 else NONSENSE)
    if value is GONE:
        del inner[key]
    else:
        inner[key] = copy.deepcopy(value)
    return found, number, f"{where} = {value!r:.40}"


def changed(body: bytes, rng: random.Random) -> bytes:
    """Return a page that is cut off, or has some other bytes in it."""
    if rng.random() < 0.3:
        return body[: rng.randrange(len(body))]
    found = bytearray(body)
    for _ in range(rng.randrange(4)):
        found[rng.randrange(len(found))] = rng.randrange(256)
    return bytes(found)


def sane(listing: Listing) -> bool:
    """Tell whether a price could be one."""
    quote = listing.quote
    if quote is None:
        return True
    prices = [price for price in (quote.bid, quote.ask, quote.mid, quote.last) if price is not None]
    levels = quote.bids + quote.asks
    return (
        all(type(price) is int and 0 <= price <= ONE for price in prices)
        and all(0 < level.price < ONE and level.shares > 0 for level in levels)
        and (quote.bid is None or quote.ask is None or quote.bid <= quote.ask)
        and list(quote.bids) == sorted(quote.bids, key=lambda level: -level.price)
        and list(quote.asks) == sorted(quote.asks, key=lambda level: level.price)
        and (quote.volume or 0) >= 0
    )


def well_told(aside: list[QuarantinedRecord]) -> bool:
    """Tell whether each rejected record has a name, a code and a reason, in storable text."""
    texts = [text for item in aside for text in (item.record, item.code, item.reason)]
    return all(text and text.isprintable() and len(text) < 1_000 for text in texts) and all(
        len(item.raw) <= 2_000 for item in aside
    )


def check(calm: Answer[Any], said: Answer[Any], lost: int, where: str, silent: bool = False) -> None:
    """Check that only what was broken is answered otherwise than before, or reported."""
    whole = {item.market.id if isinstance(item, Listing) else item.market_id: item for item in calm.said}
    now = {item.market.id if isinstance(item, Listing) else item.market_id: item for item in said.said}
    same = sum(now.get(name) == item for name, item in whole.items())
    assert same >= len(whole) - lost, where
    assert silent or len(now) >= len(whole) or len(said.aside) > len(calm.aside), where
    assert all(sane(item) for item in said.said if isinstance(item, Listing)), where
    assert well_told(said.aside), where
