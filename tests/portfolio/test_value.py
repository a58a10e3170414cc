"""Marks: mid for the curve, bid for a sale, stale where the price is old or missing."""

from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from markets.millionths import ONE
from markets.model import Listing, MarketId
from portfolio.model import Holdings, Lot, LotKey
from portfolio.value import lot_values, mark
from tests.builders import NOW, RAIN, a_listing, a_market, a_price, a_snapshot, usd

SUN = MarketId("sim:sun")


def holding(*lots: tuple[LotKey, int, int], cash: int = 0) -> Holdings:
    """Return holdings of this many shares at a cost, given in dollars."""
    return Holdings(cash=usd(cash), lots={key: Lot(usd(shares), usd(cost)) for key, shares, cost in lots})


YES: LotKey = (RAIN, "YES")
NO: LotKey = (RAIN, "NO")


def test_a_lot_is_worth_its_shares_at_the_mid_and_brings_the_bid() -> None:
    seen = mark(holding((YES, 100, 30), (NO, 100, 70), cash=50), a_snapshot(a_listing("0.40", "0.44")))
    assert (seen.value, seen.liquidation, seen.cost) == (usd(42) + usd(58), usd(40) + usd(56), usd(100))
    assert (seen.cash, seen.total, seen.stale, seen.at) == (usd(50), usd(150), 0, NOW)


def test_a_missing_side_brings_nothing() -> None:
    no_bid = a_snapshot(a_listing(None, "0.02", "0.01"))
    assert mark(holding((YES, 100, 30)), no_bid).liquidation == 0
    assert mark(holding((NO, 100, 30)), no_bid).liquidation == usd(98)


def test_the_last_known_price_is_kept_and_called_stale() -> None:
    old = a_price("0.70", at=NOW - timedelta(hours=1))
    seen = mark(holding((NO, 100, 40)), a_snapshot(held=[old]), timedelta(minutes=15))
    assert (seen.value, seen.stale) == (usd(30), 1)
    fresh = mark(holding((NO, 100, 40)), a_snapshot(held=[old]), timedelta(hours=1))
    assert (fresh.value, fresh.stale) == (usd(30), 0)


def test_what_is_on_offer_is_valued_by_the_price_on_offer() -> None:
    both = a_snapshot(a_price("0.60"), held=[a_price("0.10")])
    assert mark(holding((YES, 100, 40)), both).value == usd(60)


def test_each_lot_says_why_it_is_stale_and_how_old_its_price_is() -> None:
    minute = timedelta(minutes=1)
    fresh = a_listing(market="sim:a", at=NOW - minute)
    old = a_listing(market="sim:b", at=NOW - 2 * minute)
    traded = a_listing("0.2", None, last="0.3", market="sim:c", at=NOW - 5 * minute)
    only_bid = a_listing("0.2", None, market="sim:d", at=NOW - 9 * minute)
    names = ("sim:a", "sim:b", "sim:c", "sim:d", "sim:e")
    account = holding(*(((MarketId(name), "YES"), 100, 35) for name in names))
    lots = lot_values(account, a_snapshot(fresh, old, traded, only_bid), minute)
    assert [(lot.market_id, lot.price, lot.age, lot.stale) for lot in lots] == [
        ("sim:a", usd("0.41"), 60, ""),
        ("sim:b", usd("0.41"), 120, "old"),
        ("sim:c", usd("0.30"), 300, "last_trade"),
        ("sim:d", None, None, "no_price"),
        ("sim:e", None, None, "no_price"),
    ]
    assert [lot.value for lot in lots] == [usd(41), usd(41), usd(30), usd(35), usd(35)]
    assert [lot.liquidation for lot in lots] == [usd(40), usd(40), usd(20), usd(20), 0]


def test_the_age_of_a_mark_is_that_of_the_oldest_price_in_whole_seconds() -> None:
    late = timedelta(seconds=90, microseconds=999_999)
    shown = a_snapshot(a_listing(at=NOW - late), a_listing(market=SUN, at=NOW - timedelta(seconds=3)))
    both = holding((YES, 1, 0), ((SUN, "NO"), 1, 0))
    assert mark(both, shown).age == 90
    assert mark(holding(((SUN, "NO"), 1, 0)), shown).age == 3
    assert mark(holding(), shown).age == 0
    assert mark(holding((YES, 1, 0)), a_snapshot(Listing(a_market(), None))).age == 0
    assert mark(holding((YES, 1, 0)), a_snapshot(a_listing(at=NOW + late))).age == 0


def test_a_quote_that_is_exactly_as_old_as_allowed_is_not_stale() -> None:
    minute = timedelta(minutes=1)
    tick = timedelta(microseconds=1)
    stale = [
        mark(holding((YES, 1, 0)), a_snapshot(a_listing(at=NOW - past)), minute).stale
        for past in (minute, minute + tick)
    ]
    assert stale == [0, 1]


@given(st.integers(0, 100), st.integers(0, 10**6).map(lambda whole: whole * ONE))
def test_a_yes_and_a_no_share_are_worth_a_dollar_at_any_price(cents: int, shares: int) -> None:
    pair = Holdings(lots={YES: Lot(shares, 0), NO: Lot(shares, 0)})
    assert mark(pair, a_snapshot(a_price(f"{cents / 100:.2f}"))).value == shares
