"""Our own HTML on a page of Streamlit's, with its links opened as those of the page are."""

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import streamlit as st
from markupsafe import Markup

from dashboard.html_table import HtmlColumn, html_table
from dashboard.links import Way, follow_link


def listing(
    data: Mapping[str, Sequence[Any]],
    says: str,
    columns: Mapping[str, HtmlColumn],
    ways: Sequence[Way | None] = (),
) -> None:
    """A table; where there are ways, a row a way, the row's name leads there."""
    hrefs = [None if way is None else way.href for way in ways]
    put(html_table(data, columns, says, hrefs, sortable=True), f"table of {says}")


def put(html: Markup, key: str) -> None:
    """Markup of dashboard/blocks.py, html_table.py or svg.py, under a key of its own on the page."""
    if html and (clicked := _component()(data={"html": html}, key=key, on_open_change=_nothing).open):
        follow_link(clicked)


@lru_cache(maxsize=1)
def _component() -> Callable[..., Any]:
    """What puts it there; `dashboard.serve` says where its files are."""
    place = '<div class="place"></div>'
    return st.components.v2.component("dashboard.html", html=place, css="arena.css", js="arena.js")


def _nothing() -> None:
    """A click is answered where the markup is put, and nowhere else."""
