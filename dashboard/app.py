"""What Streamlit runs: a page for each file in dashboard/views/, and what to do where there is no record."""

import os
from functools import partial

import streamlit as st

from arena.errors import ArenaError
from dashboard.links import FIRST, arrive, page_of
from dashboard.live import follow
from dashboard.pages import DashboardPage, pages
from dashboard.queries.season import season
from dashboard.source import source
from dashboard.words import code

# No string under it: Streamlit would show it, as all that stands alone in the file that it runs.
ADDRESS = "ARENA_DATABASE"

# Without a picture of our own Streamlit would fetch the page's icon from a stranger.
BADGE = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16" width="64" height="64">
<rect width="16" height="16" rx="3" fill="#0072B2"/>
<path d="M3 12 6.5 7.5l2.5 2L13 4" fill="none" stroke="#fff" stroke-width="1.8"/></svg>"""


def open_page(page: DashboardPage) -> None:
    """A page on the record that is there, or a sentence on how to get one."""
    st.set_page_config(page_title=f"{page.title} · Paper Arena")
    arrive(page.name)
    st.title(page.title, anchor=False)
    address = os.environ.get(ADDRESS)
    if not address:
        _say("No record was named.", "`arena dashboard --database PATH` opens one, `arena demo` makes one.")
        return
    record = None
    try:
        record = source(address)
        if page.needs_a_cohort and not season(record).cohorts:
            _say("The record holds no cohort yet.", "`arena round` plays the first, `arena demo` a season.")
        else:
            page.view().show(record)
    except ArenaError as error:
        _say(f"The record can't be shown: {code(error.message)}.", error.hint)
    follow(address, record)


def _say(what: str, hint: str) -> None:
    st.info(f"{what}\n\n{hint}", icon=":material/info:")


def main(first: str = FIRST) -> None:
    """The app, from its frame to the page that the address names.

    The first page stands at the root, and also under its name, for those who type it.
    """
    st.set_page_config(page_icon=BADGE, layout="wide")
    shown = [page_of(name, partial(open_page, page), first) for name, page in pages().items()]
    again = partial(open_page, pages()[first])
    shown.append(st.Page(again, title=pages()[first].title, url_path=first, visibility="hidden"))
    st.navigation(shown, position="top").run()


if __name__ == "__main__":
    main()
