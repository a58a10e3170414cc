"""The bets and sales of one decision filled against one snapshot, under the rules, or rejected.

Each bet and sale becomes an order if it makes sense. What a decision has taken of a book, it can't take
again; other agents see the snapshot as it was.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from markets.millionths import ONE
from markets.model import Level, MarketId, Snapshot
from portfolio.matching import Offers, OrderMatch, SnapshotOffers, match_levels, unmatched_text, whole_levels
from portfolio.model import Action, Bet, Fill, Holdings, Lot, LotKey, Rejection, Sale, Side
from portfolio.money import LARGEST, ceil_div, dollars, number, percent, worth
from portfolio.rules import Rules

T = TypeVar("T")
BookSide = tuple[MarketId, bool]
"""One side of a market's book: who buys YES and who sells NO take the asks, the others the bids."""


@dataclass(frozen=True, slots=True)
class Order:
    """A bet or a sale that makes sense. `size` is dollars on a buy, shares on a sale."""

    market_id: MarketId
    side: Side
    action: Action
    size: int
    limit: int | None
    reason: str

    @property
    def lot(self) -> LotKey:
        """The lot it is about."""
        return self.market_id, self.side


class Trader:
    """Trades one decision. What the snapshot offers stays as it was, so others see the same prices."""

    def __init__(self, offers: SnapshotOffers, holdings: Holdings):
        self.offers = offers
        # Every share may come to pay $1.00, and all of it has to fit into an account.
        self._room = LARGEST - holdings.cash - sum(lot.shares for lot in holdings.lots.values())
        self._gone: dict[BookSide, dict[int, int]] = {}
        self._capped = offers.rules.max_of_volume is not None
        self._traded_before, self._traded = holdings.traded, dict[MarketId, int]()
        self._shares: dict[MarketId, int] = {}

    def trade(self, order: Order, base: int) -> Fill | Rejection:
        """Fill an order whose size is allowed."""
        offered = self.offers.find(order.market_id, order.side, order.action)
        if isinstance(offered, Rejection):
            return offered
        size = self._size_in_room(order, offered) if self._capped else order.size
        if not size:
            return Rejection("no_depth", self.offers.room_text(order.market_id), order.market_id)
        filled = match_levels(size, self._rest(offered, order), order.limit)
        if isinstance(filled, Rejection):
            return filled
        left = filled.left
        if size < order.size:
            rest = order.size - (filled.amount if order.action == "buy" else filled.shares)
            left = unmatched_text(rest, offered, left or self.offers.room_text(order.market_id))
        if order.action == "buy" and filled.shares > self._room:
            most = f"an account holds at most {number(LARGEST)} dollars and shares"
            message = f"{number(filled.shares)} {order.side} shares are more than can be kept: {most}"
            return Rejection("too_many", message, order.market_id)
        self._take(order, filled)
        return Fill(
            market_id=order.market_id,
            side=order.side,
            action=order.action,
            shares=filled.shares,
            amount=filled.amount,
            fee=filled.fee,
            wanted=order.size,
            base=base,
            quote_at=offered.quoted_at,
            quote_hash=self.offers.quote_hash(order.market_id, offered.quoted_at),
            fee_rate=offered.rate,
            levels=filled.levels,
            left=left,
            reason=order.reason,
        )

    def _size_in_room(self, order: Order, offered: Offers) -> int:
        """As much of an order as the rules allow at the market's volume, and at its book if there is one."""
        room, market_id = self.offers.room(order.market_id), order.market_id
        if room is None or not offered.levels:
            return order.size
        cash = min(room.decision, room.cohort - self._traded_before.get(market_id, 0))
        cash = max(0, cash - self._traded.get(market_id, 0))
        best, shares = offered.levels[0].price, None
        if room.shares is not None:
            shares = max(0, room.shares - self._shares.get(market_id, 0))
        if order.action == "buy":
            return min(order.size, cash, cash if shares is None else worth(shares, best))
        size = min(order.size, cash * ONE // best) if best else order.size
        return size if shares is None else min(size, shares)

    def _rest(self, offered: Offers, order: Order) -> Offers:
        """What is offered less what this decision has taken."""
        gone = self._gone.get(_book_side(order))
        if gone is None:
            return offered
        left = (
            Level(x.price, x.shares - gone.get(_yes_price(x.price, order.side), 0)) for x in offered.levels
        )
        levels, totals = whole_levels(
            order.action, [level for level in left if level.shares > 0], offered.rate
        )
        return replace(offered, levels=levels, totals=totals)

    def _take(self, order: Order, filled: OrderMatch) -> None:
        self._room -= filled.shares if order.action == "buy" else 0
        if self._capped:
            market_id, best = order.market_id, filled.levels[0].price
            self._traded[market_id] = self._traded.get(market_id, 0) + filled.amount
            # A purchase with its fee counts in full, or one in parts would get more shares than one alone.
            counted = max(filled.shares, ceil_div(filled.amount * ONE, best) if best else 0)
            self._shares[market_id] = self._shares.get(market_id, 0) + counted
        gone = self._gone.setdefault(_book_side(order), {})
        for level in filled.levels:
            price = _yes_price(level.price, order.side)
            gone[price] = gone.get(price, 0) + level.shares


def _book_side(order: Order) -> BookSide:
    return order.market_id, (order.action == "buy") == (order.side == "YES")


def _yes_price(price: int, side: Side) -> int:
    """The price of a YES share that goes with a price of the side's own share."""
    return price if side == "YES" else ONE - price


def execute(
    bets: Sequence[Bet],
    sales: Sequence[Sale],
    holdings: Holdings,
    snapshot: Snapshot,
    rules: Rules,
    first: Snapshot | None = None,
) -> tuple[list[Fill], list[Rejection]]:
    """What a decision brings: sales first, then bets; every order is filled, or refused with a reason.

    With `base: start`, caps are measured by the cash before the sales; with `running`, by that at each bet.
    Volumes are of the `first` snapshot.
    """
    return execute_at(SnapshotOffers(snapshot, rules, first), bets, sales, holdings)


def execute_at(
    offers: SnapshotOffers, bets: Sequence[Bet], sales: Sequence[Sale], holdings: Holdings
) -> tuple[list[Fill], list[Rejection]]:
    """`execute` on offers that are shared by all who decide on one snapshot."""
    trader = Trader(offers, holdings)
    sold, unsold = _split_results(_sell(sales, holdings, trader))
    proceeds = sum(fill.amount for fill in sold) if offers.rules.base == "running" else 0
    bought, unbought = _buy(bets, holdings, holdings.cash + proceeds, trader)
    return sold + bought, unsold + unbought


def cap(cash: int, rules: Rules) -> int:
    """The most that a bet may be (with `cap: decision`, all bets together)."""
    return max(0, min(cash, cash * rules.max_bet // ONE))


def is_out(holdings: Holdings, rules: Rules) -> bool:
    """Whether an entrant holds nothing and can place no legal bet."""
    return not holdings.lots and cap(holdings.cash, rules) < max(rules.min_bet, 1)


def _sell(sales: Iterable[Sale], holdings: Holdings, trader: Trader) -> Iterator[Fill | Rejection]:
    orders, refused = _split_results(
        order_from_sale(sale, trader.offers.listings, holdings.lots) for sale in sales
    )
    yield from refused
    for order in merge_orders(orders):
        held = holdings.lots[order.lot].shares
        if order.size > held:
            message = f"{number(order.size)} {order.side} shares are to be sold, over the {number(held)} held"
            yield Rejection("over_held", message, order.market_id)
        else:
            yield trader.trade(order, holdings.cash)


def _buy(
    bets: Iterable[Bet], holdings: Holdings, cash: int, trader: Trader
) -> tuple[list[Fill], list[Rejection]]:
    offers = trader.offers
    listed, offered, settled = offers.listings, offers.offered, holdings.settled
    orders, refused = _split_results(order_from_bet(bet, listed, offered, settled) for bet in bets)
    if offers.rules.merge:
        orders, opposed = _split_results(_reject_both_sides(merge_orders(orders)))
        refused += opposed
    fills, unfilled = _split_results(_place_bets(orders, cash, trader))
    refused += unfilled
    why = _reject_together(fills, refused, cash, offers.rules)
    if why is None:
        return fills, refused
    return [], refused + [Rejection(why.code, why.message, fill.market_id) for fill in fills]


def _reject_both_sides(orders: list[Order]) -> Iterator[Order | Rejection]:
    """Refuse orders for both sides of a market."""
    size = {order.lot: order.size for order in orders}
    for order in orders:
        yes, no = size.get((order.market_id, "YES")), size.get((order.market_id, "NO"))
        if yes is None or no is None:
            yield order
        else:
            message = f"bets on both sides of one market: {dollars(yes)} on YES, {dollars(no)} on NO"
            yield Rejection("both_sides", message, order.market_id)


def _place_bets(orders: Iterable[Order], cash: int, trader: Trader) -> Iterator[Fill | Rejection]:
    rules = trader.offers.rules
    for order in orders:
        result = _reject_size(order, cash, rules) or trader.trade(order, cash)
        if isinstance(result, Fill) and rules.base == "running":
            cash -= result.amount
        yield result


def _reject_size(order: Order, base: int, rules: Rules) -> Rejection | None:
    """Refuse a bet that is too small, too large, or on credit."""
    if base < 0:
        message = f"bet {dollars(order.size)} while cash is {dollars(base)}: no buying below $0.00"
        return Rejection("in_debt", message, order.market_id)
    if order.size < rules.min_bet:
        code, bound = "under_min", f"under the minimum of {dollars(rules.min_bet)}"
    elif rules.cap == "bet" and order.size > cap(base, rules):
        code, bound = "over_cap", f"over {_cap_text(base, rules)}"
    elif rules.base == "running" and order.size > base:
        code, bound = "over_cash", f"over the cash of {dollars(base)}"
    else:
        return None
    return Rejection(code, f"bet {dollars(order.size)} is {bound}", order.market_id)


def _reject_together(
    fills: list[Fill], refused: list[Rejection], cash: int, rules: Rules
) -> Rejection | None:
    """Why none of the bets that are allowed one by one may stand together."""
    total = sum(fill.wanted for fill in fills)
    bets = f"bets of {dollars(total)} together are over"
    if rules.cap == "decision" and total > cap(cash, rules):
        return Rejection("over_cap", f"{bets} {_cap_text(cash, rules)}")
    if rules.base == "start" and total > cash:
        return Rejection("over_cash", f"{bets} the cash of {dollars(cash)}")
    if rules.cap == "decision" and refused:
        return Rejection(
            "all_or_nothing", f"all or nothing, and another bet was rejected: {refused[0].message}"
        )
    return None


def _cap_text(cash: int, rules: Rules) -> str:
    return f"the cap of {dollars(cap(cash, rules))}: {percent(rules.max_bet)} of {dollars(cash)} cash"


def _split_results(results: Iterable[T | Rejection]) -> tuple[list[T], list[Rejection]]:
    good, bad = list[T](), list[Rejection]()
    for result in results:
        if isinstance(result, Rejection):
            bad.append(result)
        else:
            good.append(result)
    return good, bad


def order_from_bet(
    bet: Bet, listed: Collection[MarketId], offered: Collection[MarketId], settled: Collection[LotKey]
) -> Order | Rejection:
    """The order behind a bet, if it is an amount on a side of a market that is on offer."""
    if (bad := _reject_target(bet, listed)) is not None:
        return bad
    if bet.market_id not in offered:
        message = "the market is no longer open for betting: positions can only be sold"
        return Rejection("not_offered", message, bet.market_id)
    if (bet.market_id, "YES") in settled or (bet.market_id, "NO") in settled:
        return Rejection("settled", "the market has already been settled", bet.market_id)
    if not _whole_within(bet.amount, LARGEST):
        message = f"a bet is an amount of dollars above $0.00, not {_figure_text(bet.amount, dollars)}"
        return Rejection("bad_amount", message, bet.market_id)
    return Order(bet.market_id, bet.side, "buy", bet.amount, bet.limit, _reason_text(bet.reason))


def order_from_sale(
    sale: Sale, listed: Collection[MarketId], lots: Mapping[LotKey, Lot]
) -> Order | Rejection:
    """The order behind a sale: so many shares, a fraction of the lot, or all of it."""
    if (bad := _reject_target(sale, listed)) is not None:
        return bad
    lot = lots.get((sale.market_id, sale.side))
    if lot is None:
        message = f"no {sale.side} shares of this market are held to sell"
        return Rejection("not_held", message, sale.market_id)
    shares = _shares_to_sell(sale, lot)
    if isinstance(shares, str):
        return Rejection("bad_shares", shares, sale.market_id)
    return Order(sale.market_id, sale.side, "sell", shares, sale.limit, _reason_text(sale.reason))


def merge_orders(orders: Iterable[Order]) -> list[Order]:
    """One order a lot, in the order of the first of each: sizes add up, the tightest limit holds."""
    together: dict[LotKey, list[Order]] = {}
    for order in orders:
        together.setdefault(order.lot, []).append(order)
    return [_join_orders(same) if len(same) > 1 else same[0] for same in together.values()]


def _join_orders(orders: list[Order]) -> Order:
    limits = [order.limit for order in orders if order.limit is not None]
    tightest = min if orders[0].action == "buy" else max
    return replace(
        orders[0],
        size=sum(order.size for order in orders),
        limit=tightest(limits) if limits else None,
        reason="; ".join(order.reason for order in orders if order.reason),
    )


def _reject_target(order: Bet | Sale, listed: Collection[MarketId]) -> Rejection | None:
    """What is wrong with where an order aims. An agent's words may hold anything, whatever the types say."""
    if not _is_one_of(listed, order.market_id):
        return Rejection("unknown_market", f"there is no market {_value_text(order.market_id)}")
    if order.side not in ("YES", "NO"):
        message = f"the side is {_value_text(order.side)}, not YES or NO"
        return Rejection("unknown_side", message, order.market_id)
    if order.limit is not None and not _whole_within(order.limit, ONE):
        shown = _figure_text(order.limit, dollars)
        message = f"a limit is a price above $0.00 and at most $1.00, not {shown}"
        return Rejection("bad_limit", message, order.market_id)
    return None


def _shares_to_sell(sale: Sale, lot: Lot) -> int | str:
    """How many shares a sale is of, or what is wrong with it."""
    if sale.shares is not None and sale.fraction is not None:
        return "a sale needs either shares or a fraction, not both"
    if sale.shares is not None:
        if _whole_within(sale.shares, LARGEST):
            return sale.shares
        return f"a sale is of a number of shares above 0, not {_figure_text(sale.shares, number)}"
    if sale.fraction is None:
        return lot.shares
    if not _whole_within(sale.fraction, ONE):
        return f"a fraction is above 0 and at most 1, not {_figure_text(sale.fraction, number)}"
    part = f"{number(sale.fraction)} of {number(lot.shares)} shares"
    return lot.shares * sale.fraction // ONE or f"{part} is less than the smallest part of one"


def _reason_text(reason: object) -> str:
    return reason if isinstance(reason, str) else _value_text(reason)


def _figure_text(value: object, figure: Callable[[int], str]) -> str:
    """A figure as an agent gave it, where it is one that can be written."""
    if type(value) is not int:
        return _value_text(value)
    return figure(value) if abs(value) <= LARGEST else "one of that size"


def _value_text(value: object) -> str:
    """Whatever an agent wrote, short enough for a sentence."""
    return repr(value[:80]) if isinstance(value, str) else f"a {type(value).__name__}"


def _is_one_of(listed: Collection[MarketId], market_id: object) -> bool:
    return isinstance(market_id, str) and market_id in listed


def _whole_within(value: object, most: int) -> bool:
    """Whether it is a number of millionths above 0: NaN, True and 0.5 are not."""
    return type(value) is int and 0 < value <= most
