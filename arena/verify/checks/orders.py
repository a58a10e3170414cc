"""What a turn wished for on each lot, read from its text, and the fills that nobody wished for.

The sizes of fills against the cohort's rules, turn by turn.

Quotes that no order may be filled on: one-sided, crossed, too wide, or at odds with their own mid.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from arena.verify.cohort import ONE, FrozenCohort
from arena.verify.differences import Found, Row, check_numbers
from arena.verify.hashes import json_in
from arena.verify.ledger import LedgerSums
from arena.verify.round import CheckedFill, CheckedTurn

Leg = dict[str, Any]
Place = tuple[str, str, str]
"""What is done, in which market, on which side."""


@dataclass(frozen=True, slots=True)
class OrderSize:
    """Dollars on a buy, shares on a sale, and the price that may not be passed."""

    size: int
    limit: int | None

    def allows(self, deal: CheckedFill) -> bool:
        """Whether every level is within the limit."""
        prices = [level["price"] for level in deal.levels]
        return self.limit is None or all(p <= self.limit if deal.buys else p >= self.limit for p in prices)


def check_orders(
    turn: CheckedTurn, deals: Sequence[CheckedFill], wishes: Any, books: LedgerSums | None
) -> Found:
    """Fills of a size that nobody ordered, or past its price, and orders that came to nothing at all."""
    legs = defaultdict[Place, list[Leg]](list)
    for action, name in (("buy", "bets"), ("sell", "sales")):
        stated = wishes.get(name) if isinstance(wishes, dict) else None
        for leg in stated if isinstance(stated, list) else ():
            if isinstance(leg, dict) and _is_limit(leg.get("limit")):
                legs[action, str(leg.get("market_id")), str(leg.get("side"))].append(leg)
    answered = {row["market_id"] for row in (*turn.rejections, *(deal.fill for deal in deals))}
    for action, market, side in legs:
        if market not in answered:
            why = f"to {action} {side} in {market} was neither filled nor refused"
            yield turn.row.differs("wishes", "orders with a fill or a refusal", why)
    for deal in deals:
        ref = f"fill:{deal.round['number']}:{deal.fill['position']}"
        held = books.held.get(ref, 0) if books else 0
        yield from _ordered_size(deal, _orders_of(deal, legs, held))


def _ordered_size(deal: CheckedFill, asked: Sequence[OrderSize]) -> Found:
    same = [wish for wish in asked if wish.size == deal.fill["wanted"]]
    if not same:
        what = "the amount ordered" if deal.buys else "the shares ordered to be sold"
        yield deal.fill.differs("wanted", what, "by the turn's orders")
    elif deal.levels and not any(wish.allows(deal) for wish in same):
        limit, worst = same[0].limit, deal.levels[-1]
        within = f"{limit} or {'less' if deal.buys else 'more'}"
        yield worst.differs("price", within, "it is the agent's own limit")


def _orders_of(deal: CheckedFill, legs: Mapping[Place, list[Leg]], held: int) -> list[OrderSize]:
    """What was asked on the lot of a fill; in one sum where wishes are merged, as sales always are."""
    key = deal.fill["action"], deal.fill["market_id"], deal.fill["side"]
    sizes = [(leg, leg.get("amount") if deal.buys else _shares(leg, held)) for leg in legs.get(key, ())]
    asked = [OrderSize(size, leg.get("limit")) for leg, size in sizes if type(size) is int and size > 0]
    if deal.buys and deal.frozen is not None and not deal.frozen.merge:
        return asked
    limits = [wish.limit for wish in asked if wish.limit is not None]
    tightest = (min if deal.buys else max)(limits, default=None)
    return [OrderSize(sum(wish.size for wish in asked), tightest)] if asked else []


def _shares(leg: Leg, held: int) -> int | None:
    """How many shares a leg of a sale is of; None where it makes no sense."""
    shares, fraction = leg.get("shares"), leg.get("fraction")
    if shares is not None and fraction is not None:
        return None
    if fraction is not None:
        return held * fraction // ONE if type(fraction) is int and 0 < fraction <= ONE else None
    return held if shares is None else shares if type(shares) is int else None


def _is_limit(limit: Any) -> bool:
    return limit is None or (type(limit) is int and 0 < limit <= ONE)


def check_sizes(deals: Sequence[CheckedFill]) -> Found:
    """Fills with a wrong base, or outside the limits."""
    yield from check_numbers([deal.fill for deal in deals], "position", 0)
    for deal in deals:
        yield from _filled(deal)
    if deals and (frozen := deals[0].frozen) is not None:
        yield from _bases(deals, frozen)
        yield from _limits(deals, frozen)


def _filled(deal: CheckedFill) -> Found:
    fill, got = deal.fill, deal.fill["amount"] if deal.buys else deal.fill["shares"]
    if fill["action"] not in ("buy", "sell"):
        yield fill.differs("action", "buy or sell", "there is no other")
    if got > fill["wanted"]:
        yield fill.differs("wanted", f"{got} or more", "a fill never exceeds its order")
    if (got < fill["wanted"]) != bool(fill["left"]):
        expected = "a reason" if got < fill["wanted"] else ""
        yield fill.differs("left", expected, "it tells what was left, where something was")


def _bases(together: Sequence[CheckedFill], frozen: FrozenCohort) -> Found:
    """The cash that caps are measured by: that before the turn, or as it runs through the bets."""
    cash = base = together[0].turn["cash"]
    if frozen.base == "running":
        base += sum(deal.fill["amount"] for deal in together if not deal.buys)
    for deal in together:
        expected = {"base": (base if deal.buys else cash, "it is the cash that the rules measure by")}
        yield from deal.fill.check(expected)
        if deal.buys and frozen.base == "running":
            base -= deal.fill["amount"]


def _limits(together: Sequence[CheckedFill], frozen: FrozenCohort) -> Found:
    bought = [deal.fill for deal in together if deal.buys]
    for fill in bought:
        least, most = frozen.min_bet, frozen.most(fill["base"])
        if fill["wanted"] < least or (frozen.cap == "bet" and fill["wanted"] > most):
            yield fill.differs("wanted", f"{least} to {most}", "by the frozen limits")
    total, limit = sum(fill["wanted"] for fill in bought), _together(bought, frozen)
    if limit is not None and total > limit:
        why = f"all bets of the turn are {total}, and {limit} may be bet"
        yield bought[-1].differs("wanted", f"{total - limit} less", why)


def _together(bought: list[Row], frozen: FrozenCohort) -> int | None:
    """The most that all bets of a turn may come to; None where nothing says so but each one's own cap."""
    if not bought or (frozen.cap != "decision" and frozen.base != "start"):
        return None
    cash = int(bought[0]["base"])
    return frozen.most(cash) if frozen.cap == "decision" else cash


Ends = tuple[int | None, int | None]
"""Bid and ask."""


def check_quotes(deals: Sequence[CheckedFill]) -> Found:
    """Fills on a quote that the rules forbid to trade on."""
    for deal in deals:
        quote = deal.listed[2] if deal.listed else None
        if quote is None or deal.frozen is None:
            continue
        for ends in _ends(quote, deal):
            if fault := _fault(ends, quote["mid"], deal.frozen):
                yield deal.fill.differs("quote_hash", "that of a quote to trade on", fault)


def _ends(quote: Row, deal: CheckedFill) -> list[Ends]:
    """The ends of the quote, and those of its book where orders are filled from it; some ends at least."""
    found: list[Ends] = [(quote["bid"], quote["ask"])]
    if deal.frozen is not None and deal.frozen.fill == "book":
        book = json_in(quote["book"])
        bids, asks = (_prices(book, side) for side in ("bids", "asks"))
        found.append((max(bids, default=None), min(asks, default=None)))
    return [ends for ends in found if ends != (None, None)]


def _prices(book: object, side: str) -> list[int]:
    levels = book.get(side) if isinstance(book, dict) else None
    return [level[0] for level in levels if level] if isinstance(levels, list) else []


def _fault(ends: Ends, mid: int | None, frozen: FrozenCohort) -> str:
    bid, ask = ends
    if bid is None or ask is None:
        return "it has one side only"
    if not 0 < bid < ONE or not 0 < ask < ONE:
        return f"its bid {bid} or its ask {ask} is not a price"
    if bid > ask:
        return f"it is crossed: its bid {bid} is over its ask {ask}"
    if ask - bid > frozen.max_spread:
        return f"bid {bid} and ask {ask} are more than {frozen.max_spread} apart"
    if mid is not None and abs(bid + ask - 2 * mid) > 2 * frozen.max_gap:
        return f"the mid {mid} is more than {frozen.max_gap} from the middle of {bid} and {ask}"
    return ""
