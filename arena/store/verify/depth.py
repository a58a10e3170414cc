"""What the fills of one turn took out of a book together, and whether they took the best of it first.

A share of NO is the other end of one of YES: who buys YES or sells NO takes the asks, who sells YES or
buys NO takes the bids, and each level is there once for all fills of a turn. Turns take nothing from
one another.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from arena.store.tables import FILL, LEVEL
from arena.store.verify.deals import Deal
from arena.store.verify.difference import Difference
from arena.store.verify.facts import Facts
from arena.store.verify.frozen import ONE
from arena.store.verify.levels import Offered, offered
from arena.store.verify.naming import differs

Place = tuple[str, bool, int]
"""Market, whether the asks are taken, and the price of a YES share."""


def check_depth(facts: Facts, deals: Sequence[Deal]) -> Iterator[Difference]:
    """Levels at which a turn had more shares than the book had, or that were not the best there were."""
    taken: dict[Place, int] = defaultdict(int)
    for deal in deals:
        depths = offered(deal) or {}
        yield from _taken(facts, deal, depths, taken)
        yield from _best_first(facts, deal, depths, taken)
        yield from _within_reach(facts, deal, depths)


def _place(deal: Deal, price: int) -> Place:
    yes = deal.fill["side"] == "YES"
    return deal.fill["market_id"], deal.buys == yes, price if yes else ONE - price


def _taken(facts: Facts, deal: Deal, depths: Offered, taken: dict[Place, int]) -> Iterator[Difference]:
    for level in deal.levels:
        depth, place = depths.get(level["price"]), _place(deal, level["price"])
        before = taken[place]
        taken[place] += level["shares"]
        if depth is not None and taken[place] > depth:
            why = f"{depth} were in the book, and the turn had {before} of them before"
            yield differs(facts, LEVEL, level, "shares", f"{max(0, depth - before)} or fewer", why)


def _best_first(
    facts: Facts, deal: Deal, depths: Offered, taken: Mapping[Place, int]
) -> Iterator[Difference]:
    """Levels out of order, and better ones of which something was left."""
    for one, next in pairwise(deal.levels):
        if not _is_better(deal, one["price"], next["price"]):
            worse = f"{'over' if deal.buys else 'under'} {one['price']}"
            yield differs(facts, LEVEL, next, "price", worse, "the best prices come first")
    for price, depth in sorted(depths.items()):
        left = 0 if depth is None else depth - taken[_place(deal, price)]
        if left > 0 and deal.levels and _is_better(deal, price, deal.levels[-1]["price"]):
            why = f"{left} shares were left at the better price {price}"
            yield differs(facts, LEVEL, deal.levels[-1], "price", price, why)


def _within_reach(facts: Facts, deal: Deal, depths: Offered) -> Iterator[Difference]:
    """Levels further from the best price than the rules go, and fills of too few shares."""
    if not depths or deal.frozen is None:
        return
    worst = deal.frozen.worst_price
    reach = min(depths) + worst if deal.buys else max(depths) - worst
    for level in deal.levels:
        if _is_better(deal, reach, level["price"]):
            within = f"{reach} or {'less' if deal.buys else 'more'}"
            yield differs(facts, LEVEL, level, "price", within, f"the rules go {worst} past the best price")
    least = deal.listed[1]["min_shares"] if deal.listed and deal.listed[1] else 0
    if deal.fill["shares"] < least:
        why = "the market deals in no fewer"
        yield differs(facts, FILL, deal.fill, "shares", f"{least} or more", why)


def _is_better(deal: Deal, one: int, other: int) -> bool:
    return one < other if deal.buys else one > other
