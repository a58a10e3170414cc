"""What a page says of cached figures: since when they stand, and how they come where there are none."""

from typing import Any, TypeVar

import streamlit as st

from arena.scores.cache import CacheEntry
from dashboard.times import moment

Value = TypeVar("Value")

HOW = (
    "`arena run` works it out whenever a market has ended; so does the next `arena round`, "
    "and opening `arena dashboard` anew."
)
WORKS_OUT = "`arena run`, the next `arena round`, or starting `arena dashboard` again works them out"


def cache_note(entry: CacheEntry[Any] | None, what: str = "Skill, intervals and calibration") -> str:
    """Since when figures hold, where that has to be said; empty where they are up to date."""
    if entry is None:
        return f"{what} have not been worked out yet: {WORKS_OUT}."
    old = f"These figures are of {moment(entry.made_at)}, and the record has changed since"
    return "" if entry.is_current else f"{old}: {WORKS_OUT} anew."


def show_cached(entry: CacheEntry[Value] | None, what: str) -> Value | None:
    """The value, and a line under the title where something has ended since; without one, how it comes."""
    if entry is None:
        st.info(f"{what} was not worked out yet. {HOW}", icon=":material/hourglass_empty:")
        return None
    if not entry.is_current:
        st.caption(f"{what} is as of {moment(entry.made_at)}: something has ended since. {HOW}")
    return entry.value
