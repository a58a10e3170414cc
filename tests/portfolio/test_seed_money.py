"""Seed 002, its money: each example and formula of sections 2.1 to 2.4 and of appendix A."""

from fractions import Fraction

import pytest

from markets.millionths import ONE
from markets.model import Snapshot
from portfolio.execute import execute
from portfolio.ledger import fold, post, settle
from portfolio.model import Bet, Holdings
from portfolio.rules import SEED
from portfolio.value import mark
from tests.builders import NOW, RAIN, a_bet, a_price, a_resolution, a_snapshot, an_account, usd


def played(bets: list[Bet], snapshot: Snapshot, account: Holdings | None = None) -> Holdings:
    """The account after the bets, all of which must be accepted."""
    account = account or an_account(10_000)
    fills, refused = execute(bets, [], account, snapshot, SEED)
    assert refused == []
    return fold(post(fills, account, NOW, "fill:1"), account)


def test_section_2_1_shares_are_the_amount_over_the_price() -> None:
    account = played([a_bet(500, "YES")], a_snapshot(a_price("0.40")))
    assert account.lots[RAIN, "YES"].shares == usd(1_250)
    assert account.lots[RAIN, "YES"].cost == usd(500)
    assert account.cash == usd(9_500)


def test_section_2_1_the_price_of_a_no_share_is_one_less_the_yes_price() -> None:
    account = played([a_bet(600, "NO")], a_snapshot(a_price("0.40")))
    assert account.lots[RAIN, "NO"].shares == usd(1_000)


@pytest.mark.parametrize(
    ("side", "now", "value", "unrealised"),
    [
        ("YES", "0.40", 500, 0),
        ("YES", "0.55", "687.50", "187.50"),
        ("YES", "0", 0, -500),
        ("NO", "0.40", 500, 0),
        ("NO", "0.25", 625, 125),
    ],
)
def test_section_2_2_a_position_is_worth_its_shares_at_the_current_price(
    side: str, now: str, value: str, unrealised: str
) -> None:
    bet = a_bet(500, "YES" if side == "YES" else "NO")
    account = played([bet], a_snapshot(a_price("0.40")))
    seen = mark(account, a_snapshot(a_price(now)))
    # 500 of NO at 0.60 is 833.333333 shares, so the last millionth may be lost to rounding.
    assert usd(value) - seen.value in (0, 1)
    assert usd(unrealised) - (seen.value - seen.cost) in (0, 1)


@pytest.mark.parametrize(("winner", "paid", "profit"), [("1", 1_250, 750), ("0", 0, -500)])
def test_section_2_3_a_winning_share_pays_one_dollar_and_a_losing_one_nothing(
    winner: str, paid: int, profit: int
) -> None:
    account = played([a_bet(500, "YES")], a_snapshot(a_price("0.40")))
    (entry,) = settle(account, [a_resolution(winner)], NOW)
    assert entry.cash == usd(paid)
    assert entry.realised == usd(profit)
    assert fold([entry], account).cash == usd(9_500 + paid)


def test_section_2_4_total_value_is_cash_and_positions_and_the_rest_follows() -> None:
    account = played([a_bet(2_500)], a_snapshot(a_price("0.50")))
    seen = mark(account, a_snapshot(a_price("0.64")))
    assert (seen.cash, seen.value, seen.total) == (usd(7_500), usd(3_200), usd(10_700))
    profit = seen.total - usd(10_000)
    assert profit == usd(700)
    assert Fraction(profit, usd(10_000)) == Fraction(7, 100)


def test_appendix_a_shares_purchased_for_yes_and_no_at_many_prices() -> None:
    for cents in range(1, 100):
        snapshot = a_snapshot(a_price(f"0.{cents:02d}"))
        yes = played([a_bet(100, "YES")], snapshot).lots[RAIN, "YES"].shares
        no = played([a_bet(100, "NO")], snapshot).lots[RAIN, "NO"].shares
        assert yes == 100 * ONE * 100 // cents
        assert no == 100 * ONE * 100 // (100 - cents)
