"""The list of markets, with search, filters and pages."""

from collections.abc import Mapping

import streamlit as st

from arena.errors import story_count
from dashboard.board import market_table
from dashboard.pages import choice, nothing_found, options_of, put, put_view_link, typed
from dashboard.record import (
    PAGE_ROWS,
    FilterMenu,
    MarketFilter,
    MarketList,
    MarketOrder,
    RecordSource,
    read_cached,
    read_market_list,
    read_menu,
)
from dashboard.words import count, plain, whole_number

TITLE = "Markets"
NEEDS_A_COHORT = True
ORDER = 5

ANY = "any"
PILLS: Mapping[str, tuple[str, str, MarketOrder]] = {
    "all": ("All", "", "shown"),
    "open": ("Open", "open", "shown"),
    "soon": ("Closing soon", "open", "closes"),
    "disputed": ("Most disputed", "", "apart"),
    "traded": ("Most traded", "", "volume"),
    "waiting": ("Awaiting result", "waiting", "shown"),
    "resolved": ("Resolved", "resolved", "shown"),
}
"""The filters: label, status of the markets, and their order."""
AMONG = ", chosen among those that agents were shown most recently"


def show(record: RecordSource) -> None:
    """Show the controls, and the matching markets."""
    offered = read_cached(record, read_menu, st.query_params.get("event", ""))
    if offered.is_empty:
        st.info(
            "No market has been shown to an agent yet. `arena run --round` plays a round.",
            icon=":material/info:",
        )
        return

    asked = _ask_filter(offered)
    result = read_cached(record, read_market_list, asked)
    if not result.lines:
        nothing_found(_why_no_markets(asked))
        if not asked.event:  # otherwise its line leads there
            put_view_link("Show all markets", "markets")
        return

    st.caption(_count_text(result, asked, offered.markets))
    put(market_table(result.lines), "markets")
    _link_neighbour_pages(result, asked)


def _ask_filter(offered: FilterMenu) -> MarketFilter:
    """Let a filter be chosen."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        search = typed("Search", "search", "Search questions")
        category = ANY
        if len(offered.categories) > 1:
            options = {ANY: "All categories"} | options_of(offered.categories)
            category = choice("Category", "category", options, ANY, "list")

    pill = choice("Show", "show", {key: label for key, (label, *_) in PILLS.items()}, "all")
    _, status, order = PILLS[pill]
    page = whole_number(st.query_params.get("page", ""), 5)
    return MarketFilter(
        search=search,
        status=status,
        category="" if category == ANY else category,
        event=_asked_event(offered),
        order=order,
        page=max(page, 1),
    )


def _asked_event(offered: FilterMenu) -> str:
    """Return the event that the address names, and show a link that clears it."""
    event = st.query_params.get("event", "")
    if event:
        st.markdown(f"Only markets about the same event as “{plain(offered.about or event)}”.")
        put_view_link("Markets of all events", "markets")
    return event


def _why_no_markets(asked: MarketFilter) -> str:
    """Say why there are no markets, and what to do."""
    narrowed = asked.search or asked.category or asked.event
    if asked.page > 1:
        return "This page of the list is empty."
    if asked.order == "apart" and not narrowed:
        return (
            "No two agents have forecast the same market yet. The next `arena run --round` may change that."
        )
    if narrowed:
        return "No market matches. Search for fewer words, or choose another category or status."
    return "No market has this status now. Choose another one above."


def _count_text(result: MarketList, asked: MarketFilter, markets: int | None) -> str:
    """Say which of how many markets are shown."""
    first = PAGE_ROWS * (asked.page - 1) + 1
    last = first + len(result.lines) - 1
    if asked.order == "shown" and not result.whole:
        range_text = f"Markets {first:,}–{last:,}"
        is_narrowed = asked.search or asked.status or asked.category or asked.event
        if not is_narrowed and markets is not None:
            range_text += f" of {markets:,}"
        return f"{range_text}, those shown to agents most recently first."

    among_text = AMONG * (not result.whole)
    if first == 1 and last == result.markets:
        stories = len({line.market.story or line.market.event_id for line in result.lines})
        return f"{count(last, 'market')}, {story_count(stories)}{among_text}."
    return f"Markets {first:,}–{last:,} of {result.markets:,}{among_text}."


def _link_neighbour_pages(result: MarketList, asked: MarketFilter) -> None:
    """Link to the previous and the next page, with the same filters."""
    around = around_page(asked.page, result.more)
    if not around:
        return
    with st.container(horizontal=True):
        for label, page in around.items():
            chosen: dict[str, str | int] = {**st.query_params.to_dict(), "page": page}
            if page == 1:
                del chosen["page"]
            put_view_link(label, "markets", **chosen)


def around_page(page: int, has_next: bool) -> dict[str, int]:
    """Return the pages before and after one, by the words that lead there.

    >>> around_page(1, False), around_page(2, True)
    ({}, {'← Previous page': 1, 'Next page →': 3})
    """
    neighbours = {}
    if page > 1:
        neighbours["← Previous page"] = page - 1
    if has_next:
        neighbours["Next page →"] = page + 1
    return neighbours
