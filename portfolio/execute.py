"""Wishes meet prices: the bets and sales of one decision against one snapshot, under the rules."""

from collections.abc import Iterable, Iterator, Sequence
from typing import TypeVar

from markets.millionths import ONE
from markets.model import Snapshot
from portfolio.desk import Desk
from portfolio.floor import Floor
from portfolio.model import Bet, Fill, Holdings, Rejection, Sale
from portfolio.money import dollars, number, percent
from portfolio.rules import Rules
from portfolio.wishes import Wish, from_bet, from_sale, merged

T = TypeVar("T")


def execute(
    bets: Sequence[Bet], sales: Sequence[Sale], holdings: Holdings, snapshot: Snapshot, rules: Rules
) -> tuple[list[Fill], list[Rejection]]:
    """What a decision brings: sales first, then bets; every wish is filled, or refused with a reason.

    With `base: start`, caps and spending are measured by the cash before the sales; with `running`,
    by the cash at each bet, after the sales and the bets before it.
    """
    return execute_on(Floor(snapshot, rules), bets, sales, holdings)


def execute_on(
    floor: Floor, bets: Sequence[Bet], sales: Sequence[Sale], holdings: Holdings
) -> tuple[list[Fill], list[Rejection]]:
    """`execute` on a floor that is shared by all who decide on one snapshot."""
    desk = Desk(floor, holdings)
    sold, unsold = _apart(_sell(sales, holdings, desk))
    proceeds = sum(fill.amount for fill in sold) if floor.rules.base == "running" else 0
    bought, unbought = _buy(bets, holdings, holdings.cash + proceeds, desk)
    return sold + bought, unsold + unbought


def cap(cash: int, rules: Rules) -> int:
    """The most that a bet may be (with `cap: decision`, all bets together)."""
    return max(0, min(cash, cash * rules.max_bet // ONE))


def is_out(holdings: Holdings, rules: Rules) -> bool:
    """Whether an entrant holds nothing and can place no legal bet."""
    return not holdings.lots and cap(holdings.cash, rules) < max(rules.min_bet, 1)


def _sell(sales: Iterable[Sale], holdings: Holdings, desk: Desk) -> Iterator[Fill | Rejection]:
    wishes, refused = _apart(from_sale(sale, desk.floor.listings, holdings.lots) for sale in sales)
    yield from refused
    for wish in merged(wishes):
        held = holdings.lots[wish.lot].shares
        if wish.size > held:
            message = f"{number(wish.size)} {wish.side} shares are to be sold, over the {number(held)} held"
            yield Rejection("over_held", message, wish.market_id)
        else:
            yield desk.trade(wish, holdings.cash)


def _buy(
    bets: Iterable[Bet], holdings: Holdings, cash: int, desk: Desk
) -> tuple[list[Fill], list[Rejection]]:
    floor = desk.floor
    known, offered, settled = floor.listings, floor.offered, holdings.settled
    wishes, refused = _apart(from_bet(bet, known, offered, settled) for bet in bets)
    if floor.rules.merge:
        wishes, opposed = _apart(_one_side_each(merged(wishes)))
        refused += opposed
    fills, unfilled = _apart(_bets_placed(wishes, cash, desk))
    refused += unfilled
    why = _not_together(fills, refused, cash, floor.rules)
    if why is None:
        return fills, refused
    return [], refused + [Rejection(why.code, why.message, fill.market_id) for fill in fills]


def _one_side_each(wishes: list[Wish]) -> Iterator[Wish | Rejection]:
    """Refuse wishes for both sides of a market."""
    size = {wish.lot: wish.size for wish in wishes}
    for wish in wishes:
        yes, no = size.get((wish.market_id, "YES")), size.get((wish.market_id, "NO"))
        if yes is None or no is None:
            yield wish
        else:
            message = f"bets on both sides of one market: {dollars(yes)} on YES, {dollars(no)} on NO"
            yield Rejection("both_sides", message, wish.market_id)


def _bets_placed(wishes: Iterable[Wish], cash: int, desk: Desk) -> Iterator[Fill | Rejection]:
    rules = desk.floor.rules
    for wish in wishes:
        result = _bad_size(wish, cash, rules) or desk.trade(wish, cash)
        if isinstance(result, Fill) and rules.base == "running":
            cash -= result.amount
        yield result


def _bad_size(wish: Wish, base: int, rules: Rules) -> Rejection | None:
    """Refuse a bet that is too small, too large, or on credit."""
    if base < 0:
        message = f"bet {dollars(wish.size)} while cash is {dollars(base)}: no buying below $0.00"
        return Rejection("in_debt", message, wish.market_id)
    if wish.size < rules.min_bet:
        code, bound = "under_min", f"under the minimum of {dollars(rules.min_bet)}"
    elif rules.cap == "bet" and wish.size > cap(base, rules):
        code, bound = "over_cap", f"over {_cap_in_words(base, rules)}"
    elif rules.base == "running" and wish.size > base:
        code, bound = "over_cash", f"over the cash of {dollars(base)}"
    else:
        return None
    return Rejection(code, f"bet {dollars(wish.size)} is {bound}", wish.market_id)


def _not_together(fills: list[Fill], refused: list[Rejection], cash: int, rules: Rules) -> Rejection | None:
    """Why none of the bets that are allowed one by one may stand together."""
    total = sum(fill.wanted for fill in fills)
    bets = f"bets of {dollars(total)} together are over"
    if rules.cap == "decision" and total > cap(cash, rules):
        return Rejection("over_cap", f"{bets} {_cap_in_words(cash, rules)}")
    if rules.base == "start" and total > cash:
        return Rejection("over_cash", f"{bets} the cash of {dollars(cash)}")
    if rules.cap == "decision" and refused:
        return Rejection(
            "all_or_nothing", f"all or nothing, and another bet was refused: {refused[0].message}"
        )
    return None


def _cap_in_words(cash: int, rules: Rules) -> str:
    return f"the cap of {dollars(cap(cash, rules))}: {percent(rules.max_bet)} of {dollars(cash)} cash"


def _apart(results: Iterable[T | Rejection]) -> tuple[list[T], list[Rejection]]:
    good, bad = list[T](), list[Rejection]()
    for result in results:
        if isinstance(result, Rejection):
            bad.append(result)
        else:
            good.append(result)
    return good, bad
