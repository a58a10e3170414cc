"""The list of markets: searched, narrowed, and turned page by page."""

from collections.abc import Mapping

import streamlit as st

from arena.errors import story_count
from dashboard.board import market_table
from dashboard.pages import choice, put, step, typed
from dashboard.record import (
    PAGE_ROWS,
    FilterMenu,
    MarketFilter,
    MarketList,
    MarketOrder,
    RecordSource,
    kept,
    read_market_list,
    read_menu,
)
from dashboard.words import count, plain

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
"""What can be asked for with a click: its words, the status of the markets and their order."""


def show(record: RecordSource) -> None:
    """The controls, and the markets that are so."""
    offered = kept(record, read_menu, st.query_params.get("event", ""))
    if offered.is_empty:
        st.info(
            "No market was put before an agent yet. `arena run --round` does that.",
            icon=":material/info:",
        )
        return
    asked = _asked(offered)
    result = kept(record, read_market_list, asked)
    if not result.lines:
        st.info(_nothing(asked), icon=":material/search_off:")
        if not asked.event:  # otherwise its line leads there
            step("Show all markets", "markets")
        return
    st.caption(_counted(result, asked, offered.markets))
    put(market_table(result.lines), "markets")
    _turn_pages(result, asked)


def _asked(offered: FilterMenu) -> MarketFilter:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        search = typed("Search", "search", "Search questions")
        category = ANY
        if len(offered.categories) > 1:
            named = {ANY: "All categories"} | {name: name for name in offered.categories}
            category = choice("Category", "category", named, ANY, "list")
    pill = choice("Show", "show", {key: label for key, (label, *_) in PILLS.items()}, "all")
    _, status, order = PILLS[pill]
    return MarketFilter(
        search=search,
        status=status,
        category="" if category == ANY else category,
        event=_event(offered),
        order=order,
        page=_page(),
    )


def _page() -> int:
    """The page that the address names; the first for anything that is none."""
    text = st.query_params.get("page", "")
    return max(int(text), 1) if text.isascii() and text.isdecimal() and len(text) < 6 else 1


def _event(offered: FilterMenu) -> str:
    """The event that the address names, and a way to be rid of it."""
    event = st.query_params.get("event", "")
    if event:
        st.markdown(f"Only markets about the same event as “{plain(offered.about or event)}”.")
        step("Markets of all events", "markets")
    return event


def _nothing(asked: MarketFilter) -> str:
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


def _counted(result: MarketList, asked: MarketFilter, markets: int | None) -> str:
    first = PAGE_ROWS * (asked.page - 1) + 1
    last = first + len(result.lines) - 1
    if asked.order == "shown" and not result.whole:
        narrowed = asked.search or asked.status or asked.category or asked.event
        of_all = "" if narrowed or markets is None else f" of {markets:,}"
        return f"Markets {first:,}–{last:,}{of_all}, those shown to agents most recently first."
    among = "" if result.whole else ", chosen among those that agents were shown most recently"
    if first == 1 and last == result.markets:
        stories = len({line.market.story or line.market.event_id for line in result.lines})
        return f"{count(last, 'market')}, {story_count(stories)}{among}."
    return f"Markets {first:,}–{last:,} of {result.markets:,}{among}."


def _turn_pages(result: MarketList, asked: MarketFilter) -> None:
    """To the pages before and after, with all else as it was chosen."""
    around = {"← Previous page": asked.page - 1, "Next page →": asked.page + 1 if result.more else 0}
    if not any(around.values()):
        return
    with st.container(horizontal=True):
        for label, page in around.items():
            if page:
                chosen = {key: st.query_params[key] for key in st.query_params if key != "page"}
                step(label, "markets", **chosen, **({"page": page} if page > 1 else {}))
