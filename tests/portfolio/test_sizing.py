"""Quarter-Kelly stakes, worked by hand."""

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from markets.model import Listing, MarketId
from portfolio.execute import execute
from portfolio.matching import SnapshotOffers
from portfolio.model import Bet, Holdings, Lot
from portfolio.rules import REALISTIC, REFERENCE, REPLAY, SEED, Rules
from portfolio.sizing import first_price, quarter_kelly
from tests.builders import a_book, a_listing, a_price, a_snapshot, usd

A, B, C = (MarketId(f"sim:{name}") for name in "abc")
QUOTE = REALISTIC.model_copy(update={"fill": "quote"})


def bets(
    beliefs: Mapping[MarketId, str],
    *listings: Listing,
    rules: Rules = QUOTE,
    cash: str = "10000",
    lots: Mapping[Any, Lot] | None = None,
) -> list[Bet]:
    said = {market: usd(belief) for market, belief in beliefs.items()}
    placed = quarter_kelly(said, Holdings(usd(cash), lots=lots or {}), a_snapshot(*listings), rules)
    return [Bet(bet.market_id, bet.side, bet.amount) for bet in placed]


def stakes(belief: str, *, rules: Rules = QUOTE, bid: str = "0.40", ask: str = "0.42") -> list[Bet]:
    return bets({A: belief}, a_listing(bid, ask, market=A), rules=rules)


def test_yes_is_staked_against_the_ask() -> None:
    # ¼ · 10,000 · (0.60 − 0.42) / (1 − 0.42)
    assert stakes("0.60") == [Bet(A, "YES", 775_862_068)]


def test_no_is_staked_against_the_bid() -> None:
    # ¼ · 10,000 · (0.80 − 0.60) / (1 − 0.60), as NO is believed at 0.80 and costs 1 − 0.40
    assert stakes("0.20") == [Bet(A, "NO", usd(1250))]


def test_a_belief_inside_the_spread_is_no_edge() -> None:
    assert stakes("0.41") == stakes("0.42") == stakes("0.40") == []


def test_a_stake_under_the_minimum_is_not_made() -> None:
    # ¼ · 10,000 · 0.01 / 0.58 = $43
    assert stakes("0.43") == []


def test_without_a_minimum_nothing_is_staked_on_an_edge_of_less_than_a_millionth_of_a_dollar() -> None:
    free = QUOTE.model_copy(update={"min_bet": 0})
    assert bets({A: "0.420001"}, a_listing(market=A), rules=free, cash="0.000004") == []


def test_a_mid_rule_pays_the_mid_and_a_spread_rule_a_cent_more() -> None:
    assert stakes("0.60", rules=SEED) == [Bet(A, "YES", usd(2500) * 19 // 59)]
    placed = bets({A: "0.60"}, a_price("0.41", A), rules=REPLAY)
    assert [bet.amount for bet in placed] == [usd(2500) * 18 // 58]


def test_a_book_rule_pays_the_best_level_and_nothing_is_staked_where_there_is_no_book() -> None:
    book = a_book([("0.40", "10")], [("0.50", "10"), ("0.42", "1")], A)
    assert bets({A: "0.60"}, book, rules=REALISTIC) == [Bet(A, "YES", 775_862_068)]
    assert stakes("0.60", rules=REALISTIC) == []


@pytest.mark.parametrize(("bid", "ask"), [("0.40", "0.55"), ("0.45", "0.40"), (None, "0.42")])
def test_a_quote_that_would_be_refused_has_no_price(bid: str | None, ask: str) -> None:
    floor = SnapshotOffers(a_snapshot(a_listing(bid, ask, "0.41", market=A)), QUOTE)
    assert first_price(floor, A, "YES") is None


def test_a_share_that_is_sure_can_be_bought_only_where_extremes_may_be() -> None:
    sure = a_snapshot(a_price("1", A))
    assert first_price(SnapshotOffers(sure, REFERENCE), A, "YES") == usd(1)
    assert first_price(SnapshotOffers(sure, SEED), A, "YES") is None
    assert quarter_kelly({A: usd(1)}, Holdings(usd(10_000)), sure, REFERENCE) == ()


def test_the_best_edge_goes_first_while_the_cash_lasts() -> None:
    listings = [a_listing("0.02", "0.03", market=market) for market in (A, B, C)]
    placed = bets({A: "0.97", B: "0.99", C: "0.98"}, *listings, cash="1000")
    assert [bet.market_id for bet in placed] == [B, C, A]
    assert sum(bet.amount for bet in placed) <= usd(1000)


def test_a_stake_of_just_the_minimum_is_made() -> None:
    # ¼ · 10,000 · (0.51 − 0.50) / (1 − 0.50)
    assert stakes("0.51", bid="0.49", ask="0.50") == [Bet(A, "YES", usd(50))]
    free = QUOTE.model_copy(update={"min_bet": 0})
    assert bets({A: "1"}, a_listing(market=A), rules=free, cash="0.000004") == [Bet(A, "YES", 1)]


@pytest.mark.parametrize(("base", "second"), [("start", "500"), ("running", "475")])
def test_the_cap_is_of_the_cash_at_the_start_or_of_what_is_left(base: str, second: str) -> None:
    low = QUOTE.model_copy(update={"base": base, "max_bet": usd("0.05")})
    listings = [a_listing(market=market) for market in (A, B)]
    placed = bets({A: "0.99", B: "0.98"}, *listings, rules=low)
    assert placed == [Bet(A, "YES", usd(500)), Bet(B, "YES", usd(second))]


def test_where_a_decision_is_capped_as_one_the_last_stake_is_what_is_left() -> None:
    half = REFERENCE.model_copy(update={"max_bet": usd("0.5")})
    beliefs = dict.fromkeys((A, B, C), "0.99")
    placed = bets(beliefs, *(a_price("0.02", market) for market in (A, B, C)), rules=half)
    # ¼ · 10,000 · 0.97 / 0.98, twice; and the rest of $5,000
    assert [bet.amount for bet in placed] == [2_474_489_795, 2_474_489_795, 51_020_410]


def test_a_market_that_is_held_or_without_a_belief_does_not_stand_before_the_next() -> None:
    listings = [a_listing(market=market) for market in (A, B, C)]
    lots = {(B, "NO"): Lot(usd(100), usd(40))}
    assert [bet.market_id for bet in bets({B: "0.60", C: "0.60"}, *listings, lots=lots)] == [C]


def test_a_stake_says_what_it_is_made_for() -> None:
    (bet,) = quarter_kelly({A: usd("0.6")}, Holdings(usd(10_000)), a_snapshot(a_listing(market=A)), QUOTE)
    assert bet.reason == "believes 0.600 against a price of 0.420"


@given(
    st.lists(st.tuples(st.integers(0, 10**6), st.integers(1, 90), st.integers(1, 9)), min_size=1, max_size=8),
    st.integers(0, 20_000),
    st.sampled_from([QUOTE, REPLAY, SEED, REFERENCE]),
)
def test_every_stake_is_within_the_rules_and_granted(
    markets: list[tuple[int, int, int]], cash: int, rules: Rules
) -> None:
    listings = [
        a_listing(f"0.{bid:02}", f"0.{bid + gap:02}", market=f"sim:{n}")
        for n, (_, bid, gap) in enumerate(markets)
    ]
    beliefs = {listing.market.id: p for listing, (p, _, _) in zip(listings, markets, strict=True)}
    account = Holdings(usd(cash))
    snapshot = a_snapshot(*listings)
    placed = quarter_kelly(beliefs, account, snapshot, rules)
    left = account.cash
    for bet in placed:
        base = left if rules.base == "running" else account.cash
        assert rules.min_bet <= bet.amount <= base * rules.max_bet // 10**6
        left -= bet.amount
    assert left >= 0
    if rules.cap == "decision":
        assert left >= account.cash * 3 // 4
    assert execute(placed, (), account, snapshot, rules)[1] == []
