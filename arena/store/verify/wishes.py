"""What a turn wished for on each lot, read from its text, and the fills that nobody wished for."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from arena.store.tables import FILL, LEVEL
from arena.store.verify.books import Books
from arena.store.verify.deals import Deal
from arena.store.verify.difference import Difference
from arena.store.verify.facts import Facts
from arena.store.verify.frozen import ONE
from arena.store.verify.naming import differs
from arena.store.verify.parts import Row

Place = tuple[str, str, str]
"""What is done, in which market, on which side."""


@dataclass(frozen=True, slots=True)
class Asked:
    """Dollars on a buy, shares on a sale, and the price that may not be passed."""

    size: int
    limit: int | None

    def allows(self, deal: Deal) -> bool:
        """Whether every level is within the limit."""
        prices = [level["price"] for level in deal.levels]
        return self.limit is None or all(p <= self.limit if deal.buys else p >= self.limit for p in prices)


def check_wishes(
    facts: Facts, deals: Sequence[Deal], wishes: Any, books: Books | None
) -> Iterator[Difference]:
    """Fills of a size that nobody wished for, or past the price that was."""
    legs = _legs(wishes)
    for deal in deals:
        ref = f"fill:{deal.round['number']}:{deal.fill['position']}"
        held = books.held.get(ref, 0) if books else 0
        yield from _wished(facts, deal, _asked(deal, legs, held))


def _wished(facts: Facts, deal: Deal, asked: Sequence[Asked]) -> Iterator[Difference]:
    same = [wish for wish in asked if wish.size == deal.fill["wanted"]]
    if not same:
        what = "an amount wished for" if deal.buys else "shares wished to be sold"
        yield differs(facts, FILL, deal.fill, "wanted", what, "the turn's wishes say so")
    elif deal.levels and not any(wish.allows(deal) for wish in same):
        limit, worst = same[0].limit, deal.levels[-1]
        within = f"{limit} or {'less' if deal.buys else 'more'}"
        yield differs(facts, LEVEL, worst, "price", within, "it is the agent's own limit")


def _asked(deal: Deal, legs: Mapping[Place, list[Row]], held: int) -> list[Asked]:
    """What was asked on the lot of a fill; in one sum where wishes are merged, as sales always are."""
    key = deal.fill["action"], deal.fill["market_id"], deal.fill["side"]
    sizes = [(leg, leg.get("amount") if deal.buys else _shares(leg, held)) for leg in legs.get(key, ())]
    asked = [Asked(size, leg.get("limit")) for leg, size in sizes if type(size) is int and size > 0]
    if deal.buys and deal.frozen is not None and not deal.frozen.merge:
        return asked
    limits = [wish.limit for wish in asked if wish.limit is not None]
    tightest = (min if deal.buys else max)(limits, default=None)
    return [Asked(sum(wish.size for wish in asked), tightest)] if asked else []


def _shares(leg: Row, held: int) -> int | None:
    """How many shares a leg of a sale is of; None where it makes no sense."""
    shares, fraction = leg.get("shares"), leg.get("fraction")
    if shares is not None and fraction is not None:
        return None
    if fraction is not None:
        return held * fraction // ONE if type(fraction) is int and 0 < fraction <= ONE else None
    return held if shares is None else shares if type(shares) is int else None


def _legs(wishes: Any) -> dict[Place, list[Row]]:
    """The bets and sales of a turn whose limits are prices, by what they are about."""
    found = defaultdict[Place, list[Row]](list)
    for action, name in (("buy", "bets"), ("sell", "sales")):
        legs = wishes.get(name) if isinstance(wishes, dict) else None
        for leg in legs if isinstance(legs, list) else ():
            if isinstance(leg, dict) and _is_limit(leg.get("limit")):
                found[action, str(leg.get("market_id")), str(leg.get("side"))].append(leg)
    return found


def _is_limit(limit: Any) -> bool:
    return limit is None or (type(limit) is int and 0 < limit <= ONE)
