"""What was worked out ahead, on a page: since when it stands, and how it comes where there is none."""

from typing import TypeVar

import streamlit as st

from arena.scores.cache.entry import CacheEntry
from dashboard.times import moment

Value = TypeVar("Value")

HOW = (
    "`arena run` works it out whenever a market has ended; so does the next `arena round`, "
    "and opening `arena dashboard` anew."
)


def show_cached(kept: CacheEntry[Value] | None, what: str) -> Value | None:
    """The value, and a line under the title where something has ended since; without one, how it comes."""
    if kept is None:
        st.info(f"{what} was not worked out yet. {HOW}", icon=":material/hourglass_empty:")
        return None
    if not kept.fresh:
        st.caption(f"{what} is as of {moment(kept.made_at)}: something has ended since. {HOW}")
    return kept.value
