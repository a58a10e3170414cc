"""The markets that agents were shown: a list to search, and each of them whole."""

import streamlit as st

from dashboard.links import step
from dashboard.palette import looks
from dashboard.parts.market_list import show_list
from dashboard.parts.market_one import show_market
from dashboard.queries.market import market_page
from dashboard.queries.season import season
from dashboard.source import RecordSource
from dashboard.words import code

TITLE = "Markets"
NEEDS_A_COHORT = True
ORDER = 5


def show(record: RecordSource) -> None:
    """The market that the address names, or the list of them."""
    named = st.query_params.get("market")
    if not named:
        show_list(record)
        return
    page = market_page(record, named)
    if page is None:
        st.info(f"The record knows no market {code(named[:200])}.", icon=":material/search_off:")
        step("All markets", "market")
        return
    show_market(record, page, looks(season(record).agents))
