"""What holdings are worth at a snapshot: at the mid for the curve, at the bid for who must sell."""

from datetime import datetime, timedelta

from markets.model import Quote, Snapshot
from portfolio.model import Holdings, Lot, Mark, Side
from portfolio.money import worth
from portfolio.sides import own


def mark(holdings: Holdings, snapshot: Snapshot, max_age: timedelta | None = None) -> Mark:
    """Value every lot at one snapshot.

    A lot is worth its shares at the mid; where the quote has none, at the last trade. The snapshot
    carries the last known quote of what is held, with the time it was true; a quote older than
    `max_age`, or one without a mid, counts as stale. A price of 0 is a price. A lot for which there
    is no price at all is valued at its cost, and counts as stale. The liquidation value is at the bid,
    before fees and whatever the depth: 0 where nobody bids.
    """
    quotes = {listing.market.id: listing.quote for listing in reversed(tuple(snapshot))}
    value = liquidation = stale = 0
    for (market_id, side), lot in holdings.lots.items():
        quote = quotes.get(market_id)
        value += _value(lot, quote, side)
        liquidation += _proceeds(lot, quote, side)
        stale += _is_stale(quote, snapshot.at, max_age)
    cost = sum(lot.cost for lot in holdings.lots.values())
    return Mark(snapshot.at, holdings.cash, value, liquidation, cost, holdings.realised, stale)


def _value(lot: Lot, quote: Quote | None, side: Side) -> int:
    if quote is None:
        return lot.cost
    seen = own(quote, side)
    price = seen.last if seen.mid is None else seen.mid
    return lot.cost if price is None else worth(lot.shares, price)


def _proceeds(lot: Lot, quote: Quote | None, side: Side) -> int:
    bid = None if quote is None else own(quote, side).bid
    return 0 if bid is None else worth(lot.shares, bid)


def _is_stale(quote: Quote | None, at: datetime, max_age: timedelta | None) -> bool:
    if quote is None or quote.mid is None:
        return True
    return max_age is not None and at - quote.at > max_age
