"""A table to look through."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import streamlit as st

from dashboard.arrow import arrow

WHEN = st.column_config.DatetimeColumn(format="D MMM YYYY, HH:mm", help="In UTC.", timezone="UTC")
"""How an instant stands in a table."""
MOST, FEW, ROW = 25, 12, 35
"""So many rows are seen at once, so many where a page has several tables, and so high is each, in pixels."""


def listing(
    data: Mapping[str, Sequence[Any]], alt: str, columns: Mapping[str, Any], most: int = MOST
) -> None:
    """A table, of which so many rows are seen at once and the others by scrolling."""
    st.dataframe(**laid_out(data, alt, columns, most), lazy=False)


def laid_out(
    data: Mapping[str, Sequence[Any]], alt: str, columns: Mapping[str, Any], most: int
) -> dict[str, Any]:
    """What every table is told: its data, and how they stand in it."""
    return {
        "data": arrow(data),
        "hide_index": True,
        "placeholder": "–",
        "height": height(data, most),
        "column_config": dict(columns),
        "alt": alt,
    }


def height(data: Mapping[str, Sequence[Any]], most: int) -> int | Literal["content"]:
    """The height of a table: all its rows, or those that are seen at once below its head.

    >>> height({"a": [1, 2]}, 25), height({"a": [1] * 26}, 25)
    ('content', 913)
    """
    rows = len(next(iter(data.values()), ()))
    return "content" if rows <= most else ROW * (most + 1) + 3
