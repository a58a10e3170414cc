"""A table to look through, and to choose a row of."""

from typing import Any

import streamlit as st

WHEN = st.column_config.DatetimeColumn(format="D MMM YYYY, HH:mm", help="In UTC.", timezone="UTC")
"""How an instant stands in a table."""


def listing(data: dict[str, Any], alt: str, columns: dict[str, Any], key: str = "") -> int | None:
    """A table; where it has a key, the row that was chosen in it."""
    shown: dict[str, Any] = {"hide_index": True, "placeholder": "–", "column_config": columns, "alt": alt}
    if not key:
        st.dataframe(data, **shown)
        return None
    found = st.dataframe(data, **shown, key=key, on_select="rerun", selection_mode="single-row")
    rows: list[int] = found.selection.rows
    return rows[0] if rows else None
