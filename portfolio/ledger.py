"""The ledger: entries are facts that are never changed, and holdings are their fold.

Each entry is checked against all before it, then applied. It names the hash of the entry before it. Hashes of
fills and entries are those of their canonical JSON.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime
from types import MappingProxyType
from typing import Any, cast

from markets.hashes import plain_digest, timestamp_text
from markets.millionths import ONE
from markets.model import MarketId, Resolution
from portfolio.model import Entry, EntryKind, Fill, Holdings, Lot, LotKey, Settlement
from portfolio.money import ceil_div, worth

ENDING_KINDS = ("settle", "refund")
TRADE_KINDS = ("buy", "sell")
NO_LOT = Lot(0, 0)


class LedgerError(ValueError):
    """An entry that can't follow the entries before it."""


class Account:
    """Holdings that grow by one entry at a time."""

    def __init__(self, start: Holdings):
        self.cash = start.cash
        self.realised = start.realised
        self.lots = dict(start.lots)
        self.settled = dict(start.settled)
        self.traded = dict(start.traded)
        self.number = start.number
        self.head = start.head

    def holdings(self) -> Holdings:
        """Return what is held now, read-only: agents are shown it, and the record keeps it."""
        return Holdings(
            cash=self.cash,
            realised=self.realised,
            lots=MappingProxyType(self.lots.copy()),
            settled=MappingProxyType(self.settled.copy()),
            number=self.number,
            head=self.head,
            traded=MappingProxyType(self.traded.copy()),
        )

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
        """Make the next entry, apply it, and return it."""
        market_id, side = key
        held = self.lots.get(cast(LotKey, key), NO_LOT).shares
        values: dict[str, Any] = {
            "at": at,
            "balance": self.cash + cash,
            "cash": cash,
            "cost": cost,
            "held": held + shares,
            "kind": kind,
            "market_id": market_id,
            "number": self.number + 1,
            "previous": self.head,
            # What is realised is the cash received less the cost given up for it; a deposit is no profit.
            "realised": 0 if kind == "deposit" else cash + cost,
            "ref": ref,
            "shares": shares,
            "side": side,
        }

        entry = Entry(**values, hash=_seal(values))
        self.apply(entry)
        return entry

    def take(self, entry: Entry) -> None:
        """Check the hash of an entry and apply it, or raise `LedgerError` and change nothing."""
        if entry.hash != entry_hash(entry):
            raise _ledger_error(entry, "has the wrong hash")
        self.apply(entry)

    def apply(self, entry: Entry) -> None:
        """Apply an entry whose hash is known to be right, or raise `LedgerError` and change nothing."""
        key = lot_key(entry)
        before = self.lots.get(key, NO_LOT)
        lot = Lot(before.shares + entry.shares, before.cost + entry.cost)

        fault = self._chain_fault(entry) or _sum_fault(entry, lot)
        fault = fault or _kind_fault(entry, lot, self.settled.get(key))
        if fault:
            raise _ledger_error(entry, fault)

        if entry.kind in ENDING_KINDS:
            version = _resolution_version(entry)
            if not version:
                raise _ledger_error(entry, "does not name the resolution behind it")
            self.settled[key] = Settlement(version, -entry.shares, -entry.cost, entry.cash)
        elif entry.kind == "reverse":
            del self.settled[key]
        elif entry.kind in TRADE_KINDS:
            self.traded[entry.market_id] = self.traded.get(entry.market_id, 0) + abs(entry.cash)

        if lot.shares:
            self.lots[key] = lot
        else:
            self.lots.pop(key, None)

        self.cash = entry.balance
        self.realised += entry.realised
        self.number = entry.number
        self.head = entry.hash

    def _chain_fault(self, entry: Entry) -> str:
        """Return how an entry does not follow from the one before it, or ""."""
        if entry.number != self.number + 1:
            return f"follows number {self.number}"
        if entry.previous != self.head:
            return "does not have the hash of the previous entry"
        if entry.balance != self.cash + entry.cash:
            return "has a balance that is not the sum of its cash"
        return ""


def open_account(bankroll: int, at: datetime) -> Entry:
    """Return the first entry of a ledger, by which the bankroll comes in."""
    return Account(Holdings()).write(at, "deposit", "bankroll", cash=bankroll)


def fold(entries: Iterable[Entry], start: Holdings | None = None, *, sealed: bool = False) -> Holdings:
    """Return what is held after these entries; raise `LedgerError` if one does not follow from the last.

    Hashes are computed again, unless the entries were `sealed` by this very process.
    """
    account = Account(start or Holdings())
    add = account.apply if sealed else account.take
    for entry in entries:
        add(entry)

    return account.holdings()


def post(fills: Iterable[Fill], holdings: Holdings, at: datetime, label: str) -> list[Entry]:
    """Return the entries of a decision's fills; each refers to `label` and the position of its fill, from 0.

    Raise `LedgerError` if a fill sells shares that are not held.
    """
    account = Account(holdings)
    return [_post_fill(fill, account, at, f"{label}:{position}") for position, fill in enumerate(fills)]


def _post_fill(fill: Fill, account: Account, at: datetime, ref: str) -> Entry:
    """Write the entry of a fill, and return it."""
    key = fill.market_id, fill.side
    if fill.action == "buy":
        return account.write(at, "buy", ref, key, cash=-fill.amount, shares=fill.shares, cost=fill.amount)

    lot = account.lots.get(key)
    if lot is None or lot.shares < fill.shares:
        raise LedgerError(f"{ref} sells {fill.side} shares of {fill.market_id} that are not held")

    # Rounded up: the sale never looks better, and a refund of the remaining shares never pays more, than it
    # should. The last share takes all of the cost that is left.
    released = ceil_div(lot.cost * fill.shares, lot.shares)
    return account.write(at, "sell", ref, key, cash=fill.amount, shares=-fill.shares, cost=-released)


def settle(holdings: Holdings, resolutions: Iterable[Resolution], at: datetime) -> list[Entry]:
    """Pay for the lots whose markets have ended at an instant, by the newest version of each resolution."""
    return settle_resolved(newest_resolutions(resolutions, at), holdings, at)


def newest_resolutions(resolutions: Iterable[Resolution], at: datetime) -> dict[MarketId, Resolution]:
    """Return the newest version of each market's resolution that is known at an instant and possible."""
    newest: dict[MarketId, Resolution] = {}

    for resolution in resolutions:
        if not resolution.possible or resolution.known_at > at:
            continue
        earlier = newest.get(resolution.market_id)
        if earlier is None or earlier.version < resolution.version:
            newest[resolution.market_id] = resolution

    return newest


def settle_resolved(
    resolutions: Mapping[MarketId, Resolution], holdings: Holdings, at: datetime
) -> list[Entry]:
    """Return the entries that settle an account by each market's newest resolution.

    A version that was paid already changes nothing. A newer one takes back what the older one did, to the
    millionth, and pays anew; that alone may take cash below 0.
    """
    lots_to_settle = [key for key in holdings.lots if key[0] in resolutions and key not in holdings.settled]
    for key, paid in holdings.settled.items():
        if key[0] in resolutions and resolutions[key[0]].version > paid.version:
            lots_to_settle.append(key)
    if not lots_to_settle:
        return []

    account = Account(holdings)
    entries: list[Entry] = []
    for key in sorted(lots_to_settle):
        entries += _settle_lot(account, key, resolutions[key[0]], at)

    return entries


def _settle_lot(account: Account, key: LotKey, resolution: Resolution, at: datetime) -> list[Entry]:
    """Write the entries that settle a lot, after one that reverses an earlier settlement of it."""
    ref = f"resolution:{resolution.version}"
    entries = []

    paid = account.settled.get(key)
    if paid is not None:
        reversal = account.write(at, "reverse", ref, key, cash=-paid.cash, shares=paid.shares, cost=paid.cost)
        entries.append(reversal)

    lot = account.lots[key]
    kind: EntryKind = "settle"
    if resolution.payout is None:
        # A refund pays back what the shares cost, to the millionth, so nothing is realised.
        kind = "refund"
        cash = lot.cost
    elif key[1] == "YES":
        cash = worth(lot.shares, resolution.payout)
    else:
        # Rounded down on either side, so that a YES and a NO share together never get more than $1.00.
        cash = worth(lot.shares, ONE - resolution.payout)
    entries.append(account.write(at, kind, ref, key, cash=cash, shares=-lot.shares, cost=-lot.cost))

    return entries


def lot_key(entry: Entry) -> LotKey:
    """Return the key of the lot that an entry is about."""
    return cast(LotKey, (entry.market_id, entry.side))


def _resolution_version(entry: Entry) -> int:
    """Return the version of the resolution that an entry settles by; 0 if it names none."""
    version = entry.ref.removeprefix("resolution:")
    return int(version) if version.isdecimal() else 0


def _sum_fault(entry: Entry, lot: Lot) -> str:
    """Return how an entry's sums are wrong, or leave less than nothing, or ""; `lot` is the lot after it."""
    deposited = entry.cash if entry.kind == "deposit" else 0
    if entry.cash + entry.cost - entry.realised != deposited:
        return "creates or destroys money"
    if entry.held != lot.shares:
        return "has a holding that is not the sum of the shares"
    if lot.shares < 0 or lot.cost < 0:
        return "gives up shares that are not held"
    if lot.shares == 0 and lot.cost:
        return "leaves a cost without shares"
    if entry.balance < 0 and entry.cash < 0 and entry.kind != "reverse":
        return "spends more cash than there is"
    return ""


def _kind_fault(entry: Entry, lot: Lot, settled: Settlement | None) -> str:
    """Return how cash, shares and cost move as they don't in an entry of this kind, or ""."""
    ends_lot = entry.cash >= 0 and entry.shares < 0 and lot.shares == 0 and settled is None

    match entry.kind:
        case "deposit":
            fits = entry.cash >= 0 and entry.shares == entry.cost == 0
        case "buy":
            fits = entry.shares > 0 and entry.cost >= 0 and entry.realised == 0 and settled is None
        case "sell":
            fits = entry.cash >= 0 and entry.shares < 0
        case "reverse":
            moved = entry.cash, entry.shares, entry.cost
            fits = settled is not None and moved == (-settled.cash, settled.shares, settled.cost)
        case "settle":
            fits = ends_lot
        case "refund":
            fits = ends_lot and entry.realised == 0
        case _:
            fits = False

    if fits:
        return ""
    return f"is not a {entry.kind}"


def _ledger_error(entry: Entry, fault: str) -> LedgerError:
    return LedgerError(f"entry {entry.number} ({entry.kind} {entry.ref}) {fault}")


def entry_hash(entry: Entry) -> str:
    """Return the hash that seals an entry: of all its fields, the hash of the entry before it among them."""
    return _seal({name: getattr(entry, name) for name in Entry.__slots__ if name != "hash"})


def _seal(values: dict[str, Any]) -> str:
    return plain_digest(values | {"at": timestamp_text(values["at"])})


def fill_hash(fill: Fill) -> str:
    """Return the hash of a fill with all of its levels."""
    values = {name: getattr(fill, name) for name in Fill.__slots__}
    values["quote_at"] = timestamp_text(fill.quote_at)
    values["levels"] = [
        {"amount": level.amount, "fee": level.fee, "price": level.price, "shares": level.shares}
        for level in fill.levels
    ]
    return plain_digest(values)
