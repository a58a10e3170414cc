"""What is on offer to one side of a market: checked, best first, as far as the rules let anyone reach."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import accumulate, pairwise
from typing import TypeVar

from markets.model import Level, Listing, Market
from portfolio.checks import readable, refuse, sound
from portfolio.fills import Order, fill_rule
from portfolio.model import Action, FillLevel, Rejection, Side
from portfolio.money import cost, dollars, fee, worth
from portfolio.rules import Rules
from portfolio.sides import own

Priced = TypeVar("Priced", Level, FillLevel)


@dataclass(frozen=True, slots=True)
class Offers:
    """Levels as they are when taken whole, best first, one a price, in prices of the side's own share.

    `totals` is what the levels up to each one come to: dollars on a buy, shares on a sale.
    `beyond` is the next price, which is past `reach`; None where nothing more is offered. `limited` is
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
            return "nothing more is offered"
        which = "next" if self.levels else "best"
        end = "the limit is" if self.limited else "the rules go to"
        return f"the {which} price is {dollars(self.beyond)}, and {end} {dollars(self.reach)}"


def offers(action: Action, side: Side, listing: Listing, rules: Rules) -> Offers | Rejection:
    """What the rule of the fills finds in a quote, if the quote is sound."""
    market, quote = listing.market, listing.quote
    if quote is None:
        return refuse("no_quote", "the market has no quote", market)
    if (unsound := readable(quote, market) or sound(quote, market, rules)) is not None:
        return unsound
    found = fill_rule(rules.fill).levels(Order(action, own(quote, side), market, rules))
    if isinstance(found, Rejection):
        return found
    levels, worst = _best_first(action, found), rules.worst_price
    reach = 0 if not levels else levels[0].price + (worst if action == "buy" else -worst)
    near, beyond = _up_to(reach, action, levels)
    rate = market.fee_rate if rules.fee == "venue" else 0
    return Offers(action, market, quote.at, rate, *whole(action, near, rate), reach, beyond)


def whole(action: Action, levels: Iterable[Level], rate: int) -> tuple[list[FillLevel], list[int]]:
    """Levels as they are when taken whole, and what they come to up to each one."""
    if action == "buy":
        bought = [_bought(level, rate) for level in levels]
        return bought, list(accumulate([level.amount for level in bought]))
    wholes = [sold(level.shares, level.price, rate) for level in levels]
    return wholes, list(accumulate([level.shares for level in wholes]))


def _bought(level: Level, rate: int) -> FillLevel:
    """All shares of a level and what they cost, rounded up."""
    charged = fee(level.shares, level.price, rate)
    return FillLevel(level.price, level.shares, cost(level.shares, level.price) + charged, charged)


def sold(shares: int, price: int, rate: int) -> FillLevel:
    """Shares sold at a price and what they bring, rounded down; a fee is never more than that."""
    gross = worth(shares, price)
    charged = min(gross, fee(shares, price, rate))
    return FillLevel(price, shares, gross - charged, charged)


def within(offers: Offers, limit: int | None) -> Offers:
    """The offers that are no worse than an agent's own limit."""
    if limit is None or (limit >= offers.reach if offers.action == "buy" else limit <= offers.reach):
        return offers
    near, beyond = _up_to(limit, offers.action, offers.levels)
    beyond = offers.beyond if beyond is None else beyond
    return replace(
        offers, levels=near, totals=offers.totals[: len(near)], reach=limit, beyond=beyond, limited=True
    )


def _up_to(reach: int, action: Action, levels: Sequence[Priced]) -> tuple[Sequence[Priced], int | None]:
    """The levels within reach, and the price of the first beyond."""
    buys = action == "buy"
    for place, level in enumerate(levels):
        if level.price > reach if buys else level.price < reach:
            return levels[:place], level.price
    return levels, None


def _best_first(action: Action, levels: Sequence[Level]) -> Sequence[Level]:
    """One level a price, the best first, whatever order they come in."""
    buys = action == "buy"
    if all(a.price < b.price if buys else a.price > b.price for a, b in pairwise(levels)):
        return levels
    at: dict[int, int] = {}
    for level in levels:
        at[level.price] = at.get(level.price, 0) + level.shares
    return [Level(price, at[price]) for price in sorted(at, reverse=not buys)]
