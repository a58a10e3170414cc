"""How much to bet: a quarter of the Kelly stake on what is believed, or the minimum, within the rules."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from markets.millionths import ONE
from markets.model import MarketId, Snapshot
from portfolio.matching import SnapshotOffers, offers_at_snapshot
from portfolio.model import Bet, Holdings, Rejection, Side
from portfolio.money import worth
from portfolio.rules import Rules

CAUTION = 4
"""A quarter of the Kelly stake."""


@dataclass(frozen=True, slots=True)
class _Edge:
    """A side of a market that is worth more than it costs, both in millionths."""

    market_id: MarketId
    side: Side
    belief: int
    price: int


def quarter_kelly(
    beliefs: Mapping[MarketId, int], holdings: Holdings, snapshot: Snapshot, rules: Rules
) -> tuple[Bet, ...]:
    """Return bets of a quarter of the Kelly stake on every edge, the widest first, while the cash lasts.

    Stake = ¼ · cash · (p − price) / (1 − price) at the price that would be paid, rounded down.
    Markets in which something is held are left alone, as are stakes under the minimum.
    """
    if not rules.money:
        return ()

    cash = holdings.cash
    least = max(rules.min_bet, 1)
    spent = 0
    bets = []

    edges = _edges(beliefs, holdings, snapshot, offers_at_snapshot(snapshot, rules))
    for edge in sorted(edges, key=lambda edge: edge.price - edge.belief):
        # The stake is rounded down, so that it is never over a quarter of Kelly's.
        kelly = cash * (edge.belief - edge.price) // (CAUTION * (ONE - edge.price))
        stake = min(kelly, _largest_bet(cash, spent, rules))
        if stake >= least:
            spent += stake
            reason = f"believes {edge.belief / ONE:.3f} against a price of {edge.price / ONE:.3f}"
            bets.append(Bet(edge.market_id, edge.side, stake, reason=reason))

    return tuple(bets)


def _edges(
    beliefs: Mapping[MarketId, int], holdings: Holdings, snapshot: Snapshot, offers: SnapshotOffers
) -> Iterator[_Edge]:
    """Yield the sides of markets that cost less than they are believed to be worth."""
    held = {market_id for market_id, _ in holdings.lots}

    for listing in snapshot.shown:
        market_id = listing.market.id
        if market_id not in beliefs or market_id in held:
            continue

        probability = beliefs[market_id]
        sides: tuple[tuple[Side, int], ...] = (("YES", probability), ("NO", ONE - probability))
        for side, belief in sides:
            price = first_price(offers, market_id, side)
            if price is not None and price < belief:
                yield _Edge(market_id, side, belief, price)


def first_price(offers: SnapshotOffers, market_id: MarketId, side: Side) -> int | None:
    """Return what the first share of a side costs under the rules; None if it can't be bought."""
    offered = offers.find(market_id, side, "buy")
    if isinstance(offered, Rejection) or not offered.levels:
        return None
    return offered.levels[0].price


def minimum_bets(
    sides: Iterable[tuple[MarketId, Side]], most: int, cash: int, offers: SnapshotOffers, reason: str
) -> tuple[Bet, ...]:
    """Return bets of the minimum on the first `most` of these sides that can be bought, while cash lasts."""
    rules = offers.rules
    if not rules.money:
        return ()

    # Where the rules have no minimum, the smallest bet is a millionth.
    size = max(rules.min_bet, 1)
    bets: list[Bet] = []

    for market_id, side in sides:
        if len(bets) >= most or size > _largest_bet(cash, size * len(bets), rules):
            break
        if first_price(offers, market_id, side) is not None:
            bets.append(Bet(market_id, side, size, reason=reason))

    return tuple(bets)


def _largest_bet(cash: int, spent: int, rules: Rules) -> int:
    """Return the most that one more bet may be, after others in the same decision."""
    # The caps are rounded down, as they are when the bet is checked.
    if rules.cap == "decision":
        return worth(cash, rules.max_bet) - spent
    base = cash - spent if rules.base == "running" else cash
    return min(worth(base, rules.max_bet), cash - spent)
