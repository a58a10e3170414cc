"""A trace played through the engine: execute, post, fold, settle and mark, under `reference`.

Each outcome of a market with several is a YES market of its own: `cup` with the outcomes Red and
Blue is played as `cup/Red` and `cup/Blue`. What comes of a step is written in the words of the file,
so that the two can be laid side by side.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from statistics import fmean
from typing import Any, cast

from arena.record.model.columns import confidence, implied_belief
from arena.scores.rules import brier
from markets.millionths import ONE, millionths
from markets.model import Listing, MarketId, Quote, Resolution, Snapshot
from portfolio.execute import execute
from portfolio.ledger import fold, open_account, post, settle
from portfolio.model import Bet, Fill, Holdings, LotKey, Sale, Side
from portfolio.rules import REFERENCE
from portfolio.value import mark
from tests.builders import NOW, a_market
from tests.oracles.traces import AnyStep, Bets, Cancel, Close, Price, Prices, Resolve, Sell, Trace

RULES = REFERENCE.model_copy(update={"min_bet": 0})

Found = dict[str, Any]


@dataclass
class Table:
    """All that is known at one point of a trace."""

    account: Holdings
    prices: dict[str, Prices]
    closed: set[str] = field(default_factory=set)
    winners: dict[str, str] = field(default_factory=dict)
    bought: list[Fill] = field(default_factory=list)

    def listings(self) -> Iterator[Listing]:
        """Yield every market, and every outcome of those with several, at its price of now."""
        for name, prices in self.prices.items():
            if isinstance(prices, dict):
                for outcome, price in prices.items():
                    yield self._listing(f"{name}/{outcome}", name, price)
            else:
                yield self._listing(name, name, prices)

    def _listing(self, market: str, name: str, price: float | None) -> Listing:
        page = a_market(market, closes_at=NOW) if name in self.closed else a_market(market)
        mid = None if price is None else millionths(price)
        return Listing(page, Quote(MarketId(market), NOW, None, None, mid))

    def snapshot(self) -> Snapshot:
        """Return what may be traded on, and what lots are worth."""
        return Snapshot(NOW, tuple(self.listings()))

    def lot(self, market: str, side: str) -> LotKey:
        """Return our name for a side of theirs, invalid if theirs is."""
        if isinstance(self.prices.get(market), dict):
            return MarketId(f"{market}/{side}"), "YES"
        return MarketId(market), cast(Side, side.upper() if side.upper() in ("YES", "NO") else side)

    def named(self, lot: LotKey) -> Found:
        """Return their name for a lot of ours."""
        market, _, outcome = lot[0].partition("/")
        return {"market": market, "side": outcome or lot[1]}


def opened(trace: Trace) -> Table:
    """Return the table before the first step."""
    account = fold([open_account(millionths(trace.initial_cash), NOW)])
    return Table(account, {start.market: start.price for start in trace.markets})


def play(step: AnyStep, table: Table, label: str) -> Found:
    """Return the result of a step, and the account after it."""
    return _brings(step, table, label) | {"after": _after(table)}


def _brings(step: AnyStep, table: Table, label: str) -> Found:
    match step:
        case Bets():
            bets = [Bet(*table.lot(leg.market, leg.side), millionths(leg.amount)) for leg in step.bets]
            fills, refused = execute(bets, [], table.account, table.snapshot(), RULES)
            table.account = fold(post(fills, table.account, NOW, label), table.account)
            table.bought += fills
            return {"ok": not refused, "fills": [_fill(fill, table) for fill in fills]}
        case Sell():
            return _sell(step, table, label)
        case Price():
            table.prices[step.market] = step.price
        case Close():
            table.closed.add(step.market)
        case Resolve():
            table.winners[step.market] = step.winner
            return {"settled": _end(step.market, table)}
        case Cancel():
            return {"refunded": _end(step.market, table)}
    return {}


def _fill(fill: Fill, table: Table) -> Found:
    (level,) = fill.levels
    return table.named((fill.market_id, fill.side)) | {
        "shares": fill.shares / ONE,
        "price": level.price / ONE,
        "amount": fill.amount / ONE,
        "c": _confidence(fill),
    }


def _confidence(fill: Fill) -> float:
    return float(confidence(fill.amount, fill.base, RULES.max_bet))


def _sell(step: Sell, table: Table, label: str) -> Found:
    key = table.lot(step.market, step.side)
    sale = _sale(key, step.percentage, table.account)
    fills, _ = execute([], [sale], table.account, table.snapshot(), RULES)
    if not fills:
        return {"ok": False} | dict.fromkeys(("proceeds", "price", "cost_basis", "realized"))
    (entry,) = entries = post(fills, table.account, NOW, label)
    table.account = fold(entries, table.account)
    return {
        "ok": True,
        "proceeds": entry.cash / ONE,
        "price": fills[0].levels[0].price / ONE,
        "cost_basis": -entry.cost / ONE,
        "realized": entry.realised / ONE,
    }


def _sale(key: LotKey, percentage: float, account: Holdings) -> Sale:
    """Sell a fraction of the lot, or shares if the fraction is no whole number of millionths."""
    fraction = Decimal(repr(percentage)) / 100
    if fraction * ONE == int(fraction * ONE):
        return Sale(*key, fraction=int(fraction * ONE))
    held = account.lots[key].shares if key in account.lots else 0
    return Sale(*key, shares=int(held * fraction))


def _end(market: str, table: Table) -> int:
    """Settle or refund every lot of a market, and say how many there were."""
    table.closed.add(market)
    held = [
        market_id
        for market_id, side in table.account.lots
        if table.named((market_id, side))["market"] == market
    ]
    ends = [Resolution(market_id, 1, NOW, _payout(market_id, table)) for market_id in held]
    entries = settle(table.account, ends, NOW)
    table.account = fold(entries, table.account)
    return len(entries)


def _payout(market_id: MarketId, table: Table) -> int | None:
    """Return what a YES share pays, or None if nobody won, which is a refund."""
    named = table.named((market_id, "YES"))
    winner = table.winners.get(named["market"])
    return None if winner is None else ONE * (winner.upper() == named["side"].upper())


def _after(table: Table) -> Found:
    snapshot = table.snapshot()
    seen = mark(table.account, snapshot)
    return {
        "cash": seen.cash / ONE,
        "invested": seen.cost / ONE,
        "positions": [_position(key, table, snapshot) for key in table.account.lots],
        "total_value": seen.total / ONE,
    }


def _position(key: LotKey, table: Table, snapshot: Snapshot) -> Found:
    lot = table.account.lots[key]
    return table.named(key) | {
        "shares": lot.shares / ONE,
        "cost": lot.cost / ONE,
        "avg": lot.cost / lot.shares,
        "value": mark(Holdings(lots={key: lot}), snapshot).value / ONE,
    }


def scores(table: Table) -> Found:
    """Return the Brier score of every bet on a resolved market, in the order of the bets, and their mean."""
    ended = [
        (fill, payout) for fill in table.bought if (payout := _payout(fill.market_id, table)) is not None
    ]
    found = [_score(fill, payout // ONE, table) for fill, payout in ended]
    return {"brier": found, "mean_brier": fmean(row["brier"] for row in found) if found else None}


def _score(fill: Fill, outcome: int, table: Table) -> Found:
    c = _confidence(fill)
    yes = fill.side == "YES"
    return table.named((fill.market_id, fill.side)) | {
        "amount": fill.amount / ONE,
        "c": c,
        "won": int(yes == (outcome == 1)),
        "brier": brier.score(implied_belief(yes, c), outcome),
    }
