"""The ledger: entries are facts that are never changed, and what is held is their fold.

Each entry is checked against all before it, then applied, and names the hash of the one before. Hashes of
fills and entries are those of their canonical JSON. There are very many bets and sales, so their JSON is put
together field by field; the tests hold it against `canonical`.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime
from json.encoder import encode_basestring as text
from types import MappingProxyType
from typing import Any, cast

from markets.hashes import plain_digest, timestamp_text
from markets.millionths import ONE
from markets.model import MarketId, Resolution
from portfolio.model import Bet, Entry, EntryKind, Fill, Holdings, Lot, LotKey, Sale, Settlement
from portfolio.money import ceil_div, worth

_SEALED = tuple(name for name in Entry.__slots__ if name != "hash")
ENDING_KINDS = ("settle", "refund")
TRADE_KINDS = ("buy", "sell")
NO_LOT = Lot(0, 0)


class LedgerError(ValueError):
    """An entry that can't follow the entries before it."""


class Account:
    """Holdings that grow by one entry at a time."""

    def __init__(self, start: Holdings):
        self.cash, self.realised = start.cash, start.realised
        self.lots, self.settled, self.traded = dict(start.lots), dict(start.settled), dict(start.traded)
        self.number, self.head = start.number, start.head

    def holdings(self) -> Holdings:
        """What is held now. Agents are shown it and the record keeps it, so nobody can change it."""
        lots, settled = MappingProxyType(self.lots.copy()), MappingProxyType(self.settled.copy())
        traded = MappingProxyType(self.traded.copy())
        return Holdings(self.cash, self.realised, lots, settled, self.number, self.head, traded)

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
        values: dict[str, Any] = {
            "at": at,
            "balance": self.cash + cash,
            "cash": cash,
            "cost": cost,
            "held": self.lots.get(cast(LotKey, key), NO_LOT).shares + shares,
            "kind": kind,
            "market_id": key[0],
            "number": self.number + 1,
            "previous": self.head,
            "realised": 0 if kind == "deposit" else cash + cost,
            "ref": ref,
            "shares": shares,
            "side": key[1],
        }
        entry = Entry(**values, hash=_seal(values))
        self.apply(entry)
        return entry

    def take(self, entry: Entry) -> None:
        """Apply an entry, or raise `LedgerError` and leave all as it was."""
        if entry.hash != entry_hash(entry):
            raise _ledger_error(entry, "has the wrong hash")
        self.apply(entry)

    def apply(self, entry: Entry) -> None:
        """Apply an entry whose hash is known to be its own, or raise and leave all as it was."""
        key = lot_key(entry)
        before = self.lots.get(key, NO_LOT)
        lot = Lot(before.shares + entry.shares, before.cost + entry.cost)
        ends = entry.kind in ENDING_KINDS
        version = resolution_version(entry) if ends else 0
        fault = (
            self._unlinked(entry)
            or _balance_fault(entry, lot)
            or _kind_fault(entry, lot, self.settled.get(key))
        )
        if ends and not fault and not version:
            fault = "does not name the resolution behind it"
        if fault:
            raise _ledger_error(entry, fault)
        if ends:
            self.settled[key] = Settlement(version, -entry.shares, -entry.cost, entry.cash)
        elif entry.kind == "reverse":
            del self.settled[key]
        elif entry.kind in TRADE_KINDS:
            self.traded[entry.market_id] = self.traded.get(entry.market_id, 0) + abs(entry.cash)
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
            return "does not have the hash of the previous entry"
        if entry.balance != self.cash + entry.cash:
            return "has a balance that is not the sum of its cash"
        return ""


def open_account(bankroll: int, at: datetime) -> Entry:
    """The first entry of a ledger: the bankroll comes in."""
    return Account(Holdings()).write(at, "deposit", "bankroll", cash=bankroll)


def fold(entries: Iterable[Entry], start: Holdings | None = None, *, sealed: bool = False) -> Holdings:
    """What is held after these entries. Raises `LedgerError` where one does not follow from the last.

    Hashes are worked out again unless the entries were `sealed` by this very process.
    """
    account = Account(start or Holdings())
    add = account.apply if sealed else account.take
    for entry in entries:
        add(entry)
    return account.holdings()


def post(fills: Iterable[Fill], holdings: Holdings, at: datetime, label: str) -> list[Entry]:
    """The entries of a decision's fills; each refers to `label` and the place of its fill, from 0."""
    account = Account(holdings)
    return [_post_fill(fill, account, at, f"{label}:{place}") for place, fill in enumerate(fills)]


def _post_fill(fill: Fill, account: Account, at: datetime, ref: str) -> Entry:
    key = fill.market_id, fill.side
    if fill.action == "buy":
        return account.write(at, "buy", ref, key, cash=-fill.amount, shares=fill.shares, cost=fill.amount)
    lot = account.lots.get(key)
    if lot is None or lot.shares < fill.shares:
        raise LedgerError(f"{ref} sells {fill.side} shares of {fill.market_id} that are not held")
    # Rounded up: a sale never looks better, and a refund of the rest never pays more, than it should.
    released = ceil_div(lot.cost * fill.shares, lot.shares)
    return account.write(at, "sell", ref, key, cash=fill.amount, shares=-fill.shares, cost=-released)


def settle(holdings: Holdings, resolutions: Iterable[Resolution], at: datetime) -> list[Entry]:
    """Pay for the lots whose markets have ended by then, each by the newest version of its resolution."""
    return settle_resolved(newest_resolutions(resolutions, at), holdings, at)


def newest_resolutions(resolutions: Iterable[Resolution], at: datetime) -> dict[MarketId, Resolution]:
    """How each market has ended by the newest version that is known by then and possible."""
    newest: dict[MarketId, Resolution] = {}
    for resolution in resolutions:
        before = newest.get(resolution.market_id)
        if not resolution.possible or resolution.known_at > at:
            continue
        if before is None or before.version < resolution.version:
            newest[resolution.market_id] = resolution
    return newest


def settle_resolved(ends: Mapping[MarketId, Resolution], holdings: Holdings, at: datetime) -> list[Entry]:
    """`settle` by ends that are looked up once for all accounts.

    A version that was paid already changes nothing. A newer one takes back what the older one did,
    to the millionth, and pays anew; that alone may take cash below 0. A resolution that is impossible
    pays nobody and keeps no other from being paid.
    """
    open_lots = [key for key in holdings.lots if key[0] in ends and key not in holdings.settled]
    outdated = [
        k for k, paid in holdings.settled.items() if k[0] in ends and ends[k[0]].version > paid.version
    ]
    if not (open_lots or outdated):
        return []
    account, entries = Account(holdings), list[Entry]()
    for key in sorted([*open_lots, *outdated]):
        entries += _settle_lot(account, key, ends[key[0]], at)
    return entries


def _settle_lot(account: Account, key: LotKey, resolution: Resolution, at: datetime) -> list[Entry]:
    ref, entries = f"resolution:{resolution.version}", list[Entry]()
    before = account.settled.get(key)
    if before is not None:
        undone = {"cash": -before.cash, "shares": before.shares, "cost": before.cost}
        entries.append(account.write(at, "reverse", ref, key, **undone))
    lot = account.lots[key]
    closed = {"shares": -lot.shares, "cost": -lot.cost}
    if resolution.payout is None:
        entries.append(account.write(at, "refund", ref, key, cash=lot.cost, **closed))
    else:
        paid = worth(lot.shares, resolution.payout if key[1] == "YES" else ONE - resolution.payout)
        entries.append(account.write(at, "settle", ref, key, cash=paid, **closed))
    return entries


def lot_key(entry: Entry) -> LotKey:
    """The lot that an entry is about."""
    return cast(LotKey, (entry.market_id, entry.side))


def resolution_version(entry: Entry) -> int:
    """The version of the resolution that an entry settles by; 0 if it names none."""
    version = entry.ref.removeprefix("resolution:")
    return int(version) if version.isdecimal() else 0


def _balance_fault(entry: Entry, lot: Lot) -> str:
    """How an entry's sums don't add up, or leave less than nothing."""
    paid_in = entry.cash if entry.kind == "deposit" else 0
    if entry.cash + entry.cost - entry.realised != paid_in:
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


def _kind_fault(entry: Entry, lot: Lot, before: Settlement | None) -> str:
    """How cash, shares and cost move as they don't in an entry of this kind."""
    ends = entry.cash >= 0 and entry.shares < 0 and lot.shares == 0 and before is None
    match entry.kind:
        case "deposit":
            fits = entry.cash >= 0 and entry.shares == entry.cost == 0
        case "buy":
            fits = entry.shares > 0 and entry.cost >= 0 and entry.realised == 0 and before is None
        case "sell":
            fits = entry.cash >= 0 and entry.shares < 0
        case "reverse":
            undone = None if before is None else (-before.cash, before.shares, before.cost)
            fits = (entry.cash, entry.shares, entry.cost) == undone
        case "settle":
            fits = ends
        case "refund":
            fits = ends and entry.realised == 0
        case _:
            fits = False
    return "" if fits else f"is not a {entry.kind}"


def _ledger_error(entry: Entry, how: str) -> LedgerError:
    return LedgerError(f"entry {entry.number} ({entry.kind} {entry.ref}) {how}")


def entry_hash(entry: Entry) -> str:
    """The hash that seals an entry: of all that it says, the hash of the one before it included."""
    return _seal({name: getattr(entry, name) for name in _SEALED})


def _seal(values: dict[str, Any]) -> str:
    return plain_digest(values | {"at": timestamp_text(values["at"])})


def fill_hash(fill: Fill) -> str:
    """The hash of a fill, all of its levels included."""
    levels = [{"amount": x.amount, "fee": x.fee, "price": x.price, "shares": x.shares} for x in fill.levels]
    said = {name: getattr(fill, name) for name in Fill.__slots__}
    return plain_digest(said | {"quote_at": timestamp_text(fill.quote_at), "levels": levels})


def bet_json(bet: Bet) -> str:
    """The canonical JSON of a bet."""
    return (
        f'{{"amount":{bet.amount},"limit":{_integer_text(bet.limit)},"market_id":{text(bet.market_id)},'
        f'"reason":{text(bet.reason)},"side":{text(bet.side)}}}'
    )


def sale_json(sale: Sale) -> str:
    """The canonical JSON of a sale."""
    return (
        f'{{"fraction":{_integer_text(sale.fraction)},"limit":{_integer_text(sale.limit)},'
        f'"market_id":{text(sale.market_id)},"reason":{text(sale.reason)},'
        f'"shares":{_integer_text(sale.shares)},"side":{text(sale.side)}}}'
    )


def _integer_text(number: int | None) -> str:
    return "null" if number is None else str(number)
