"""The nouns of the money: orders, fills, ledger entries, holdings and marks."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from markets.model import MarketId

Side = Literal["YES", "NO"]
Action = Literal["buy", "sell"]
EntryKind = Literal["deposit", "buy", "sell", "settle", "refund", "reverse"]
LotKey = tuple[MarketId, Side]


@dataclass(frozen=True, slots=True)
class Bet:
    """An order to spend `amount` on one side of a market, at `limit` a share at most."""

    market_id: MarketId
    side: Side
    amount: int
    limit: int | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Sale:
    """An order to sell a number of shares, a fraction of the lot, or (neither given) all of it."""

    market_id: MarketId
    side: Side
    shares: int | None = None
    fraction: int | None = None
    limit: int | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Rejection:
    """Why an order was not filled: a stable code for scripts, a sentence for people."""

    code: str
    message: str
    market_id: str = ""


@dataclass(frozen=True, slots=True)
class FillLevel:
    """The part of a fill at one price. `price` is that of the side's own share."""

    price: int
    shares: int
    amount: int
    fee: int


@dataclass(frozen=True, slots=True)
class Fill:
    """What an order bought or sold.

    `amount` is all the cash that moved, fee included: paid on a buy, received on a sale.
    `wanted` is what the accepted order asked for: dollars on a buy, shares on a sale.
    `base` is the cash that caps and confidence are based on.
    """

    market_id: MarketId
    side: Side
    action: Action
    shares: int
    amount: int
    fee: int
    wanted: int
    base: int
    quote_at: datetime
    quote_hash: str
    fee_rate: int
    levels: tuple[FillLevel, ...]
    left: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of an entrant's ledger. Deltas are signed; `previous` is the hash of the line before.

    `balance` is the cash after it, `held` the shares of its lot after it.
    `ref` names the fact behind it: `fill:ROUND:POSITION`, `resolution:VERSION`, `bankroll`.
    """

    number: int
    at: datetime
    kind: EntryKind
    market_id: str
    side: str
    cash: int
    shares: int
    cost: int
    realised: int
    balance: int
    held: int
    ref: str
    previous: str
    hash: str


@dataclass(frozen=True, slots=True)
class Lot:
    """Shares of one side of one market and what they cost, fees included."""

    shares: int
    cost: int


@dataclass(frozen=True, slots=True)
class Settlement:
    """How a lot was last settled: enough to take it back if the venue changes its mind."""

    version: int
    shares: int
    cost: int
    cash: int


@dataclass(frozen=True, slots=True)
class Holdings:
    """The fold of a ledger: cash, open lots, what was settled and how, and the ledger's head.

    `traded` is the cash that ever moved by purchases and sales in a market, both sides together.
    """

    cash: int = 0
    realised: int = 0
    lots: Mapping[LotKey, Lot] = field(default_factory=dict)
    settled: Mapping[LotKey, Settlement] = field(default_factory=dict)
    number: int = 0
    head: str = ""
    traded: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Mark:
    """The value of holdings at one snapshot: at mid for the curve, at the bid for what a sale would bring.

    `stale` counts the lots whose price is old or missing; `age` is that of the oldest price used, in
    whole seconds: 0 when nothing is held, or nothing that is held has a price.
    """

    at: datetime
    cash: int
    value: int
    liquidation: int
    cost: int
    realised: int
    stale: int
    age: int

    @property
    def total(self) -> int:
        """Return the cash and the open lots at mid."""
        return self.cash + self.value
