"""What a page says of cached figures: since when they stand, and how they come where there are none."""

from typing import Any, TypeVar

import streamlit as st

from arena.scores.cache import CacheEntry
from dashboard.times import moment

Value = TypeVar("Value")

SOON = "This page shows it as soon as it is there."


def cache_note(entry: CacheEntry[Any] | None, what: str = "Skill, intervals and calibration") -> str:
    """Since when figures hold, where that has to be said; empty where they are up to date."""
    if entry is None:
        return f"{what} are being computed. {SOON}"
    newer = "newer results are being computed and appear here by themselves"
    return "" if entry.is_current else f"Figures of {moment(entry.made_at)}; {newer}."


def show_cached(entry: CacheEntry[Value] | None, what: str) -> Value | None:
    """The value, and a line under the title where something has ended since; without one, how it comes."""
    if entry is None:
        st.info(f"{what} is being computed. {SOON}", icon=":material/hourglass_empty:")
        return None
    if not entry.is_current:
        st.caption(f"{what}: {cache_note(entry)}")
    return entry.value
