"""Orders become fills: the bets and sales of one decision, against one snapshot and under the rules.

A bet or a sale that makes sense becomes an `Order`; an order is filled or refused. What a decision has taken
from a book it can't take again. Other agents see the snapshot as it was.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from markets.millionths import ONE
from markets.model import Level, MarketId, Snapshot
from portfolio.matching import (
    Offers,
    OrderMatch,
    Room,
    SnapshotOffers,
    levels_with_totals,
    match_levels,
    unmatched_text,
)
from portfolio.model import Action, Bet, Fill, Holdings, Lot, LotKey, Rejection, Sale, Side
from portfolio.money import LARGEST, ceil_div, dollars, number, percent, worth
from portfolio.rules import Rules

Result = TypeVar("Result")
BookSide = tuple[MarketId, bool]
"""One side of a market's book: buyers of YES and sellers of NO take the asks (True), others the bids."""


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
        """Return the key of the lot that is bought or sold."""
        return self.market_id, self.side


class Trader:
    """Fills the orders of one decision, and keeps what they have taken so far.

    The offers themselves stay as they were, so others see the same prices.
    """

    def __init__(self, offers: SnapshotOffers, holdings: Holdings):
        self.offers = offers
        # Each share may come to pay $1.00, so cash and shares together have to fit into an account.
        self._spare = LARGEST - holdings.cash - sum(lot.shares for lot in holdings.lots.values())
        # The shares that are taken from a side of a book, by their price in YES.
        self._taken: dict[BookSide, dict[int, int]] = {}
        # The cash and the shares that count against the caps of a market.
        self._traded_before = holdings.traded
        self._traded: dict[MarketId, int] = {}
        self._shares: dict[MarketId, int] = {}

    def trade(self, order: Order, base: int) -> Fill | Rejection:
        """Fill an order whose size is allowed, or return why it is not filled.

        `base` is the cash that caps are measured by; the fill keeps it.
        """
        offered = self.offers.find(order.market_id, order.side, order.action)
        if isinstance(offered, Rejection):
            return offered

        size = order.size
        caps = self.offers.room(order.market_id)
        if caps is not None:
            size = self._size_in_room(order, offered, caps)
            if not size:
                return Rejection("no_depth", caps.text, order.market_id)

        match = match_levels(size, self._untaken(offered, order), order.limit)
        if isinstance(match, Rejection):
            return match

        left = match.left
        if caps is not None and size < order.size:
            matched = match.amount if order.action == "buy" else match.shares
            left = unmatched_text(order.size - matched, order.action, left or caps.text)

        if order.action == "buy" and match.shares > self._spare:
            account_limit = f"an account holds at most {number(LARGEST)} dollars and shares"
            message = f"{number(match.shares)} {order.side} shares are more than can be kept: {account_limit}"
            return Rejection("too_many", message, order.market_id)

        self._take(order, match)
        return Fill(
            market_id=order.market_id,
            side=order.side,
            action=order.action,
            shares=match.shares,
            amount=match.amount,
            fee=match.fee,
            wanted=order.size,
            base=base,
            quote_at=offered.quoted_at,
            quote_hash=self.offers.quote_hash(order.market_id, offered.quoted_at),
            fee_rate=offered.rate,
            levels=match.levels,
            left=left,
            reason=order.reason,
        )

    def _size_in_room(self, order: Order, offered: Offers, caps: Room) -> int:
        """Return how much of an order the caps by the market's volume and book allow."""
        if not offered.levels:
            return order.size

        # The cohort's cap also counts earlier decisions; what this decision traded counts against both.
        traded_before = self._traded_before.get(order.market_id, 0)
        traded_now = self._traded.get(order.market_id, 0)
        cash_left = min(caps.decision, caps.cohort - traded_before) - traded_now
        cash_left = max(0, cash_left)

        size = order.size
        best_price = offered.levels[0].price
        if order.action == "buy":
            size = min(size, cash_left)
        elif best_price:
            # Rounded down, so that the sale never moves more cash than the cap. Shares that are sold for
            # nothing move none.
            size = min(size, cash_left * ONE // best_price)

        if caps.shares is not None:
            shares_left = max(0, caps.shares - self._shares.get(order.market_id, 0))
            most = shares_left
            if order.action == "buy":
                # A purchase is capped at what the shares cost at the best price, rounded down: it can't get
                # more.
                most = worth(shares_left, best_price)
            size = min(size, most)

        return size

    def _untaken(self, offered: Offers, order: Order) -> Offers:
        """Return the offers without the shares that this decision has taken."""
        taken = self._taken.get(_book_side(order))
        if taken is None:
            return offered

        untaken = []
        for level in offered.levels:
            shares = level.shares - taken.get(_yes_price(level.price, order.side), 0)
            if shares > 0:
                untaken.append(Level(level.price, shares))

        levels, totals = levels_with_totals(order.action, untaken, offered.rate)
        return replace(offered, levels=levels, totals=totals)

    def _take(self, order: Order, match: OrderMatch) -> None:
        """Remember what an order took: from the book, from the caps, and from what the account can hold."""
        if order.action == "buy":
            self._spare -= match.shares

        # Shares count as if all the money had bought at the best price, rounded up. If the fee did not count,
        # a purchase in parts would get more shares than one purchase.
        market_id = order.market_id
        best_price = match.levels[0].price
        counted_shares = match.shares
        if best_price:
            counted_shares = max(counted_shares, ceil_div(match.amount * ONE, best_price))
        self._traded[market_id] = self._traded.get(market_id, 0) + match.amount
        self._shares[market_id] = self._shares.get(market_id, 0) + counted_shares

        taken = self._taken.setdefault(_book_side(order), {})
        for level in match.levels:
            price = _yes_price(level.price, order.side)
            taken[price] = taken.get(price, 0) + level.shares


def _book_side(order: Order) -> BookSide:
    """Return the side of the book that an order takes from."""
    return order.market_id, (order.action == "buy") == (order.side == "YES")


def _yes_price(price: int, side: Side) -> int:
    """Return the price of a YES share that goes with a price of the side's own share."""
    if side == "YES":
        return price
    return ONE - price


def execute(
    bets: Sequence[Bet],
    sales: Sequence[Sale],
    holdings: Holdings,
    snapshot: Snapshot,
    rules: Rules,
    first_snapshot: Snapshot | None = None,
) -> tuple[list[Fill], list[Rejection]]:
    """Fill the orders of a decision, first the sales, then the bets, or refuse each with a reason.

    With `base: start`, caps are measured by the cash before the sales; with `running`, by that at each bet.
    Volumes are of the `first_snapshot` snapshot.
    """
    return execute_at(SnapshotOffers(snapshot, rules, first_snapshot), bets, sales, holdings)


def execute_at(
    offers: SnapshotOffers, bets: Sequence[Bet], sales: Sequence[Sale], holdings: Holdings
) -> tuple[list[Fill], list[Rejection]]:
    """Fill orders as `execute` does, on offers that all decisions on one snapshot share."""
    if not offers.rules.money:
        named = [order.market_id for order in sales] + [order.market_id for order in bets]
        message = "there is no market to trade in"
        return [], [Rejection("no_market", message, market_id) for market_id in named]

    trader = Trader(offers, holdings)
    sold, unsold = _fill_sales(sales, holdings, trader)

    cash = holdings.cash
    if offers.rules.base == "running":
        cash += sum(fill.amount for fill in sold)
    bought, unbought = _fill_bets(bets, holdings, cash, trader)

    return sold + bought, unsold + unbought


def cap(cash: int, rules: Rules) -> int:
    """Return the most that a bet may be; with `cap: decision`, all bets of a decision together."""
    # Rounded down, so that no bet is over the fraction. Never more than the cash, whatever the fraction, and
    # nothing while a correction has taken cash below 0.
    return max(0, min(cash, cash * rules.max_bet // ONE))


def is_out(holdings: Holdings, rules: Rules) -> bool:
    """Tell whether an entrant holds nothing and can place no legal bet; false if rules have no money."""
    if not rules.money:
        return False

    # Where the rules have no minimum, the smallest bet is a millionth.
    return not holdings.lots and cap(holdings.cash, rules) < max(rules.min_bet, 1)


def _fill_sales(
    sales: Iterable[Sale], holdings: Holdings, trader: Trader
) -> tuple[list[Fill], list[Rejection]]:
    """Fill the sales of a decision, those of one lot together, or refuse them."""
    listed = trader.offers.listings
    orders, refused = _split_results(order_from_sale(sale, listed, holdings.lots) for sale in sales)

    results: list[Fill | Rejection] = []
    for order in merge_orders(orders):
        held = holdings.lots[order.lot].shares
        if order.size > held:
            message = f"{number(order.size)} {order.side} shares are to be sold, over the {number(held)} held"
            results.append(Rejection("over_held", message, order.market_id))
        else:
            results.append(trader.trade(order, holdings.cash))

    fills, unfilled = _split_results(results)
    return fills, refused + unfilled


def _fill_bets(
    bets: Iterable[Bet], holdings: Holdings, cash: int, trader: Trader
) -> tuple[list[Fill], list[Rejection]]:
    """Fill the bets of a decision, or refuse them; if all together are over a cap, refuse all."""
    offers = trader.offers
    rules = offers.rules
    orders, refused = _split_results(
        order_from_bet(bet, offers.listings, offers.offered, holdings.settled) for bet in bets
    )

    if rules.merge:
        orders, opposed = _reject_both_sides(merge_orders(orders))
        refused += opposed

    # A bet is limited by a share of this cash: what there was at first, or what earlier fills have left.
    cash_to_size_by = cash
    results = []
    for order in orders:
        result = _reject_size(order, cash_to_size_by, rules) or trader.trade(order, cash_to_size_by)
        results.append(result)
        if isinstance(result, Fill) and rules.base == "running":
            cash_to_size_by -= result.amount

    fills, unfilled = _split_results(results)
    refused += unfilled

    # A fault of all bets together takes back each fill.
    fault = _reject_together(fills, refused, cash, rules)
    if fault is None:
        return fills, refused
    return [], refused + [replace(fault, market_id=fill.market_id) for fill in fills]


def _reject_both_sides(orders: list[Order]) -> tuple[list[Order], list[Rejection]]:
    """Separate the orders for one side of a market from those for both, which are refused."""
    sizes = {order.lot: order.size for order in orders}
    one_sided = []
    opposed = []

    for order in orders:
        yes = sizes.get((order.market_id, "YES"))
        no = sizes.get((order.market_id, "NO"))
        if yes is None or no is None:
            one_sided.append(order)
        else:
            message = f"bets on both sides of one market: {dollars(yes)} on YES, {dollars(no)} on NO"
            opposed.append(Rejection("both_sides", message, order.market_id))

    return one_sided, opposed


def _reject_size(order: Order, base: int, rules: Rules) -> Rejection | None:
    """Refuse a bet that is too small, too large, or on credit."""
    if base < 0:
        message = f"bet {dollars(order.size)} while cash is {dollars(base)}: no buying below $0.00"
        return Rejection("in_debt", message, order.market_id)

    if order.size < rules.min_bet:
        code = "under_min"
        bound = f"under the minimum of {dollars(rules.min_bet)}"
    elif rules.cap == "bet" and order.size > cap(base, rules):
        code = "over_cap"
        bound = f"over {_cap_text(base, rules)}"
    elif rules.base == "running" and order.size > base:
        code = "over_cash"
        bound = f"over the cash of {dollars(base)}"
    else:
        return None

    return Rejection(code, f"bet {dollars(order.size)} is {bound}", order.market_id)


def _reject_together(
    fills: list[Fill], refused: list[Rejection], cash: int, rules: Rules
) -> Rejection | None:
    """Refuse bets that are allowed each by itself, but not all together."""
    # What was asked for counts, not what the book filled: a thin book makes no bet legal.
    total = sum(fill.wanted for fill in fills)
    bets = f"bets of {dollars(total)} together are over"

    if rules.cap == "decision" and total > cap(cash, rules):
        return Rejection("over_cap", f"{bets} {_cap_text(cash, rules)}")
    if rules.base == "start" and total > cash:
        return Rejection("over_cash", f"{bets} the cash of {dollars(cash)}")
    if rules.cap == "decision" and refused:
        message = f"all or nothing, and another bet was rejected: {refused[0].message}"
        return Rejection("all_or_nothing", message)

    return None


def _cap_text(cash: int, rules: Rules) -> str:
    return f"the cap of {dollars(cap(cash, rules))}: {percent(rules.max_bet)} of {dollars(cash)} cash"


def _split_results(results: Iterable[Result | Rejection]) -> tuple[list[Result], list[Rejection]]:
    """Separate results from rejections, each in their order."""
    good = []
    refused = []

    for result in results:
        if isinstance(result, Rejection):
            refused.append(result)
        else:
            good.append(result)

    return good, refused


def order_from_bet(
    bet: Bet, listed: Collection[MarketId], offered: Collection[MarketId], settled: Collection[LotKey]
) -> Order | Rejection:
    """Return the order of a bet, if it is an amount on a side of a market that is on offer."""
    fault = _reject_target(bet, listed)
    if fault is not None:
        return fault

    if bet.market_id not in offered:
        message = "the market is no longer open for betting: positions can only be sold"
        return Rejection("not_offered", message, bet.market_id)
    if (bet.market_id, "YES") in settled or (bet.market_id, "NO") in settled:
        return Rejection("settled", "the market has already been settled", bet.market_id)
    if not _is_whole(bet.amount, LARGEST):
        message = f"a bet is an amount of dollars above $0.00, not {_figure_text(bet.amount, dollars)}"
        return Rejection("bad_amount", message, bet.market_id)

    return Order(bet.market_id, bet.side, "buy", bet.amount, bet.limit, _reason_text(bet.reason))


def order_from_sale(
    sale: Sale, listed: Collection[MarketId], lots: Mapping[LotKey, Lot]
) -> Order | Rejection:
    """Return the order of a sale: a number of shares, a fraction of the lot, or all of it."""
    fault = _reject_target(sale, listed)
    if fault is not None:
        return fault

    lot = lots.get((sale.market_id, sale.side))
    if lot is None:
        message = f"no {sale.side} shares of this market are held to sell"
        return Rejection("not_held", message, sale.market_id)

    shares = _shares_to_sell(sale, lot)
    if isinstance(shares, str):
        return Rejection("bad_shares", shares, sale.market_id)

    return Order(sale.market_id, sale.side, "sell", shares, sale.limit, _reason_text(sale.reason))


def merge_orders(orders: Iterable[Order]) -> list[Order]:
    """Return one order a lot, in the order of the first of each."""
    by_lot: dict[LotKey, list[Order]] = {}
    for order in orders:
        by_lot.setdefault(order.lot, []).append(order)

    return [_join_orders(parts) for parts in by_lot.values()]


def _join_orders(orders: list[Order]) -> Order:
    """Return the orders of one lot as one: the sizes add up, the tightest limit holds for all."""
    first = orders[0]
    if len(orders) == 1:
        return first

    limits = [order.limit for order in orders if order.limit is not None]
    tightest = min if first.action == "buy" else max

    size = sum(order.size for order in orders)
    reason = "; ".join(order.reason for order in orders if order.reason)
    return replace(first, size=size, limit=tightest(limits) if limits else None, reason=reason)


def _reject_target(order: Bet | Sale, listed: Collection[MarketId]) -> Rejection | None:
    """Refuse an order whose market, side or limit is invalid.

    The fields come from an agent's answer and may hold anything, whatever their types say.
    """
    if not _is_listed(order.market_id, listed):
        return Rejection("unknown_market", f"there is no market {_value_text(order.market_id)}")

    if order.side not in ("YES", "NO"):
        message = f"the side is {_value_text(order.side)}, not YES or NO"
        return Rejection("unknown_side", message, order.market_id)

    if order.limit is not None and not _is_whole(order.limit, ONE):
        limit = _figure_text(order.limit, dollars)
        message = f"a limit is a price above $0.00 and at most $1.00, not {limit}"
        return Rejection("bad_limit", message, order.market_id)

    return None


def _shares_to_sell(sale: Sale, lot: Lot) -> int | str:
    """Return how many shares a sale is of, or what is wrong with it."""
    if sale.shares is not None and sale.fraction is not None:
        return "a sale needs either shares or a fraction, not both"

    if sale.shares is not None:
        if _is_whole(sale.shares, LARGEST):
            return sale.shares
        return f"a sale is of a number of shares above 0, not {_figure_text(sale.shares, number)}"

    if sale.fraction is None:
        return lot.shares
    if not _is_whole(sale.fraction, ONE):
        return f"a fraction is above 0 and at most 1, not {_figure_text(sale.fraction, number)}"

    # Rounded down, so that a fraction never sells more than its part of the lot.
    shares = lot.shares * sale.fraction // ONE
    if not shares:
        part = f"{number(sale.fraction)} of {number(lot.shares)} shares"
        return f"{part} is less than the smallest part of one"
    return shares


def _reason_text(reason: object) -> str:
    if isinstance(reason, str):
        return reason
    return _value_text(reason)


def _figure_text(value: object, text_of: Callable[[int], str]) -> str:
    """Return a figure as text, or a description of a value that is none or too large to write out."""
    if type(value) is not int:
        return _value_text(value)
    if abs(value) > LARGEST:
        return "one of that size"
    return text_of(value)


def _value_text(value: object) -> str:
    """Return a value of an agent's answer, short enough for a sentence."""
    if isinstance(value, str):
        return repr(value[:80])
    return f"a {type(value).__name__}"


def _is_listed(market_id: object, listed: Collection[MarketId]) -> bool:
    # An answer may name a list, for example, which can't be looked up.
    return isinstance(market_id, str) and market_id in listed


def _is_whole(value: object, most: int) -> bool:
    """Tell whether a value is a number of millionths above 0; NaN, True and 0.5 are not."""
    return type(value) is int and 0 < value <= most
