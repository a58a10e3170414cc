"""Ways from one page to another, each with what the other is to show."""

from collections.abc import Callable
from typing import Literal, NoReturn

import streamlit as st

from markets.registry import load

To = Literal["leaderboard", "cohort", "agent", "duel", "market", "turn", "operations"]
FIRST = "leaderboard"
"""The page at the root of the address."""


def page_of(name: str, run: Callable[[], None], first: str = FIRST) -> st.Page:
    """The page of a file in dashboard/views/, as Streamlit knows it."""
    view = load("dashboard.views", name)
    return st.Page(run, title=view.TITLE, icon=view.ICON, url_path=name, default=name == first)


def link(label: str, to: To, help: str | None = None, **shown: str | int) -> None:
    """Something to click that leads to a page; its address says what the page shows.

    The label is Markdown: foreign text goes through `words.plain` first.
    """
    st.page_link(page_of(to, _nothing), label=label, icon=None, help=help, query_params=_texts(shown))


def step(label: str, to: To, **shown: str | int) -> None:
    """Something to click that leads to another view of the page it is on, where links of `link` do nothing.

    The label is Markdown: foreign text goes through `words.plain` first.
    """
    if st.button(label, key=f"step to {to} {sorted(_texts(shown).items())}"):
        go(to, **shown)


def go(to: To, **shown: str | int) -> NoReturn:
    """Be at another page, as by a click on a link to it."""
    st.switch_page(page_of(to, _nothing), query_params=_texts(shown))


def _texts(shown: dict[str, str | int]) -> dict[str, str]:
    return {key: str(value) for key, value in shown.items()}


def _nothing() -> None:
    """What a page that is only pointed at does; the app has the real one under the same address."""
