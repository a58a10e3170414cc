"""The Streamlit script: a page for each file in dashboard/views/, and advice if there is no record."""

import os
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import cast
from urllib.parse import unquote, urlsplit

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from arena.errors import ArenaError
from dashboard.html import NOTHING, badge, bar, freshness
from dashboard.pages import (
    FIRST,
    ROOT,
    DashboardPage,
    NotThereError,
    To,
    arrive,
    heading,
    nothing_found,
    page_of,
    pages,
    put,
    step,
    way,
)
from dashboard.record import SOON, CohortLine, RecordSource, latest, season, source
from dashboard.words import code

ADDRESS = "ARENA_DATABASE"

EVERY = 5  # seconds between two looks at whether the record has changed
# Without a picture of our own Streamlit would fetch the page's icon from a stranger.
BADGE = (Path(__file__).parent / "assets" / "icon.svg").read_text("utf-8")


def open_page(page: DashboardPage) -> None:
    """Show a page of the record, or say how to get one."""
    st.set_page_config(page_title=f"{page.title} · Paper Arena")
    arrive(page.name)
    address = os.environ.get(ADDRESS)
    record = None
    cohorts: tuple[CohortLine, ...] = ()
    bar_place = st.container()
    try:
        if address:
            record = source(address)
            cohorts = season(record).cohorts
        _bar(page, record, cohorts, bar_place)
        _show(page, record, cohorts)
    except NotThereError as error:
        if page.is_headed:
            heading(page.title)
        nothing_found(str(error))
        step(f"← {page.title}", cast(To, page.name))
    except ArenaError as error:
        if record is None:
            _bar(page, None, (), bar_place)
        _say(page, f"The record can't be shown: {code(error.message)}.", f"{error.hint.rstrip('.')}. {SOON}")
    if address:
        follow(address, record)


def _bar(
    page: DashboardPage, record: RecordSource | None, cohorts: Sequence[CohortLine], place: DeltaGenerator
) -> None:
    """Show the links to all pages, whether the season is live, and the time of its data."""
    played = NOTHING
    if record is not None and cohorts:
        newest = cohorts[-1]
        played = freshness(*latest(record, newest), newest.stamp) + badge(newest.stamp, newest.venue)
    items = [(item.title, way(cast(To, name)).href) for name, item in pages().items() if item.order]
    with place:
        put(bar(items, page.title, played), "bar")


def _show(page: DashboardPage, record: RecordSource | None, cohorts: Sequence[CohortLine]) -> None:
    """Show the page itself, or say what is missing."""
    if page.name not in pages():
        heading(page.title)
        nothing_found(f"There is nothing at {code(unquote(page.name))}. The bar above leads to all pages.")
    elif record is None:
        _say(
            page,
            "No record was named.",
            "`arena dashboard --database PATH` opens one, `arena demo` makes one.",
        )
    elif page.needs_a_cohort and not cohorts:
        how = "`arena run --round` plays the first, `arena demo` a season."
        _say(page, "The record holds no cohort yet.", f"{how} {SOON}")
    else:
        if not page.is_headed:
            heading(page.title)
        page.view().show(record)


def _say(page: DashboardPage, what: str, hint: str) -> None:
    """Say why there is nothing to show, and what to do."""
    heading(page.title)
    st.info(f"{what}\n\n{hint}", icon=":material/info:")


UNKNOWN = "address without a page"
"""The key under which a session remembers the address it was opened at, if that names no page."""


def main(first: str = FIRST) -> None:
    """Run the app, from its frame to the page that the address names.

    The first page stands at the root, and also under its name, for those who type it.
    """
    st.set_page_config(page_icon=BADGE, layout="wide")
    shown = [page_of(name, partial(open_page, page), first) for name, page in pages().items()]
    again = partial(open_page, pages()[first])
    shown.append(st.Page(again, title=pages()[first].title, url_path=first, visibility="hidden"))

    unknown = st.session_state.setdefault(UNKNOWN, _unknown_page())
    if unknown:
        nothing = DashboardPage(unknown, "No such page", None, needs_a_cohort=False, is_headed=False)
        absent = st.Page(
            partial(open_page, nothing), title=nothing.title, url_path=unknown, visibility="hidden"
        )
        shown.append(absent)
    st.navigation(shown, position="hidden").run()


def _unknown_page() -> str:
    """Return the last part of the address, if it names no page: Streamlit would show the first one there."""
    base = st.get_option("server.baseUrlPath").strip("/")
    path = urlsplit(st.context.url or "").path.removeprefix(f"/{base}")
    name = unquote(path.rstrip("/").rpartition("/")[2])
    if "/" in name or name == ROOT or name in pages():
        return ""
    return name


CHANGING = "looks since a change, and what the last one saw"
MOST_LOOKS = 12
"""A record that keeps changing is drawn anyway after this many looks."""


@st.fragment(run_every=EVERY)
def follow(address: str, shown: RecordSource | None) -> None:
    """Draw the page again once the record has changed or appeared; choices are kept.

    While a round is played it changes with every turn: the page waits until two looks see the same.
    """
    try:
        now = source(address)
    except ArenaError:  # not there yet, just being replaced, or gone: the page says so when it is drawn next
        now = None
    looks, before = st.session_state.get(CHANGING, (0, shown))
    if now == shown:
        st.session_state[CHANGING] = (0, shown)
    elif now == before or looks == MOST_LOOKS:
        st.session_state[CHANGING] = (0, now)
        st.rerun()
    else:
        st.session_state[CHANGING] = (looks + 1, now)


if __name__ == "__main__":
    main()
