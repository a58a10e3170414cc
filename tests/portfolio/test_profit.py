"""Profit by lot and in all, against figures worked by hand, the ledger's fold, and the mark."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from markets.millionths import ONE
from markets.model import MarketId
from portfolio.execute import execute
from portfolio.ledger import fold, open_account, post, settle
from portfolio.model import Bet, Entry, Holdings, LotKey, Sale, Side
from portfolio.money import worth
from portfolio.rules import SEED
from portfolio.value import LotProfit, Profit, average_price, mark, profit_by_lot
from tests.builders import NOW, RAIN, a_bet, a_resolution, a_sale, both_at, usd

SUN = MarketId("sim:sun")
YES: LotKey = (RAIN, "YES")
NO: LotKey = (RAIN, "NO")
BANKROLL = usd(10_000)


@dataclass
class Life:
    """An account under the seed's rules, and its whole ledger."""

    entries: list[Entry] = field(default_factory=lambda: [open_account(BANKROLL, NOW)])

    @property
    def held(self) -> Holdings:
        return fold(self.entries)

    def then(self, *wishes: Bet | Sale, price: str = "0.40") -> "Life":
        bets = [wish for wish in wishes if isinstance(wish, Bet)]
        sales = [wish for wish in wishes if isinstance(wish, Sale)]
        fills, _ = execute(bets, sales, self.held, both_at(price), SEED)
        self.entries += post(fills, self.held, NOW, f"fill:{len(self.entries)}")
        return self

    def ended(self, payout: str | None, version: int = 1, market: str = RAIN) -> "Life":
        self.entries += settle(self.held, [a_resolution(payout, market, version)], NOW)
        return self

    def profit(self, price: str = "0.40") -> dict[LotKey, LotProfit]:
        """Return profit by lot at this worth of a YES share."""
        return profit_by_lot(self.entries, values(self.held, price))


def values(held: Holdings, price: str) -> dict[LotKey, int]:
    own = {"YES": usd(price), "NO": ONE - usd(price)}
    return {key: worth(lot.shares, own[key[1]]) for key, lot in held.lots.items()}


def money(lots: Mapping[LotKey, LotProfit], key: LotKey = YES) -> Profit:
    return lots[key].money


def test_a_sale_of_a_part_realises_its_part_and_leaves_the_average_as_it_was() -> None:
    life = Life().then(a_bet(600), price="0.60").then(a_sale(fraction="0.4"), price="0.75")
    lot = life.profit("0.50")[YES]
    assert (lot.bought, lot.sold, lot.settled, lot.shares) == (usd(1_000), usd(400), 0, usd(600))
    assert lot.average_cost == usd("0.60")
    assert lot.money == Profit(
        paid=usd(600),
        received=usd(300),
        released=usd(240),
        realised=usd(60),
        cost=usd(360),
        value=usd(300),
    )
    assert (lot.money.unrealised, lot.money.total) == (-usd(60), 0)


def test_a_lot_that_was_closed_and_opened_again_is_one_life() -> None:
    life = Life().then(a_bet(500)).then(a_sale(), price="0.80").then(a_bet(400), price="0.80")
    lot = life.profit("0.80")[YES]
    assert (lot.bought, lot.sold, lot.shares, lot.average_cost) == (
        usd(1_750),
        usd(1_250),
        usd(500),
        usd("0.80"),
    )
    assert (lot.money.realised, lot.money.unrealised) == (usd(500), 0)


@pytest.mark.parametrize(
    ("payout", "received", "realised"), [("1", 1_250, 750), ("0", 0, -500), ("0.5", 625, 125), (None, 500, 0)]
)
def test_a_settlement_realises_what_it_pays_less_the_cost(
    payout: str | None, received: int, realised: int
) -> None:
    lot = Life().then(a_bet(500)).ended(payout).profit()[YES]
    assert (lot.settled, lot.shares, lot.average_cost) == (usd(1_250), 0, None)
    assert (lot.money.received, lot.money.realised) == (usd(received), usd(realised))
    assert (lot.money.released, lot.money.cost, lot.money.value) == (usd(500), 0, 0)


def test_a_correction_leaves_what_the_last_version_alone_would_have() -> None:
    life = Life().then(a_bet(500)).ended("1").ended(None, version=2).ended("0", version=3)
    assert life.profit() == Life().then(a_bet(500)).ended("0").profit()


def test_a_lot_that_is_held_must_have_a_value() -> None:
    with pytest.raises(KeyError, match=RAIN):
        profit_by_lot(Life().then(a_bet(500)).entries, {})


@given(st.integers(0, 10**14), st.integers(1, 10**14))
def test_an_average_is_never_more_than_half_a_millionth_off(cost: int, shares: int) -> None:
    found = average_price(cost, shares)
    assert found is not None
    assert abs(found - Fraction(cost * ONE, shares)) <= Fraction(1, 2)


SIDE: st.SearchStrategy[Side] = st.sampled_from(["YES", "NO"])
MARKET = st.sampled_from([RAIN, SUN])
PRICE = st.integers(1, 99).map(lambda cents: f"0.{cents:02}")
BETS = st.builds(Bet, MARKET, SIDE, st.integers(usd(50), usd(600)))
SALES = st.builds(Sale, MARKET, SIDE, fraction=st.integers(1, ONE))
ENDS = st.tuples(MARKET, st.sampled_from([None, "0", "1", "0.5", "0.333333"]))
STEPS = st.lists(st.tuples(st.lists(BETS, max_size=2), st.lists(SALES, max_size=1), PRICE), max_size=8)


@given(steps=STEPS, ends=st.lists(ENDS, max_size=4), price=PRICE)
def test_the_lots_add_up_to_the_account_to_the_last_millionth(
    steps: list[tuple[list[Bet], list[Sale], str]], ends: list[tuple[MarketId, str | None]], price: str
) -> None:
    life = Life()
    for bets, sales, at in steps:
        life.then(*bets, *sales, price=at)
    for version, (market, payout) in enumerate(ends, 1):
        life.ended(payout, version, market)
    held = life.held
    seen = mark(life.held, both_at(price))
    lots = life.profit(price)
    whole = sum((lot.money for lot in lots.values()), Profit())
    assert (whole.realised, whole.cost, whole.value) == (held.realised, seen.cost, seen.value)
    assert whole.total == seen.total - BANKROLL
    assert whole.paid == -sum(entry.cash for entry in life.entries if entry.kind == "buy")
    assert whole.received == held.cash - BANKROLL + whole.paid
    assert whole.released == whole.paid - whole.cost
    for key, lot in lots.items():
        assert lot.money.paid == lot.money.released + lot.money.cost
        assert lot.money.realised == lot.money.received - lot.money.released
        assert lot.bought == lot.sold + lot.settled + lot.shares
        assert (lot.shares > 0) == (key in held.lots)
