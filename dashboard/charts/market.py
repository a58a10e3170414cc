"""One market over time: its price, what agents said of it, and what they bought and sold."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import altair as alt

from arena.record.queries.market_history import MarketForecast, MarketRound, MarketTrade, StoredPrice
from dashboard.charts.style import Chart, colours, data, legend, unchecked
from dashboard.palette import MARKET, AgentLook
from markets.millionths import ONE

TRADES = 400
"""So many trades are drawn, the largest."""
SMALLEST, LARGEST = 30, 500
"""The area of trades in square pixels."""
CROSSED = "M-1,-1L1,1M-1,1L1,-1"
DEEDS: Mapping[tuple[str, str], tuple[str, str]] = {
    ("YES", "buy"): ("bought YES", "triangle-up"),
    ("NO", "buy"): ("bought NO", "triangle-down"),
    ("YES", "sell"): ("sold YES", CROSSED),
    ("NO", "sell"): ("sold NO", CROSSED),
}
"""What was done, in words and as a shape: up for YES, down for NO, crossed out for a sale."""

Events = Sequence[tuple[datetime, str]]
"""What happened to the market, and when: a thin upright line each."""


@unchecked
def over_time(
    prices: Sequence[StoredPrice],
    until: datetime,
    said: Sequence[MarketForecast],
    dealt: Sequence[MarketTrade],
    offered: Sequence[MarketRound],
    events: Events,
    looks: Mapping[str, AgentLook],
) -> Chart:
    """The price of YES until an instant, and on it every agent's probabilities and trades."""
    rounds = {place.round_id: place for place in offered}
    chances = [_chance(one, rounds[one.round_id]) for one in said if one.round_id in rounds]
    trades = [_trade(one) for one in sorted(dealt, key=lambda one: -one.amount)[:TRADES]]
    _sized(trades)
    spoke = {row["agent"] for row in (*chances, *trades)}
    names = [name for name, look in looks.items() if name in spoke and look.colour != MARKET]
    chances = [row for row in chances if row["agent"] in names]
    chosen = alt.selection_point(fields=["agent"], bind="legend", name="chosen")
    layers = [*_price(prices, until), _events(events)]
    if names:
        layers += _agents(chances, trades, names, looks, chosen)
    return alt.layer(*layers).properties(height=440)


def _price(prices: Sequence[StoredPrice], until: datetime) -> list[alt.Chart]:
    """The price as a line in steps, with the room between bid and ask."""
    rows = [_priced(price) for price in prices]
    if rows and prices[-1].at < until:
        rows.append(rows[-1] | {"at": until.isoformat()})
    x = alt.X("at:T", title=None, axis=alt.Axis(format="%-d %b", grid=False, labelOverlap=True))
    y = alt.Y(
        "price:Q",
        title="Price of YES, and stated probability",
        scale=alt.Scale(domain=[0, 1]),
        axis=alt.Axis(format=".0%", tickCount=6),
    )
    tips = [
        alt.Tooltip("at:T", title="From", format="%-d %b %Y %H:%M"),
        alt.Tooltip("price:Q", title="Price of YES", format=".1%"),
        alt.Tooltip("bid:Q", title="Bid", format=".1%"),
        alt.Tooltip("ask:Q", title="Ask", format=".1%"),
    ]
    room = data(rows).mark_area(color=MARKET, opacity=0.15, interpolate="step-after")
    line = data(rows).mark_line(color=MARKET, strokeWidth=1.5, interpolate="step-after")
    return [
        room.encode(x=x, y=alt.Y("bid:Q"), y2="ask:Q"),
        line.encode(x=x, y=y),
        data(rows).mark_point(color=MARKET, filled=True, size=60, opacity=0).encode(x=x, y=y, tooltip=tips),
    ]


def _priced(price: StoredPrice) -> dict[str, Any]:
    shown = {"price": price.price, "bid": price.bid, "ask": price.ask}
    shares = {name: None if value is None else value / ONE for name, value in shown.items()}
    return {"at": price.at.isoformat()} | shares


def _events(events: Events) -> alt.Chart:
    rows = [{"at": at.isoformat(), "what": what} for at, what in events]
    tips = [alt.Tooltip("what:N", title="Here"), alt.Tooltip("at:T", title="At", format="%-d %b %Y %H:%M")]
    lines: alt.Chart = data(rows).mark_rule(color=MARKET, strokeWidth=1.5, strokeDash=[2, 3])
    return lines.encode(x="at:T", tooltip=tips)


def _agents(
    chances: list[dict[str, Any]],
    trades: list[dict[str, Any]],
    names: Sequence[str],
    looks: Mapping[str, AgentLook],
    chosen: alt.Parameter,
) -> list[alt.Chart]:
    named = legend()
    named.symbolOpacity = 1
    colour = alt.Color("agent:N", scale=colours(names, looks), legend=named)
    shapes = alt.Scale(domain=list(names), range=[looks[name].shape for name in names])
    place = {"x": alt.X("at:T"), "y": alt.Y("chance:Q")}
    lines = (
        data(chances)
        .mark_line(strokeWidth=1)
        .encode(
            **place,
            color=colour,
            detail="course:N",
            opacity=alt.condition(chosen, alt.value(0.35), alt.value(0.04)),
        )
    )
    points = (
        data(chances)
        .mark_point(filled=True, size=45)
        .encode(
            **place,
            color=colour,
            shape=alt.Shape("agent:N", scale=shapes, legend=named),
            opacity=alt.condition(chosen, alt.value(0.9), alt.value(0.06)),
            tooltip=[*_of_whom(), alt.Tooltip("chance:Q", title="Stated", format=".1%")],
        )
    )
    deeds = [
        data(rows)
        .mark_point(shape=shape, filled=shape != CROSSED, strokeWidth=2)
        .encode(
            **place,
            color=colour,
            size=alt.Size("area:Q", scale=None),
            opacity=alt.condition(chosen, alt.value(0.7), alt.value(0.06)),
            tooltip=_of_a_trade(),
        )
        for shape in dict.fromkeys(shape for _, shape in DEEDS.values())
        if (rows := [row for row in trades if row["shape"] == shape])
    ]
    return [lines, *deeds, points.add_params(chosen)]


def _chance(said: MarketForecast, place: MarketRound) -> dict[str, Any]:
    return {
        "agent": said.agent,
        "course": f"{place.cohort} {said.agent}",
        "cohort": place.cohort,
        "round": place.number,
        "at": place.at.isoformat(),
        "chance": said.probability / ONE,
    }


def _trade(dealt: MarketTrade) -> dict[str, Any]:
    words, shape = DEEDS[dealt.side, dealt.action]
    price = dealt.price / ONE
    return {
        "agent": dealt.agent,
        "cohort": dealt.cohort,
        "round": dealt.round,
        "at": dealt.at.isoformat(),
        "chance": price if dealt.side == "YES" else 1 - price,
        "what": words,
        "shape": shape,
        "paid": price,
        "shares": dealt.shares / ONE,
        "amount": dealt.amount / ONE,
    }


def _sized(trades: list[dict[str, Any]]) -> None:
    """How large each is drawn: its area is as its dollars."""
    most = max((row["amount"] for row in trades), default=0) or 1
    for row in trades:
        row["area"] = SMALLEST + (LARGEST - SMALLEST) * row["amount"] / most


def _of_whom() -> list[alt.Tooltip]:
    return [
        alt.Tooltip("agent:N", title="Agent"),
        alt.Tooltip("cohort:Q", title="Cohort"),
        alt.Tooltip("round:Q", title="Round"),
        alt.Tooltip("at:T", title="At", format="%-d %b %Y %H:%M"),
    ]


def _of_a_trade() -> list[alt.Tooltip]:
    return [
        *_of_whom(),
        alt.Tooltip("what:N", title="Did"),
        alt.Tooltip("amount:Q", title="Dollars, fee included", format="$,.2f"),
        alt.Tooltip("shares:Q", title="Shares", format=",.1f"),
        alt.Tooltip("paid:Q", title="Price of its share", format=".1%"),
    ]
