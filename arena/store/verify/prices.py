"""Stored prices one by one. Of nothing else is there as much, so that here a little haste pays.

The hash of a price is taken over JSON with an object for each level of the book. Where the book is stored as
the arena writes it, that text is made from the stored one; else, and where it doesn't fit, by way of objects.
"""

import re
from collections.abc import Iterator
from typing import Any

from arena.store.tables import QUOTE
from arena.store.verify.difference import Difference
from arena.store.verify.facts import Facts
from arena.store.verify.parts import Row
from arena.store.verify.query import rows_of
from arena.store.verify.seals import hashed, json_of, parsed, sealed, without

WHOLE = "(?:0|-?[1-9][0-9]{0,17})"
LEVELS = rf"((?:\[{WHOLE},{WHOLE}\](?:,\[{WHOLE},{WHOLE}\])*)?)"
BOOK = re.compile(rf'\{{"asks":\[{LEVELS}\],"bids":\[{LEVELS}\]\}}')
"""A book of whole numbers without white space."""
QUOTES = rows_of(QUOTE)
PRICES = ("bid", "ask", "mid", "last")


def check_prices(facts: Facts) -> Iterator[Difference]:
    """Prices whose hash is not theirs."""
    for row in facts.rows(QUOTES):
        text = _text(row)
        if text is None or row["hash"] != hashed(text):
            yield from sealed(facts, QUOTE, row, _content(row), "it seals what the row says")


def _text(row: Row) -> str | None:
    """What the hash is taken over, where the book is as all are."""
    sides = BOOK.fullmatch(row["book"])
    if sides is None:
        return None
    asks, bids = map(_levels, sides.groups())
    bid, ask, mid, last = ("null" if row[name] is None else row[name] for name in PRICES)
    return (
        f'{{"ask":{ask},"asks":[{asks}],"bid":{bid},"bids":[{bids}],"last":{last},'
        f'"market_id":{json_of(row["market_id"])},"mid":{mid},"volume":{row["volume"]}}}'
    )


def _levels(side: str) -> str:
    """Pairs as objects.

    >>> _levels("[1,2],[3,4]"), _levels("")
    ('{"price":1,"shares":2},{"price":3,"shares":4}', '')
    """
    if not side:
        return ""
    named = side[1:-1].replace(",", ',"shares":').replace('],"shares":[', '},{"price":')
    return f'{{"price":{named}}}'


def _content(row: Row) -> dict[str, Any]:
    """The same as an object."""
    return without(row, "id", "at", "book", "hash") | _book(row["book"])


def _book(text: str) -> dict[str, Any]:
    """Both sides as the hash has them; whatever else the text says, so that it can't fit."""
    book = parsed(text)
    try:
        return {side: [{"price": p, "shares": s} for p, s in book[side]] for side in ("bids", "asks")}
    except (KeyError, TypeError, ValueError):
        return {"book": text}
