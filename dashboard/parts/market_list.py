"""The list of markets: searched, filtered and sorted, each leading to its page."""

from collections.abc import Sequence
from typing import cast

import streamlit as st

from dashboard.choice import choice, typed
from dashboard.figures import money, outcome, percent
from dashboard.html_table import number, time, words
from dashboard.links import step, way
from dashboard.listing import listing
from dashboard.queries.markets import (
    FilterMenu,
    MarketFilter,
    MarketLine,
    MarketList,
    Order,
    market_list,
    menu,
)
from dashboard.source import RecordSource
from dashboard.words import count, plain

ANY = "any"
STATUSES = {
    ANY: "All",
    "open": "Open",
    "waiting": "Closed, no outcome yet",
    "resolved": "Resolved",
    "unpriced": "No price",
}
ORDERS = {"shown": "Shown last", "volume": "Most volume", "apart": "Most disagreement"}
COLUMNS = {
    "question": words("Question", "What the market asks, by its newest page."),
    "price": number("YES ¢", "%.1f", "What YES costs now, in cents: the mid, else the last trade."),
    "spread": number(
        "Apart, points",
        "%.0f",
        "Between the lowest and the highest probability that agents stated in the newest round, in percent "
        "points; without agents that hold no opinion (market, constant, random, favourite).",
    ),
    "status": words("Status", "Open; closed, while nobody has said how it ended; or resolved."),
    "outcome": words("Outcome", "What a share of YES paid in the end."),
    "closes": time("Closes", "When the market closes, in UTC.", "day"),
    "held": number("Held", "localized", "Lots that are held now: an agent's on one side, in each cohort."),
    "trades": number("Trades", "localized", "Purchases and sales of all agents in all cohorts."),
    "volume": number("Volume $", "compact", "What everyone has traded at the venue, in dollars."),
    "others": number("Others of event", "localized", "Other markets here that are about the same event."),
    "category": words("Category", "As the venue has it."),
    "shown": time("Shown last", "The newest round that put it before the agents, in UTC.", "day"),
}


def show_list(record: RecordSource) -> None:
    """The controls, and the markets that are so."""
    offered = menu(record, st.query_params.get("event", ""))
    if offered.is_empty:
        st.info("No market was put before an agent yet: `arena round` does it.", icon=":material/info:")
        return
    asked = _asked(offered)
    result = market_list(record, asked)
    if not result.lines:
        st.info(_nothing(asked), icon=":material/search_off:")
        if not asked.event:  # otherwise its line leads there
            step("Show all markets", "market")
        return
    st.caption(_counted(result, asked))
    ways = [way("market", market=line.market.id) for line in result.lines]
    listing(data_of(result.lines), "Markets: one row each", COLUMNS, ways)


def _asked(offered: FilterMenu) -> MarketFilter:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        search = typed("Search", "search", "Words of the question")
        order = choice("Order", "sort", ORDERS, "shown", "list")
        category = ANY
        if len(offered.categories) > 1:
            named = {ANY: "All categories"} | {name: name for name in offered.categories}
            category = choice("Category", "category", named, ANY, "list")
    status = choice("Status", "status", STATUSES, ANY)
    return MarketFilter(
        search=search,
        status="" if status == ANY else status,
        category="" if category == ANY else category,
        event=_event(offered),
        order=cast(Order, order),
    )


def _event(offered: FilterMenu) -> str:
    """The event that the address names, and a way to be rid of it."""
    event = st.query_params.get("event", "")
    if event:
        st.markdown(f"Only markets about the same event as “{plain(offered.about or event)}”.")
        step("Markets of all events", "market")
    return event


def _nothing(asked: MarketFilter) -> str:
    if asked.order == "apart" and not (asked.search or asked.status or asked.category or asked.event):
        return "No two agents have stated a probability for the same market yet."
    return "No market is so. Search for fewer words, or choose another status or category."


def _counted(result: MarketList, asked: MarketFilter) -> str:
    shown = len(result.lines)
    if asked.order == "apart" or (asked.order == "volume" and not result.whole):
        return f"{count(shown, 'market')}, among the {result.markets:,} shown last."
    if result.whole and result.markets == shown:
        return f"{count(shown, 'market')}."
    more = f"{result.markets - shown:,} more" if result.whole else "There are more"
    return f"{count(shown, 'market')}. {more}: narrow the search."


def data_of(lines: Sequence[MarketLine]) -> dict[str, list[object]]:
    """The columns of the list."""
    rows = [_row(line) for line in lines]
    return {key: [row[key] for row in rows] for key in COLUMNS}


def _row(line: MarketLine) -> dict[str, object]:
    market, spread = line.market, line.spread
    apart = None if spread is None or spread.agents < 2 else percent(spread.high - spread.low)
    return {
        "question": market.question,
        "price": percent(line.price),
        "spread": apart,
        "status": {"open": "open", "waiting": "closed", "resolved": "resolved"}[line.status],
        "outcome": outcome(market.ended, market.payout),
        "closes": market.closes_at,
        "held": line.interest.held,
        "trades": line.interest.trades,
        "volume": money(line.volume),
        "others": line.others,
        "category": market.category or None,
        "shown": line.shown.at,
    }
