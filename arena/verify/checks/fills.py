"""Fills against their levels and the snapshot that they were done on.

The levels of a fill: fee and amount of each, and whether such a price was there to be had. How much of a
market's volume they are, and its book, where the rules know no other depth. What the fills of one turn took
out of a book together, and whether they took the best of it first.

A share of NO is the other end of one of YES: who buys YES or sells NO takes the asks, who sells YES or
buys NO takes the bids, and each level is there once for all fills of a turn. Turns take nothing from
one another.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

from arena.verify.cohort import ONE, FrozenCohort
from arena.verify.differences import Expected, Found, Row, check_numbers
from arena.verify.hashes import check_hash, json_in, without
from arena.verify.ledger import LedgerSums
from arena.verify.reader import moment
from arena.verify.round import CheckedFill

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
    for one, next in pairwise(deal.levels):
        if not _is_better(deal, one["price"], next["price"]):
            worse = f"{'over' if deal.buys else 'under'} {one['price']}"
            yield next.differs("price", worse, "the best prices come first")
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
