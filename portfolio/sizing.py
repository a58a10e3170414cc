"""How much to bet: a quarter of the Kelly stake on what is believed, or the minimum; within the rules."""

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
    """A quarter of the Kelly stake on every edge, best first while the cash lasts.

    Stake = ¼ · cash · (p − price) / (1 − price) at the price that would be paid, rounded down.
    Markets in which something is held are left alone, as are stakes under the minimum.
    """
    cash, bets = holdings.cash, list[Bet]()
    left = worth(cash, rules.max_bet) if rules.cap == "decision" else cash
    edges = _edges(beliefs, holdings, snapshot, offers_at_snapshot(snapshot, rules))
    for edge in sorted(edges, key=lambda edge: edge.price - edge.belief):
        base = cash - sum(bet.amount for bet in bets) if rules.base == "running" else cash
        kelly = cash * (edge.belief - edge.price) // (CAUTION * (ONE - edge.price))
        stake = min(kelly, worth(base, rules.max_bet), left)
        if stake >= max(rules.min_bet, 1):
            left -= stake
            reason = f"believes {edge.belief / ONE:.3f} against a price of {edge.price / ONE:.3f}"
            bets.append(Bet(edge.market_id, edge.side, stake, reason=reason))
    return tuple(bets)


def _edges(
    beliefs: Mapping[MarketId, int], holdings: Holdings, snapshot: Snapshot, offers: SnapshotOffers
) -> Iterator[_Edge]:
    held = {market_id for market_id, _ in holdings.lots}
    for listing in snapshot.shown:
        market_id = listing.market.id
        if market_id not in beliefs or market_id in held:
            continue
        p = beliefs[market_id]
        sides: tuple[tuple[Side, int], ...] = (("YES", p), ("NO", ONE - p))
        for side, belief in sides:
            price = first_price(offers, market_id, side)
            if price is not None and price < belief:
                yield _Edge(market_id, side, belief, price)


def first_price(offers: SnapshotOffers, market_id: MarketId, side: Side) -> int | None:
    """What a first share of a side costs by the rules; None where it can't be bought."""
    offered = offers.find(market_id, side, "buy")
    if isinstance(offered, Rejection) or not offered.levels:
        return None
    return offered.levels[0].price


def minimum_bets(
    wanted: Iterable[tuple[MarketId, Side]], most: int, cash: int, offers: SnapshotOffers, reason: str
) -> tuple[Bet, ...]:
    """The minimum on the first of these sides that can be bought, while the rules and the cash allow it."""
    rules, bets = offers.rules, list[Bet]()
    size = max(rules.min_bet, 1)
    for market_id, side in wanted:
        if len(bets) >= most or size > _room(cash, size * len(bets), rules):
            break
        if first_price(offers, market_id, side) is not None:
            bets.append(Bet(market_id, side, size, reason=reason))
    return tuple(bets)


def _room(cash: int, spent: int, rules: Rules) -> int:
    """The most that one more bet may be, after others in the same decision."""
    if rules.cap == "decision":
        return worth(cash, rules.max_bet) - spent
    base = cash - spent if rules.base == "running" else cash
    return min(worth(base, rules.max_bet), cash - spent)
