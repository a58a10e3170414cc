"""How much a rule-playing agent bets on what it believes."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from agents.model import View
from markets.millionths import ONE
from markets.model import Listing, MarketId
from portfolio.model import Bet, Side
from portfolio.money import worth
from portfolio.rules import Rules
from portfolio.sides import own

CAUTION = 4
"""A quarter of the Kelly stake."""


@dataclass(frozen=True, slots=True)
class _Edge:
    """A side of a market that is worth more than it costs, both in millionths."""

    market_id: MarketId
    side: Side
    belief: int
    price: int


def quarter_kelly(beliefs: Mapping[MarketId, int], view: View) -> tuple[Bet, ...]:
    """A quarter of the Kelly stake on every edge, best first while the cash lasts.

    Stake = ¼ · cash · (p − price) / (1 − price) at the price that would be paid, rounded down.
    Markets in which something is held are left alone, as are stakes under the minimum.
    """
    rules, cash = view.rules, view.holdings.cash
    left = worth(cash, rules.max_bet) if rules.cap == "decision" else cash
    bets: list[Bet] = []
    for edge in sorted(_edges(beliefs, view), key=lambda edge: edge.price - edge.belief):
        base = cash - sum(bet.amount for bet in bets) if rules.base == "running" else cash
        kelly = cash * (edge.belief - edge.price) // (CAUTION * (ONE - edge.price))
        stake = min(kelly, worth(base, rules.max_bet), left)
        if stake >= rules.min_bet:
            left -= stake
            bets.append(Bet(edge.market_id, edge.side, stake, reason=_reason(edge)))
    return tuple(bets)


def _edges(beliefs: Mapping[MarketId, int], view: View) -> Iterator[_Edge]:
    held = {market_id for market_id, _ in view.holdings.lots}
    for listing in view.snapshot.shown:
        market_id = listing.market.id
        if market_id not in beliefs or market_id in held:
            continue
        p = beliefs[market_id]
        sides: tuple[tuple[Side, int], ...] = (("YES", p), ("NO", ONE - p))
        for side, belief in sides:
            price = pays(listing, side, view.rules)
            if price is not None and price < belief:
                yield _Edge(market_id, side, belief, price)


def pays(listing: Listing, side: Side, rules: Rules) -> int | None:
    """What a first share of a side costs by these rules; None where it can't be bought."""
    if listing.quote is None:
        return None
    quote = own(listing.quote, side)
    match rules.fill:
        case "mid":
            price = quote.mid
        case "spread":
            price = None if quote.mid is None else quote.mid + max(listing.market.tick, ONE // 100)
        case _:
            price = quote.ask
    return price if price is not None and 0 < price < ONE else None


def _reason(edge: _Edge) -> str:
    return f"believes {edge.belief / ONE:.3f} against a price of {edge.price / ONE:.3f}"
