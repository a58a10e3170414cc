"""A table on a page: drawn by dashboard/html_table.py, and its links opened as those of the page are."""

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import streamlit as st

from dashboard.html_table import HtmlColumn, html_table
from dashboard.links import Way, go_to


def listing(
    data: Mapping[str, Sequence[Any]],
    says: str,
    columns: Mapping[str, HtmlColumn],
    ways: Sequence[Way | None] = (),
) -> None:
    """A table; where there are ways, a row a way, the row's name leads there."""
    hrefs = [None if way is None else way.href for way in ways]
    html = html_table(data, columns, says, hrefs, sortable=True)
    clicked = _component()(data={"html": html}, key=f"table of {says}", on_open_change=_nothing).open
    if clicked in hrefs and (way := ways[hrefs.index(clicked)]) is not None:
        go_to(way)


@lru_cache(maxsize=1)
def _component() -> Callable[..., Any]:
    """What puts a table on the page; `dashboard.serve` says where its files are."""
    place = '<div class="place"></div>'
    return st.components.v2.component("dashboard.table", html=place, css="table.css", js="table.js")


def _nothing() -> None:
    """A click is answered where the table is drawn, with the ways that it has now."""
