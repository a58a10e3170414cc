"""An account while entries are added to it: each is checked against all before it, then applied."""

from collections.abc import Callable, Mapping
from datetime import datetime
from types import MappingProxyType
from typing import cast

from portfolio.hashes import entry_hash, seal
from portfolio.model import Entry, EntryKind, Holdings, Lot, LotKey, Settled

ENDS = ("settle", "refund")
NO_LOT = Lot(0, 0)


class LedgerError(ValueError):
    """An entry that can't follow the entries before it."""


def lot_key(entry: Entry) -> LotKey:
    """The lot that an entry is about."""
    return cast(LotKey, (entry.market_id, entry.side))


class Account:
    """Holdings that grow by one entry at a time."""

    def __init__(self, start: Holdings):
        self.cash, self.realised = start.cash, start.realised
        self.lots, self.settled = dict(start.lots), dict(start.settled)
        self.number, self.head = start.number, start.head

    def holdings(self) -> Holdings:
        """What is held now. Agents are shown it and the record keeps it, so nobody can change it."""
        lots, settled = MappingProxyType(self.lots.copy()), MappingProxyType(self.settled.copy())
        return Holdings(self.cash, self.realised, lots, settled, self.number, self.head)

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
        lot = self.lots.get(cast(LotKey, key), NO_LOT)
        realised = 0 if kind == "deposit" else cash + cost
        moved = (cash, shares, cost, realised, self.cash + cash, lot.shares + shares)
        said = (self.number + 1, at, kind, *key, *moved, ref, self.head)
        entry = Entry(*said, seal(*said))
        self.apply(entry)
        return entry

    def take(self, entry: Entry) -> None:
        """Apply an entry, or raise `LedgerError` and leave all as it was."""
        if entry.hash != entry_hash(entry):
            raise _broken(entry, "has a hash that is not its own")
        self.apply(entry)

    def apply(self, entry: Entry) -> None:
        """Apply an entry whose hash is known to be its own, or raise and leave all as it was."""
        key = lot_key(entry)
        before = self.lots.get(key, NO_LOT)
        lot = Lot(before.shares + entry.shares, before.cost + entry.cost)
        ends = entry.kind in ENDS
        version = version_in(entry) if ends else 0
        fault = self._unlinked(entry) or _unbalanced(entry, lot) or _unfit(entry, lot, self.settled.get(key))
        if ends and not fault and not version:
            fault = "does not name the resolution behind it"
        if fault:
            raise _broken(entry, fault)
        if ends:
            self.settled[key] = Settled(version, -entry.shares, -entry.cost, entry.cash)
        elif entry.kind == "reverse":
            del self.settled[key]
        if lot.shares:
            self.lots[key] = lot
        else:
            self.lots.pop(key, None)
        self.cash, self.realised = entry.balance, self.realised + entry.realised
        self.number, self.head = entry.number, entry.hash

    def _unlinked(self, entry: Entry) -> str:
        """How an entry does not follow from the one before it."""
        if entry.number != self.number + 1:
            return f"follows number {self.number}"
        if entry.previous != self.head:
            return "does not name the hash of the entry before it"
        if entry.balance != self.cash + entry.cash:
            return "has a balance that is not the sum of the cash"
        return ""


def _unbalanced(entry: Entry, lot: Lot) -> str:
    """How an entry's sums don't add up, or leave less than nothing."""
    paid_in = entry.cash if entry.kind == "deposit" else 0
    if entry.cash + entry.cost - entry.realised != paid_in:
        return "makes or loses money out of nothing"
    if entry.held != lot.shares:
        return "has a holding that is not the sum of the shares"
    if lot.shares < 0 or lot.cost < 0:
        return "gives away what is not held"
    if lot.shares == 0 and lot.cost:
        return "leaves a cost without shares"
    if entry.balance < 0 and entry.cash < 0 and entry.kind != "reverse":
        return "spends cash that is not there"
    return ""


def _unfit(entry: Entry, lot: Lot, before: Settled | None) -> str:
    """How cash, shares and cost move as they don't in an entry of this kind."""
    fits = _FITS.get(entry.kind)
    if fits is None or not fits(entry, lot, before):
        return f"is not a {entry.kind}"
    return ""


def _is_deposit(entry: Entry, _lot: Lot, _before: Settled | None) -> bool:
    return entry.cash >= 0 and entry.shares == entry.cost == 0


def _is_buy(entry: Entry, _lot: Lot, before: Settled | None) -> bool:
    return entry.shares > 0 and entry.cost >= 0 and entry.realised == 0 and before is None


def _is_sell(entry: Entry, _lot: Lot, _before: Settled | None) -> bool:
    return entry.cash >= 0 and entry.shares < 0


def _is_reverse(entry: Entry, _lot: Lot, before: Settled | None) -> bool:
    undone = None if before is None else (-before.cash, before.shares, before.cost)
    return (entry.cash, entry.shares, entry.cost) == undone


def _is_settle(entry: Entry, lot: Lot, before: Settled | None) -> bool:
    return entry.cash >= 0 and entry.shares < 0 and lot.shares == 0 and before is None


def _is_refund(entry: Entry, lot: Lot, before: Settled | None) -> bool:
    return _is_settle(entry, lot, before) and entry.realised == 0


_FITS: Mapping[str, Callable[[Entry, Lot, Settled | None], bool]] = {
    "deposit": _is_deposit,
    "buy": _is_buy,
    "sell": _is_sell,
    "reverse": _is_reverse,
    "settle": _is_settle,
    "refund": _is_refund,
}


def _broken(entry: Entry, how: str) -> LedgerError:
    return LedgerError(f"entry {entry.number} ({entry.kind} {entry.ref}) {how}")


def version_in(entry: Entry) -> int:
    """The version of the resolution that an entry settles by; 0 if it names none."""
    version = entry.ref.removeprefix("resolution:")
    return int(version) if version.isdecimal() else 0
