"""Pages that follow the record: drawn anew when it has changed, and left alone when it has not."""

import streamlit as st

from arena.errors import ArenaError
from dashboard.source import RecordSource, source

EVERY = 5
"""Seconds between two looks at whether the record has changed."""


@st.fragment(run_every=EVERY)
def follow(address: str, shown: RecordSource | None) -> None:
    """Draw the page anew once the record is another than the one shown, or there at last. Choices stay."""
    try:
        now = source(address)
    except ArenaError:  # not there yet, just being replaced, or gone: the page says so when it is drawn next
        now = None
    if now != shown:
        st.rerun()
