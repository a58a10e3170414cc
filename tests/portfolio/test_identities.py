"""The identities of money, after every step of made-up histories.

40 histories of 50 steps are played, 120 with THOROUGH=1; `HISTORIES=10000` in the environment plays as many
as it says.
"""

import os
from collections import Counter, defaultdict
from dataclasses import replace
from datetime import timedelta
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from markets.hashes import digest
from markets.millionths import ONE
from markets.model import Level, Listing, Market, MarketId, Quote, Resolution, Snapshot
from portfolio.execute import cap, execute
from portfolio.ledger import fold, open_account, post, settle
from portfolio.model import Bet, Entry, Fill, Holdings, Lot, LotKey, Sale, Side
from portfolio.rules import NAMED, SEED, Rules
from portfolio.value import mark
from tests.builders import NOW, a_market, usd

HISTORIES = int(os.environ.get("HISTORIES", "120" if os.environ.get("THOROUGH") == "1" else "40"))
BANKROLL = usd(10_000)
PAIR = 1_234_567
SIDES: tuple[Side, Side] = ("YES", "NO")
CHANGES: list[dict[str, Any]] = [
    {},
    {"fill": "mid"},
    {"fill": "quote"},
    {"fill": "book"},
    {"fill": "spread"},
    {"fee": "none"},
    {"fee": "venue"},
    {"min_bet": 0},
    {"cap": "decision"},
    {"base": "start"},
    {"base": "running"},
    {"merge": False},
    {"merge": True},
    {"extremes": True},
    {"worst_price": 0},
    {"max_spread": ONE, "max_gap": ONE},
    {"max_quote_age": 10**9},
]
RULES = [
    rules.model_copy(update=usual | change)
    for rules in NAMED.values()
    for usual in ({}, {"max_bet": ONE, "min_bet": usd(1)})
    for change in CHANGES
]
ALL_IN = SEED.model_copy(update={"max_bet": ONE, "min_bet": 0})

PART = st.integers(0, ONE)
SLOT = st.integers(0, 2)
SIDE: st.SearchStrategy[Side] = st.sampled_from(SIDES)
LIMIT = st.none() | st.integers(1, 100).map(lambda cents: cents * 10_000)
SPENDS = st.sampled_from([ONE // 10, ONE // 4, ONE // 2, ONE]) | PART
BETS = st.lists(st.tuples(SLOT, SIDE, SPENDS, LIMIT), min_size=1, max_size=4)
HOW_MUCH = st.sampled_from(["all", "fraction", "shares"])
SALES = st.lists(st.tuples(st.integers(0, 3), HOW_MUCH, PART, LIMIT), min_size=1, max_size=3)
PAYOUT = st.sampled_from([None, 0, ONE, ONE // 2]) | PART
QUOTES = ["book"] * 6 + ["price", "price", "one bid", "one ask", "blank", "nothing", "stale", "late"]
CHANGE = st.sampled_from(
    ["shown", "shown", "shown", "held", "gone", "closed", "another", "another", "another"]
)


class Play(RuleBasedStateMachine):
    """One entrant's life: a ledger as the engine keeps it, and beside it sums kept by hand."""

    def __init__(self) -> None:
        super().__init__()
        self.entries: list[Entry] = []
        self.account = Holdings()
        self.cash = self.realised = 0
        self.lots: dict[LotKey, tuple[int, int]] = {}
        self.traded: dict[LotKey, tuple[int, int]] = {}
        self.paid: dict[LotKey, int] = defaultdict(int)
        self.versions: set[tuple[LotKey, str]] = set()
        self.newest: dict[MarketId, Resolution] = {}
        self.known: list[Resolution] = []
        self.opened = 3
        self.slots = [MarketId(f"sim:{number}") for number in range(3)]
        self.listings = {market: listing(market, 50, 2, "book") for market in self.slots}
        self.gone: set[MarketId] = set()
        self.held: set[MarketId] = set()
        self.take([open_account(BANKROLL, NOW)])

    def take(self, entries: list[Entry]) -> None:
        """Add entries to the ledger, and to the sums kept by hand."""
        self.account = fold(entries, self.account)
        for entry in entries:
            assert entry.number == len(self.entries) + 1
            assert entry.previous == (self.entries[-1].hash if self.entries else "")
            self.entries.append(entry)
            was_owing = self.cash < 0
            self.cash = self.cash + entry.cash
            assert entry.balance == self.cash
            assert self.cash >= 0 or entry.kind == "reverse" or (was_owing and entry.cash >= 0)
            if entry.kind != "deposit":
                self.realised += entry.cash + entry.cost
                self.move(entry)

    def move(self, entry: Entry) -> None:
        """Add an entry to the lot that it is about."""
        key: LotKey = (MarketId(entry.market_id), "YES" if entry.side == "YES" else "NO")
        shares, cost = self.lots.get(key, (0, 0))
        assert entry.kind != "sell" or -entry.cost * shares >= cost * -entry.shares
        shares = shares + entry.shares
        cost = cost + entry.cost
        assert shares == entry.held >= 0
        assert cost >= 0 if shares else cost == 0
        self.lots[key] = shares, cost
        if entry.kind in ("buy", "sell"):
            self.traded[key] = shares, cost
            return
        self.paid[key] += entry.cash
        if entry.kind != "reverse":
            assert (key, entry.ref) not in self.versions
            self.versions.add((key, entry.ref))

    @property
    def snapshot(self) -> Snapshot:
        """Return a snapshot: some markets are on offer, some only held, some have vanished."""
        here = [x for market, x in self.listings.items() if market not in self.gone]
        shown = tuple(x for x in here if x.market.id not in self.held)
        return Snapshot(NOW, shown, tuple(x for x in here if x.market.id in self.held))

    @rule(slot=SLOT, cents=st.integers(0, 100), half=st.integers(0, 6), how=st.sampled_from(QUOTES))
    def price_moves(self, slot: int, cents: int, half: int, how: str) -> None:
        market = self.slots[slot]
        moved = listing(market, cents, half, how)
        self.listings[market] = replace(self.listings[market], quote=moved.quote)

    @rule(slot=SLOT, change=CHANGE)
    def market_changes(self, slot: int, change: str) -> None:
        market = self.slots[slot]
        if change == "closed":
            self.close(market)
        elif change == "another":
            self.open_another(slot)
        else:
            for place, name in ((self.gone, "gone"), (self.held, "held")):
                (place.add if name == change else place.discard)(market)

    def open_another(self, slot: int) -> None:
        """Replace a market by a new one; the old one is left alone, except for corrections."""
        self.slots[slot] = market = MarketId(f"sim:{self.opened}")
        self.listings[market] = listing(market, 50, 2, "book")
        self.opened += 1

    def close(self, market: MarketId) -> None:
        """Allow no more trading from now on."""
        closed = replace(self.listings[market].market, closes_at=NOW)
        self.listings[market] = replace(self.listings[market], market=closed)

    @rule(rules=st.sampled_from(RULES), bets=BETS)
    def buys(self, rules: Rules, bets: list[Any]) -> None:
        self.decide(rules, bets, [])

    @precondition(lambda self: self.account.lots)
    @rule(rules=st.sampled_from(RULES), sales=SALES)
    def sells(self, rules: Rules, sales: list[Any]) -> None:
        self.decide(rules, [], sales)

    @rule(rules=st.sampled_from(RULES), bets=BETS, sales=SALES)
    def buys_and_sells(self, rules: Rules, bets: list[Any], sales: list[Any]) -> None:
        self.decide(rules, bets, sales)

    def decide(self, rules: Rules, bets: list[Any], sales: list[Any]) -> None:
        """Decide once, and check that only what is posted changes anything, a refused order nothing."""
        wanted = [self.bet(*bet) for bet in bets]
        offered = [self.sale(*sale) for sale in sales]
        before = self.account
        seal = digest(self.account)
        snapshot = self.snapshot
        fills, refused = execute(wanted, offered, before, snapshot, rules)
        assert digest(before) == seal
        self.check_fills(fills, snapshot, rules)
        if fills and refused:
            assert without_the_refused(fills, wanted, offered, before, snapshot, rules) == fills
        self.take(post(fills, before, NOW, f"fill:{before.number}"))
        assert fills or (self.account.head == before.head and digest(self.account) == seal)

    def bet(self, slot: int, side: Side, part: int, limit: int | None) -> Bet:
        """Draw an order to spend a part of the cash, or of the bankroll of an account that owes."""
        cash = self.cash if self.cash >= 0 else BANKROLL
        return Bet(self.slots[slot], side, cash * part // ONE, limit)

    def sale(self, which: int, how: str, part: int, limit: int | None) -> Sale:
        """Draw an order to sell all of a lot, a fraction, or shares: up to a tenth more than are held."""
        lots = [*self.account.lots, (self.slots[0], SIDES[which % 2])]
        market, side = lots[which % len(lots)]
        held, _ = self.lots.get((market, side), (0, 0))
        if how == "shares":
            return Sale(market, side, shares=held * part * 11 // (10 * ONE), limit=limit)
        return Sale(market, side, fraction=part if how == "fraction" else None, limit=limit)

    def check_fills(self, fills: list[Fill], snapshot: Snapshot, rules: Rules) -> None:
        """Check that each fill was possible, and that the account can pay for all of them."""
        start = self.account.cash
        sold = sum(fill.amount for fill in fills if fill.action == "sell")
        bought = [fill for fill in fills if fill.action == "buy"]
        base = start + sold if rules.base == "running" else start
        assert base >= 0 or not bought
        assert sum(fill.amount for fill in bought) <= max(base, 0)
        assert rules.cap == "bet" or sum(fill.wanted for fill in bought) <= cap(base, rules)
        if rules.merge:
            assert len({fill.market_id for fill in bought}) == len(bought)
        shown = {x.market.id for x in snapshot.shown}
        by_id = {x.market.id: x for x in snapshot}
        for fill in fills:
            self.check_fill(fill, by_id[fill.market_id], rules)
            assert fill.action == "sell" or fill.market_id in shown

    def check_fill(self, fill: Fill, on: Listing, rules: Rules) -> None:
        """Check size, cap and price, an open market, and a quote that is neither too old nor too new."""
        assert on.quote is not None
        assert on.market.closes_at > NOW
        assert 0 <= (NOW - on.quote.at).total_seconds() <= rules.max_quote_age
        assert fill.shares == sum(level.shares for level in fill.levels) > 0
        assert fill.amount == sum(level.amount for level in fill.levels) >= 0
        self.check_prices(fill, on.quote, on.market, rules)
        for level in fill.levels:
            exact = level.shares * level.price
            fee = fill.fee_rate * exact * (ONE - level.price)
            with_fee = exact * ONE**2 + (fee if fill.action == "buy" else -fee)
            assert (level.amount * ONE**3 - with_fee) * (1 if fill.action == "buy" else -1) >= 0
        if fill.action == "sell":
            assert fill.shares <= fill.wanted <= self.lots[fill.market_id, fill.side][0]
        else:
            assert fill.amount <= fill.wanted
            assert rules.cap == "decision" or rules.min_bet <= fill.wanted <= cap(fill.base, rules)
        assert (fill.left == "") == (fill.wanted == (fill.amount if fill.action == "buy" else fill.shares))

    def check_prices(self, fill: Fill, quote: Quote, market: Market, rules: Rules) -> None:
        """Check that prices of YES are the quote's for such an order, and a book's within its depth."""
        asks = (fill.action == "buy") == (fill.side == "YES")
        half = max(market.tick, 10_000) * (1 if asks else -1)
        single = {"mid": quote.mid, "quote": quote.ask if asks else quote.bid}
        single["spread"] = None if quote.mid is None else quote.mid + half
        depth = Counter[int]()
        for level in quote.asks if asks else quote.bids:
            depth[level.price] += level.shares
        for part in fill.levels:
            price = part.price if fill.side == "YES" else ONE - part.price
            if rules.fill == "book":
                assert part.shares <= depth[price]
            else:
                assert price == single[rules.fill]

    @rule(slot=SLOT, payout=PAYOUT, skips=st.integers(1, 3), stays=st.booleans())
    def market_ends(self, slot: int, payout: int | None, skips: int, stays: bool) -> None:
        self.resolve(self.slots[slot], payout, skips)
        if not stays:
            self.open_another(slot)

    @precondition(lambda self: self.newest)
    @rule(which=st.integers(0, 20), payout=PAYOUT, skips=st.integers(1, 3))
    def venue_corrects(self, which: int, payout: int | None, skips: int) -> None:
        ended = list(self.newest)
        self.resolve(ended[which % len(ended)], payout, skips)

    @precondition(lambda self: self.cash > BANKROLL)
    @rule(side=SIDE)
    def a_win_is_spent_before_it_is_taken_back(self, side: Side) -> None:
        self.open_another(0)
        self.open_another(1)
        won, lost = (ONE, 0) if side == "YES" else (0, ONE)
        self.decide(ALL_IN, [(0, side, ONE, None)], [])
        self.resolve(self.slots[0], won, 1)
        self.decide(ALL_IN, [(1, side, ONE, None)], [])
        self.resolve(self.slots[0], lost, 1)
        assert self.cash < 0

    def resolve(self, market: MarketId, payout: int | None, skips: int) -> None:
        """Add a resolution, some versions after the last one, and settle by all that are known."""
        version = self.newest[market].version + skips if market in self.newest else skips
        latest = self.newest[market] = Resolution(market, version, NOW, payout)
        self.known.append(latest)
        self.close(market)
        self.take(settle(self.account, reversed(self.known), NOW))
        assert all(key[0] != market for key in self.account.lots)
        again = [replace(latest, version=older, payout=ONE) for older in range(1, version + 1)]
        unborn = replace(latest, version=version + 1, known_at=NOW + timedelta(seconds=1))
        assert settle(self.account, [*again, unborn, *self.known], NOW) == []

    @invariant()
    def the_account_is_the_sums_kept_by_hand(self) -> None:
        assert (self.account.cash, self.account.realised) == (self.cash, self.realised)
        assert self.account.lots == {key: Lot(*lot) for key, lot in self.lots.items() if lot[0]}

    @invariant()
    def profit_is_realised_and_unrealised(self) -> None:
        seen = mark(self.account, self.snapshot)
        assert seen.cost == sum(cost for _, cost in self.lots.values())
        assert seen.total - BANKROLL == seen.realised + (seen.value - seen.cost)

    @invariant()
    def a_yes_and_a_no_share_are_worth_a_dollar(self) -> None:
        snapshot = self.snapshot
        for market in self.slots:
            quote = self.listings[market].quote
            if market not in self.gone and quote is not None and quote.mid is not None:
                assert PAIR - 1 <= mark(a_pair(market), snapshot).value <= PAIR
        for resolution in self.known[-1:]:
            paid = sum(entry.cash for entry in settle(a_pair(resolution.market_id), [resolution], NOW))
            assert resolution.payout is None or PAIR - 1 <= paid <= PAIR

    @invariant()
    def corrections_end_where_the_last_version_alone_would_have(self) -> None:
        for (market, side), cash in self.paid.items():
            shares, cost = self.traded[market, side]
            payout = self.newest[market].payout
            yes_or_no = 0 if payout is None else payout if side == "YES" else ONE - payout
            assert cash == (cost if payout is None else shares * yes_or_no // ONE)

    def teardown(self) -> None:
        """Check that the whole ledger, read from its first entry, agrees, with its chain of hashes."""
        assert fold(self.entries) == self.account


def without_the_refused(
    fills: list[Fill],
    bets: list[Bet],
    sales: list[Sale],
    account: Holdings,
    snapshot: Snapshot,
    rules: Rules,
) -> list[Fill]:
    """Return the decision's result without orders for lots in which nothing was filled."""
    lots = {(fill.action, fill.market_id, fill.side) for fill in fills}
    bets = [bet for bet in bets if ("buy", bet.market_id, bet.side) in lots]
    sales = [sale for sale in sales if ("sell", sale.market_id, sale.side) in lots]
    again, _ = execute(bets, sales, account, snapshot, rules)
    return again


def a_pair(market: MarketId) -> Holdings:
    """Return as many NO as YES shares of a market."""
    return Holdings(lots={(market, side): Lot(PAIR, 0) for side in SIDES})


def listing(market: MarketId, cents: int, half: int, how: str) -> Listing:
    """Draw a market's quote: a book of three levels a side, less than that, or one of another time."""
    bids = tuple(Level((cents - half - down) * 10_000, usd(300)) for down in range(3))
    asks = tuple(Level((cents + half + up) * 10_000, usd(300)) for up in range(3))
    at = {"stale": NOW - timedelta(minutes=16), "late": NOW + timedelta(seconds=1)}.get(how, NOW)
    quote = Quote(market, at, bids[0].price, asks[0].price, cents * 10_000, bids=bids, asks=asks)
    if how == "one bid":
        quote = replace(quote, ask=None, asks=())
    elif how == "one ask":
        quote = replace(quote, bid=None, mid=None, last=cents * 10_000, bids=())
    elif how in ("price", "blank"):
        mid = quote.mid if how == "price" else None
        quote = replace(quote, bid=None, ask=None, mid=mid, bids=(), asks=())
    return Listing(a_market(market, fee_rate=usd("0.05")), None if how == "nothing" else quote)


TestIdentities = Play.TestCase
TestIdentities.settings = settings(
    max_examples=HISTORIES,
    stateful_step_count=50,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
