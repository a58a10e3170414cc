"""Fills against their levels, the snapshot that they were done on, and the orders behind them.

The levels of a fill: fee and amount of each, and whether such a price was there to be had. How much of a
market's volume they are, and its book, where the rules know no other depth. What the fills of one turn took
out of a book together, and whether they took the best of it first.

A share of NO is the other end of one of YES: who buys YES or sells NO takes the asks, who sells YES or
buys NO takes the bids, and each level is there once for all fills of a turn. Turns take nothing from
one another.

What a turn wished for on each lot, read from its text, and the fills that nobody wished for; their sizes
against the cohort's rules. Quotes that no order may be filled on: one-sided, crossed, too wide, or at odds
with their own mid.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from arena.verify.checks.ledgers import LedgerSums
from arena.verify.cohort import ONE, CheckedFill, CheckedTurn, FrozenCohort
from arena.verify.differences import Expected, Found, Row, check_numbers
from arena.verify.hashes import check_hash, json_in, without
from arena.verify.reader import moment

CENT = 10_000
ROUNDING = 3
"""Millionths of a dollar that may be left when an amount is spent to the last."""

SINGLE_PRICED = ("mid", "quote", "spread")
Offered = Mapping[int, int | None]
"""Shares by price; None for as many as are wanted."""


def check_levels(deal: CheckedFill) -> Found:
    """Levels with a wrong fee or amount, or at a price that the quote didn't offer."""
    yield from check_numbers(list(deal.levels), "position", 0)
    prices = offered(deal)
    for level in deal.levels:
        yield from _money(deal, level)
        price = level["price"]
        sure = deal.frozen is not None and deal.frozen.extremes and deal.frozen.fill == "mid"
        if not (0 < price < ONE or (sure and (price == ONE or (price == 0 and not deal.buys)))):
            yield level.differs("price", f"between 0 and {ONE}", "it is the price of a share")
        elif prices is not None and level["price"] not in prices:
            expected = " or ".join(map(str, sorted(prices))) or "none"
            why = "by the quote and the fill rule"
            yield level.differs("price", expected, why)


def _money(deal: CheckedFill, level: Row) -> Found:
    price, shares, rate = level["price"], level["shares"], deal.fill["fee_rate"]
    fee, worth = _up(rate * shares * price * (ONE - price), ONE**3), shares * price // ONE
    fee = fee if deal.buys else min(fee, worth)
    if level["fee"] != fee:
        yield level.differs("fee", fee, "rate · shares · p · (1 - p), rounded up")
    expected = _up(shares * price, ONE) + fee if deal.buys else worth - fee
    rest = level["amount"] - expected
    if not 0 <= rest <= (ROUNDING if deal.buys else 0):
        yield level.differs("amount", expected, "it is the shares' price and the fee")


def offered(deal: CheckedFill) -> Offered | None:
    """What the fill rule reads from the quote, in prices of the side's own share.

    None for a rule that is not one of the four that come with the arena.
    """
    _, page, quote = deal.listed or (None, None, None)
    if deal.frozen is None or page is None or quote is None:
        return None
    yes = deal.fill["side"] == "YES"
    match deal.frozen.fill:
        case "mid":
            return _single(quote["mid"], yes)
        case "quote":
            return _single(quote["ask" if deal.buys == yes else "bid"], yes)
        case "spread":
            half = max(page["tick"], CENT) * (1 if deal.buys else -1)
            return {price + half: None for price in _single(quote["mid"], yes)}
        case "book":
            return _book(json_in(quote["book"]), "asks" if deal.buys == yes else "bids", yes)
    return None


def _single(price: int | None, yes: bool) -> Offered:
    return {} if price is None else {price if yes else ONE - price: None}


def _book(book: Any, side: str, yes: bool) -> Offered:
    found: dict[int, int | None] = {}
    levels = book.get(side) if isinstance(book, dict) else None
    for level in levels if isinstance(levels, list) else ():
        if isinstance(level, list) and len(level) == 2 and all(type(value) is int for value in level):
            price = level[0] if yes else ONE - level[0]
            found[price] = (found.get(price) or 0) + level[1]
    return found


def _up(value: int, by: int) -> int:
    return -(-value // by)


def check_fills(deals: Sequence[CheckedFill]) -> Found:
    """Fills not as they were sealed, not the sum of their levels, or that their snapshot doesn't allow."""
    for deal in deals:
        parts = [without(level, "fill_id", "position") for level in deal.levels]
        content = without(deal.fill, "id", "turn_id", "position", "hash") | {"levels": parts}
        yield from check_hash(deal.fill, content, "it seals the fill and each fill_level of it")
        yield from deal.fill.check(_sums(deal) | _on_its_snapshot(deal))
        yield from _untimely(deal)
        yield from _better(deal)
        yield from check_levels(deal)


def _better(deal: CheckedFill) -> Found:
    """A fill of a turn that was tried again at the better of both prices."""
    if deal.other is None or deal.frozen is None:
        return
    used, other = offered(deal), offered(replace(deal, listed=deal.other))
    if used and other:
        best = min if deal.buys else max
        mine, its = best(used), best(other)
        if mine < its if deal.buys else mine > its:
            why = "a turn that is tried again is filled at the worse of both prices"
            yield deal.fill.differs("quote_hash", "the other quote's", why)


def _sums(deal: CheckedFill) -> Expected:
    sums = {name: sum(level[name] for level in deal.levels) for name in ("shares", "amount", "fee")}
    return {name: (total, "it is the sum of its levels") for name, total in sums.items()}


def _on_its_snapshot(deal: CheckedFill) -> Expected:
    """What a fill repeats of the page and the quote that it was done on."""
    item, page, quote = deal.listed or (None, None, None)
    if item is None:
        return {"market_id": ("one of the snapshot", "nothing else can be traded")}
    if page is None or quote is None:
        return {"quote_hash": ("the hash of a quote", "without a quote there is no trade")}
    found: Expected = {
        "quote_at": (item["quoted_at"], "by the snapshot"),
        "quote_hash": (quote["hash"], "by the snapshot"),
    }
    if deal.frozen is not None:
        rate = page["fee_rate"] if deal.frozen.fee == "venue" else 0
        found["fee_rate"] = (rate, "by the market and the cohort's rules")
    if deal.buys and not item["shown"]:
        found["action"] = ("sell", "the market was held and not on offer")
    return found


def _untimely(deal: CheckedFill) -> Found:
    """A fill after the market closed, or on a quote from after the snapshot or too long before."""
    quoted, at = moment(deal.fill["quote_at"]), moment(deal.seen_at)
    if quoted is None or at is None:
        return
    if quoted > at:
        latest = f"{deal.seen_at} or before"
        yield deal.fill.differs("quote_at", latest, "a price is unknown before its time")
    elif deal.frozen is not None and (at - quoted).total_seconds() > deal.frozen.max_quote_age:
        newer = f"{deal.frozen.max_quote_age} s before the snapshot at most"
        yield deal.fill.differs("quote_at", newer, "the quote was stale")
    page = deal.listed[1] if deal.listed else None
    if page is not None and deal.seen_at >= page["closes_at"]:
        yield deal.fill.differs("market_id", "an open market", f"it closed at {page['closes_at']}")


Place = tuple[str, bool, int]
"""Market, whether the asks are taken, and the price of a YES share."""


def check_depth(deals: Sequence[CheckedFill]) -> Found:
    """Levels at which a turn had more shares than the book had, or that were not the best there were."""
    taken: dict[Place, int] = defaultdict(int)
    for deal in deals:
        depths = offered(deal) or {}
        yield from _taken(deal, depths, taken)
        yield from _best_first(deal, depths, taken)
        yield from _within_reach(deal, depths)


def _place(deal: CheckedFill, price: int) -> Place:
    yes = deal.fill["side"] == "YES"
    return deal.fill["market_id"], deal.buys == yes, price if yes else ONE - price


def _taken(deal: CheckedFill, depths: Offered, taken: dict[Place, int]) -> Found:
    for level in deal.levels:
        depth, place = depths.get(level["price"]), _place(deal, level["price"])
        before = taken[place]
        taken[place] += level["shares"]
        if depth is not None and taken[place] > depth:
            why = f"{depth} were in the book, and the turn had {before} of them before"
            yield level.differs("shares", f"{max(0, depth - before)} or fewer", why)


def _best_first(deal: CheckedFill, depths: Offered, taken: Mapping[Place, int]) -> Found:
    """Levels out of order, and better ones of which something was left."""
    for one, following in pairwise(deal.levels):
        if not _is_better(deal, one["price"], following["price"]):
            worse = f"{'over' if deal.buys else 'under'} {one['price']}"
            yield following.differs("price", worse, "the best prices come first")
    for price, depth in sorted(depths.items()):
        left = 0 if depth is None else depth - taken[_place(deal, price)]
        if left > 0 and deal.levels and _is_better(deal, price, deal.levels[-1]["price"]):
            why = f"{left} shares were left at the better price {price}"
            yield deal.levels[-1].differs("price", price, why)


def _within_reach(deal: CheckedFill, depths: Offered) -> Found:
    """Levels further from the best price than the rules go, and fills of too few shares."""
    if not depths or deal.frozen is None:
        return
    worst = deal.frozen.worst_price
    reach = min(depths) + worst if deal.buys else max(depths) - worst
    for level in deal.levels:
        if _is_better(deal, reach, level["price"]):
            within = f"{reach} or {'less' if deal.buys else 'more'}"
            yield level.differs("price", within, f"the rules go {worst} past the best price")
    least = deal.listed[1]["min_shares"] if deal.listed and deal.listed[1] else 0
    if deal.fill["shares"] < least:
        why = "the market deals in no fewer"
        yield deal.fill.differs("shares", f"{least} or more", why)


def check_room(deals: Sequence[CheckedFill], books: LedgerSums | None) -> Found:
    """Fills of another size than the market's volume and its book, as first seen, leave to the agent."""
    moved, dealt = defaultdict[str, int](int), defaultdict[str, int](int)
    for deal in deals:
        fill, frozen, market = deal.fill, deal.frozen, deal.fill["market_id"]
        before, shares_before = moved[market], dealt[market]
        price = deal.levels[0]["price"] if deal.levels else 0
        moved[market] += fill["amount"]
        dealt[market] += max(fill["shares"], -(-fill["amount"] * ONE // price) if price else 0)
        ever = frozen and frozen.max_of_volume_cohort
        if frozen is None or ever is None or deal.first is None or deal.first["volume"] is None:
            continue
        ref = f"fill:{deal.round['number']}:{fill['position']}"
        traded = books.traded.get(ref, before) if books else before
        volume = deal.first["volume"]
        together, shares = volume * (frozen.max_of_volume or 0) // ONE, _book_shares(deal.first, frozen)
        room = max(0, min(together - before, volume * ever // ONE - traded))
        left = None if shares is None else max(0, shares - shares_before)
        if fill["amount"] > room:
            yield fill.differs(
                "amount", f"{room} or less", "no more may be traded at the volume that was known"
            )
        elif left is not None and fill["shares"] > left:
            yield fill.differs("shares", f"{left} or less", "no more are on the thinner side of its book")
        elif frozen.fill in SINGLE_PRICED and deal.levels:
            size = "amount" if deal.buys else "shares"
            most = room if deal.buys else room * ONE // price if price else fill["wanted"]
            if left is not None:
                most = min(most, left * price // ONE if deal.buys else left)
            expected = {size: (min(fill["wanted"], most), "it is all that may be traded")}
            yield from fill.check(expected)


def _book_shares(quote: Row, frozen: FrozenCohort) -> int | None:
    """The shares on the thinner side of a quote's book, within reach of its best price."""
    book = json_in(quote["book"])
    sides = _book(book, "asks", yes=True), _book(book, "bids", yes=False)
    if not any(sides):
        return None
    reach = [min(side, default=0) + frozen.worst_price for side in sides]
    near = (
        sum(shares or 0 for price, shares in side.items() if price <= end)
        for side, end in zip(sides, reach, strict=True)
    )
    return min(near)


def _is_better(deal: CheckedFill, one: int, other: int) -> bool:
    return one < other if deal.buys else one > other


Leg = dict[str, Any]
Ordered = tuple[str, str, str]
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
    turn: CheckedTurn, deals: Sequence[CheckedFill], orders: Any, books: LedgerSums | None
) -> Found:
    """Fills of a size that nobody ordered, or past its price, and orders that came to nothing at all."""
    legs = defaultdict[Ordered, list[Leg]](list)
    for action, name in (("buy", "bets"), ("sell", "sales")):
        stated = orders.get(name) if isinstance(orders, dict) else None
        for leg in stated if isinstance(stated, list) else ():
            if isinstance(leg, dict) and _is_limit(leg.get("limit")):
                legs[action, str(leg.get("market_id")), str(leg.get("side"))].append(leg)
    answered = {row["market_id"] for row in (*turn.rejections, *(deal.fill for deal in deals))}
    for action, market, side in legs:
        if market not in answered:
            why = f"to {action} {side} in {market} was neither filled nor refused"
            yield turn.row.differs("orders", "orders with a fill or a refusal", why)
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


def _orders_of(deal: CheckedFill, legs: Mapping[Ordered, list[Leg]], held: int) -> list[OrderSize]:
    """What was asked on the lot of a fill; in one sum where orders are merged, as sales always are."""
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
        bids, asks = (_book(book, side, yes=True) for side in ("bids", "asks"))
        found.append((max(bids, default=None), min(asks, default=None)))
    return [ends for ends in found if ends != (None, None)]


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
