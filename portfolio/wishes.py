"""What agents ask for, made sense of: each bet and sale becomes a wish, or is refused."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace

from markets.millionths import ONE
from markets.model import MarketId
from portfolio.model import Action, Bet, Lot, LotKey, Rejection, Sale, Side

LARGEST = 10**12 * ONE
"""A size beyond any account: refused before it is put into words."""


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
        return Rejection("not_offered", "the market is held but no longer on offer", bet.market_id)
    if (bet.market_id, "YES") in settled or (bet.market_id, "NO") in settled:
        return Rejection("settled", "the market has ended and was settled", bet.market_id)
    if not _whole_within(bet.amount, LARGEST):
        return Rejection("bad_amount", "a bet is an amount of dollars above $0.00", bet.market_id)
    return Wish(bet.market_id, bet.side, "buy", bet.amount, bet.limit, bet.reason)


def from_sale(sale: Sale, known: Collection[MarketId], lots: Mapping[LotKey, Lot]) -> Wish | Rejection:
    """The wish behind a sale: so many shares, a fraction of the lot, or all of it."""
    if (bad := _misaimed(sale, known)) is not None:
        return bad
    lot = lots.get((sale.market_id, sale.side))
    if lot is None:
        return Rejection("not_held", f"no {sale.side} shares of it are held", sale.market_id)
    shares = _shares(sale, lot)
    if shares is None:
        message = "a sale is a number of shares above 0, or a fraction in (0, 1], and not both"
        return Rejection("bad_shares", message, sale.market_id)
    return Wish(sale.market_id, sale.side, "sell", shares, sale.limit, sale.reason)


def merged(wishes: Iterable[Wish]) -> list[Wish]:
    """One wish a lot, in the order of the first of each: sizes add up, the tightest limit holds."""
    whole: dict[LotKey, Wish] = {}
    for wish in wishes:
        whole[wish.lot] = _joined(whole[wish.lot], wish) if wish.lot in whole else wish
    return list(whole.values())


def _joined(one: Wish, other: Wish) -> Wish:
    limits = [limit for limit in (one.limit, other.limit) if limit is not None]
    tightest = min if one.action == "buy" else max
    return replace(
        one,
        size=one.size + other.size,
        limit=tightest(limits) if limits else None,
        reason="; ".join(reason for reason in (one.reason, other.reason) if reason),
    )


def _misaimed(wish: Bet | Sale, known: Collection[MarketId]) -> Rejection | None:
    """What is wrong with where a wish aims. An agent's words may hold anything, whatever the types say."""
    if not _is_one_of(known, wish.market_id):
        return Rejection("unknown_market", f"there is no market {_words(wish.market_id)} here")
    if wish.side not in ("YES", "NO"):
        return Rejection("unknown_side", f"{_words(wish.side)} is neither YES nor NO", wish.market_id)
    if wish.limit is not None and not _whole_within(wish.limit, ONE):
        return Rejection("bad_limit", "a limit is a price above $0.00 and at most $1.00", wish.market_id)
    return None


def _shares(sale: Sale, lot: Lot) -> int | None:
    if sale.shares is not None:
        return sale.shares if sale.fraction is None and _whole_within(sale.shares, LARGEST) else None
    if sale.fraction is None:
        return lot.shares
    return lot.shares * sale.fraction // ONE or None if _whole_within(sale.fraction, ONE) else None


def _words(value: object) -> str:
    """Whatever an agent wrote, short enough for a sentence."""
    return repr(value[:80]) if isinstance(value, str) else f"a {type(value).__name__}"


def _is_one_of(known: Collection[MarketId], market_id: object) -> bool:
    return isinstance(market_id, str) and market_id in known


def _whole_within(value: object, most: int) -> bool:
    """Whether it is a number of millionths above 0: NaN, True and 0.5 are not."""
    return type(value) is int and 0 < value <= most
