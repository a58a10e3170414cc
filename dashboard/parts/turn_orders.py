"""What a turn ordered and what came of it: orders, fills price by price, refusals."""

from collections.abc import Iterator

import streamlit as st

from dashboard.figures import money, percent
from dashboard.html_table import number, words
from dashboard.links import Way, way
from dashboard.listing import listing
from dashboard.queries.turn import TurnPage, held_until_now
from dashboard.words import count, dollars, gained, plain
from portfolio.model import Bet, Fill, Sale

ORDERS = {
    "question": words("Question", "As the market's page read then."),
    "wish": words("Order", "What it asked for."),
    "limit": number("Limit ¢", "%.1f", "The worst price of a share that it would take."),
    "came": words("Result", "What was filled, or why it was refused.", long=True),
    "reason": words("Reason", "In its own words.", long=True),
}
FILLS = {
    "question": words("Question", "As the market's page read then."),
    "did": words("Did", "What was bought or sold."),
    "level": number("Level", "%d", "Prices are taken one after the other, the best first."),
    "price": number("Price ¢", "%.2f", "Of a share of that side."),
    "shares": number("Shares", "%.2f", "So many at that price."),
    "amount": number("Dollars", "dollar", "The cash that moved at that price, fee included."),
    "fee": number("Fee", "dollar", "The venue's fee in it."),
    "gain": number(
        "Gain if held",
        "gain",
        "Of the whole purchase, had it been held until now or its market's end, at the newest price.",
    ),
    "stopped": words("Why it stopped", "Why the rest of the order was not filled."),
}


def show_orders(page: TurnPage) -> None:
    """Every bet and sale that was ordered, with what was filled of it."""
    st.subheader("Orders", anchor=False)
    wishes: list[Bet | Sale] = [*page.turn.sales, *page.turn.bets]
    if not wishes:
        st.caption("It placed no order.")
        return
    rows = [_order(page, wish) for wish in wishes]
    keys = [key for key in ORDERS if key != "limit" or any(row["limit"] is not None for row in rows)]
    table = {key: [row[key] for row in rows] for key in keys}
    listing(table, "Orders: one row each", ORDERS, [_way(page, wish.market_id) for wish in wishes])


def _way(page: TurnPage, market: str) -> Way | None:
    return way("market", market=market) if market in page.questions else None


def _order(page: TurnPage, wish: Bet | Sale) -> dict[str, object]:
    return {
        "question": page.questions.get(wish.market_id, wish.market_id),
        "wish": _size(wish),
        "limit": percent(wish.limit),
        "came": " ".join(_outcome(page, wish)) or None,
        "reason": wish.reason or None,
    }


def _size(wish: Bet | Sale) -> str:
    if isinstance(wish, Bet):
        return f"buy {wish.side} for {dollars(wish.amount)}"
    if wish.shares is not None:
        return f"sell {money(wish.shares):,.2f} {wish.side}"
    if wish.fraction is not None:
        return f"sell {percent(wish.fraction):.0f}% of {wish.side}"
    return f"sell all {wish.side}"


def _outcome(page: TurnPage, wish: Bet | Sale) -> Iterator[str]:
    """What was filled of a wish, and all that was refused about its market."""
    action = "buy" if isinstance(wish, Bet) else "sell"
    for fill in page.fills:
        if (fill.market_id, fill.side, fill.action) == (wish.market_id, wish.side, action):
            yield f"{_did(fill)}: {money(fill.shares):,.2f} shares for {dollars(fill.amount)}."
    for refused in page.rejections:
        if refused.market_id == wish.market_id:
            yield f"Refused: {refused.message}."


def _did(fill: Fill) -> str:
    return f"{'bought' if fill.action == 'buy' else 'sold'} {fill.side}"


def show_fills(page: TurnPage) -> None:
    """What was bought and sold, a row a price, and what it would have made if held."""
    if not page.fills:
        return
    claims = {claim.seen.id: claim for claim in page.claims}
    gains = [held_until_now(fill, claims[fill.market_id]) for fill in page.fills]
    known = [gain for gain in gains if gain is not None]
    if known:
        st.caption(f"Held until now or their end, its purchases would have made {plain(gained(sum(known)))}.")
    rows = [row for fill, gain in zip(page.fills, gains, strict=True) for row in _levels(page, fill, gain)]
    table = {key: [row[key] for row in rows] for key in FILLS}
    ways = [_way(page, str(row["market"])) for row in rows]
    with st.expander(f"Fills, level by level: {count(len(rows), 'level')}"):
        listing(table, "Fills: one row a price", FILLS, ways)


def _levels(page: TurnPage, fill: Fill, gain: int | None) -> Iterator[dict[str, object]]:
    for number_, level in enumerate(fill.levels, 1):
        last = number_ == len(fill.levels)
        yield {
            "market": fill.market_id,
            "question": page.questions[fill.market_id],
            "did": _did(fill),
            "level": number_,
            "price": percent(level.price),
            "shares": money(level.shares),
            "amount": money(level.amount),
            "fee": money(level.fee),
            "gain": money(gain) if last else None,
            "stopped": (fill.left or None) if last else None,
        }


def show_rejections(page: TurnPage) -> None:
    """What was refused, and why."""
    if not page.rejections:
        return
    st.subheader("Rejected", anchor=False)
    st.caption("Items of the answer that made no sense, and orders against the rules.")
    listing(
        {
            "Why": [refused.message for refused in page.rejections],
            "Market": [
                page.questions.get(refused.market_id, refused.market_id) or None
                for refused in page.rejections
            ],
            "Code": [refused.code for refused in page.rejections],
        },
        "Rejected: one row each",
        {"Why": words("Why", "The reason, in words.", long=True)},
    )
