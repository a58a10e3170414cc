"""What the venue says of one market: its rules, and how its page has changed."""

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from itertools import pairwise
from typing import Any

import streamlit as st

from arena.record.queries.market_history import PageVersion
from dashboard.figures import long_text
from dashboard.html_table import time, words
from dashboard.listing import listing
from dashboard.queries.market import MarketPage
from dashboard.times import moment
from dashboard.words import cents, count, share
from markets.millionths import decimal

FIELDS = {
    "question": "question",
    "rules": "rules",
    "category": "category",
    "event_id": "event",
    "story": "story",
    "opens_at": "opening time",
    "closes_at": "closing time",
    "tick": "tick",
    "fee_rate": "fee rate",
    "min_shares": "smallest trade",
}
"""What a page says, in words."""
WRITTEN: Mapping[str, Callable[[int], str]] = {
    "tick": cents,
    "fee_rate": share,
    "min_shares": lambda shares: f"{decimal(shares):f} shares",
}


def show_texts(page: MarketPage) -> None:
    """The rules, and every change of the page, folded away."""
    market = page.market
    with st.expander("The rules, as the venue has them"):
        if market.rules.strip():
            long_text(market.rules, "rules")
        else:
            st.caption("The venue gives none.")
    if len(page.pages) > 1:
        with st.expander(f"How its page changed: {count(len(page.pages), 'version')}"):
            _changes(page)


def _changes(page: MarketPage) -> None:
    """What each version of the page said otherwise than the one before."""
    rows = [change for before, after in pairwise(page.pages) for change in _changed(before, after)]
    listing(
        {
            "When": [at for at, *_ in rows],
            "What": [what for _, what, *_ in rows],
            "Before": [before for *_, before, _ in rows],
            "After": [after for *_, after in rows],
        },
        "Changes of the market's page",
        {
            "When": time("When", "When the new page was first read, in UTC."),
            "Before": words("Before", long=True),
            "After": words("After", long=True),
        },
    )


def _changed(before: PageVersion, after: PageVersion) -> Iterator[tuple[datetime, str, str, str]]:
    for name, what in FIELDS.items():
        old, new = getattr(before.market, name), getattr(after.market, name)
        if old != new:
            yield after.at, what, _text(name, old), _text(name, new)


def _text(name: str, value: Any) -> str:
    if isinstance(value, datetime):
        return moment(value)
    return WRITTEN[name](value) if name in WRITTEN else str(value)
