"""Ways from one page to another, each with what the other is to show."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, NoReturn, cast
from urllib.parse import parse_qsl, urlencode, urlsplit

import streamlit as st

from dashboard.pages import pages

To = Literal[
    "arena",
    "leaderboard",
    "cohort",
    "agent",
    "duel",
    "markets",
    "market",
    "turns",
    "turn",
    "operations",
    "how",
    "glossary",
]
FIRST = "arena"
"""The page at the root of the address."""
ROOT = "root"
"""What Streamlit calls its path; nobody sees it, and its own name is free for who types that."""
OPEN, LEFT = "page that is open", "pages that were left"
"""Under which names a session knows which page it shows, and what the others showed when they were left."""


@dataclass(frozen=True, slots=True)
class Way:
    """Where a click leads: a page, and what its address says."""

    to: To
    shown: Mapping[str, str | int]

    @property
    def href(self) -> str:
        """The address, as one page of the app names another.

        >>> Way("agent", {"agent": "a&b c"}).href
        'agent?agent=a%26b+c'
        """
        return f"{self.to}?{urlencode(self.shown)}" if self.shown else self.to


Address = Callable[[Way], str | None]
"""Where a way leads: in the app, or among the files of a site; None where nothing is there."""


def way(to: To, **shown: str | int) -> Way:
    """A way to a page."""
    return Way(to, shown)


def in_app(to: Way) -> str:
    """Its address in the app."""
    return to.href


def follow_link(href: str) -> None:
    """Be where a link of our own leads; an address that is none of ours leads nowhere."""
    found = urlsplit(href)
    if not found.scheme and not found.netloc and found.path in pages():
        go(cast(To, found.path), **dict(parse_qsl(found.query)))


def page_of(name: str, run: Callable[[], None], first: str = FIRST) -> st.Page:
    """The page of a file in dashboard/views/, as Streamlit knows it."""
    page, is_first = pages()[name], name == first
    path = ROOT if is_first else name
    return st.Page(run, title=page.title, url_path=path, default=is_first)


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
    asked, here = _texts(shown), st.session_state.get(OPEN)
    left = {} if here == to else {here: (asked, st.query_params.to_dict())}
    st.session_state[LEFT] = st.session_state.get(LEFT, {}) | left
    st.switch_page(page_of(to, _nothing), query_params=asked)


def arrive(here: str) -> None:
    """Be at a page. Who came back to one that was left by `go` sees there what it showed then.

    Streamlit writes what the next page is to show into the address of the old one before it turns to it.
    Who goes back comes to that address first, and it says nothing of what the page showed.
    """
    st.session_state[OPEN] = here
    asked, given = st.session_state.get(LEFT, {}).get(here, ({}, {}))
    if asked and st.query_params.to_dict() == asked:
        st.query_params.from_dict(given)


def _texts(shown: dict[str, str | int]) -> dict[str, str]:
    return {key: str(value) for key, value in shown.items()}


def _nothing() -> None:
    """What a page that is only pointed at does; the app has the real one under the same address."""
