"""Rounding never makes money, and money reads as money."""

from fractions import Fraction

from hypothesis import example, given
from hypothesis import strategies as st

from markets.millionths import ONE
from portfolio.money import affordable, cost, dollars, fee, number, percent, worth

SHARES = st.integers(0, 10**12)
PRICES = st.integers(1, ONE - 1)
RATES = st.integers(0, ONE)


@given(SHARES, PRICES)
def test_what_is_paid_covers_what_is_received_by_less_than_a_millionth(shares: int, price: int) -> None:
    exact = Fraction(shares * price, ONE)
    assert worth(shares, price) <= exact <= cost(shares, price)
    assert cost(shares, price) - worth(shares, price) == (0 if exact.denominator == 1 else 1)


@given(SHARES, PRICES, RATES)
def test_a_fee_is_the_formula_rounded_up(shares: int, price: int, rate: int) -> None:
    p = Fraction(price, ONE)
    exact = Fraction(rate, ONE) * shares * p * (1 - p)
    assert 0 <= fee(shares, price, rate) - exact < 1


@given(st.integers(0, 10**13), PRICES, RATES)
@example(452, 571_162, 872_672)  # where the amount less the fee would buy a share too many
def test_an_amount_buys_all_but_a_crumb_of_what_it_could(amount: int, price: int, rate: int) -> None:
    shares = affordable(amount, price, rate)
    assert cost(shares, price) + fee(shares, price, rate) <= amount
    p = Fraction(price, ONE)
    each = p + Fraction(rate, ONE) * p * (1 - p)
    assert 0 <= amount / each - shares < 1 / p + 1


@given(PRICES, st.integers(1, 10**12))
def test_without_a_fee_the_shares_are_the_amount_over_the_price(price: int, amount: int) -> None:
    assert affordable(amount, price) == amount * ONE // price
    assert cost(affordable(amount, price), price) == amount


def test_money_is_written_with_cents_and_more_digits_only_where_needed() -> None:
    assert dollars(2_500 * ONE) == "$2,500.00"
    assert dollars(2_500_010_000) == "$2,500.01"
    assert dollars(1) == "$0.000001"
    assert dollars(-1_234_567_890) == "-$1,234.56789"
    assert dollars(0) == "$0.00"


def test_shares_and_percentages_have_no_more_decimals_than_needed() -> None:
    assert number(1_250 * ONE) == "1,250"
    assert number(1_666_666_666) == "1,666.666666"
    assert percent(ONE // 4) == "25%"
    assert percent(ONE // 3) == "33.3333%"
