"""The profit and loss split into what made it; the parts add up to it, to the last millionth.

- Formula: for each side's own share let m be its mid, b what the agent believed it to be worth (its stated
  probability; m where it stated none), v what it paid in the end, or its mid while the market is open, and r
  how much of a claimed edge is real (`proven`, from events other than this one; 1 takes beliefs at their
  word). For a purchase of n shares at an average price a, quarter-Kelly would have bought k = ¼ · cash ·
  max(b − a, 0) ÷ (1 − a) ÷ a shares. edge = Σ k·r·(b − m), what quarter-Kelly stakes should earn at the mid;
  sizing = Σ (n − k)·r·(b − m), what other stakes should add; spread = −Σ n·(a − m) over purchases and −Σ n·(m
  − a) over sales; fee = −Σ fees; exit = Σ n·(m − v) over sales: what selling brought beside holding on; luck
  = P/L − all of these, which is Σ n·(v − m − r·(b − m)) over purchases, and the dust of rounding.
- Direction: higher is better.
- Range: any; spread and fee are 0 or below but where a fill was better than the mid.
- Edge cases: a stake above quarter-Kelly on an edge raises what is expected and the danger with it, so a
  large positive sizing is no praise. In a refunded market there is no edge, sizing or exit: what the refund
  gives back of spread and fee is luck.
- Limits: with r = 1 an overconfident agent shows an edge that "luck" takes back every time.
- Source: seed 002 for P/L; Kelly (1956) for the stake; the split is ours.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass
from fractions import Fraction
from operator import add
from types import MappingProxyType

from arena.record.model.trades import MarketEnd, Trade, market_profit, trades_by_market, value_at
from markets.millionths import ONE

AS_SAID: Mapping[str, float] = MappingProxyType({})
"""Beliefs are taken at their word."""


@dataclass(frozen=True, slots=True)
class ProfitSplit:
    """The parts of a profit, in millionths; they add up to `pnl`."""

    edge: int = 0
    spread: int = 0
    fee: int = 0
    sizing: int = 0
    exit: int = 0
    luck: int = 0

    @property
    def pnl(self) -> int:
        """Return the sum of all parts."""
        return sum(astuple(self))

    def __add__(self, other: "ProfitSplit") -> "ProfitSplit":
        parts = map(add, astuple(self), astuple(other))
        return ProfitSplit(*parts)


def split_profit(
    trades: Iterable[Trade], ends: Mapping[str, MarketEnd], real: Mapping[str, float] = AS_SAID
) -> ProfitSplit:
    """Return the split of a profit; `real` has r for each event, by default 1.

    A bet of $500 on YES at 0.41, where the mid is 0.40, believed to be 0.52:

    >>> bought = {"shares": 1_200_000_000, "gross": 492_000_000, "fee": 8_000_000, "cash": 10_000_000_000}
    >>> bet = Trade("rain", yes=True, buy=True, mid=400_000, belief=520_000, **bought)
    >>> won = {"rain": MarketEnd("rain", "settled", 1_000_000, 1_200_000_000)}
    >>> split_profit([bet], won)
    ProfitSplit(edge=136420008, spread=-12000000, fee=-8000000, sizing=7579992, exit=0, luck=576000000)
    >>> split_profit([bet], won).pnl
    700000000
    """
    return sum(each(trades, ends, real).values(), ProfitSplit())


def each(
    trades: Iterable[Trade], ends: Mapping[str, MarketEnd], real: Mapping[str, float] = AS_SAID
) -> dict[str, ProfitSplit]:
    """Return the split of each market's profit."""
    splits = {}
    for market, own in trades_by_market(trades, ends).items():
        end = ends[market]
        splits[market] = _split_of_market(own, end, Fraction(real.get(end.event, 1)))
    return splits


def _split_of_market(trades: Sequence[Trade], end: MarketEnd, real_share: Fraction) -> ProfitSplit:
    """Return the split of the profit from one market's trades."""
    is_not_refunded = end.state != "refunded"
    edge = Fraction(0)
    spread = Fraction(0)
    sizing = Fraction(0)
    exit_gain = Fraction(0)

    for trade in trades:
        mid = trade.own(trade.mid)
        # How much better than the mid its price was; mostly below 0.
        better_than_mid = value_at(trade.shares, mid) - trade.gross
        spread += better_than_mid if trade.buy else -better_than_mid

        if is_not_refunded and trade.buy:
            believed_gain = _believed_gain(trade)
            kelly_shares = _quarter_kelly_shares(trade)
            edge += kelly_shares * believed_gain
            sizing += (trade.shares - kelly_shares) * believed_gain
        elif is_not_refunded:
            exit_gain += value_at(trade.shares, mid - trade.own(end.value))

    parts = ProfitSplit(
        edge=round(real_share * edge),
        spread=round(spread),
        fee=-sum(trade.fee for trade in trades),
        sizing=round(real_share * sizing),
        exit=round(exit_gain),
    )
    # Luck is what the other parts leave, so that all add up to the profit exactly.
    return parts + ProfitSplit(luck=market_profit(trades, end) - parts.pnl)


def _believed_gain(trade: Trade) -> Fraction:
    """Return how much more than the mid a share was believed to be worth, in dollars."""
    belief = trade.mid if trade.belief is None else trade.belief
    return Fraction(trade.own(belief) - trade.own(trade.mid), ONE)


def _quarter_kelly_shares(trade: Trade) -> Fraction:
    """Return the shares of a quarter-Kelly stake at the price paid, in millionths; 0 without an edge."""
    if trade.belief is None or not 0 < trade.gross < trade.shares:
        return Fraction(0)

    price = Fraction(trade.gross, trade.shares)
    belief = Fraction(trade.own(trade.belief), ONE)
    edge = max(belief - price, Fraction(0))
    return Fraction(trade.cash, 4) * edge / (1 - price) / price
