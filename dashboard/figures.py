"""Millionths as figures of a table, outcomes as words, and long texts as they are."""

from typing import Literal

import streamlit as st

from dashboard.words import cents
from markets.millionths import ONE

HIGHEST = 100
LONGEST = 20_000
"""So many characters of a text are drawn; the whole of it can be taken home."""
MANY, HIGH = 3_000, 420
"""A text of more characters is so many pixels high, and is scrolled."""


def percent(millionths: int | None) -> float | None:
    """A price or a probability in percent.

    >>> percent(405_000), percent(None)
    (40.5, None)
    """
    return None if millionths is None else HIGHEST * millionths / ONE


def money(millionths: int | None) -> float | None:
    """An amount in dollars.

    >>> money(1_500_000), money(None)
    (1.5, None)
    """
    return None if millionths is None else millionths / ONE


def outcome(ended: bool, payout: int | None) -> str | None:
    """How a market ended, in a word or two; None while it has not.

    >>> outcome(True, 1_000_000), outcome(True, 0), outcome(True, 500_000), outcome(True, None)
    ('YES', 'NO', '50¢', 'refund')
    """
    if not ended:
        return None
    if payout is None:
        return "refund"
    return {ONE: "YES", 0: "NO"}.get(payout) or cents(payout)


def long_text(text: str, name: str) -> None:
    """Foreign text as it is, line by line; what is too long to be drawn can be had as a file."""
    high: int | Literal["content"] = HIGH if len(text) > MANY else "content"
    st.code(text[:LONGEST], language=None, wrap_lines=True, height=high)
    if len(text) > LONGEST:
        st.caption(f"The first {LONGEST:,} of {len(text):,} characters.")
        st.download_button("Download all of it", text, file_name=f"{name}.txt", key=f"whole {name}")
