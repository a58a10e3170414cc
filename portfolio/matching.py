"""What a snapshot offers to an order, and the order matched against it: the same for every fill rule."""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache
from itertools import accumulate, pairwise
from typing import TypeVar

from markets.hashes import quote_hash
from markets.model import Level, Listing, Market, MarketId, Snapshot
from portfolio.fills import FillRequest, fill_rule
from portfolio.model import Action, FillLevel, Rejection, Side
from portfolio.money import affordable, cost, dollars, fee, number, percent, worth
from portfolio.quotes import check_figures, check_spread, check_time, reject, side_quote
from portfolio.rules import Rules

Priced = TypeVar("Priced", Level, FillLevel)


@dataclass(frozen=True, slots=True)
class Offers:
    """Levels as they are when taken whole, best first, one a price, in prices of the side's own share.

    `totals` is what the levels up to each one come to: dollars on a buy, shares on a sale.
    `beyond` is the next price, which is past `reach`; None where the book is exhausted. `limited` is
    whether an agent's own limit says so, and not the rules. `rate` is that of the fee.
    """

    action: Action
    market: Market
    quoted_at: datetime
    rate: int
    levels: Sequence[FillLevel]
    totals: Sequence[int]
    reach: int
    beyond: int | None
    limited: bool = False

    @property
    def end(self) -> str:
        """Why there is no more than these levels."""
        if self.beyond is None:
            return "the book is exhausted"
        which = "next" if self.levels else "best"
        end = "the limit is" if self.limited else "the rules go to"
        return f"the {which} price is {dollars(self.beyond)}, and {end} {dollars(self.reach)}"


@dataclass(frozen=True, slots=True)
class OrderMatch:
    """What was bought or sold, level by level, and in words what was left and why.

    `amount` is all that was paid, or all that was received: fees are in it. So for each level.
    """

    shares: int
    amount: int
    fee: int
    levels: tuple[FillLevel, ...]
    left: str = ""


@dataclass(frozen=True, slots=True)
class Room:
    """How much may be traded in a market: the cash that moves by a decision and over a cohort.

    By a decision no more shares either than the thinner side of the book has, None where there is none: cash
    alone would let a long shot be bought at a size that nobody answers for.
    """

    decision: int
    cohort: int
    shares: int | None


class SnapshotOffers:
    """What a snapshot offers under the rules, worked out once, and the same for every entrant.

    How much had been traded in a market is as it was known `first`, where prices were looked at again.
    """

    def __init__(self, snapshot: Snapshot, rules: Rules, first: Snapshot | None = None):
        self.at, self.rules = snapshot.seen_at, rules
        self.offered = {listing.market.id for listing in snapshot.shown}
        # The first of two listings of a market counts, and what is shown comes before what is held.
        self.listings: dict[MarketId, Listing] = {x.market.id: x for x in reversed(tuple(snapshot))}
        self._first = self.listings if first is None else {x.market.id: x for x in reversed(tuple(first))}
        self._offers: dict[tuple[MarketId, Side, Action], Offers | Rejection] = {}
        self._hashes: dict[MarketId, str] = {}
        self._rooms: dict[MarketId, Room | None] = {}

    def find(self, market_id: MarketId, side: Side, action: Action) -> Offers | Rejection:
        """What may be traded at on a side of a market, or why nothing may."""
        key = market_id, side, action
        if key not in self._offers:
            listing = self.listings[market_id]
            self._offers[key] = check_time(listing, self.at, self.rules) or find_offers(
                action, side, listing, self.rules
            )
        return self._offers[key]

    def room(self, market_id: MarketId) -> Room | None:
        """How much may be traded in a market; None is no limit, by the rules or without a known volume."""
        if market_id not in self._rooms:
            self._rooms[market_id] = self._find_room(market_id)
        return self._rooms[market_id]

    def _find_room(self, market_id: MarketId) -> Room | None:
        most, ever = self.rules.max_of_volume, self.rules.max_of_volume_cohort
        listing = self._first.get(market_id)
        quote = None if listing is None else listing.quote
        if most is None or ever is None or quote is None or quote.volume is None:
            return None
        shares = quote.shares_within(self.rules.worst_price)
        return Room(worth(quote.volume, most), worth(quote.volume, ever), shares)

    def room_text(self, market_id: MarketId) -> str:
        """Why there is no more room in a market that has a limit."""
        most, ever = percent(self.rules.max_of_volume or 0), percent(self.rules.max_of_volume_cohort or 0)
        quote = self._first[market_id].quote
        volume, room = (quote.volume or 0) if quote else 0, self.room(market_id)
        text = f"a decision trades at most {most}, and a cohort {ever}, of its volume of {dollars(volume)}"
        if room is None or room.shares is None:
            return text
        return f"{text}; a decision at most the {number(room.shares)} shares on the thinner side of its book"

    def quote_hash(self, market_id: MarketId, _quoted_at: datetime) -> str:
        """The hash of the quote of that time that a fill in this market is done on."""
        if market_id not in self._hashes:
            quote = self.listings[market_id].quote
            self._hashes[market_id] = "" if quote is None else quote_hash(quote)
        return self._hashes[market_id]


class WorseOffers(SnapshotOffers):
    """What two snapshots offer, order by order at the price that is worse for who trades.

    The later one decides on what may be traded at all; where the earlier one offers nothing, it is alone.
    """

    def __init__(self, stored: SnapshotOffers, fresh: Snapshot, first: Snapshot):
        super().__init__(fresh, stored.rules, first)
        self.stored = stored

    def find(self, market_id: MarketId, side: Side, action: Action) -> Offers | Rejection:
        """What may be traded at on a side of a market, or why nothing may."""
        fresh = super().find(market_id, side, action)
        stored = self.stored.find(market_id, side, action)
        if isinstance(fresh, Rejection) or isinstance(stored, Rejection):
            return fresh
        if not (fresh.levels and stored.levels):
            return fresh
        one, other = stored.levels[0].price, fresh.levels[0].price
        return stored if (one > other if action == "buy" else one < other) else fresh

    def quote_hash(self, market_id: MarketId, quoted_at: datetime) -> str:
        """The hash of the quote of that time: the earlier one, or the later one."""
        fresh = self.listings[market_id].quote
        if fresh is not None and fresh.at == quoted_at:
            return super().quote_hash(market_id, quoted_at)
        return self.stored.quote_hash(market_id, quoted_at)


@lru_cache(maxsize=4)
def offers_at_snapshot(snapshot: Snapshot, rules: Rules) -> SnapshotOffers:
    """What a snapshot offers under the rules, made once for all agents that work out what to bet there."""
    return SnapshotOffers(snapshot, rules)


def match_listing(
    action: Action, size: int, side: Side, listing: Listing, rules: Rules, limit: int | None = None
) -> OrderMatch | Rejection:
    """Buy for `size` dollars, or sell `size` shares, as far as prices and the limit allow."""
    offers = find_offers(action, side, listing, rules)
    return offers if isinstance(offers, Rejection) else match_levels(size, offers, limit)


def match_levels(size: int, offered: Offers, limit: int | None = None) -> OrderMatch | Rejection:
    """Take `size` (dollars on a buy, shares on a sale) from the best levels on."""
    near = within_limit(offered, limit)
    # Whole levels as far as they go, then a part of the next one.
    count = bisect_right(near.totals, size)
    rest = size - (near.totals[count - 1] if count else 0)
    levels, more = [*near.levels[:count]], len(near.levels) > count
    if rest and more and (part := _partial_level(rest, near.levels[count].price, near)).shares:
        levels.append(part)
        rest = 0
    left = (
        unmatched_text(rest, near.action, "too little for another share" if more else near.end)
        if rest
        else ""
    )
    shares, paid = sum(level.shares for level in levels), sum(level.amount for level in levels)
    filled = OrderMatch(shares, paid, sum(level.fee for level in levels), tuple(levels), left)
    return _reject_too_little(filled, near) or filled


def _partial_level(size: int, price: int, near: Offers) -> FillLevel:
    """What is got of a level that is more than enough: on a buy all of the money is paid."""
    if near.action == "sell":
        return sold_level(size, price, near.rate)
    shares = affordable(size, price, near.rate)
    return FillLevel(price, shares, size, fee(shares, price, near.rate))


def unmatched_text(rest: int, action: Action, why: str) -> str:
    """What was left of an order, and why."""
    if action == "buy":
        return f"{dollars(rest)} was not spent: {why}"
    return f"{number(rest)} shares were not sold: {why}"


def _reject_too_little(filled: OrderMatch, near: Offers) -> Rejection | None:
    market = near.market
    if filled.shares == 0:
        return reject("unfilled", filled.left, market)
    if filled.shares < market.min_shares:
        shares, least = number(filled.shares), number(market.min_shares)
        return reject("under_min_shares", f"{shares} shares are below the minimum of {least}", market)
    return None


def find_offers(action: Action, side: Side, listing: Listing, rules: Rules) -> Offers | Rejection:
    """What the rule of the fills finds in a quote, if the quote is sound."""
    market, quote = listing.market, listing.quote
    if quote is None:
        return reject("no_quote", "the market has no quote", market)
    if (unsound := check_figures(quote, market) or check_spread(quote, market, rules)) is not None:
        return unsound
    offered = fill_rule(rules.fill).levels(FillRequest(action, side_quote(quote, side), market, rules))
    if isinstance(offered, Rejection):
        return offered
    levels, worst = _sort_levels(action, offered), rules.worst_price
    reach = 0 if not levels else levels[0].price + (worst if action == "buy" else -worst)
    near, beyond = _within_reach(reach, action, levels)
    rate = market.fee_rate if rules.fee == "venue" else 0
    return Offers(action, market, quote.at, rate, *whole_levels(action, near, rate), reach, beyond)


def whole_levels(action: Action, levels: Iterable[Level], rate: int) -> tuple[list[FillLevel], list[int]]:
    """Levels as they are when taken whole, and what they come to up to each one."""
    if action == "buy":
        bought = [_bought_level(level, rate) for level in levels]
        return bought, list(accumulate([level.amount for level in bought]))
    wholes = [sold_level(level.shares, level.price, rate) for level in levels]
    return wholes, list(accumulate([level.shares for level in wholes]))


def _bought_level(level: Level, rate: int) -> FillLevel:
    """All shares of a level and what they cost, rounded up."""
    charged = fee(level.shares, level.price, rate)
    return FillLevel(level.price, level.shares, cost(level.shares, level.price) + charged, charged)


def sold_level(shares: int, price: int, rate: int) -> FillLevel:
    """Shares sold at a price and what they bring, rounded down; a fee is never more than that."""
    gross = worth(shares, price)
    charged = min(gross, fee(shares, price, rate))
    return FillLevel(price, shares, gross - charged, charged)


def within_limit(offers: Offers, limit: int | None) -> Offers:
    """The offers that are no worse than an agent's own limit."""
    if limit is None or (limit >= offers.reach if offers.action == "buy" else limit <= offers.reach):
        return offers
    near, beyond = _within_reach(limit, offers.action, offers.levels)
    beyond = offers.beyond if beyond is None else beyond
    return replace(
        offers, levels=near, totals=offers.totals[: len(near)], reach=limit, beyond=beyond, limited=True
    )


def _within_reach(
    reach: int, action: Action, levels: Sequence[Priced]
) -> tuple[Sequence[Priced], int | None]:
    """The levels within reach, and the price of the first beyond."""
    buys = action == "buy"
    for place, level in enumerate(levels):
        if level.price > reach if buys else level.price < reach:
            return levels[:place], level.price
    return levels, None


def _sort_levels(action: Action, levels: Sequence[Level]) -> Sequence[Level]:
    """One level a price, the best first, whatever order they come in."""
    buys = action == "buy"
    if all(a.price < b.price if buys else a.price > b.price for a, b in pairwise(levels)):
        return levels
    at: dict[int, int] = {}
    for level in levels:
        at[level.price] = at.get(level.price, 0) + level.shares
    return [Level(price, at[price]) for price in sorted(at, reverse=not buys)]
