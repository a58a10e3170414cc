"""What must make no difference: how a bet is split, the order of markets."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from markets.millionths import ONE
from markets.model import Level, Listing, MarketId, Quote, Snapshot
from portfolio.execute import execute
from portfolio.model import Bet, Lot, LotKey, Sale, Side
from portfolio.money import affordable
from portfolio.rules import NAMED, REALISTIC, Rules
from tests.builders import NOW, RAIN, a_market, an_account, usd

SIDES: tuple[Side, Side] = ("YES", "NO")
FILLS = ("mid", "quote", "book", "spread")
FREE = {"min_bet": 0, "max_bet": ONE}
RICH = an_account(10**6)
IDS = [MarketId(f"sim:{number}") for number in range(3)]

SIDE: st.SearchStrategy[Side] = st.sampled_from(SIDES)
LEVELS = st.lists(st.tuples(st.integers(0, 9), st.integers(1, 10**9)), min_size=1, max_size=8)
BOOK = st.tuples(
    st.integers(15, 80), st.integers(0, 9), LEVELS, LEVELS, st.sampled_from([0, 20_000, 250_000])
)
PARTS = st.lists(st.integers(1, usd(500)), min_size=2, max_size=5)
LIMIT = st.none() | st.integers(1, 99).map(lambda cents: cents * 10_000)
BET = st.tuples(st.sampled_from(IDS), SIDE, st.integers(-1, usd(2_600)), LIMIT).map(lambda bet: Bet(*bet))
FRACTION = st.none() | st.integers(1, ONE)
SALE = st.tuples(st.sampled_from(IDS), SIDE, st.none(), FRACTION, LIMIT).map(lambda sale: Sale(*sale))


def listed(
    book: tuple[int, int, list[tuple[int, int]], list[tuple[int, int]], int], market_id: str = RAIN
) -> Listing:
    """Return a market with a book whose asks begin some cents above its bids."""
    bid, gap, below, above, rate = book
    bids = tuple(Level((bid - down) * 10_000, shares) for down, shares in [(0, 10**6), *below])
    asks = tuple(Level((bid + gap + up) * 10_000, shares) for up, shares in [(0, 10**6), *above])
    best = bids[0].price
    ask = asks[0].price
    quote = Quote(MarketId(market_id), NOW, best, ask, (best + ask) // 2, bids=bids, asks=asks)
    return Listing(a_market(market_id, fee_rate=rate), quote)


@pytest.mark.parametrize("merge", [True, False])
@pytest.mark.parametrize("fill", FILLS)
@given(book=BOOK, parts=PARTS, side=SIDE, limit=LIMIT)
def test_bets_in_parts_never_fill_better_than_one_of_their_sum(
    fill: str,
    merge: bool,
    book: tuple[int, int, list[tuple[int, int]], list[tuple[int, int]], int],
    parts: list[int],
    side: Side,
    limit: int | None,
) -> None:
    rules = REALISTIC.model_copy(update=FREE | {"fill": fill, "merge": merge})
    snapshot = Snapshot(NOW, (listed(book),))
    whole, refused = execute([Bet(RAIN, side, sum(parts), limit)], [], RICH, snapshot, rules)
    split, _ = execute([Bet(RAIN, side, part, limit) for part in parts], [], RICH, snapshot, rules)
    if merge:
        assert split == whole
        return
    shares, paid = (sum(getattr(fill, name) for fill in split) for name in ("shares", "amount"))
    if not whole:
        assert (shares, paid) == (0, 0), refused
        return
    assert shares <= whole[0].shares
    if paid:  # a part too small to buy anything is refused and not paid, so the sum of the others counts
        (same,), _ = execute([Bet(RAIN, side, paid, limit)], [], RICH, snapshot, rules)
        assert shares <= same.shares


def test_two_bets_buy_no_more_shares_than_one_of_their_sum() -> None:
    one, other, price, rate = 84_984, 81_848, 26_176, 250_000
    assert affordable(one, price, rate) + affordable(other, price, rate) <= affordable(
        one + other, price, rate
    )


@given(
    rules=st.sampled_from(list(NAMED.values())),
    books=st.lists(BOOK, min_size=3, max_size=3),
    bets=st.lists(BET, max_size=4),
    sales=st.lists(SALE, max_size=3),
    order=st.permutations(range(3)),
)
def test_the_order_of_markets_in_a_snapshot_makes_no_difference(
    rules: Rules,
    books: list[tuple[int, int, list[tuple[int, int]], list[tuple[int, int]], int]],
    bets: list[Bet],
    sales: list[Sale],
    order: list[int],
) -> None:
    held: tuple[LotKey, ...] = (IDS[0], "YES"), (IDS[1], "NO")
    account = replace(an_account(), lots={key: Lot(usd(1_000), usd(500)) for key in held})
    snapshot = Snapshot(
        NOW, tuple(listed(book, market_id) for book, market_id in zip(books, IDS, strict=True))
    )
    turned = replace(snapshot, shown=tuple(snapshot.shown[place] for place in order))
    assert execute(bets, sales, account, turned, rules) == execute(bets, sales, account, snapshot, rules)
