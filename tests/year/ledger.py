"""The accounts of a record that is made up: what is bought, what a market's end pays, what all is worth."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from markets.hashes import digest
from markets.millionths import ONE
from tests.year.world import RATE, SHARES, Line, YearPrice, YearWorld, ends, payout, text

MAX_AGE = 15 * 60
"""From how many seconds on the rules call a quote stale."""
Seen = Mapping[int, tuple[YearPrice, int]]
"""The price of each market in a snapshot, and how old it was."""


@dataclass
class YearAccount:
    """An agent's ledger as it grows. A lot is shares and what they cost."""

    id: int
    name: str
    is_model: bool
    cash: int
    head: str
    number: int = 1
    realised: int = 0
    lots: dict[int, tuple[int, int]] = field(default_factory=dict)

    def buy(self, world: YearWorld, market: int, ask: int, second: int, ref: str) -> tuple[int, int, Line]:
        """A hundred shares of YES: what they cost, the fee in it, and the entry."""
        fee = -(-RATE * SHARES * ask * (ONE - ask) // ONE**3)
        amount = SHARES * ask // ONE + fee
        shares, cost = self.lots.get(market, (0, 0))
        self.lots[market] = shares + SHARES, cost + amount
        moved = {"cash": -amount, "shares": SHARES, "cost": amount, "realised": 0}
        return amount, fee, self._entry(second, "buy", world.names[market], moved, shares + SHARES, ref)

    def settle(self, world: YearWorld, second: int) -> list[Line]:
        """The entries of all lots whose market has ended."""
        return [self._close(world, market) for market in list(self.lots) if ends(market) <= second]

    def _close(self, world: YearWorld, market: int) -> Line:
        shares, cost = self.lots.pop(market)
        paid = shares * payout(market) // ONE
        moved = {"cash": paid, "shares": -shares, "cost": -cost, "realised": paid - cost}
        return self._entry(ends(market), "settle", world.names[market], moved, 0, "resolution:1")

    def _entry(self, second: int, kind: str, market: str, moved: dict[str, int], held: int, ref: str) -> Line:
        self.number, self.cash = self.number + 1, self.cash + moved["cash"]
        self.realised += moved["realised"]
        said = {"number": self.number, "at": text(second), "kind": kind, "market_id": market, "side": "YES"}
        row = said | moved | {"balance": self.cash, "held": held, "ref": ref, "previous": self.head}
        self.head = digest(row)
        return (self.id, *row.values(), self.head)

    def mark(self, second: int, snapshot: int, seen: Seen) -> Line:
        """What all is worth at a snapshot, in which every market is that anyone holds."""
        lots = [(shares, *seen[market]) for market, (shares, _) in self.lots.items()]
        value = sum(shares * price.mid // ONE for shares, price, _ in lots)
        liquidation = sum(shares * price.bid // ONE for shares, price, _ in lots)
        ages = [age for _, _, age in lots]
        worth = self.cash, value, liquidation, sum(cost for _, cost in self.lots.values()), self.realised
        return (
            self.id,
            text(second),
            snapshot,
            *worth,
            sum(age > MAX_AGE for age in ages),
            max(ages, default=0),
        )
