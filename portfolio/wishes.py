"""What agents ask for, made sense of: each bet and sale becomes a wish, or is refused."""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace

from markets.millionths import ONE
from markets.model import MarketId
from portfolio.model import Action, Bet, Lot, LotKey, Rejection, Sale, Side
from portfolio.money import LARGEST, dollars, number


@dataclass(frozen=True, slots=True)
class Wish:
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


def from_bet(
    bet: Bet, known: Collection[MarketId], offered: Collection[MarketId], settled: Collection[LotKey]
) -> Wish | Rejection:
    """The wish behind a bet, if it is an amount on a side of a market that is on offer."""
    if (bad := _misaimed(bet, known)) is not None:
        return bad
    if bet.market_id not in offered:
        message = "the market is held but no longer on offer: it may only be sold"
        return Rejection("not_offered", message, bet.market_id)
    if (bet.market_id, "YES") in settled or (bet.market_id, "NO") in settled:
        return Rejection("settled", "the market has ended and was settled", bet.market_id)
    if not _whole_within(bet.amount, LARGEST):
        message = f"a bet is an amount of dollars above $0.00, not {_shown(bet.amount, dollars)}"
        return Rejection("bad_amount", message, bet.market_id)
    return Wish(bet.market_id, bet.side, "buy", bet.amount, bet.limit, _text(bet.reason))


def from_sale(sale: Sale, known: Collection[MarketId], lots: Mapping[LotKey, Lot]) -> Wish | Rejection:
    """The wish behind a sale: so many shares, a fraction of the lot, or all of it."""
    if (bad := _misaimed(sale, known)) is not None:
        return bad
    lot = lots.get((sale.market_id, sale.side))
    if lot is None:
        message = f"no {sale.side} shares of this market are held, so none can be sold"
        return Rejection("not_held", message, sale.market_id)
    shares = _shares(sale, lot)
    if isinstance(shares, str):
        return Rejection("bad_shares", shares, sale.market_id)
    return Wish(sale.market_id, sale.side, "sell", shares, sale.limit, _text(sale.reason))


def merged(wishes: Iterable[Wish]) -> list[Wish]:
    """One wish a lot, in the order of the first of each: sizes add up, the tightest limit holds."""
    together: dict[LotKey, list[Wish]] = {}
    for wish in wishes:
        together.setdefault(wish.lot, []).append(wish)
    return [_joined(same) if len(same) > 1 else same[0] for same in together.values()]


def _joined(wishes: list[Wish]) -> Wish:
    limits = [wish.limit for wish in wishes if wish.limit is not None]
    tightest = min if wishes[0].action == "buy" else max
    return replace(
        wishes[0],
        size=sum(wish.size for wish in wishes),
        limit=tightest(limits) if limits else None,
        reason="; ".join(wish.reason for wish in wishes if wish.reason),
    )


def _misaimed(wish: Bet | Sale, known: Collection[MarketId]) -> Rejection | None:
    """What is wrong with where a wish aims. An agent's words may hold anything, whatever the types say."""
    if not _is_one_of(known, wish.market_id):
        return Rejection("unknown_market", f"no market here is named {_words(wish.market_id)}")
    if wish.side not in ("YES", "NO"):
        message = f"the side is {_words(wish.side)}, which is neither YES nor NO"
        return Rejection("unknown_side", message, wish.market_id)
    if wish.limit is not None and not _whole_within(wish.limit, ONE):
        shown = _shown(wish.limit, dollars)
        message = f"a limit is a price above $0.00 and at most $1.00, not {shown}"
        return Rejection("bad_limit", message, wish.market_id)
    return None


def _shares(sale: Sale, lot: Lot) -> int | str:
    """How many shares a sale is of, or what is wrong with it."""
    if sale.shares is not None and sale.fraction is not None:
        return "a sale is a number of shares or a fraction of them, and this one is both"
    if sale.shares is not None:
        if _whole_within(sale.shares, LARGEST):
            return sale.shares
        return f"a sale is of a number of shares above 0, not {_shown(sale.shares, number)}"
    if sale.fraction is None:
        return lot.shares
    if not _whole_within(sale.fraction, ONE):
        return f"a fraction is above 0 and at most 1, not {_shown(sale.fraction, number)}"
    part = f"{number(sale.fraction)} of {number(lot.shares)} shares"
    return lot.shares * sale.fraction // ONE or f"{part} is less than the smallest part of one"


def _text(reason: object) -> str:
    return reason if isinstance(reason, str) else _words(reason)


def _shown(value: object, figure: Callable[[int], str]) -> str:
    """A figure as an agent gave it, where it is one that can be written."""
    if type(value) is not int:
        return _words(value)
    return figure(value) if abs(value) <= LARGEST else "one of that size"


def _words(value: object) -> str:
    """Whatever an agent wrote, short enough for a sentence."""
    return repr(value[:80]) if isinstance(value, str) else f"a {type(value).__name__}"


def _is_one_of(known: Collection[MarketId], market_id: object) -> bool:
    return isinstance(market_id, str) and market_id in known


def _whole_within(value: object, most: int) -> bool:
    """Whether it is a number of millionths above 0: NaN, True and 0.5 are not."""
    return type(value) is int and 0 < value <= most
