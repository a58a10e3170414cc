"""The ledger: entries are facts that are never changed, and what is held is their fold."""

from collections.abc import Iterable, Mapping
from datetime import datetime

from markets.millionths import ONE
from markets.model import MarketId, Resolution
from portfolio.account import Account, LedgerError
from portfolio.model import Entry, Fill, Holdings, LotKey, Settled
from portfolio.money import ceil_div, worth

__all__ = ["LedgerError", "fold", "newest_ends", "open_account", "post", "settle", "settle_by"]


def open_account(bankroll: int, at: datetime) -> Entry:
    """The first entry of a ledger: the bankroll comes in."""
    return Account(Holdings()).write(at, "deposit", "bankroll", cash=bankroll)


def fold(entries: Iterable[Entry], start: Holdings | None = None, *, sealed: bool = False) -> Holdings:
    """What is held after these entries. Raises `LedgerError` where one does not follow from the last.

    Hashes are worked out again unless the entries were `sealed` by this very process.

    >>> from datetime import UTC, datetime
    >>> fold([open_account(10_000 * ONE, datetime(2026, 1, 4, tzinfo=UTC))]).cash
    10000000000
    """
    account = Account(start or Holdings())
    add = account.apply if sealed else account.take
    for entry in entries:
        add(entry)
    return account.holdings()


def post(fills: Iterable[Fill], holdings: Holdings, at: datetime, label: str) -> list[Entry]:
    """The entries of a decision's fills; each refers to `label` and the place of its fill, from 0."""
    account = Account(holdings)
    return [_posted(fill, account, at, f"{label}:{place}") for place, fill in enumerate(fills)]


def _posted(fill: Fill, account: Account, at: datetime, ref: str) -> Entry:
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
    return settle_by(newest_ends(resolutions, at), holdings, at)


def newest_ends(resolutions: Iterable[Resolution], at: datetime) -> dict[MarketId, Resolution]:
    """How each market has ended by the newest version that is known by then and possible."""
    newest: dict[MarketId, Resolution] = {}
    for resolution in resolutions:
        known = newest.get(resolution.market_id)
        if not resolution.possible or resolution.known_at > at:
            continue
        if known is None or known.version < resolution.version:
            newest[resolution.market_id] = resolution
    return newest


def settle_by(ends: Mapping[MarketId, Resolution], holdings: Holdings, at: datetime) -> list[Entry]:
    """`settle` by ends that are looked up once for all accounts.

    A version that was paid already changes nothing. A newer one takes back what the older one did,
    to the millionth, and pays anew; that alone may take cash below 0. A resolution that is impossible
    pays nobody and keeps no other from being paid.
    """
    open_lots = [key for key in holdings.lots if key[0] in ends and key not in holdings.settled]
    outdated = [key for key, paid in holdings.settled.items() if _is_newer(ends.get(key[0]), paid)]
    if not (open_lots or outdated):
        return []
    account, entries = Account(holdings), list[Entry]()
    for key in sorted([*open_lots, *outdated]):
        entries += _settled(account, key, ends[key[0]], at)
    return entries


def _is_newer(end: Resolution | None, paid: Settled) -> bool:
    return end is not None and end.version > paid.version


def _settled(account: Account, key: LotKey, resolution: Resolution, at: datetime) -> list[Entry]:
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
