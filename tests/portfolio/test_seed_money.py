"""Seed 002, played: what sections 1.2, 1.3, 2.1 to 2.4 and appendix A say of bets, shares and payouts."""

from fractions import Fraction

import pytest

from arena.record.model.columns import confidence, implied_belief
from arena.scores.rules import brier, returns
from markets.millionths import ONE
from markets.model import Snapshot
from portfolio.execute import cap, execute
from portfolio.ledger import fold, post, settle
from portfolio.model import Bet, Fill, Holdings, Side
from portfolio.rules import SEED
from portfolio.value import mark
from tests.builders import NOW, RAIN, a_bet, a_price, a_resolution, a_snapshot, an_account, usd


def played(bets: list[Bet], snapshot: Snapshot, account: Holdings | None = None) -> Holdings:
    """Return the account after the bets, all of which must be accepted."""
    account = account or an_account(10_000)
    fills, refused = execute(bets, [], account, snapshot, SEED)
    assert refused == []
    return fold(post(fills, account, NOW, "fill:1"), account)


def filled(bet: Bet, cash: int = 10_000, price: str = "0.40") -> Fill:
    """Return the result of a bet of an account with this much cash."""
    ((fill,), refused) = execute([bet], [], an_account(cash), a_snapshot(a_price(price)), SEED)
    assert refused == []
    return fill


@pytest.mark.parametrize(
    ("cash", "amount", "largest", "percent"),
    [
        (10_000, 2_500, 2_500, 100),
        (10_000, 1_250, 2_500, 50),
        (10_000, 500, 2_500, 20),
        (10_000, 50, 2_500, 2),
        (8_000, 2_000, 2_000, 100),
        (8_000, 500, 2_000, 25),
    ],
)
def test_section_1_2_the_table_of_bets_and_the_confidence_they_imply(
    cash: int, amount: int, largest: int, percent: int
) -> None:
    fill = filled(a_bet(amount), cash)
    assert cap(fill.base, SEED) == usd(largest)
    assert confidence(fill.amount, fill.base, SEED.max_bet) == percent / 100


@pytest.mark.parametrize("cash", [10_000, 8_000])
def test_section_1_2_a_quarter_of_the_cash_is_the_largest_bet_there_is(cash: int) -> None:
    largest = str(cash // 4)
    assert filled(a_bet(largest), cash).amount == usd(largest)
    bets = [a_bet(f"{largest}.000001")]
    snapshot = a_snapshot(a_price("0.40"))
    fills, refused = execute(bets, [], an_account(cash), snapshot, SEED)
    assert fills == []
    assert [rejection.code for rejection in refused] == ["over_cap"]


@pytest.mark.parametrize(
    ("side", "says", "payout", "scores"),
    [
        ("YES", 0.80, "1", 0.04),
        ("YES", 0.80, "0", 0.64),
        ("NO", 0.20, "1", 0.64),
        ("NO", 0.20, "0", 0.04),
    ],
)
def test_section_1_3_the_table_of_sides_forecasts_and_scores(
    side: Side, says: float, payout: str, scores: float
) -> None:
    fill = filled(a_bet(2_000, side))
    c = confidence(fill.amount, fill.base, SEED.max_bet)
    forecast = implied_belief(fill.side == "YES", c)
    assert c == 0.80
    assert float(forecast) == pytest.approx(says, abs=1e-12)
    assert brier.score(forecast, a_resolution(payout).outcome or 0) == pytest.approx(scores, abs=1e-12)


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
    side: Side, now: str, value: str, unrealised: str
) -> None:
    account = played([a_bet(500, side)], a_snapshot(a_price("0.40")))
    seen = mark(account, a_snapshot(a_price(now)))
    # 500 of NO at 0.60 is 833.333333 shares, so the last millionth may be lost to rounding.
    assert usd(value) - seen.value in (0, 1)
    assert usd(unrealised) - (seen.value - seen.cost) in (0, 1)


@pytest.mark.parametrize(
    ("side", "winner", "paid", "profit"),
    [("YES", "1", 1_250, 750), ("YES", "0", 0, -500), ("NO", "0", 1_000, 400), ("NO", "1", 0, -600)],
)
def test_section_2_3_a_winning_share_pays_one_dollar_and_a_losing_one_nothing(
    side: Side, winner: str, paid: int, profit: int
) -> None:
    stake = paid - profit
    account = played([a_bet(stake, side)], a_snapshot(a_price("0.40")))
    (entry,) = settle(account, [a_resolution(winner)], NOW)
    assert (entry.cash, -entry.cost, entry.realised) == (usd(paid), usd(stake), usd(profit))
    after = fold([entry], account)
    assert (after.cash, after.realised, after.lots) == (usd(10_000 + profit), usd(profit), {})


def test_section_2_4_total_value_is_cash_and_positions_and_the_rest_follows() -> None:
    account = played([a_bet(2_500)], a_snapshot(a_price("0.50")))
    seen = mark(account, a_snapshot(a_price("0.64")))
    assert (seen.cash, seen.value, seen.total) == (usd(7_500), usd(3_200), usd(10_700))
    profit = seen.total - usd(10_000)
    assert profit == usd(700)
    assert Fraction(profit, usd(10_000)) == Fraction(7, 100)
    assert returns.score([profit], [usd(10_000)]) == 7.0


def test_appendix_a_shares_purchased_for_yes_and_no_at_many_prices() -> None:
    for cents in range(1, 100):
        snapshot = a_snapshot(a_price(f"0.{cents:02d}"))
        yes = played([a_bet(100, "YES")], snapshot).lots[RAIN, "YES"].shares
        no = played([a_bet(100, "NO")], snapshot).lots[RAIN, "NO"].shares
        assert yes == 100 * ONE * 100 // cents
        assert no == 100 * ONE * 100 // (100 - cents)


def test_appendix_a_confidence_is_measured_by_the_cash_at_bet_time_and_stops_at_one() -> None:
    bets = [a_bet(2_500), a_bet(1_500), a_bet(1_500)]
    snapshot = a_snapshot(a_price("0.50"))
    fills, refused = execute(bets, [], an_account(10_000), snapshot, SEED)
    assert refused == []
    assert [fill.base for fill in fills] == [usd(10_000), usd(7_500), usd(6_000)]
    assert [float(confidence(fill.amount, fill.base)) for fill in fills] == [1.0, 0.8, 1.0]
    assert confidence(usd(3_000), usd(10_000)) == 1.0


def test_appendix_a_position_and_settlement_value_at_many_prices() -> None:
    account = played([a_bet(400, "YES"), a_bet(600, "NO")], a_snapshot(a_price("0.40")))
    yes, no = (Holdings(lots={key: account.lots[key]}) for key in ((RAIN, "YES"), (RAIN, "NO")))
    for cents in range(101):
        now = a_snapshot(a_price(f"{cents / 100:.2f}"))
        assert mark(yes, now).value == 1_000 * ONE * cents // 100
        assert mark(no, now).value == 1_000 * ONE * (100 - cents) // 100
    for lots, winner, value in ((yes, "1", 1_000), (yes, "0", 0), (no, "0", 1_000), (no, "1", 0)):
        assert [entry.cash for entry in settle(lots, [a_resolution(winner)], NOW)] == [usd(value)]


@pytest.mark.parametrize(("winner", "percent"), [("1", 7.5), ("0", -5.0)])
def test_appendix_a_the_return_of_a_portfolio_from_its_first_to_its_final_value(
    winner: str, percent: float
) -> None:
    account = played([a_bet(500)], a_snapshot(a_price("0.40")))
    final = mark(fold(settle(account, [a_resolution(winner)], NOW), account), a_snapshot()).total
    assert returns.score([final - usd(10_000)], [usd(10_000)]) == percent
