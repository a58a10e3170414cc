"""Wishes meet prices: order, caps, merging, the cash rule, refusals in words."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

from markets.hashes import quote_hash
from markets.millionths import ONE
from markets.model import MarketId, Snapshot
from portfolio.execute import cap, execute, is_out
from portfolio.ledger import fold, post, settle
from portfolio.model import Bet, Fill, Holdings, Lot, Rejection, Sale
from portfolio.money import number
from portfolio.rules import REALISTIC, REFERENCE, REPLAY, SEED, Rules
from portfolio.sizing import quarter_kelly
from tests.builders import (
    NOW,
    RAIN,
    a_bet,
    a_book,
    a_price,
    a_resolution,
    a_sale,
    a_snapshot,
    an_account,
    usd,
)

SUN = MarketId("sim:sun")
SNOW = MarketId("sim:snow")
PLAIN = SEED.model_copy(update={"base": "start", "merge": True})
"""The design's own order of things, at the mid and without fees, so that figures are round."""

THREE = a_snapshot(a_price("0.40"), a_price("0.50", SUN), a_price("0.80", SNOW))


def asked(
    *wishes: Bet | Sale,
    account: Holdings | None = None,
    snapshot: Snapshot = THREE,
    rules: Rules = PLAIN,
) -> tuple[list[Fill], list[Rejection]]:
    """Return the results of these orders, with a fresh account of $10,000 unless one is given."""
    bets = [wish for wish in wishes if isinstance(wish, Bet)]
    sales = [wish for wish in wishes if isinstance(wish, Sale)]
    return execute(bets, sales, account or an_account(), snapshot, rules)


def refusals(*wishes: Bet | Sale, **given: Any) -> list[str]:
    """Return the refusals' sentences, after checking that nothing is filled."""
    fills, refused = asked(*wishes, **given)
    assert fills == []
    return [rejection.message for rejection in refused]


def codes(*wishes: Bet | Sale, **given: Any) -> list[str]:
    """Return the refusals' codes, after checking that nothing is filled."""
    fills, refused = asked(*wishes, **given)
    assert fills == []
    return [rejection.code for rejection in refused]


def holding(*bets: Bet, snapshot: Snapshot = THREE) -> Holdings:
    """Return a fresh account after these bets."""
    account = an_account()
    fills, refused = execute(bets, [], account, snapshot, PLAIN)
    assert refused == []
    return fold(post(fills, account, NOW, "fill:0"), account)


def test_a_fill_remembers_what_was_wanted_and_what_it_was_filled_against() -> None:
    ((bought,), refused) = asked(a_bet(500, reason="clouds"))
    quote = a_price("0.40").quote
    assert refused == []
    assert quote is not None
    assert (bought.wanted, bought.base, bought.amount) == (usd(500), usd(10_000), usd(500))
    assert (bought.quote_at, bought.quote_hash) == (NOW, quote_hash(quote))
    assert (bought.reason, bought.left, bought.fee_rate) == ("clouds", "", 0)


def test_merged_bets_keep_the_tightest_limit_and_all_reasons() -> None:
    snapshot = a_snapshot(a_book([("0.40", "10000")], [("0.42", "100"), ("0.43", "100"), ("0.44", "100")]))
    one = a_bet(100, limit="0.43", reason="a")
    other = a_bet(100, limit="0.44", reason="b")
    ((bought,), _) = asked(one, other, snapshot=snapshot, rules=REALISTIC)
    assert (bought.wanted, bought.amount, bought.reason) == (usd(200), usd(85), "a; b")


def test_a_sale_and_a_bet_on_the_other_side_share_the_same_bids() -> None:
    snapshot = a_snapshot(a_book([("0.40", "100"), ("0.39", "1000")], [("0.42", "1000")]))
    account = holding(a_bet(500))
    (sold, bought), _ = asked(
        a_sale(100), a_bet(61, "NO"), account=account, snapshot=snapshot, rules=REALISTIC
    )
    assert [level.price for level in sold.levels] == [usd("0.40")]
    assert [level.price for level in bought.levels] == [usd("0.61")]


def test_sales_come_first_and_what_they_bring_is_for_the_next_decision() -> None:
    account = replace(holding(a_bet(2_500)), cash=usd(1_000))
    (sold, bought), refused = asked(a_bet(250, market=SUN), a_sale(), account=account)
    assert refused == []
    assert (sold.action, sold.amount) == ("sell", usd(2_500))
    assert (bought.action, bought.base) == ("buy", usd(1_000))
    fills, refused = asked(a_bet(251, market=SUN), a_sale(), account=account)
    assert [fill.action for fill in fills] == ["sell"]
    assert refused[0].message == "bet $251.00 is over the cap of $250.00: 25% of $1,000.00 cash"


def test_bets_that_together_exceed_the_cash_are_all_refused() -> None:
    rules = PLAIN.model_copy(update={"max_bet": ONE // 2})
    bets = [a_bet(5_000), a_bet(4_000, market=SUN), a_bet("1000.01", market=SNOW)]
    assert refusals(*bets, rules=rules) == ["bets of $10,000.01 together are over the cash of $10,000.00"] * 3
    assert len(asked(*bets[:2], a_bet(1_000, market=SNOW), rules=rules)[0]) == 3


def test_a_refused_bet_does_not_count_against_the_cash() -> None:
    rules = PLAIN.model_copy(update={"max_bet": ONE // 2})
    fills, refused = asked(a_bet(5_000), a_bet(5_000, market=SUN), a_bet(5_001, market=SNOW), rules=rules)
    assert len(fills) == 2
    assert [rejection.code for rejection in refused] == ["over_cap"]


def test_under_the_seed_each_bet_is_measured_by_the_cash_that_is_left() -> None:
    (first, second), _ = asked(a_bet(2_500), a_bet(1_875, market=SUN), rules=SEED)
    assert (first.base, second.base) == (usd(10_000), usd(7_500))
    fills, refused = asked(a_bet(2_500), a_bet(1_876, market=SUN), rules=SEED)
    assert len(fills) == 1
    assert refused[0].message == "bet $1,876.00 is over the cap of $1,875.00: 25% of $7,500.00 cash"


def test_under_the_seed_what_a_sale_brings_is_cash_for_the_bets_after_it() -> None:
    account = replace(holding(a_bet(2_500)), cash=usd(1_000))
    (sold, bought), refused = asked(a_sale(), a_bet(875, market=SUN), account=account, rules=SEED)
    assert refused == []
    assert (sold.amount, bought.base) == (usd(2_500), usd(3_500))


def test_under_the_seed_money_that_was_not_spent_can_be_bet_again() -> None:
    rules = SEED.model_copy(update={"fill": "book", "max_bet": ONE})
    thin = [a_book([("0.40", "100")], [("0.42", "100")], market) for market in (RAIN, SUN)]
    fills, refused = asked(a_bet(10_000), a_bet(9_000, market=SUN), snapshot=a_snapshot(*thin), rules=rules)
    assert refused == []
    assert [fill.amount for fill in fills] == [usd(42), usd(42)]


def test_under_the_seed_legs_are_bets_of_their_own_and_may_take_both_sides() -> None:
    fills, refused = asked(a_bet(500), a_bet(500), a_bet(100, "NO"), rules=SEED)
    assert refused == []
    assert [fill.base for fill in fills] == [usd(10_000), usd(9_500), usd(9_000)]


def test_under_the_reference_a_decision_is_capped_as_one_and_all_or_nothing() -> None:
    fills, _ = asked(a_bet(1_500), a_bet(1_000, market=SUN), rules=REFERENCE)
    assert [fill.base for fill in fills] == [usd(10_000), usd(8_500)]
    assert (
        refusals(a_bet(1_500), a_bet("1000.01", market=SUN), rules=REFERENCE)
        == ["bets of $2,500.01 together are over the cap of $2,500.00: 25% of $10,000.00 cash"] * 2
    )
    assert codes(a_bet(100), a_bet(100, market="sim:nowhere"), rules=REFERENCE) == [
        "unknown_market",
        "all_or_nothing",
    ]


def test_a_bet_beyond_the_cash_that_runs_is_refused_by_its_true_figure() -> None:
    rules = REFERENCE.model_copy(update={"max_bet": usd(1)})
    assert refusals(a_bet(9_000), a_bet(1_200), a_bet(100), rules=rules)[:2] == [
        "bet $1,200.00 is over the cash of $1,000.00",
        "all or nothing, and another bet was rejected: bet $1,200.00 is over the cash of $1,000.00",
    ]


def test_more_shares_than_a_record_can_hold_are_refused() -> None:
    """A billion dollars at 0.00002 would be 50 trillion shares: all of them may come to pay a dollar."""
    account = an_account(10**9)
    snapshot = a_snapshot(a_price("0.00002"), a_price("0.001", SUN))
    most = "an account holds at most 1,000,000,000,000 dollars and shares"
    assert refusals(a_bet(10**8), account=account, snapshot=snapshot) == [
        f"5,000,000,000,000 YES shares are more than can be kept: {most}"
    ]
    (refused,) = asked(a_bet(10**8), account=account, snapshot=snapshot)[1]
    assert (refused.code, refused.market_id) == ("too_many", RAIN)
    small = a_bet(10**7), a_bet(10**8, market=SUN), a_bet(10**7)
    rules = SEED.model_copy(update={"max_bet": usd(1)})
    fills, rejected = asked(*small, account=account, snapshot=snapshot, rules=rules)
    assert [number(fill.shares) for fill in fills] == ["500,000,000,000", "100,000,000,000"]
    assert [x.code for x in rejected] == ["too_many"]
    after = fold(post(fills, account, NOW, "fill:1"), account)
    assert codes(a_bet(10**7), account=after, snapshot=snapshot, rules=rules) == ["too_many"]
    assert codes(a_bet(10**7), account=an_account(6 * 10**11), snapshot=snapshot) == ["too_many"]
    paid = fold(settle(after, [a_resolution("1"), a_resolution("1", SUN)], NOW), after)
    assert paid.cash < 2**63


def test_what_is_sold_in_the_same_decision_takes_no_room_from_what_is_bought() -> None:
    many = replace(an_account(1_000), lots={(RAIN, "YES"): Lot(usd(9 * 10**11), usd(1))})
    snapshot = a_snapshot(a_price("0.00002"), a_price("0.000001", SUN))
    fills, refused = asked(a_sale(), a_bet(250, market=SUN), account=many, snapshot=snapshot)
    assert ([fill.action for fill in fills], refused) == (["sell", "buy"], [])


def test_sales_say_shares_or_a_fraction_or_all() -> None:
    account = holding(a_bet(500))
    for sale, shares in (
        (a_sale(100), 100),
        (a_sale(fraction="0.4"), 500),
        (a_sale(fraction="1"), 1_250),
        (a_sale(), 1_250),
    ):
        ((sold,), _) = asked(sale, account=account)
        assert (sold.shares, sold.wanted) == (usd(shares), usd(shares))


def test_two_sales_of_a_lot_are_one_and_can_not_sell_more_than_is_held() -> None:
    account = holding(a_bet(500))
    ((sold,), _) = asked(a_sale(fraction="0.4"), a_sale(250), account=account)
    assert sold.shares == usd(750)
    assert refusals(a_sale(), a_sale("0.000001"), account=account) == [
        "1,250.000001 YES shares are to be sold, over the 1,250 held"
    ]


def test_merged_sales_keep_the_tightest_limit() -> None:
    account = holding(a_bet(500))
    snapshot = a_snapshot(a_book([("0.40", "100"), ("0.39", "100"), ("0.38", "100")], [("0.42", "1")]))
    sales = a_sale(100, limit="0.38"), a_sale(200, limit="0.39")
    ((sold,), _) = asked(*sales, account=account, snapshot=snapshot, rules=REALISTIC)
    assert sold.shares == usd(200)


def test_a_market_that_is_only_held_may_be_sold_but_not_bought() -> None:
    account = holding(a_bet(500))
    snapshot = a_snapshot(a_price("0.50", SUN), held=[a_price("0.60")])
    fills, refused = asked(a_bet(500), a_sale(), account=account, snapshot=snapshot)
    assert [(fill.action, fill.amount) for fill in fills] == [("sell", usd(750))]
    assert [rejection.code for rejection in refused] == ["not_offered"]


def test_the_age_that_a_quote_may_have_is_a_rule() -> None:
    week = a_snapshot(a_price("0.40", at=NOW - timedelta(days=7)))
    assert len(asked(a_bet(500), snapshot=week, rules=REPLAY)[0]) == 1
    assert refusals(a_bet(500), snapshot=week) == ["the quote is 7 d old; at most 15 min is allowed"]
    just = a_snapshot(a_price("0.40", at=NOW - timedelta(minutes=15)))
    assert len(asked(a_bet(500), snapshot=just)[0]) == 1


def test_a_partial_fill_is_judged_by_what_was_wanted() -> None:
    snapshot = a_snapshot(a_book([("0.40", "100")], [("0.42", "100")]))
    ((bought,), _) = asked(a_bet(2_500), snapshot=snapshot, rules=REALISTIC)
    assert (bought.wanted, bought.amount) == (usd(2_500), usd(42))
    assert bought.left == "$2,458.00 was not spent: the book is exhausted"


def test_without_a_minimum_only_who_has_nothing_is_out() -> None:
    free = SEED.model_copy(update={"min_bet": 0})
    assert is_out(an_account(0), free)
    assert not is_out(an_account("0.000004"), free)  # a quarter of it is a millionth
    assert is_out(an_account("0.000003"), free)


def test_the_cap_is_never_more_than_the_cash_and_never_negative() -> None:
    assert cap(usd(10_000), SEED) == usd(2_500)
    assert cap(usd(10_000), SEED.model_copy(update={"max_bet": 3 * ONE})) == usd(10_000)
    assert cap(-usd(1), SEED) == 0


def test_what_one_bet_leaves_untouched_is_there_whole_for_the_next() -> None:
    asks = [("0.42", "200"), ("0.43", "0.000001"), ("0.44", "200")]
    snapshot = a_snapshot(a_book([("0.40", "9")], asks))
    rules = REALISTIC.model_copy(update={"merge": False, "fee": "none"})
    fills, refused = execute([a_bet(84), a_bet(100)], [], an_account(), snapshot, rules)
    assert refused == []
    assert [(level.price, level.shares) for level in fills[1].levels] == [
        (usd("0.43"), 1),
        (usd("0.44"), usd(200)),
    ]


def test_a_sale_remembers_its_reason_and_the_cash_it_was_made_with() -> None:
    account = holding(a_bet(500))
    ((sold,), ()) = asked(replace(a_sale(100), reason="done"), account=account)
    assert (sold.reason, sold.base) == ("done", usd(9_500))


def test_without_money_every_order_is_refused_and_nobody_is_out() -> None:
    rules = REALISTIC.model_copy(update={"money": False})
    bets = [a_bet(100), a_bet(50, "NO")]
    fills, refused = execute(bets, [a_sale(1)], an_account(), THREE, rules)
    assert fills == []
    assert [rejection.code for rejection in refused] == ["no_market"] * 3
    assert not is_out(an_account(0), rules)
    assert quarter_kelly({RAIN: usd("0.9")}, an_account(), THREE, rules) == ()


def test_money_is_no_part_of_frozen_rules_where_there_is_a_market() -> None:
    assert "money" not in REALISTIC.model_dump(mode="json")
    without = REALISTIC.model_copy(update={"money": False})
    assert without.model_dump(mode="json")["money"] is False
    assert Rules.model_validate(without.model_dump(mode="json")) == without
