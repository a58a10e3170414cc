"""The identities of money, after every step of made-up histories."""

import os
from dataclasses import replace
from datetime import timedelta

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from markets.millionths import ONE
from markets.model import Level, Listing, MarketId, Quote, Resolution, Snapshot
from portfolio.execute import execute
from portfolio.ledger import fold, open_account, post, settle
from portfolio.model import Bet, Entry, Holdings, LotKey, Sale, Side
from portfolio.rules import NAMED
from portfolio.value import mark
from tests.builders import NOW, a_market, usd

BANKROLL = usd(10_000)
MARKETS = [MarketId(f"sim:{number}") for number in range(3)]
MARKET = st.sampled_from(MARKETS)
SIDE: st.SearchStrategy[Side] = st.sampled_from(["YES", "NO"])
PAYOUT = st.none() | st.sampled_from([0, ONE, ONE // 2]) | st.integers(0, ONE)


class Play(RuleBasedStateMachine):
    """One entrant's life, with the ledger kept and folded from the start after every step."""

    def __init__(self) -> None:
        super().__init__()
        self.entries: list[Entry] = [open_account(BANKROLL, NOW)]
        self.listings = {market: listing(market, 50, 2) for market in MARKETS}
        self.resolutions: dict[MarketId, Resolution] = {}

    @property
    def account(self) -> Holdings:
        """What the whole ledger folds to."""
        return fold(self.entries)

    @property
    def snapshot(self) -> Snapshot:
        """The markets that are still open, and the others, which are only held."""
        ended = [x for market, x in self.listings.items() if market in self.resolutions]
        return Snapshot(NOW, tuple(x for x in self.listings.values() if x not in ended), tuple(ended))

    @rule(market=MARKET, cents=st.integers(8, 92), half=st.integers(1, 5))
    def price_moves(self, market: MarketId, cents: int, half: int) -> None:
        closed = self.listings[market].market.closes_at
        moved = listing(market, cents, half)
        self.listings[market] = replace(moved, market=replace(moved.market, closes_at=closed))

    @rule(
        name=st.sampled_from(sorted(NAMED)),
        bets=st.lists(st.builds(Bet, MARKET, SIDE, st.integers(0, usd(2_600))), max_size=4),
        sales=st.lists(st.builds(Sale, MARKET, SIDE, fraction=st.integers(1, ONE)), max_size=2),
    )
    def decides(self, name: str, bets: list[Bet], sales: list[Sale]) -> None:
        before = self.account
        rules = NAMED[name].model_copy(update={"min_bet": 0, "max_spread": ONE})
        fills, _ = execute(bets, sales, before, self.snapshot, rules)
        self.entries += post(fills, before, NOW, f"fill:{before.number}")
        bought = sum(fill.amount for fill in fills if fill.action == "buy")
        if rules.base == "start":
            assert bought <= max(before.cash, 0)

    @rule(market=MARKET, payout=PAYOUT)
    def ends(self, market: MarketId, payout: int | None) -> None:
        version = self.resolutions[market].version + 1 if market in self.resolutions else 1
        self.resolutions[market] = Resolution(market, version, NOW, payout)
        self.listings[market] = replace(
            self.listings[market], market=replace(self.listings[market].market, closes_at=NOW)
        )
        self.entries += settle(self.account, self.resolutions.values(), NOW)

    @precondition(lambda self: self.resolutions)
    @rule()
    def settles_again(self) -> None:
        assert settle(self.account, self.resolutions.values(), NOW + timedelta(days=1)) == []

    @invariant()
    def profit_is_realised_and_unrealised(self) -> None:
        account = self.account
        seen = mark(account, self.snapshot)
        assert seen.total - BANKROLL == seen.realised + (seen.value - seen.cost)

    @invariant()
    def cash_is_the_sum_of_its_changes_and_below_zero_only_by_a_correction(self) -> None:
        cash = 0
        for entry in self.entries:
            cash += entry.cash
            assert entry.balance == cash
            assert cash >= 0 or entry.kind == "reverse" or entry.cash >= 0
        assert self.account.cash == cash

    @invariant()
    def the_cost_that_went_into_a_lot_came_out_or_is_still_there(self) -> None:
        lots: dict[LotKey, int] = {}
        for entry in self.entries[1:]:
            key: LotKey = (MarketId(entry.market_id), "YES" if entry.side == "YES" else "NO")
            lots[key] = lots.get(key, 0) + entry.cost
        assert {key: lot.cost for key, lot in self.account.lots.items()} == {
            key: cost for key, cost in lots.items() if key in self.account.lots
        }
        assert all(cost == 0 for key, cost in lots.items() if key not in self.account.lots)

    @invariant()
    def corrections_end_where_the_last_version_alone_would_have(self) -> None:
        traded = [entry for entry in self.entries if entry.kind in ("deposit", "buy", "sell")]
        profit = dict.fromkeys(self.account.settled, 0)
        for entry in self.entries[1:]:
            key: LotKey = (MarketId(entry.market_id), "YES" if entry.side == "YES" else "NO")
            if key in profit and entry not in traded:
                profit[key] += entry.cash
        for (market, side), cash in profit.items():
            assert cash == self._direct(market, side, traded)

    def _direct(self, market: MarketId, side: Side, traded: list[Entry]) -> int:
        mine = [entry for entry in traded if (entry.market_id, entry.side) == (market, side)]
        shares, cost = sum(entry.shares for entry in mine), sum(entry.cost for entry in mine)
        payout = self.resolutions[market].payout
        if payout is None:
            return cost
        return shares * (payout if side == "YES" else ONE - payout) // ONE


def listing(market: MarketId, cents: int, half: int) -> Listing:
    """A market with a book of three levels a side around a price."""
    bids = tuple(Level((cents - half - down) * 10_000, usd(300)) for down in range(3))
    asks = tuple(Level((cents + half + up) * 10_000, usd(300)) for up in range(3))
    quote = Quote(market, NOW, bids[0].price, asks[0].price, cents * 10_000, bids=bids, asks=asks)
    return Listing(a_market(market, fee_rate=usd("0.05")), quote)


THOROUGH = os.environ.get("THOROUGH") == "1"
TestIdentities = Play.TestCase
TestIdentities.settings = settings(
    max_examples=200 if THOROUGH else 25, stateful_step_count=50 if THOROUGH else 20, deadline=None
)
