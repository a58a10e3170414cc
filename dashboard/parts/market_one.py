"""One market: what it asks and costs, who said what of it, and how it ended."""

from collections.abc import Iterator, Mapping
from datetime import datetime

import streamlit as st

from dashboard.chart import draw
from dashboard.charts.market import TRADES, over_time
from dashboard.choice import choice
from dashboard.figures import outcome
from dashboard.html_table import time
from dashboard.links import step, way
from dashboard.listing import listing
from dashboard.palette import AgentLook
from dashboard.parts.market_bets import show_deals, show_positions
from dashboard.parts.market_list import COLUMNS as LISTED
from dashboard.parts.market_list import data_of
from dashboard.parts.market_texts import show_texts
from dashboard.queries.market import DEALT, MarketPage, history
from dashboard.queries.markets import MarketFilter, market_list
from dashboard.source import RecordSource
from dashboard.times import moment
from dashboard.words import cents, code, count, dollars, plain, share
from markets.millionths import ONE
from markets.model import Market

ALL = "all"


def show_market(record: RecordSource, page: MarketPage, looks: Mapping[str, AgentLook]) -> None:
    """The page of one market, from the question down to its rules."""
    market = page.market
    step("All markets", "market")
    st.subheader(plain(market.question, most=1_000), anchor=False)
    _figures(page)
    _history(record, page, looks)
    show_positions(page, looks)
    show_deals(page, looks)
    _ends(page)
    _event(record, market)
    show_texts(page)


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
        volume = "–" if quote is None or quote.volume is None else dollars(quote.volume // ONE * ONE)
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


def _history(record: RecordSource, page: MarketPage, looks: Mapping[str, AgentLook]) -> None:
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
    draw(chart, says="The market's price over time, with what agents stated and traded")


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
    listing(
        {
            "Version": [end.version for end, _ in ends],
            "Outcome": [outcome(True, end.payout) for end, _ in ends],
            "Known since": [end.known_at for end, _ in ends],
            "Learnt": [learnt_at for _, learnt_at in ends],
            "Source": [end.source for end, _ in ends],
        },
        "Resolution: one row a version",
        {
            "Known since": time("Known since", "From when on it could be known, in UTC."),
            "Learnt": time("Learnt", "The decision time at which a cohort asked and was told, in UTC."),
        },
    )


def _paid(payout: int | None) -> str:
    said = outcome(True, payout)
    if payout is None:
        return "Refunded: everyone got back what they had paid."
    return f"**{said}**: a share of YES paid {cents(payout)}, a share of NO {cents(ONE - payout)}."


def _event(record: RecordSource, market: Market) -> None:
    others = market_list(record, MarketFilter(event=market.event_id))
    lines = [line for line in others.lines if line.market.id != market.id]
    if not lines:
        return
    st.subheader("Others of the event", anchor=False)
    columns = {key: LISTED[key] for key in ("question", "price", "spread", "status", "outcome", "closes")}
    data = data_of(lines)
    ways = [way("market", market=line.market.id) for line in lines]
    listing({key: data[key] for key in columns}, "Markets of the event", columns, ways)
    step("Search among them", "market", event=market.event_id)
