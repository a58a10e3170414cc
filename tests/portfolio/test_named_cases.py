"""Cases that any such arena should get right, each played through the whole engine from $10,000."""

from datetime import timedelta

import pytest

from markets.model import Listing, MarketId, Snapshot
from portfolio.execute import execute, is_out
from portfolio.ledger import fold, post, settle
from portfolio.model import Bet, Fill, Holdings, Lot, Rejection, Sale, Side
from portfolio.rules import REALISTIC, REFERENCE, REPLAY, SEED, Rules
from portfolio.value import mark
from tests.builders import (
    NOW,
    RAIN,
    a_bet,
    a_market,
    a_price,
    a_quote,
    a_resolution,
    a_sale,
    a_snapshot,
    an_account,
    both_at,
    usd,
)

SUN = MarketId("sim:sun")
LATER = NOW + timedelta(days=1)


def asked(
    account: Holdings, wish: Bet | Sale, snapshot: Snapshot, rules: Rules = SEED
) -> tuple[list[Fill], list[Rejection]]:
    """Return the result of one order."""
    bets, sales = ([wish], []) if isinstance(wish, Bet) else ([], [wish])
    return execute(bets, sales, account, snapshot, rules)


def then(account: Holdings, wish: Bet | Sale, price: str, rules: Rules = SEED) -> Holdings:
    """Return the account after an order that is filled."""
    fills, refused = asked(account, wish, both_at(price), rules)
    assert refused == []
    return fold(post(fills, account, NOW, "fill:1"), account)


def refusal(account: Holdings, wish: Bet | Sale, snapshot: Snapshot, rules: Rules = SEED) -> str:
    """Return a refusal's sentence, after checking that the account is unchanged."""
    fills, (refused,) = asked(account, wish, snapshot, rules)
    assert fills == []
    assert fold(post(fills, account, NOW, "fill:1"), account) == account
    return refused.message


def test_600_of_no_at_a_yes_price_of_40_cents_gains_150_when_yes_falls_to_25() -> None:
    account = then(an_account(), a_bet(600, "NO"), "0.40")
    seen = mark(account, both_at("0.25"))
    assert (seen.value, seen.value - seen.cost, seen.total) == (usd(750), usd(150), usd(10_150))


def test_500_at_40_cents_and_500_at_80_are_1875_shares_at_an_average_price() -> None:
    account = then(then(an_account(), a_bet(500), "0.40"), a_bet(500), "0.80")
    lot = account.lots[RAIN, "YES"]
    assert lot == Lot(usd(1_875), usd(1_000))
    assert round(lot.cost / lot.shares, 6) == 0.533333
    assert mark(account, both_at("0.80")).value == usd(1_500)


def test_selling_all_at_80_cents_gains_500_and_a_new_bet_opens_a_new_lot() -> None:
    account = then(then(an_account(), a_bet(500), "0.40"), a_sale(), "0.80")
    assert (account.realised, account.cash, account.lots) == (usd(500), usd(10_500), {})
    account = then(account, a_bet(500), "0.80")
    assert account.lots == {(RAIN, "YES"): Lot(usd(625), usd(500))}
    assert account.realised == usd(500)


@pytest.mark.parametrize(("payout", "cash", "realised"), [(None, 10_060, 60), ("0.5", 10_000, 0)])
def test_after_a_sale_of_40_percent_the_rest_is_refunded_at_cost_or_paid_half(
    payout: str | None, cash: int, realised: int
) -> None:
    account = then(an_account(), a_bet(600), "0.60")
    account = then(account, a_sale(fraction="0.4"), "0.75")
    assert (account.realised, account.cash) == (usd(60), usd(9_700))
    assert account.lots == {(RAIN, "YES"): Lot(usd(600), usd(360))}
    account = fold(settle(account, [a_resolution(payout)], NOW), account)
    assert (account.cash, account.realised, account.lots) == (usd(cash), usd(realised), {})


LAST_QUOTE = a_price("0.70")
NO_QUOTE = Listing(a_market(), a_quote(None, None, None, last="0.70", at=LATER))


@pytest.mark.parametrize("listing", [LAST_QUOTE, NO_QUOTE], ids=["the last quote", "the last trade"])
def test_without_a_quote_100_shares_of_no_last_worth_30_stay_so_and_are_stale(listing: Listing) -> None:
    account = then(an_account(), a_bet(50, "NO"), "0.50")
    assert account.lots == {(RAIN, "NO"): Lot(usd(100), usd(50))}
    fresh = mark(account, both_at("0.70"), timedelta(minutes=15))
    assert (fresh.value, fresh.stale) == (usd(30), 0)
    seen = mark(account, a_snapshot(held=[listing], at=LATER), timedelta(minutes=15))
    assert (seen.value, seen.stale, seen.total) == (usd(30), 1, usd(9_980))


def test_with_200_a_bet_of_50_is_allowed_and_with_a_cent_less_an_entrant_is_out() -> None:
    assert then(an_account(200), a_bet(50), "0.40").cash == usd(150)
    assert not is_out(an_account(200), SEED)
    assert is_out(an_account("199.99"), SEED)
    words = "bet $50.00 is over the cap of $49.9975: 25% of $199.99 cash"
    assert refusal(an_account("199.99"), a_bet(50), both_at("0.40")) == words


def test_who_holds_a_lot_is_not_out_whatever_the_cash() -> None:
    account = then(an_account(200), a_bet(50), "0.40")
    assert account.cash < usd(200)
    assert not is_out(account, SEED)


ONE_DOLLAR = "the mid $1.00 is not between $0.00 and $1.00"
NOTHING = "the mid $0.00 is not between $0.00 and $1.00"


@pytest.mark.parametrize(("mid", "side"), [("1", "YES"), ("0", "NO")])
def test_under_the_reference_a_share_may_cost_a_dollar_and_be_sold_for_it(mid: str, side: Side) -> None:
    account = then(an_account(), a_bet(500, side), mid, REFERENCE)
    assert account.lots == {(RAIN, side): Lot(usd(500), usd(500))}
    account = then(account, a_sale(side=side), mid, REFERENCE)
    assert (account.cash, account.realised, account.lots) == (usd(10_000), 0, {})


@pytest.mark.parametrize(("mid", "side"), [("0", "YES"), ("1", "NO")])
def test_under_the_reference_a_share_may_be_given_away_but_not_had_for_nothing(mid: str, side: Side) -> None:
    assert refusal(an_account(), a_bet(500, side), both_at(mid), REFERENCE) == NOTHING
    account = then(an_account(), a_bet(500, side), "0.50", REFERENCE)
    account = then(account, a_sale(side=side), mid, REFERENCE)
    assert (account.cash, account.realised, account.lots) == (usd(9_500), -usd(500), {})


@pytest.mark.parametrize(
    ("mid", "side", "words"),
    [("1", "YES", ONE_DOLLAR), ("0", "NO", ONE_DOLLAR), ("0", "YES", NOTHING), ("1", "NO", NOTHING)],
)
def test_under_other_rules_nothing_is_traded_at_a_dollar_or_at_nothing(
    mid: str, side: Side, words: str
) -> None:
    account = then(an_account(), a_bet(500, side), "0.50")
    for rules in (SEED, REPLAY):
        assert refusal(account, a_bet(500, side), both_at(mid), rules) == words
        assert refusal(account, a_sale(side=side), both_at(mid), rules) == words
    assert mark(account, both_at(mid)).value == (usd(1_000) if words == ONE_DOLLAR else 0)


@pytest.mark.parametrize("mid", ["1", "0"])
def test_where_a_book_is_needed_a_price_alone_is_refused_at_the_extremes_too(mid: str) -> None:
    account = then(an_account(), a_bet(500), "0.50")
    words = "the quote has no order book, which these rules need to fill orders"
    assert refusal(account, a_bet(500), both_at(mid), REALISTIC) == words
    assert refusal(account, a_sale(), both_at(mid), REALISTIC) == words
