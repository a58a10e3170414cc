"""Marks of many accounts at once are those of the loop, to the last millionth and at any size."""

from dataclasses import astuple
from datetime import timedelta
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from markets.millionths import ONE
from markets.model import Listing, MarketId, Quote, Snapshot
from portfolio.marks import mark_all
from portfolio.model import Holdings, Lot, LotKey, Mark
from portfolio.value import mark
from tests.builders import NOW, a_listing, a_market, a_price, a_snapshot, usd

MARKETS = [MarketId(f"sim:{number}") for number in range(5)]
KEYS: list[LotKey] = [(market, side) for market in MARKETS for side in ("YES", "NO")]
MOST = 2**63 - 1
SAFE = 2**62
Seen = tuple[int | None, int | None, int | None, int | None]

SIZES = st.one_of(
    st.integers(0, 10**7),
    st.integers(0, 10**13),
    st.integers(0, MOST),
    st.integers(MOST - 10**7, MOST + 10**7),
    st.just(2**80 + 1),
)
PRICES = st.one_of(st.none(), st.integers(0, ONE), st.sampled_from([0, 1, ONE - 1, ONE]))
NO_PRICES = st.integers(-(10**7), 10**7)
LATER = st.timedeltas(timedelta(minutes=-1), timedelta(days=400))


def accounts_of(sizes: st.SearchStrategy[int]) -> st.SearchStrategy[dict[str, Holdings]]:
    """Draw up to four accounts, each with lots of some of ten sides; some hold nothing."""
    lots = st.dictionaries(st.sampled_from(KEYS), st.builds(Lot, sizes, sizes))
    held = st.builds(Holdings, st.integers(-MOST, MOST), st.integers(-MOST, MOST), lots)
    return st.dictionaries(st.text("abc", min_size=1, max_size=2), held, max_size=4)


def snapshots(prices: st.SearchStrategy[int | None]) -> st.SearchStrategy[Snapshot]:
    """Draw markets with whole, one-sided, old and missing quotes; some are listed twice, some never."""

    def listing(market: MarketId, past: timedelta, seen: Seen, quoted: bool) -> Listing:
        return Listing(a_market(market), Quote(market, NOW - past, *seen) if quoted else None)

    seen = st.tuples(prices, prices, prices, prices)
    listings = st.builds(listing, st.sampled_from(MARKETS), LATER, seen, st.booleans())
    many = st.lists(listings, max_size=6).map(tuple)
    return st.builds(Snapshot, st.just(NOW), many, many)


def by_loop(
    accounts: dict[str, Holdings], snapshot: Snapshot, max_age: timedelta | None = None
) -> dict[str, Mark]:
    return {name: mark(account, snapshot, max_age) for name, account in accounts.items()}


def an_account(*sizes: tuple[int, int]) -> Holdings:
    """Return lots of YES of one market after another: their shares and costs, in millionths."""
    return Holdings(lots={(market, "YES"): Lot(*size) for market, size in zip(MARKETS, sizes, strict=False)})


@given(accounts_of(SIZES), snapshots(PRICES), st.none() | st.timedeltas(timedelta(), timedelta(days=30)))
def test_all_at_once_is_as_one_by_one(
    accounts: dict[str, Holdings], snapshot: Snapshot, max_age: timedelta | None
) -> None:
    seen = mark_all(accounts, snapshot, max_age)
    assert seen == by_loop(accounts, snapshot, max_age)
    assert list(seen) == list(accounts)
    assert all(type(figure) is int for each in seen.values() for figure in astuple(each)[1:])


@given(accounts_of(SIZES), snapshots(st.none() | NO_PRICES))
def test_prices_that_no_share_has_are_counted_as_the_loop_counts_them(
    accounts: dict[str, Holdings], snapshot: Snapshot
) -> None:
    assert mark_all(accounts, snapshot) == by_loop(accounts, snapshot)


@given(accounts_of(st.integers(-MOST, MOST)), snapshots(PRICES))
def test_owed_shares_are_counted_as_the_loop_counts_them(
    accounts: dict[str, Holdings], snapshot: Snapshot
) -> None:
    assert mark_all(accounts, snapshot) == by_loop(accounts, snapshot)


def test_many_lots_are_added_up_account_by_account() -> None:
    random = Random("many lots")
    markets = [f"sim:{number}" for number in range(300)]
    shown = [
        a_listing(f"0.{random.randrange(10, 99)}", "0.99", market=market, at=NOW - 6 * timedelta(seconds=at))
        for at, market in enumerate(markets[:200])
    ]

    def lots(count: int) -> Holdings:
        keys: list[LotKey] = [(MarketId(market), side) for market in markets for side in ("YES", "NO")]
        sizes = ((random.randrange(10**10), random.randrange(10**9)) for _ in range(count))
        return Holdings(lots={key: Lot(*size) for key, size in zip(keys, sizes, strict=False)})

    accounts = {"few": lots(7), "many": lots(600), "none": Holdings(), "rest": lots(99)}
    snapshot = a_snapshot(*shown)
    assert mark_all(accounts, snapshot, timedelta(minutes=15)) == by_loop(
        accounts, snapshot, timedelta(minutes=15)
    )


def test_sums_near_64_bits_are_those_of_the_loop() -> None:
    """Neither negative nor cut off, of one lot or several, of one account or of many together."""
    everywhere = a_snapshot(a_price("1", "sim:0"), a_price("1", "sim:1"))
    near = a_price("0.999999", "sim:0")
    bid = a_listing("0.99", "1", market="sim:0")
    odd = a_price("10", "sim:0"), a_price("-10", "sim:0"), a_price("0")
    edges = [[], [(MOST // ONE // 4, 0)], [(MOST // ONE + 1, 0)], [(SAFE - 2, 1)], [(SAFE - 1, 1)]]
    for sizes in (*edges, [(MOST, 0), (MOST, 0)], [(0, MOST), (0, MOST)]):
        accounts = {name: an_account(*sizes) for name in "abc"}
        for snapshot in (everywhere, *map(a_snapshot, (near, bid, *odd))):
            assert mark_all(accounts, snapshot) == by_loop(accounts, snapshot)


def test_who_holds_nothing_is_worth_its_cash() -> None:
    rich = Holdings(cash=usd(500), realised=usd(20))
    assert mark_all({"rich": rich}, a_snapshot()) == {"rich": Mark(NOW, usd(500), 0, 0, 0, usd(20), 0, 0)}
    assert mark_all({}, a_snapshot()) == {}
