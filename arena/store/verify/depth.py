"""What the fills of one turn took out of a book together.

A share of NO is the other end of one of YES: who buys YES or sells NO takes the asks, who sells YES or
buys NO takes the bids, and each level is there once for all fills of a turn. Turns take nothing from
one another.
"""

from collections import defaultdict
from collections.abc import Iterator
from itertools import groupby

from arena.store.tables import LEVEL
from arena.store.verify.deals import Deal, deals
from arena.store.verify.difference import Difference
from arena.store.verify.facts import Facts
from arena.store.verify.frozen import ONE
from arena.store.verify.levels import offered
from arena.store.verify.naming import differs

Place = tuple[str, bool, int]
"""Market, whether the asks are taken, and the price of a YES share."""


def check_depth(facts: Facts) -> Iterator[Difference]:
    """Levels at which a turn had more shares than the book had."""
    for _, turn in groupby(deals(facts), key=lambda deal: int(deal.fill["turn_id"])):
        taken: dict[Place, int] = defaultdict(int)
        for deal in turn:
            yield from _taken(facts, deal, taken)


def _taken(facts: Facts, deal: Deal, taken: dict[Place, int]) -> Iterator[Difference]:
    depths, yes = offered(deal) or {}, deal.fill["side"] == "YES"
    for level in deal.levels:
        depth, price = depths.get(level["price"]), level["price"] if yes else ONE - level["price"]
        place = deal.fill["market_id"], deal.buys == yes, price
        before = taken[place]
        taken[place] += level["shares"]
        if depth is not None and taken[place] > depth:
            why = f"{depth} were in the book, and the turn had {before} of them before"
            yield differs(facts, LEVEL, level, "shares", f"{max(0, depth - before)} or fewer", why)
