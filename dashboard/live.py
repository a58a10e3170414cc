"""Pages that follow the record: drawn anew when it has changed, and left alone when it has not."""

import streamlit as st

from arena.errors import ArenaError
from dashboard.source import RecordSource, source

EVERY = 5
"""Seconds between two looks at whether the record has changed."""


@st.fragment(run_every=EVERY)
def follow(shown: RecordSource) -> None:
    """Draw the page anew once the record is another than the one shown. Choices on the page stay."""
    try:
        now = source(shown.address)
    except ArenaError:  # it is just being replaced, or gone: the page says so when it is drawn next
        st.rerun()
    if now != shown:
        st.rerun()
