"""Quarter-Kelly stakes, worked by hand."""

from hypothesis import given
from hypothesis import strategies as st

from agents.sizing import quarter_kelly
from markets.model import MarketId
from portfolio.model import Bet
from portfolio.rules import REALISTIC, REFERENCE, REPLAY, SEED, Rules
from tests.agents.minds import THREE, a_lot, a_view
from tests.builders import a_listing, a_price, usd

A = MarketId("sim:a")


def stakes(belief: str, *, rules: Rules = REALISTIC, bid: str = "0.40", ask: str = "0.42") -> list[Bet]:
    view = a_view(a_listing(bid, ask, market=A), rules=rules)
    return [Bet(b.market_id, b.side, b.amount) for b in quarter_kelly({A: usd(belief)}, view)]


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


def test_a_mid_rule_pays_the_mid_and_a_spread_rule_a_cent_more() -> None:
    assert stakes("0.60", rules=SEED) == [Bet(A, "YES", usd(2500) * 19 // 59)]
    view = a_view(a_price("0.41", A), rules=REPLAY)
    assert [bet.amount for bet in quarter_kelly({A: usd("0.60")}, view)] == [usd(2500) * 18 // 58]


def test_the_best_edge_goes_first_while_the_cash_lasts() -> None:
    view = a_view(*(a_listing("0.02", "0.03", market=market) for market in THREE), cash="1000")
    beliefs = {MarketId(m): usd(p) for m, p in zip(THREE, ("0.97", "0.99", "0.98"), strict=True)}
    bets = quarter_kelly(beliefs, view)
    assert [bet.market_id for bet in bets] == ["sim:b", "sim:c", "sim:a"]
    assert sum(bet.amount for bet in bets) <= usd(1000)


def test_what_is_held_or_not_quoted_is_left_alone() -> None:
    view = a_view(a_listing(market=A), a_listing(None, None, market="sim:b"), lots={(A, "NO"): a_lot()})
    assert quarter_kelly({A: usd("0.9"), MarketId("sim:b"): usd("0.9")}, view) == ()


@given(
    st.lists(st.tuples(st.integers(0, 10**6), st.integers(1, 90), st.integers(1, 9)), min_size=1, max_size=8),
    st.integers(0, 20_000),
    st.sampled_from([REALISTIC, REPLAY, SEED, REFERENCE]),
)
def test_every_stake_is_within_the_rules(
    markets: list[tuple[int, int, int]], cash: int, rules: Rules
) -> None:
    listings = [
        a_listing(f"0.{bid:02}", f"0.{bid + gap:02}", market=f"sim:{n}")
        for n, (_, bid, gap) in enumerate(markets)
    ]
    beliefs = {listing.market.id: p for listing, (p, _, _) in zip(listings, markets, strict=True)}
    view = a_view(*listings, cash=str(cash), rules=rules)
    left = view.holdings.cash
    for bet in quarter_kelly(beliefs, view):
        base = left if rules.base == "running" else view.holdings.cash
        assert rules.min_bet <= bet.amount <= base * rules.max_bet // 10**6
        left -= bet.amount
    assert left >= 0
    if rules.cap == "decision":
        assert left >= view.holdings.cash * 3 // 4
