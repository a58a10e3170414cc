"""One entrant's desk on the floor: what its own decision has taken, it can't take again."""

from dataclasses import replace

from markets.millionths import ONE
from markets.model import Level, MarketId
from portfolio.floor import Floor
from portfolio.model import Fill, FillLevel, Holdings, Rejection, Side
from portfolio.money import LARGEST, number
from portfolio.offers import Offers, whole
from portfolio.walk import walk
from portfolio.wishes import Wish

Book = tuple[MarketId, bool]
"""One side of a market's book: who buys YES and who sells NO take the asks, the others the bids."""


class Desk:
    """Where one decision is traded. The floor stays as it was, so others see the same prices."""

    def __init__(self, floor: Floor, holdings: Holdings):
        self.floor = floor
        # Every share may come to pay $1.00, and all of it has to fit into an account.
        self._room = LARGEST - holdings.cash - sum(lot.shares for lot in holdings.lots.values())
        self._gone: dict[Book, dict[int, int]] = {}

    def trade(self, wish: Wish, base: int) -> Fill | Rejection:
        """Fill a wish whose size is allowed."""
        offered = self.floor.offers(wish.market_id, wish.side, wish.action)
        if isinstance(offered, Rejection):
            return offered
        filled = walk(wish.size, self._rest(offered, wish), wish.limit)
        if isinstance(filled, Rejection):
            return filled
        if wish.action == "buy" and filled.shares > self._room:
            return _too_many(wish, filled.shares)
        self._take(wish, filled.levels)
        return Fill(
            market_id=wish.market_id,
            side=wish.side,
            action=wish.action,
            shares=filled.shares,
            amount=filled.amount,
            fee=filled.fee,
            wanted=wish.size,
            base=base,
            quote_at=offered.quoted_at,
            quote_hash=self.floor.quote_hash(wish.market_id),
            fee_rate=offered.rate,
            levels=filled.levels,
            left=filled.left,
            reason=wish.reason,
        )

    def _rest(self, offered: Offers, wish: Wish) -> Offers:
        """What is offered less what this decision has taken."""
        gone = self._gone.get(_book(wish))
        if gone is None:
            return offered
        left = (Level(x.price, x.shares - gone.get(_yes(x.price, wish.side), 0)) for x in offered.levels)
        levels, totals = whole(wish.action, [level for level in left if level.shares > 0], offered.rate)
        return replace(offered, levels=levels, totals=totals)

    def _take(self, wish: Wish, levels: tuple[FillLevel, ...]) -> None:
        self._room -= sum(level.shares for level in levels) if wish.action == "buy" else 0
        gone = self._gone.setdefault(_book(wish), {})
        for level in levels:
            price = _yes(level.price, wish.side)
            gone[price] = gone.get(price, 0) + level.shares


def _too_many(wish: Wish, shares: int) -> Rejection:
    most = f"an account holds at most {number(LARGEST)} dollars and shares"
    message = f"{number(shares)} {wish.side} shares are more than can be kept: {most}"
    return Rejection("too_many", message, wish.market_id)


def _book(wish: Wish) -> Book:
    return wish.market_id, (wish.action == "buy") == (wish.side == "YES")


def _yes(price: int, side: Side) -> int:
    """The price of a YES share that goes with a price of the side's own share."""
    return price if side == "YES" else ONE - price
