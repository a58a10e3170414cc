"""Markets as a table: what each costs, what agents make of it, and how it stands."""

from collections.abc import Sequence

from markupsafe import Markup

from arena.record.queries.markets import ForecastSpread, ListedMarket
from dashboard.blocks import tag
from dashboard.figures import money, outcome, percent
from dashboard.html_table import HtmlCell, html_table, number, picture, time, words
from dashboard.links import Address, in_app, way
from dashboard.queries.markets import MarketLine, Status
from dashboard.svg import CHOSEN, SMALL, Scale, interval, sparkline
from markets.millionths import ONE

COLUMNS = {
    "question": words("Question", "What the market asks, by its newest page."),
    "price": number("Price ¢", "%.1f", "What YES costs now, in cents: the mid, else the last trade."),
    "trend": picture("30 days", "The price over the last 30 days before now, or before the market closed."),
    "median": number("Median %", "%.0f", "The median of what agents stated in the newest round."),
    "range": picture(
        "Agents and price",
        "Bar: from the lowest to the highest agent. Point: their median. Line: the price.",
    ),
    "spread": number(
        "Spread pp",
        "%.0f",
        "Between the lowest and the highest probability that agents stated in the newest round, in points "
        "of percent; without agents that hold no opinion (market, constant, random, favourite).",
    ),
    "status": words("Status", "Open; closed while the result is awaited; or how it resolved."),
    "closes": time("Closes", "When the market closes, in UTC.", "day"),
    "held": number("Held", "localized", "Open positions: an agent's on one side, in each cohort."),
    "trades": number("Trades", "localized", "Purchases and sales of all agents in all cohorts."),
    "volume": number("Volume $", "compact", "What everyone has traded at the venue, in dollars."),
}
"""The columns of the list. Related markets have some of them."""


def market_table(
    lines: Sequence[MarketLine], keys: Sequence[str] = tuple(COLUMNS), address: Address = in_app
) -> Markup:
    """Markets, a row each, which leads to its page."""
    rows = [_row(line) for line in lines]
    data = {key: [row[key] for row in rows] for key in keys}
    hrefs = [address(way("market", market=line.market.id)) for line in lines]
    return html_table(data, COLUMNS, "Markets: one row each", hrefs, sortable=True)


def _row(line: MarketLine) -> dict[str, object]:
    market, spread = line.market, line.spread
    several = spread if spread is not None and spread.agents > 1 else None
    return {
        "question": market.question,
        "price": percent(line.price),
        "trend": sparkline(line.prices, CHOSEN[0]),
        "median": percent(spread.median) if spread else None,
        "range": _range(spread, line.price),
        "spread": percent(several.high - several.low) if several else None,
        "status": status_cell(line.status, market),
        "closes": market.closes_at,
        "held": line.interest.held,
        "trades": line.interest.trades,
        "volume": money(line.volume),
    }


def _range(spread: ForecastSpread | None, price: int | None) -> Markup | None:
    """What agents say, from none to certain, around the price."""
    if spread is None or price is None:
        return None
    low, middle, high = (value - price for value in (spread.low, spread.median, spread.high))
    return interval(middle, low, high, CHOSEN[0], Scale(-price, ONE - price, 7, SMALL[0] - 7))


def status_cell(status: Status, market: ListedMarket) -> HtmlCell:
    """How a market stands, in a word: how it resolved, once it has."""
    said = outcome(market.ended, market.payout) or {"waiting": "closed"}.get(status, status)
    return HtmlCell(tag(said, said.lower()), said)
