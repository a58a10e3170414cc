"""A profit split into what made it: by hand, against its own formula, and exact whatever is played."""

from dataclasses import astuple
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.record.model.trades import MarketEnd, State, Trade, market_profit
from arena.scores.rules.money.profit_split import ProfitSplit, each, split_profit
from markets.millionths import ONE

DOLLAR = ONE


def buy(
    shares: int, price: float, mid: float, belief: float | None = None, yes: bool = True, fee: int = 0
) -> Trade:
    said = None if belief is None else round(belief * ONE)
    gross = round(shares * price * DOLLAR)
    return Trade("m", yes, True, shares * ONE, gross, fee, round(mid * ONE), said, 10_000 * DOLLAR)


def sale(shares: int, price: float, mid: float, yes: bool = True, fee: int = 0) -> Trade:
    gross = round(shares * price * DOLLAR)
    return Trade("m", yes, False, shares * ONE, gross, fee, round(mid * ONE))


def ended(value: float, shares: int, state: State = "settled") -> dict[str, MarketEnd]:
    return {"m": MarketEnd("e", state, round(value * ONE), round(shares * value * DOLLAR))}


REFUND = {"m": MarketEnd("e", "refunded", 0, 512 * DOLLAR)}
CASES: dict[str, tuple[list[Trade], dict[str, MarketEnd], dict[str, int]]] = {
    # a quarter of 10,000 · (0.6 − 0.5) / 0.5 = $500, so 1,000 shares
    "just quarter-Kelly": ([buy(1000, 0.5, 0.5, 0.6)], ended(1, 1000), {"edge": 100, "luck": 400}),
    "twice quarter-Kelly": (
        [buy(2000, 0.5, 0.5, 0.6)], ended(0, 2000), {"edge": 100, "sizing": 100, "luck": -1200}
    ),
    "against its own word": ([buy(1000, 0.5, 0.5, 0.4)], ended(1, 1000), {"sizing": -100, "luck": 600}),
    "nothing stated": (
        [buy(1000, 0.51, 0.5, fee=2 * DOLLAR)], ended(1, 1000), {"spread": -10, "fee": -2, "luck": 500}
    ),
    "sold before a loss": (
        [buy(1000, 0.5, 0.5, 0.5), sale(1000, 0.58, 0.6)], ended(0, 0),
        {"spread": -20, "exit": 600, "luck": -500},
    ),
    "sold what would have won": (
        [buy(1000, 0.5, 0.5, 0.5), sale(400, 0.6, 0.6)], ended(1, 600), {"exit": -160, "luck": 500}
    ),
    "still open": ([buy(1000, 0.5, 0.5, 0.6)], ended(0.55, 1000, "open"), {"edge": 100, "luck": -50}),
    "a refund gives back the costs": (
        [buy(1000, 0.51, 0.5, 0.6, fee=2 * DOLLAR)], REFUND, {"spread": -10, "fee": -2, "luck": 12}
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_each_part_by_hand_in_dollars(case: str) -> None:
    trades, end, dollars = CASES[case]
    found = split_profit(trades, end)
    assert found == ProfitSplit(**{name: part * DOLLAR for name, part in dollars.items()})


def test_a_no_bet_is_the_mirror_of_a_yes_bet() -> None:
    yes = split_profit([buy(1000, 0.31, 0.3, belief=0.45, fee=DOLLAR)], ended(1, 1000))
    lost = {"m": MarketEnd("e", "settled", 0, 1000 * ONE)}
    no = split_profit([buy(1000, 0.31, 0.7, belief=0.55, yes=False, fee=DOLLAR)], lost)
    assert no == yes


def test_an_edge_counts_for_as_much_as_it_has_proved_real() -> None:
    rows = [buy(2000, 0.5, 0.5, belief=0.6)]
    end = ended(0, 2000)
    half = split_profit(rows, end, {"e": 0.5})
    assert half == ProfitSplit(edge=50 * DOLLAR, sizing=50 * DOLLAR, luck=-1100 * DOLLAR)
    assert split_profit(rows, end, {"e": 0.0}) == ProfitSplit(luck=-1000 * DOLLAR)
    assert split_profit(rows, end, {"other": 0.0}) == split_profit(rows, end)


def test_a_market_without_an_end_is_an_error() -> None:
    with pytest.raises(ValueError, match="'m' was traded, but its status is unknown"):
        split_profit([buy(1, 0.5, 0.5)], {})


millionths = st.integers(1, ONE - 1)
trades = st.lists(
    st.builds(
        Trade,
        market=st.sampled_from(["a", "b", "c"]),
        yes=st.booleans(),
        buy=st.booleans(),
        shares=st.integers(1, 10**12),
        gross=st.integers(0, 10**12),
        fee=st.integers(0, 10**9),
        mid=millionths,
        belief=st.none() | st.integers(0, ONE),
        cash=st.integers(0, 10**12),
    ),
    max_size=12,
)
ends = st.builds(
    MarketEnd,
    event=st.just("e"),
    state=st.sampled_from(["settled", "open", "refunded"]),
    value=st.integers(0, ONE),
    paid=st.integers(0, 10**13),
)


@given(trades, ends, ends, ends, st.floats(-2, 2))
def test_the_parts_add_up_to_the_profit_to_the_last_millionth(
    trades: list[Trade], a: MarketEnd, b: MarketEnd, c: MarketEnd, real: float
) -> None:
    by_name = {"a": a, "b": b, "c": c}
    whole = sum(t.flow for t in trades) + sum(by_name[m].paid for m in {t.market for t in trades})
    assert split_profit(trades, by_name).pnl == split_profit(trades, by_name, {"e": real}).pnl == whole
    assert all(type(part) is int for part in astuple(split_profit(trades, by_name)))
    for market, part in each(trades, by_name).items():
        assert part.pnl == market_profit([t for t in trades if t.market == market], by_name[market])


@given(trades, millionths)
def test_luck_is_what_came_less_what_was_believed(trades: list[Trade], value: int) -> None:
    """The remainder that makes the sum exact is the formula of luck, but for the dust of rounding."""
    bought = [t for t in trades if t.buy]
    paid = sum((Fraction(t.shares if t.buy else -t.shares) * t.own(value) / ONE for t in trades), Fraction(0))
    by_hand = sum((t.shares * Fraction(t.own(value) - t.own(_believed(t)), ONE) for t in bought), Fraction(0))
    one_market = [Trade("m", *astuple(t)[1:]) for t in trades]
    found = split_profit(one_market, {"m": MarketEnd("e", "settled", value, round(paid))})
    if trades:
        assert abs(found.luck - by_hand) <= 3


def _believed(trade: Trade) -> int:
    return trade.mid if trade.belief is None else trade.belief
