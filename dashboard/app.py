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
from dashboard.html import NOTHING, badge, freshness, page_bar
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
    put_view_link,
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
        _show_bar(page, record, cohorts, bar_place)
        _show_page(page, record, cohorts)
    except NotThereError as error:
        if page.is_headed:
            heading(page.title)
        nothing_found(str(error))
        put_view_link(f"← {page.title}", cast(To, page.name))
    except ArenaError as error:
        if record is None:
            _show_bar(page, None, (), bar_place)
        _put_advice(
            page, f"The record can't be shown: {code(error.message)}.", f"{error.hint.rstrip('.')}. {SOON}"
        )
    if address:
        redraw_when_changed(address, record)


def _show_bar(
    page: DashboardPage, record: RecordSource | None, cohorts: Sequence[CohortLine], container: DeltaGenerator
) -> None:
    """Show the links to all pages, whether the season is live, and the time of its data."""
    freshness_and_badge = NOTHING
    if record is not None and cohorts:
        newest_cohort = cohorts[-1]
        freshness_and_badge = freshness(*latest(record, newest_cohort), newest_cohort.stamp) + badge(
            newest_cohort.stamp, newest_cohort.venue
        )
    links = [(item.title, way(cast(To, name)).href) for name, item in pages().items() if item.order]
    with container:
        put(page_bar(links, page.title, freshness_and_badge), "bar")


def _show_page(page: DashboardPage, record: RecordSource | None, cohorts: Sequence[CohortLine]) -> None:
    """Show the page itself, or say what is missing."""
    if page.name not in pages():
        heading(page.title)
        nothing_found(f"There is nothing at {code(unquote(page.name))}. The bar above leads to all pages.")
    elif record is None:
        _put_advice(
            page,
            "No record was named.",
            "`arena dashboard --database PATH` opens one, `arena demo` makes one.",
        )
    elif page.needs_a_cohort and not cohorts:
        how = "`arena run --round` plays the first, `arena demo` a season."
        _put_advice(page, "The record holds no cohort yet.", f"{how} {SOON}")
    else:
        if not page.is_headed:
            heading(page.title)
        page.view().show(record)


def _put_advice(page: DashboardPage, what: str, hint: str) -> None:
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
    streamlit_pages = [page_of(name, partial(open_page, page), first) for name, page in pages().items()]
    open_first_page = partial(open_page, pages()[first])
    streamlit_pages.append(
        st.Page(open_first_page, title=pages()[first].title, url_path=first, visibility="hidden")
    )

    unknown_name = st.session_state.setdefault(UNKNOWN, _unknown_page())
    if unknown_name:
        unknown_description = DashboardPage(
            unknown_name, "No such page", None, needs_a_cohort=False, is_headed=False
        )
        unknown_page = st.Page(
            partial(open_page, unknown_description),
            title=unknown_description.title,
            url_path=unknown_name,
            visibility="hidden",
        )
        streamlit_pages.append(unknown_page)
    st.navigation(streamlit_pages, position="hidden").run()


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
def redraw_when_changed(address: str, drawn_record: RecordSource | None) -> None:
    """Draw the page again once the record has changed or appeared; choices are kept.

    While a round is played it changes with every turn: the page waits until two looks see the same.
    """
    try:
        current_record = source(address)
    except ArenaError:  # not there yet, just being replaced, or gone: the page says so when it is drawn next
        current_record = None

    # A page is drawn once two looks in a row see the same record, or after so many changes in a row.
    changes_seen, record_last_seen = st.session_state.get(CHANGING, (0, drawn_record))
    if current_record == drawn_record:
        st.session_state[CHANGING] = (0, drawn_record)
    elif current_record == record_last_seen or changes_seen == MOST_LOOKS:
        st.session_state[CHANGING] = (0, current_record)
        st.rerun()
    else:
        st.session_state[CHANGING] = (changes_seen + 1, current_record)


if __name__ == "__main__":
    main()
