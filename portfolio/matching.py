"""What a snapshot offers to an order, and the order matched against it: the same for every fill rule."""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache
from typing import TypeVar

from markets.hashes import quote_hash
from markets.model import Level, Listing, Market, MarketId, Snapshot
from portfolio.fills import FillRequest, fill_rule
from portfolio.model import Action, FillLevel, Rejection, Side
from portfolio.money import affordable, cost, dollars, fee, number, percent, worth
from portfolio.quotes import check_figures, check_spread, check_time, reject, side_quote
from portfolio.rules import Rules

AnyLevel = TypeVar("AnyLevel", Level, FillLevel)


@dataclass(frozen=True, slots=True)
class Offers:
    """The levels that orders may take, best first, one a price, in prices of the side's own share.

    Each level says what all of it costs or brings, and `totals` what the levels up to each one come to:
    dollars on a buy, shares on a sale. `reach` is the worst price that may be traded at, `beyond` the next
    price past it, None where the book is exhausted. `limited` tells whether an agent's own limit sets the
    reach, and not the rules. `rate` is that of the fee.
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
        """Return why there is no more than these levels."""
        if self.beyond is None:
            return "the book is exhausted"

        which = "next" if self.levels else "best"
        bound = "the limit is" if self.limited else "the rules go to"
        return f"the {which} price is {dollars(self.beyond)}, and {bound} {dollars(self.reach)}"


@dataclass(frozen=True, slots=True)
class OrderMatch:
    """What was bought or sold, level by level, and a sentence on what was left and why.

    `amount` is all that was paid, or all that was received, with fees; so is that of each level.
    """

    shares: int
    amount: int
    fee: int
    levels: tuple[FillLevel, ...]
    left: str = ""


@dataclass(frozen=True, slots=True)
class Room:
    """How much may be traded in a market, where the rules cap that by its volume.

    `of_decision` and `of_cohort` are the parts of the volume. `shares` are those on the thinner side of the
    book, None where there is no book: a decision trades no more of them. Cash alone would let a share of one
    cent be bought in numbers that nobody offers.
    """

    volume: int
    of_decision: int
    of_cohort: int
    shares: int | None

    @property
    def decision(self) -> int:
        """Return the cash that a decision may move, rounded down so that it is never over the cap."""
        return worth(self.volume, self.of_decision)

    @property
    def cohort(self) -> int:
        """Return the cash that all decisions of a cohort may move, rounded down likewise."""
        return worth(self.volume, self.of_cohort)

    @property
    def text(self) -> str:
        """Return the caps as a sentence."""
        parts = (
            f"a decision trades at most {percent(self.of_decision)}, and a cohort {percent(self.of_cohort)}"
        )
        text = f"{parts}, of its volume of {dollars(self.volume)}"
        if self.shares is None:
            return text
        return f"{text}; a decision at most the {number(self.shares)} shares on the thinner side of its book"


class SnapshotOffers:
    """What a snapshot offers under the rules, worked out once, and the same for every entrant.

    The volume of a market is that of the `first` snapshot, where prices were read again after it.
    """

    def __init__(self, snapshot: Snapshot, rules: Rules, first: Snapshot | None = None):
        self.at = snapshot.seen_at
        self.rules = rules
        self.offered = {listing.market.id for listing in snapshot.shown}
        self.listings = _first_listings(snapshot)
        self._first = self.listings if first is None else _first_listings(first)
        self._offers: dict[tuple[MarketId, Side, Action], Offers | Rejection] = {}
        self._hashes: dict[MarketId, str] = {}

    def find(self, market_id: MarketId, side: Side, action: Action) -> Offers | Rejection:
        """Return what may be traded at on a side of a market, or why nothing may."""
        key = market_id, side, action
        offers = self._offers.get(key)

        if offers is None:
            listing = self.listings[market_id]
            fault = check_time(listing, self.at, self.rules)
            offers = fault or find_offers(action, side, listing, self.rules)
            self._offers[key] = offers

        return offers

    def room(self, market_id: MarketId) -> Room | None:
        """Return how much may be traded in a market; None if the rules have no cap or no volume is known."""
        of_decision = self.rules.max_of_volume
        of_cohort = self.rules.max_of_volume_cohort
        if of_decision is None or of_cohort is None:
            return None

        listing = self._first.get(market_id)
        if listing is None or listing.quote is None or listing.quote.volume is None:
            return None

        shares = listing.quote.shares_within(self.rules.worst_price)
        return Room(listing.quote.volume, of_decision, of_cohort, shares)

    def quote_hash(self, market_id: MarketId, _quoted_at: datetime) -> str:
        """Return the hash of the quote of that time, on which a market's orders are filled."""
        if market_id not in self._hashes:
            quote = self.listings[market_id].quote
            self._hashes[market_id] = "" if quote is None else quote_hash(quote)
        return self._hashes[market_id]


def _first_listings(snapshot: Snapshot) -> dict[MarketId, Listing]:
    """Return the listing of each market: of two the first, so one on offer comes before one that is held."""
    return {listing.market.id: listing for listing in reversed(tuple(snapshot))}


class WorseOffers(SnapshotOffers):
    """What two snapshots offer, order by order at the price that is worse for the trader.

    The later snapshot decides whether anything may be traded at all. Where the earlier one offers nothing,
    only the later one counts.
    """

    def __init__(self, stored: SnapshotOffers, fresh: Snapshot, first: Snapshot):
        super().__init__(fresh, stored.rules, first)
        self.stored = stored

    def find(self, market_id: MarketId, side: Side, action: Action) -> Offers | Rejection:
        """Return what may be traded at on a side of a market, or why nothing may."""
        fresh_offers = super().find(market_id, side, action)
        stored_offers = self.stored.find(market_id, side, action)
        if isinstance(fresh_offers, Rejection) or isinstance(stored_offers, Rejection):
            return fresh_offers
        if not (fresh_offers.levels and stored_offers.levels):
            return fresh_offers

        rise = stored_offers.levels[0].price - fresh_offers.levels[0].price
        stored_is_worse = rise > 0 if action == "buy" else rise < 0
        if stored_is_worse:
            return stored_offers
        return fresh_offers

    def quote_hash(self, market_id: MarketId, quoted_at: datetime) -> str:
        """Return the hash of the quote of that time, the later or the earlier one."""
        fresh = self.listings[market_id].quote
        if fresh is not None and fresh.at == quoted_at:
            return super().quote_hash(market_id, quoted_at)
        return self.stored.quote_hash(market_id, quoted_at)


# Agents that choose bets by rules look at the same offers one after another: that takes a sixth off the CPU
# of `benchmarks/replay.py`.
@lru_cache(maxsize=4)
def offers_at_snapshot(snapshot: Snapshot, rules: Rules) -> SnapshotOffers:
    """Return what a snapshot offers under the rules, made once for all agents that choose bets there."""
    return SnapshotOffers(snapshot, rules)


def match_levels(size: int, offers: Offers, limit: int | None = None) -> OrderMatch | Rejection:
    """Take `size` (dollars on a buy, shares on a sale) from the offers, best price first.

    Return a rejection if that is not a share, or fewer than the market's minimum.
    """
    near_offers = within_limit(offers, limit)

    # The levels that the size covers are taken whole. Their totals are found by bisection, for all agents
    # match against the same offers: "a book walked for $500, on a shared floor" in benchmarks/portfolio.py
    # takes half the time of adding up level after level.
    whole_count = bisect_right(near_offers.totals, size)
    levels = list(near_offers.levels[:whole_count])
    remaining = size
    if whole_count:
        remaining -= near_offers.totals[whole_count - 1]

    # Of the next level a part is taken.
    why_rest_unfilled = ""
    if remaining and whole_count < len(near_offers.levels):
        part = _partial_level(remaining, near_offers.levels[whole_count].price, near_offers)
        if part.shares:
            levels.append(part)
        else:
            why_rest_unfilled = unmatched_text(remaining, near_offers.action, "too little for another share")
    elif remaining:
        why_rest_unfilled = unmatched_text(remaining, near_offers.action, near_offers.end)

    shares = sum(level.shares for level in levels)
    least_shares = near_offers.market.min_shares
    if shares == 0:
        return reject("unfilled", why_rest_unfilled, near_offers.market)
    if shares < least_shares:
        message = f"{number(shares)} shares are below the minimum of {number(least_shares)}"
        return reject("under_min_shares", message, near_offers.market)

    amount = sum(level.amount for level in levels)
    fees = sum(level.fee for level in levels)
    return OrderMatch(shares, amount, fees, tuple(levels), why_rest_unfilled)


def _partial_level(size: int, price: int, offers: Offers) -> FillLevel:
    """Return what an order gets of a level that is more than enough for it."""
    if offers.action == "sell":
        return _sold_level(size, price, offers.rate)

    # The shares are rounded down and all of the money is paid: what is too little for a millionth of a share
    # is never given back, so no rounding favours the buyer.
    shares = affordable(size, price, offers.rate)
    return FillLevel(price, shares, size, fee(shares, price, offers.rate))


def unmatched_text(remaining: int, action: Action, why: str) -> str:
    """Return a sentence on what was left of an order, and why."""
    if action == "buy":
        return f"{dollars(remaining)} was not spent: {why}"
    return f"{number(remaining)} shares were not sold: {why}"


def find_offers(action: Action, side: Side, listing: Listing, rules: Rules) -> Offers | Rejection:
    """Return what the fill rule finds in a quote, as far as the rules go, or why nothing may be traded."""
    market = listing.market
    quote = listing.quote
    if quote is None:
        return reject("no_quote", "the market has no quote", market)

    fault = check_figures(quote, market) or check_spread(quote, market, rules)
    if fault is not None:
        return fault

    request = FillRequest(action, side_quote(quote, side), market, rules)
    offered = fill_rule(rules.fill).levels(request)
    if isinstance(offered, Rejection):
        return offered

    # An order goes no further from the best price than the rules allow, however deep the book is.
    levels = _sort_levels(action, offered)
    reach = 0
    if levels:
        reach = levels[0].price
        reach += rules.worst_price if action == "buy" else -rules.worst_price
    near_levels, price_beyond = _within_reach(reach, action, levels)

    rate = market.fee_rate if rules.fee == "venue" else 0
    wholes, totals = levels_with_totals(action, near_levels, rate)
    return Offers(action, market, quote.at, rate, wholes, totals, reach, price_beyond)


def levels_with_totals(
    action: Action, levels: Iterable[Level], rate: int
) -> tuple[list[FillLevel], list[int]]:
    """Return each level with what all of it costs or brings, and the totals up to each level."""
    wholes = []
    totals = []
    total = 0

    for level in levels:
        if action == "buy":
            whole = _bought_level(level, rate)
            total += whole.amount
        else:
            whole = _sold_level(level.shares, level.price, rate)
            total += whole.shares
        wholes.append(whole)
        totals.append(total)

    return wholes, totals


def _bought_level(level: Level, rate: int) -> FillLevel:
    """Return all shares of a level with what they cost."""
    # Price and fee are rounded up each, at each level: a buyer pays a few millionths too much, never too few.
    charged = fee(level.shares, level.price, rate)
    return FillLevel(level.price, level.shares, cost(level.shares, level.price) + charged, charged)


def _sold_level(shares: int, price: int, rate: int) -> FillLevel:
    """Return shares sold at a price with what they bring."""
    # What is received is rounded down and the fee up. A fee of a millionth may be more than the shares bring;
    # it takes no more than that, so a sale never costs cash.
    gross = worth(shares, price)
    charged = min(gross, fee(shares, price, rate))
    return FillLevel(price, shares, gross - charged, charged)


def within_limit(offers: Offers, limit: int | None) -> Offers:
    """Return the offers that are no worse than an agent's own limit."""
    if limit is None:
        return offers

    # The rules may already go no further than the agent's limit.
    is_beyond_reach = limit >= offers.reach if offers.action == "buy" else limit <= offers.reach
    if is_beyond_reach:
        return offers

    levels, beyond = _within_reach(limit, offers.action, offers.levels)
    if beyond is None:
        beyond = offers.beyond
    totals = offers.totals[: len(levels)]
    return replace(offers, levels=levels, totals=totals, reach=limit, beyond=beyond, limited=True)


def _within_reach(
    reach: int, action: Action, levels: Sequence[AnyLevel]
) -> tuple[Sequence[AnyLevel], int | None]:
    """Return the levels within reach, and the price of the first level beyond."""
    for count, level in enumerate(levels):
        is_beyond = level.price > reach if action == "buy" else level.price < reach
        if is_beyond:
            return levels[:count], level.price

    return levels, None


def _sort_levels(action: Action, levels: Sequence[Level]) -> Sequence[Level]:
    """Return one level a price, the best first, whatever order they come in."""
    given_prices = [level.price for level in levels]
    prices = sorted(set(given_prices), reverse=action == "sell")

    # Most books come in this order. To return them as they are saves a fifth of "a new book checked, sorted
    # and walked" in benchmarks/portfolio.py.
    if given_prices == prices:
        return levels

    shares = dict.fromkeys(prices, 0)
    for level in levels:
        shares[level.price] += level.shares
    return [Level(price, shares[price]) for price in prices]
