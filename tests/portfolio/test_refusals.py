"""Every refusal as a reader meets it: its code, its sentence with the numbers, and its market."""

import time
from dataclasses import replace
from datetime import timedelta, timezone
from typing import Any

import pytest

from markets.millionths import ONE
from markets.model import Listing, MarketId
from portfolio.execute import execute
from portfolio.ledger import fold, post, settle
from portfolio.model import Bet, Holdings, Rejection, Sale
from portfolio.money import LARGEST
from portfolio.quotes import duration_text
from portfolio.rules import REALISTIC, REFERENCE, SEED, Rules
from tests.builders import (
    NOW,
    RAIN,
    a_bet,
    a_book,
    a_listing,
    a_market,
    a_price,
    a_resolution,
    a_sale,
    a_snapshot,
    an_account,
    usd,
)

SUN = MarketId("sim:sun")
PLAIN = SEED.model_copy(update={"base": "start", "merge": True})
QUOTED = PLAIN.model_copy(update={"fill": "quote"})
BOOKED = PLAIN.model_copy(update={"fill": "book"})
FORTY = a_price("0.40")


def holding(bet: Bet) -> Holdings:
    """Return a fresh account of $10,000 after one bet at 0.40."""
    account = an_account()
    fills, _ = execute([bet], [], account, a_snapshot(FORTY), PLAIN)
    return fold(post(fills, account, NOW, "fill:1"), account)


HELD = holding(a_bet(500))
"""1,250 YES shares and $9,500."""


def refusal(
    wish: Bet | Sale, listing: Listing = FORTY, rules: Rules = PLAIN, account: Holdings = HELD
) -> Rejection:
    """Return why the only order of a decision is refused."""
    bets, sales = ([wish], []) if isinstance(wish, Bet) else ([], [wish])
    fills, (refused,) = execute(bets, sales, account, a_snapshot(listing), rules)
    assert fills == []
    return refused


ODD: Any = 5
TEXT: Any = "500"
WISHES: list[tuple[Bet | Sale, str, str]] = [
    (Bet(RAIN, "YES", 0), "bad_amount", "a bet is an amount of dollars above $0.00, not $0.00"),
    (Bet(RAIN, "YES", TEXT), "bad_amount", "a bet is an amount of dollars above $0.00, not '500'"),
    (
        Bet(RAIN, "YES", 10**30),
        "bad_amount",
        "a bet is an amount of dollars above $0.00, not one of that size",
    ),
    (
        Bet(RAIN, "YES", -LARGEST),
        "bad_amount",
        "a bet is an amount of dollars above $0.00, not -$1,000,000,000,000.00",
    ),
    (Bet(RAIN, ODD, usd(500)), "unknown_side", "the side is a int, not YES or NO"),
    (
        Bet(RAIN, "YES", usd(500), 2 * ONE),
        "bad_limit",
        "a limit is a price above $0.00 and at most $1.00, not $2.00",
    ),
    (
        Bet(RAIN, "YES", usd(500), TEXT),
        "bad_limit",
        "a limit is a price above $0.00 and at most $1.00, not '500'",
    ),
    (a_sale(side="NO"), "not_held", "no NO shares of this market are held to sell"),
    (a_sale(-1), "bad_shares", "a sale is of a number of shares above 0, not -1"),
    (a_sale(fraction="1.5"), "bad_shares", "a fraction is above 0 and at most 1, not 1.5"),
    (
        a_sale(1, fraction="0.5"),
        "bad_shares",
        "a sale needs either shares or a fraction, not both",
    ),
    (a_sale(1_251), "over_held", "1,251 YES shares are to be sold, over the 1,250 held"),
    (a_bet("49.99"), "under_min", "bet $49.99 is under the minimum of $50.00"),
    (a_bet(2_400), "over_cap", "bet $2,400.00 is over the cap of $2,375.00: 25% of $9,500.00 cash"),
]


def test_a_wish_that_makes_no_sense_is_answered_with_its_figures() -> None:
    for wish, code, message in WISHES:
        assert refusal(wish) == Rejection(code, message, RAIN)


def test_an_unknown_market_is_named_and_belongs_to_no_market() -> None:
    assert refusal(a_bet(500, market="sim:" + "x" * 90)) == Rejection(
        "unknown_market", f"there is no market 'sim:{'x' * 76}'", ""
    )
    nameless: Any = 7
    assert refusal(Bet(nameless, "YES", usd(500))).message == "there is no market a int"


def test_a_fraction_of_next_to_nothing_says_of_how_much() -> None:
    crumbs = replace(HELD, lots={(RAIN, "YES"): replace(HELD.lots[RAIN, "YES"], shares=3)})
    assert refusal(a_sale(fraction="0.1"), account=crumbs).message == (
        "0.1 of 0.000003 shares is less than the smallest part of one"
    )


def test_a_market_that_is_only_held_or_was_settled_takes_no_bets() -> None:
    _, (refused,) = execute([a_bet(500)], [], HELD, a_snapshot(held=[FORTY]), PLAIN)
    assert refused == Rejection(
        "not_offered", "the market is no longer open for betting: positions can only be sold", RAIN
    )
    for side in ("YES", "NO"):
        before = holding(a_bet(500, "YES" if side == "YES" else "NO"))
        after = fold(settle(before, [a_resolution("1")], NOW), before)
        ended = Rejection("settled", "the market has already been settled", RAIN)
        assert refusal(a_bet(500), account=after) == ended


def test_bets_that_may_not_stand_together_are_each_refused_with_their_market() -> None:
    both = a_snapshot(FORTY, a_price("0.50", SUN))
    fills, refused = execute([a_bet(500), a_bet(300, "NO")], [], HELD, both, PLAIN)
    words = "bets on both sides of one market: $500.00 on YES, $300.00 on NO"
    assert (fills, refused) == ([], [Rejection("both_sides", words, RAIN)] * 2)
    bets = [a_bet(1_200), a_bet(1_200, market=SUN)]
    fills, refused = execute(bets, [], HELD, both, REFERENCE)
    words = "bets of $2,400.00 together are over the cap of $2,375.00: 25% of $9,500.00 cash"
    assert (fills, refused) == ([], [Rejection("over_cap", words, market) for market in (RAIN, SUN)])
    most = PLAIN.model_copy(update={"max_bet": ONE})
    fills, refused = execute([a_bet(9_000), a_bet(501, market=SUN)], [], HELD, both, most)
    words = "bets of $9,501.00 together are over the cash of $9,500.00"
    assert (fills, refused) == ([], [Rejection("over_cash", words, market) for market in (RAIN, SUN)])


def test_under_the_reference_the_other_bets_are_told_which_one_spoilt_it() -> None:
    bets = [a_bet(100), a_bet(10, market=SUN)]
    fills, refused = execute(bets, [], HELD, a_snapshot(FORTY, a_price("0.50", SUN)), REFERENCE)
    words = "bet $10.00 is under the minimum of $50.00"
    assert fills == []
    assert refused == [
        Rejection("under_min", words, SUN),
        Rejection("all_or_nothing", f"all or nothing, and another bet was rejected: {words}", RAIN),
    ]


def test_who_is_in_debt_may_not_bet() -> None:
    owing = replace(HELD, cash=-usd(5))
    words = "bet $100.00 while cash is -$5.00: no buying below $0.00"
    assert refusal(a_bet(100), account=owing) == Rejection("in_debt", words, RAIN)
    words = "bet $100.00 is over the cap of $0.00: 25% of $0.00 cash"
    assert refusal(a_bet(100), account=replace(HELD, cash=0)) == Rejection("over_cap", words, RAIN)


QUOTES: list[tuple[Listing, Rules, str, str]] = [
    (Listing(a_market(), None), PLAIN, "no_quote", "the market has no quote"),
    (a_price("0.40", closes_at=NOW), PLAIN, "closed", "the market closed at 2026-01-04 12:00 UTC"),
    (
        a_price("0.40", at=NOW + timedelta(seconds=90)),
        PLAIN,
        "late_quote",
        "the quote is 1 min 30 s later than the snapshot",
    ),
    (
        a_price("0.40", at=NOW - timedelta(hours=26)),
        PLAIN,
        "stale_quote",
        "the quote is 1 d 2 h old; at most 15 min is allowed",
    ),
    (a_listing(None, "0"), PLAIN, "one_sided", "the quote has no bid, only the ask $0.00: both are needed"),
    (FORTY, QUOTED, "no_price", "the quote has no ask to buy at"),
    (a_listing(None, None), PLAIN, "no_price", "the quote has no mid"),
    (a_price("1"), PLAIN, "bad_price", "the mid $1.00 is not between $0.00 and $1.00"),
    (FORTY, BOOKED, "no_book", "the quote has no order book, which these rules need to fill orders"),
    (
        a_book([("0.40", "1")], [("0.42", "0")]),
        BOOKED,
        "bad_book",
        "the book has a level of 0 shares at $0.42",
    ),
]


def test_a_quote_that_can_not_be_traded_on_says_why() -> None:
    for listing, rules, code, message in QUOTES:
        assert refusal(a_bet(500), listing, rules) == Rejection(code, message, RAIN)
    assert refusal(a_sale(), FORTY, QUOTED).message == "the quote has no bid to sell at"


def test_figures_that_are_no_prices_are_refused_by_what_they_are() -> None:
    assert FORTY.quote is not None
    other = Listing(FORTY.market, replace(FORTY.quote, market_id=SUN))
    assert refusal(a_bet(500), other) == Rejection("other_quote", "the quote is for sim:sun", RAIN)
    figures: list[tuple[Any, str]] = [
        (10**20, "a figure of about 21 digits"),
        (-(1 << 99_999), "a figure of about 30104 digits"),
        (float("nan"), "the float 'nan'"),
        ("some forty cents or so", "the str 'some forty cents or '"),
    ]
    for figure, what in figures:
        odd = Listing(FORTY.market, replace(FORTY.quote, mid=figure))
        words = f"the quote has {what}, which is neither a price nor a size"
        assert refusal(a_bet(500), odd) == Rejection("bad_quote", words, RAIN)


def test_the_largest_figure_is_still_one() -> None:
    assert FORTY.quote is not None
    sold = Listing(FORTY.market, replace(FORTY.quote, volume=LARGEST))
    assert len(execute([a_bet(500)], [], HELD, a_snapshot(sold), PLAIN)[0]) == 1
    too_much = Listing(FORTY.market, replace(FORTY.quote, volume=LARGEST + 1))
    assert refusal(a_bet(500), too_much).code == "bad_quote"


def test_the_hour_of_a_close_is_told_in_utc_wherever_this_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    closed = a_price("0.40", closes_at=NOW.astimezone(timezone(timedelta(hours=9))))
    with monkeypatch.context() as abroad:
        abroad.setenv("TZ", "UTC-9")
        time.tzset()
        told = refusal(a_bet(500), closed).message
    time.tzset()
    assert told == "the market closed at 2026-01-04 12:00 UTC"


def test_a_price_of_a_millionth_is_a_price() -> None:
    fills, refused = execute([a_bet(50)], [], HELD, a_snapshot(a_price("0.000001")), REALISTIC.model_copy(
        update={"fill": "mid"}))  # fmt: skip
    assert refused == []
    assert fills[0].shares == 50 * ONE * ONE


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(1, "1 s"), (59, "59 s"), (60, "1 min"), (119, "1 min 59 s"), (3_600, "1 h"), (3_660, "1 h 1 min"),
     (3_661, "1 h 1 min"), (90_000, "1 d 1 h"), (86_401, "1 d"), (8_640_000, "100 d")],
)  # fmt: skip
def test_a_length_of_time_is_told_in_its_two_largest_units(seconds: int, words: str) -> None:
    assert duration_text(timedelta(seconds=seconds)) == words
