"""One wish against what is on offer: levels walked best first, the same for every fill rule."""

from bisect import bisect_right
from dataclasses import dataclass

from markets.model import Listing
from portfolio.checks import refuse
from portfolio.model import Action, FillLevel, Rejection, Side
from portfolio.money import affordable, dollars, fee, number
from portfolio.offers import Offers, offers, sold, within
from portfolio.rules import Rules


@dataclass(frozen=True, slots=True)
class Filled:
    """What was bought or sold, level by level, and in words what was left and why.

    `amount` is all that was paid, or all that was received: fees are in it. So for each level.
    """

    shares: int
    amount: int
    fee: int
    levels: tuple[FillLevel, ...]
    left: str = ""


def fill(
    action: Action, size: int, side: Side, listing: Listing, rules: Rules, limit: int | None = None
) -> Filled | Rejection:
    """Buy for `size` dollars, or sell `size` shares, as far as prices and the limit allow."""
    found = offers(action, side, listing, rules)
    return found if isinstance(found, Rejection) else walk(size, found, limit)


def walk(size: int, offered: Offers, limit: int | None = None) -> Filled | Rejection:
    """Take `size` (dollars on a buy, shares on a sale) from the best levels on."""
    near = within(offered, limit)
    # Whole levels as far as they go, then a part of the next one.
    count = bisect_right(near.totals, size)
    rest = size - (near.totals[count - 1] if count else 0)
    levels, more = [*near.levels[:count]], len(near.levels) > count
    if rest and more and (part := _part(rest, near.levels[count].price, near)).shares:
        levels.append(part)
        rest = 0
    left = _left(rest, near, "too little to buy more" if more else near.end) if rest else ""
    shares, paid = sum(level.shares for level in levels), sum(level.amount for level in levels)
    filled = Filled(shares, paid, sum(level.fee for level in levels), tuple(levels), left)
    return _too_little(filled, near) or filled


def _part(size: int, price: int, near: Offers) -> FillLevel:
    """What is got of a level that is more than enough: on a buy all of the money is paid."""
    if near.action == "sell":
        return sold(size, price, near.rate)
    shares = affordable(size, price, near.rate)
    return FillLevel(price, shares, size, fee(shares, price, near.rate))


def _left(rest: int, near: Offers, why: str) -> str:
    if near.action == "buy":
        return f"{dollars(rest)} was not spent: {why}"
    return f"{number(rest)} shares were not sold: {why}"


def _too_little(filled: Filled, near: Offers) -> Rejection | None:
    market = near.market
    if filled.shares == 0:
        return refuse("unfilled", filled.left, market)
    if filled.shares < market.min_shares:
        shares, least = number(filled.shares), number(market.min_shares)
        return refuse("under_min_shares", f"{shares} shares are under the market's least of {least}", market)
    return None
