"""What the rules on money take: the trades of an account, or of several, and how their markets ended.

- Formula: the profit of a market = Σ gross of its sales − Σ gross of its purchases − Σ fees + what it paid
  in the end, gross being shares times the prices paid or received. A price of NO is $1 less that of YES; a NO
  share bought is a YES share sold, where it matters what happens.
- Direction: higher is better.
- Range: any.
- Edge cases: while a market is open, what it holds counts as paid at the mid. A market that was traded and
  of which nobody says how it stands is an error, not a silent 0. Dollars, shares and prices are whole
  millionths from the ledger's own figures, so all sums are exact. Trades come in the order of time.
- Source: the arena's ledger, see docs/money.md.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from markets.millionths import ONE

State = Literal["settled", "open", "refunded"]
EventTie = Literal["exclusive", "nested", "alone", "unknown"]
"""How the markets of an event hang together: at most one ends in YES; each contains the next one; not at
all; or nobody knows."""
EventTies = Mapping[str, EventTie]


@dataclass(frozen=True, slots=True)
class Trade:
    """A fill. `gross` is shares times prices paid or received, before the fee.

    `mid` and `belief` are of YES, in the snapshot and as the agent stated it then (None: it stated none).
    `cash` is what quarter-Kelly is measured by.
    """

    market: str
    yes: bool
    buy: bool
    shares: int
    gross: int
    fee: int
    mid: int
    belief: int | None = None
    cash: int = 0

    @property
    def flow(self) -> int:
        """Return the cash that moved: below 0 when it was paid."""
        return -(self.gross + self.fee) if self.buy else self.gross - self.fee

    def own(self, of_yes: int) -> int:
        """Return a price or belief of YES as one of the traded side."""
        return of_yes if self.yes else ONE - of_yes


@dataclass(frozen=True, slots=True)
class MarketEnd:
    """How a market ended for the account: `value` is what a YES share paid, or its mid while it is open.

    `paid` is what the lots brought when it was settled or refunded; while it is open, what they are worth.
    """

    event: str
    state: State
    value: int
    paid: int


def trades_by_market(trades: Iterable[Trade], ends: Mapping[str, MarketEnd]) -> dict[str, list[Trade]]:
    """Return the trades of each market, markets by name. One without an end is an error, not a silent 0."""
    by_market: dict[str, list[Trade]] = {}
    for trade in trades:
        if trade.market not in ends:
            raise ValueError(f"market {trade.market!r} was traded, but its status is unknown")
        by_market.setdefault(trade.market, []).append(trade)
    return dict(sorted(by_market.items()))


def market_profit(trades: Sequence[Trade], end: MarketEnd) -> int:
    """Return the profit of a market, exact to the millionth."""
    return sum(trade.flow for trade in trades) + end.paid


def exposure(trade: Trade) -> int:
    """Return the change in what one more dollar for YES is worth to the account: a NO share is one YES sold.

    >>> exposure(Trade("m", yes=False, buy=True, shares=5, gross=2, fee=0, mid=600_000))
    -5
    """
    return trade.shares if trade.yes == trade.buy else -trade.shares


def value_at(shares: int | Fraction, price: int) -> Fraction:
    """Return what shares are worth at a price, in millionths, before any rounding."""
    return Fraction(shares) * price / ONE
