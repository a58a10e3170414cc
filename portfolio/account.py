"""An account while entries are added to it: each is checked against all before it, then applied."""

from dataclasses import replace
from datetime import datetime
from typing import cast

from markets.canonical import digest, stamp
from markets.model import MarketId
from portfolio.model import Entry, EntryKind, Holdings, Lot, LotKey, Settled, Side

ENDS = ("settle", "refund")


class LedgerError(ValueError):
    """An entry that can't follow the entries before it."""


def entry_hash(entry: Entry) -> str:
    """The hash that seals an entry: of all that it says, the hash of the one before it included."""
    fields = {name: getattr(entry, name) for name in Entry.__slots__ if name != "hash"}
    return digest(fields | {"at": stamp(entry.at)})


def lot_key(entry: Entry) -> LotKey:
    """The lot that an entry is about."""
    return MarketId(entry.market_id), cast(Side, entry.side)


class Account:
    """Holdings that grow by one entry at a time."""

    def __init__(self, start: Holdings):
        self.cash, self.realised = start.cash, start.realised
        self.lots, self.settled = dict(start.lots), dict(start.settled)
        self.number, self.head = start.number, start.head

    def holdings(self) -> Holdings:
        """What is held now."""
        return Holdings(self.cash, self.realised, self.lots, self.settled, self.number, self.head)

    def write(
        self,
        at: datetime,
        kind: EntryKind,
        ref: str,
        key: tuple[str, str] = ("", ""),
        *,
        cash: int,
        shares: int = 0,
        cost: int = 0,
    ) -> Entry:
        """The next entry. What is realised is the cash that no cost stands against."""
        lot = self.lots.get(cast(LotKey, key), Lot(0, 0))
        unsealed = Entry(
            number=self.number + 1,
            at=at,
            kind=kind,
            market_id=key[0],
            side=key[1],
            cash=cash,
            shares=shares,
            cost=cost,
            realised=0 if kind == "deposit" else cash + cost,
            balance=self.cash + cash,
            held=lot.shares + shares,
            ref=ref,
            previous=self.head,
            hash="",
        )
        entry = replace(unsealed, hash=entry_hash(unsealed))
        self.take(entry)
        return entry

    def take(self, entry: Entry) -> None:
        """Apply an entry, or raise `LedgerError` and leave all as it was."""
        lot = self._lot_after(entry)
        self._check(entry, lot)
        key = lot_key(entry)
        if entry.kind in ENDS:
            self.settled[key] = Settled(version_in(entry), -entry.shares, -entry.cost, entry.cash)
        elif entry.kind == "reverse":
            del self.settled[key]
        if lot.shares:
            self.lots[key] = lot
        else:
            self.lots.pop(key, None)
        self.cash, self.realised = entry.balance, self.realised + entry.realised
        self.number, self.head = entry.number, entry.hash

    def _lot_after(self, entry: Entry) -> Lot:
        lot = self.lots.get(lot_key(entry), Lot(0, 0))
        return Lot(lot.shares + entry.shares, lot.cost + entry.cost)

    def _check(self, entry: Entry, lot: Lot) -> None:
        paid_in = entry.cash if entry.kind == "deposit" else 0
        for holds, what in (
            (entry.number == self.number + 1, f"follows number {self.number}"),
            (entry.previous == self.head, "does not name the hash of the entry before it"),
            (entry.hash == entry_hash(entry), "has a hash that is not its own"),
            (entry.cash + entry.cost - entry.realised == paid_in, "makes or loses money out of nothing"),
            (entry.balance == self.cash + entry.cash, "has a balance that is not the sum of the cash"),
            (entry.held == lot.shares, "has a holding that is not the sum of the shares"),
            (lot.shares >= 0 and lot.cost >= 0, "gives away what is not held"),
            (lot.shares > 0 or lot.cost == 0, "leaves a cost without shares"),
            (
                entry.balance >= 0 or entry.cash >= 0 or entry.kind == "reverse",
                "spends cash that is not there",
            ),
            (self._fits_kind(entry, lot), f"is not a {entry.kind}"),
            (entry.kind not in ENDS or version_in(entry) > 0, "does not name the resolution behind it"),
        ):
            if not holds:
                raise LedgerError(f"entry {entry.number} ({entry.kind} {entry.ref}) {what}")

    def _fits_kind(self, entry: Entry, lot: Lot) -> bool:
        """Whether cash, shares and cost move as they do in an entry of this kind."""
        before = self.settled.get(lot_key(entry))
        if entry.kind == "deposit":
            return entry.cash >= 0 and entry.shares == entry.cost == 0
        if entry.kind == "buy":
            return entry.shares > 0 and entry.cost >= 0 and entry.realised == 0
        if entry.kind == "sell":
            return entry.cash >= 0 and entry.shares < 0
        if entry.kind == "reverse":
            return before is not None and (entry.cash, entry.shares, entry.cost) == (
                -before.cash,
                before.shares,
                before.cost,
            )
        closes = entry.cash >= 0 and entry.shares < 0 and lot.shares == 0 and before is None
        return closes and (entry.kind == "settle" or entry.realised == 0)


def version_in(entry: Entry) -> int:
    """The version of the resolution that an entry settles by; 0 if it names none."""
    version = entry.ref.removeprefix("resolution:")
    return int(version) if version.isdecimal() else 0
