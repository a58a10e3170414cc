"""One market: what it asks and costs, who said what of it and who holds it, and how it ended."""

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from itertools import pairwise
from typing import Any

import streamlit as st

from arena.store.onemarket import Page
from dashboard.choice import choice
from dashboard.drawn.market import DEEDS, TRADES, over_time
from dashboard.figures import (
    long_text,
    mark,
    money,
    number,
    outcome,
    percent,
    time,
    words,
)
from dashboard.links import go, step
from dashboard.palette import Look
from dashboard.parts.market_list import COLUMNS as LISTED
from dashboard.parts.market_list import data_of
from dashboard.picked import picked
from dashboard.queries.market import DEALT, MarketPage, Position, history
from dashboard.queries.markets import Asked, found
from dashboard.source import Source
from dashboard.times import moment
from dashboard.words import cents, code, count, dollars, gained, plain, share
from markets.millionths import ONE, decimal
from markets.model import Market
from portfolio.profit import average

ALL = "all"
HIGH = 12
"""So many rows of a table are seen at once."""
POSITIONS = {
    "look": mark(),
    "agent": words("Agent", "Whose lot it is.", pinned=True),
    "cohort": number("Cohort", "%d", "An agent has an account of its own in each."),
    "side": words("Side", "YES pays $1 a share if the answer is yes, NO if it is no."),
    "held": number("Shares", "%.1f", "What is held now; 0 once all is sold or settled."),
    "cost": number("Cost $", "dollar", "What was paid for the shares that are held, fees included."),
    "average": number("Paid ¢", "%.1f", "What a share held cost on average, in cents, fees included."),
    "price": number("Now ¢", "%.1f", "What a share of that side is worth at the cohort's newest mark."),
    "value": number("Value $", "dollar", "The shares held at that price."),
    "profit": number("P/L $", "dollar", "Profit or loss of the lot in all: realised, and of what is held."),
    "paid": number("Paid in $", "dollar", "All that was ever paid for shares of it, fees included."),
    "received": number("Came out $", "dollar", "What sales and the settlement or refund have brought."),
}
OF_HELD = ("held", "cost", "average", "price", "value")
"""What is said only where anything is held."""
DEALS = {
    "at": time("When", "The round's decision time, in UTC."),
    "look": mark(),
    "agent": words("Agent", "Who traded.", pinned=True),
    "cohort": number("Cohort", "%d", "The cohort that it played in."),
    "round": number("Round", "%d", "The round of that cohort."),
    "did": words("Did", "What was bought or sold."),
    "shares": number("Shares", "%.1f", "How many."),
    "price": number("Price ¢", "%.1f", "What a share of that side cost or brought on average, before fees."),
    "amount": number("Dollars", "dollar", "All the cash that moved, fee included."),
    "fee": number("Fee $", "%.4f", "The venue's fee in it."),
}


def show_market(record: Source, page: MarketPage, looks: Mapping[str, Look]) -> None:
    """The page of one market, from the question down to its rules."""
    market = page.market
    step("All markets", "market")
    st.subheader(plain(market.question, most=1_000), anchor=False)
    _figures(page)
    _history(record, page, looks)
    _positions(page, looks)
    _deals(page, looks)
    _ends(page)
    _event(record, market)
    _texts(page)


def _figures(page: MarketPage) -> None:
    market, quote = page.market, page.quote
    price = None if quote is None else quote.price
    ended = page.ends[-1].resolution if page.ends else None
    held = sum(position.lot.shares > 0 for position in page.positions)
    with st.container(horizontal=True):
        if ended is None:
            now = "–" if price is None else cents(price)
            st.metric(
                "YES costs", now, help="The mid, else the last trade, as it was seen last.", border=True
            )
        else:
            said = outcome(True, ended.payout)
            st.metric("Outcome", said, help="What a share of YES paid, by the newest word.", border=True)
        closed = "Closed" if page.closed else "Closes"
        st.metric(closed, f"{market.closes_at:%-d %b %Y}", help=moment(market.closes_at), border=True)
        st.metric("Held now", count(held, "lot"), help="An agent's on one side, in each cohort.", border=True)
        traded = f"{DEALT:,} or more" if len(page.dealt) == DEALT else f"{len(page.dealt):,}"
        st.metric("Trades", traded, help="Purchases and sales of all agents in all cohorts.", border=True)
        volume = "–" if quote is None else dollars(quote.volume // ONE * ONE)
        st.metric("Volume", volume, help="What everyone has traded at the venue.", border=True)
    st.caption(" · ".join(_small_print(page)))


def _small_print(page: MarketPage) -> Iterator[str]:
    market, quote = page.market, page.quote
    if quote is not None:
        yield f"This price since {moment(quote.at)}"
        if quote.bid is not None and quote.ask is not None:
            yield f"bid {cents(quote.bid)}, ask {cents(quote.ask)}"
    if page.closed and not page.ends:
        yield "closed, and nobody has said yet how it ended"
    yield f"fee rate {share(market.fee_rate)}" if market.fee_rate else "no fee"
    yield f"tick {cents(market.tick)}"
    if market.category:
        yield f"category {plain(market.category)}"
    yield f"id {code(market.id)}"


def _history(record: Source, page: MarketPage, looks: Mapping[str, Look]) -> None:
    st.subheader("Price, forecasts and trades", anchor=False)
    if not page.offered:
        st.info("No round has put this market before the agents.", icon=":material/hourglass_empty:")
    options = {ALL: "All agents"} | {name: name for name in looks}
    chosen = choice("Agent", "agent", options, ALL, "list")
    agent = "" if chosen == ALL else chosen
    drawn = history(record, page.market.id, agent)
    if not drawn.prices.points and not drawn.said:
        st.info("Nobody has seen a price of this market.", icon=":material/hourglass_empty:")
        return
    dealt = [deal for deal in page.dealt if agent in ("", deal.agent)]
    st.caption(_legend(drawn.prices.thinned, drawn.thinned, len(dealt)))
    events = list(_moments(page))
    times = [at for at, _ in events] + [place.at for place in page.offered]
    last = max([price.at for price in drawn.prices.points] + times)
    chart = over_time(drawn.prices.points, last, drawn.said, dealt, page.offered, events, looks)
    st.altair_chart(chart, alt="The market's price over time, with what agents stated and traded")


LEGEND = (
    "Grey is the price of YES with the room between bid and ask. Marks are stated probabilities; "
    "▲ bought YES, ▼ bought NO, ✕ sold, at the price of YES then, the larger the more dollars. "
    "Click the legend to single an agent out."
)


def _legend(prices: bool, said: bool, trades: int) -> str:
    parts = [LEGEND]
    if prices:
        parts.append("More prices are stored than fit: those at even distances are drawn.")
    if said:
        parts.append("More rounds were played than fit: evenly chosen ones are drawn.")
    if trades > TRADES:
        parts.append(f"The {TRADES} largest trades are drawn.")
    return " ".join(parts)


def _moments(page: MarketPage) -> Iterator[tuple[datetime, str]]:
    """What happened to the market that its chart marks."""
    if page.closed:
        yield page.market.closes_at, "The market closed"
    for end in page.ends:
        said = outcome(True, end.resolution.payout)
        yield end.resolution.known_at, f"Resolved: {said}"


def _positions(page: MarketPage, looks: Mapping[str, Look]) -> None:
    st.subheader("Positions", anchor=False)
    if not page.positions:
        st.caption("Nobody has bet on this market.")
        return
    rows = sorted(page.positions, key=lambda one: (not one.lot.shares, -one.cohort))
    data = [_position(row, looks) for row in rows]
    held = any(position.lot.shares for position in rows)
    table = {key: [row[key] for row in data] for key in POSITIONS if held or key not in OF_HELD}
    place = picked(table, "positions", POSITIONS, "Positions: one row a lot", most=HIGH)
    total = sum(position.lot.money.total for position in rows)
    st.caption(f"{count(len(rows), 'lot')}; P/L of all: {plain(gained(total))}. A row leads to its agent.")
    if place is not None:
        go("agent", agent=rows[place].agent)


def _position(position: Position, looks: Mapping[str, Look]) -> dict[str, object]:
    lot, open_ = position.lot, position.lot.shares > 0
    return {
        "look": looks[position.agent].badge if position.agent in looks else None,
        "agent": position.agent,
        "cohort": position.cohort,
        "side": position.side,
        "held": money(lot.shares),
        "cost": money(lot.money.cost) if open_ else None,
        "average": percent(average(lot.money.cost, lot.shares)),
        "price": percent(position.price),
        "value": money(lot.money.value) if open_ else None,
        "profit": money(lot.money.total),
        "paid": money(lot.money.paid),
        "received": money(lot.money.received),
    }


def _deals(page: MarketPage, looks: Mapping[str, Look]) -> None:
    if not page.dealt:
        return
    st.subheader("Trades", anchor=False)
    more = f"The newest {DEALT:,}. " if len(page.dealt) == DEALT else ""
    st.caption(f"{more}Newest first. A row leads to the turn that decided it.")
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
    place = picked(table, "deals", DEALS, "Trades: one row each", most=HIGH)
    if place is not None:
        deal = page.dealt[place]
        go("turn", cohort=deal.cohort, round=deal.round, agent=deal.agent)


def _ends(page: MarketPage) -> None:
    st.subheader("Resolution", anchor=False)
    if not page.ends:
        st.caption("Nobody has said yet how it ended.")
        return
    newest = page.ends[-1].resolution
    st.markdown(f"{_paid(newest.payout)} Said by {code(newest.source) if newest.source else 'its venue'}.")
    if len(page.ends) > 1:
        st.markdown("The venue has corrected itself; what was paid before was taken back and paid anew.")
    ends = [(end.resolution, end.learnt_at) for end in page.ends]
    st.dataframe(
        {
            "Version": [end.version for end, _ in ends],
            "Outcome": [outcome(True, end.payout) for end, _ in ends],
            "Known since": [end.known_at for end, _ in ends],
            "Learnt": [learnt_at for _, learnt_at in ends],
            "Source": [end.source for end, _ in ends],
        },
        hide_index=True,
        height="content",
        column_config={
            "Known since": time("Known since", "From when on it could be known, in UTC."),
            "Learnt": time("Learnt", "The decision time at which a cohort asked and was told, in UTC."),
        },
        alt="Resolution: one row a version",
    )


def _paid(payout: int | None) -> str:
    said = outcome(True, payout)
    if payout is None:
        return "Refunded: everyone got back what they had paid."
    return f"**{said}**: a share of YES paid {cents(payout)}, a share of NO {cents(ONE - payout)}."


def _event(record: Source, market: Market) -> None:
    others = found(record, Asked(event=market.event_id))
    lines = [line for line in others.lines if line.market.id != market.id]
    if not lines:
        return
    st.subheader("Others of the event", anchor=False)
    columns = {key: LISTED[key] for key in ("question", "price", "spread", "status", "outcome", "closes")}
    data = data_of(lines)
    place = picked({key: data[key] for key in columns}, "event", columns, "Markets of the event", most=HIGH)
    step("Search among them", "market", event=market.event_id)
    if place is not None:
        go("market", market=lines[place].market.id)


def _texts(page: MarketPage) -> None:
    market = page.market
    with st.expander("The rules, as the venue has them"):
        if market.rules.strip():
            long_text(market.rules, "rules")
        else:
            st.caption("The venue gives none.")
    if len(page.pages) > 1:
        with st.expander(f"How its page changed: {count(len(page.pages), 'version')}"):
            _changes(page)


FIELDS = {
    "question": "question",
    "rules": "rules",
    "category": "category",
    "event_id": "event",
    "opens_at": "opening time",
    "closes_at": "closing time",
    "tick": "tick",
    "fee_rate": "fee rate",
    "min_shares": "smallest trade",
}
"""What a page says, in words."""
WRITTEN: Mapping[str, Callable[[int], str]] = {
    "tick": cents,
    "fee_rate": share,
    "min_shares": lambda shares: f"{decimal(shares):f} shares",
}


def _changes(page: MarketPage) -> None:
    """What each version of the page said otherwise than the one before."""
    rows = [change for before, after in pairwise(page.pages) for change in _changed(before, after)]
    st.dataframe(
        {
            "When": [at for at, *_ in rows],
            "What": [what for _, what, *_ in rows],
            "Before": [before for *_, before, _ in rows],
            "After": [after for *_, after in rows],
        },
        hide_index=True,
        height="content" if len(rows) <= HIGH else 35 * (HIGH + 1) + 3,
        column_config={"When": time("When", "When the new page was first read, in UTC.")},
        alt="Changes of the market's page",
    )


def _changed(before: Page, after: Page) -> Iterator[tuple[datetime, str, str, str]]:
    for name, what in FIELDS.items():
        old, new = getattr(before.market, name), getattr(after.market, name)
        if old != new:
            yield after.at, what, _text(name, old), _text(name, new)


def _text(name: str, value: Any) -> str:
    if isinstance(value, datetime):
        return moment(value)
    return WRITTEN[name](value) if name in WRITTEN else str(value)
