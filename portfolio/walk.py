"""One wish against one listing: levels walked best first, the same for every fill rule."""

from collections.abc import Sequence
from dataclasses import dataclass

from markets.model import Level, Listing, Market
from portfolio.checks import refuse, sound
from portfolio.fills import Order, fill_rule
from portfolio.model import Action, FillLevel, Rejection, Side
from portfolio.money import affordable, cost, dollars, fee, number, worth
from portfolio.rules import Rules
from portfolio.sides import own


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


def fee_rate(market: Market, rules: Rules) -> int:
    """The rate that a fill in this market is charged."""
    return market.fee_rate if rules.fee == "venue" else 0


def fill(
    action: Action, size: int, side: Side, listing: Listing, rules: Rules, limit: int | None = None
) -> Filled | Rejection:
    """Buy for `size` dollars, or sell `size` shares, as far as prices and the limit allow."""
    market, quote = listing.market, listing.quote
    if quote is None:
        return refuse("no_quote", "the market has no quote", market)
    if (unsound := sound(quote, market, rules)) is not None:
        return unsound
    offers = fill_rule(rules.fill).levels(Order(action, own(quote, side), market, rules))
    if isinstance(offers, Rejection):
        return offers
    offers, why = _within_reach(action, offers, rules.worst_price, limit)
    trade = _spend if action == "buy" else _unload
    levels = trade(size, offers, fee_rate(market, rules))
    why = why if len(levels) == len(offers) else "too little to buy more"
    return _enough(_summed(action, size, levels, why), market)


def _within_reach(
    action: Action, offers: Sequence[Level], worst_price: int, limit: int | None
) -> tuple[list[Level], str]:
    """The levels that may be traded at, best first, and why there are no more."""
    sign = 1 if action == "buy" else -1
    ordered = sorted(offers, key=lambda level: sign * level.price)
    reach = ordered[0].price + sign * worst_price if ordered else 0
    if limit is not None:
        reach = sign * min(sign * reach, sign * limit)
    near = [level for level in ordered if sign * level.price <= sign * reach]
    if len(near) == len(ordered):
        return near, "nothing more is offered"
    return near, f"the next price is {dollars(ordered[len(near)].price)}, past {dollars(reach)}"


def _spend(amount: int, offers: list[Level], rate: int) -> list[FillLevel]:
    taken = list[FillLevel]()
    for level in offers:
        bought = _buy(amount, level, rate)
        if bought.shares == 0:
            break
        taken.append(bought)
        amount -= bought.amount
    return taken


def _buy(amount: int, level: Level, rate: int) -> FillLevel:
    """The whole level, or what the amount buys of it; then the amount is paid to the last millionth."""
    whole_fee = fee(level.shares, level.price, rate)
    whole = cost(level.shares, level.price) + whole_fee
    if whole <= amount:
        return FillLevel(level.price, level.shares, whole, whole_fee)
    shares = affordable(amount, level.price, rate)
    return FillLevel(level.price, shares, amount, fee(shares, level.price, rate))


def _unload(shares: int, offers: list[Level], rate: int) -> list[FillLevel]:
    taken = list[FillLevel]()
    for level in offers:
        if shares == 0:
            break
        sold = min(shares, level.shares)
        gross = worth(sold, level.price)
        charged = min(gross, fee(sold, level.price, rate))
        taken.append(FillLevel(level.price, sold, gross - charged, charged))
        shares -= sold
    return taken


def _summed(action: Action, size: int, levels: list[FillLevel], why: str) -> Filled:
    shares, amount = sum(level.shares for level in levels), sum(level.amount for level in levels)
    rest = size - (amount if action == "buy" else shares)
    text = f"{dollars(rest)} was not spent" if action == "buy" else f"{number(rest)} shares were not sold"
    left = f"{text}: {why}" if rest else ""
    return Filled(shares, amount, sum(level.fee for level in levels), tuple(levels), left)


def _enough(filled: Filled, market: Market) -> Filled | Rejection:
    if filled.shares == 0:
        return refuse("unfilled", filled.left, market)
    if filled.shares < market.min_shares:
        shares, least = number(filled.shares), number(market.min_shares)
        return refuse("under_min_shares", f"{shares} shares are under the market's least of {least}", market)
    return filled
