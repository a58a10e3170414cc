"""Who holds what of one market, and what was traded on it."""

from collections.abc import Mapping

import streamlit as st

from dashboard.charts.market import DEEDS
from dashboard.figures import money, percent
from dashboard.html_table import number, picture, time, words
from dashboard.links import way
from dashboard.listing import listing
from dashboard.palette import AgentLook
from dashboard.queries.market import DEALT, MarketPage, MarketPosition
from dashboard.table import agent_ways
from dashboard.words import count, gained, plain
from portfolio.value import average_price

POSITIONS = {
    "look": picture(""),
    "agent": words("Agent", "Whose lot it is."),
    "cohort": number("Cohort", "%d", "An agent has an account of its own in each."),
    "side": words("Side", "YES pays $1 a share if the answer is yes, NO if it is no."),
    "held": number("Shares", "%.1f", "What is held now; 0 once all is sold or settled."),
    "cost": number("Cost $", "dollar", "What was paid for the shares that are held, fees included."),
    "average": number("Paid ¢", "%.1f", "What a share held cost on average, in cents, fees included."),
    "price": number("Now ¢", "%.1f", "What a share of that side is worth at the cohort's newest mark."),
    "value": number("Value $", "dollar", "The shares held at that price."),
    "profit": number("P/L", "gain", "Profit or loss of the lot in all: realised, and of what is held."),
    "paid": number("Paid in $", "dollar", "All that was ever paid for shares of it, fees included."),
    "received": number("Came out $", "dollar", "What sales and the settlement or refund have brought."),
}
OF_HELD = ("held", "cost", "average", "price", "value")
"""What is said only where anything is held."""
DEALS = {
    "look": picture(""),
    "agent": words("Agent", "Who traded."),
    "at": time("When", "The round's decision time, in UTC."),
    "cohort": number("Cohort", "%d", "The cohort that it played in."),
    "round": number("Round", "%d", "The round of that cohort."),
    "did": words("Did", "What was bought or sold."),
    "shares": number("Shares", "%.1f", "How many."),
    "price": number("Price ¢", "%.1f", "What a share of that side cost or brought on average, before fees."),
    "amount": number("Dollars", "dollar", "All the cash that moved, fee included."),
    "fee": number("Fee", "dollar", "The venue's fee in it."),
}


def show_positions(page: MarketPage, looks: Mapping[str, AgentLook]) -> None:
    """Every lot that was ever held, those still open first."""
    st.subheader("Positions", anchor=False)
    if not page.positions:
        st.caption("Nobody has bet on this market.")
        return
    rows = sorted(page.positions, key=lambda one: (not one.lot.shares, -one.cohort))
    data = [_position(row, looks) for row in rows]
    held = any(position.lot.shares for position in rows)
    table = {key: [row[key] for row in data] for key in POSITIONS if held or key not in OF_HELD}
    listing(table, "Positions: one row a lot", POSITIONS, agent_ways([row.agent for row in rows], looks))
    total = sum(position.lot.money.total for position in rows)
    st.caption(f"{count(len(rows), 'lot')}; P/L of all: {plain(gained(total))}.")


def _position(position: MarketPosition, looks: Mapping[str, AgentLook]) -> dict[str, object]:
    lot, open_ = position.lot, position.lot.shares > 0
    return {
        "look": looks[position.agent].badge if position.agent in looks else None,
        "agent": position.agent,
        "cohort": position.cohort,
        "side": position.side,
        "held": money(lot.shares),
        "cost": money(lot.money.cost) if open_ else None,
        "average": percent(average_price(lot.money.cost, lot.shares)),
        "price": percent(position.price),
        "value": money(lot.money.value) if open_ else None,
        "profit": money(lot.money.total),
        "paid": money(lot.money.paid),
        "received": money(lot.money.received),
    }


def show_deals(page: MarketPage, looks: Mapping[str, AgentLook]) -> None:
    """What was bought and sold, the newest first."""
    if not page.dealt:
        return
    st.subheader("Trades", anchor=False)
    more = f"The newest {DEALT:,}. " if len(page.dealt) == DEALT else ""
    st.caption(f"{more}Newest first.")
    data = [
        {
            "at": deal.at,
            "look": looks[deal.agent].badge if deal.agent in looks else None,
            "agent": deal.agent,
            "cohort": deal.cohort,
            "round": deal.round,
            "did": DEEDS[deal.side, deal.action][0],
            "shares": money(deal.shares),
            "price": deal.price / 10_000,
            "amount": money(deal.amount),
            "fee": money(deal.fee),
        }
        for deal in page.dealt
    ]
    table = {key: [row[key] for row in data] for key in DEALS}
    ways = [way("turn", cohort=deal.cohort, round=deal.round, agent=deal.agent) for deal in page.dealt]
    listing(table, "Trades: one row each", DEALS, ways)
