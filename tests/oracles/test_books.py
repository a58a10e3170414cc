"""Two real books and 150 made-up ones, 500 with THOROUGH=1: the engine beside the slow walk in fractions.

How far apart the two may be, in millionths. The engine rounds a level's price up (by less than 1)
and its fee up (by less than 1); where the money ends inside a level, the shares are rounded down,
with a fee worked out for a little more than is bought: less than 3 in all (1 + p + rate). So:

- a purchase pays for each level what it is worth, or up to 3 more, never less;
- a sale receives for each level what it is worth, or up to 2 less, never more;
- what a purchase of n levels lost this way, at most 3 a level and 3 where a crumb was left over,
  would have bought 3 (n + 1) / p more shares at the last price p, and no price after it is lower.
"""

import json
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from itertools import product
from pathlib import Path
from random import Random

import pytest

from markets.hashes import quote_hash
from markets.millionths import ONE, millionths
from markets.model import Level, Listing, Quote, Snapshot
from portfolio.execute import execute
from portfolio.matching import OrderMatch
from portfolio.model import Action, Bet, Fill, FillLevel, Holdings, Lot, Rejection, Sale, Side
from portfolio.money import dollars
from portfolio.rules import REALISTIC
from tests.builders import NOW, RAIN, a_market, match_listing, usd
from tests.oracles.books import Book, Walk, buy, faults, refusal, sell

RULES = REALISTIC.model_copy(update={"min_bet": 0, "max_bet": ONE})
RICH = usd(100_000)
SPENT = (usd(1), usd(50), usd(500), usd(2_500), usd(25_000))
SOLD = (usd(1), usd(10), usd(1_000))
WISHES: list[tuple[Action, int]] = [*(("buy", x) for x in SPENT), *(("sell", x) for x in SOLD)]
SIDES: tuple[Side, Side] = ("YES", "NO")
WIRE = ("polymarket_book.json", "polymarket-book.json")
BATCHES = 20
BOOKS = 500
SAMPLED = 6
"""Batches that are always walked."""


def exact(value: int) -> Fraction:
    """Return the number behind this many millionths."""
    return Fraction(value, ONE)


def as_listing(book: Book, market_id: str = RAIN) -> Listing:
    """Return a book of the oracle as the engine knows it."""
    bids, asks = (tuple(Level(_whole(p), _whole(s)) for p, s in side) for side in (book.bids, book.asks))
    bid = max((x.price for x in bids), default=None)
    ask = min((x.price for x in asks), default=None)
    mid = None if book.mid is None else _whole(book.mid)
    quote = Quote(RAIN, NOW, bid, ask, mid, bids=bids, asks=asks)
    return Listing(a_market(market_id, fee_rate=_whole(book.rate), min_shares=_whole(book.least)), quote)


def _whole(value: Fraction) -> int:
    assert (value * ONE).denominator == 1, f"{value} is not a number of millionths"
    return int(value * ONE)


def tries(random: Random, book: Book) -> Iterator[tuple[Action, Side, int, int | None]]:
    """Yield every size on every side, without a limit and with one near the best price."""
    for side, (action, size) in product(SIDES, WISHES):
        yield action, side, size, None
        best = _best(book, action, side)
        step = random.choice((-40_000, -10_000, -1_000, 0, 1, 1_000, 10_000, 20_000, 29_999, 60_000))
        yield action, side, size, min(max(best + (step if action == "buy" else -step), 1), ONE)


def _best(book: Book, action: Action, side: Side) -> int:
    """Return the best price, or the middle if there is none."""
    if action == "buy":
        prices = [p for p, _ in book.asks] if side == "YES" else [1 - p for p, _ in book.bids]
        return _whole(min(prices, default=Fraction(1, 2)))
    prices = [p for p, _ in book.bids] if side == "YES" else [1 - p for p, _ in book.asks]
    return _whole(max(prices, default=Fraction(1, 2)))


def check(book: Book, listing: Listing, action: Action, side: Side, size: int, limit: int | None) -> str:
    """Compare one walk with the oracle's; the name of what came of it."""
    shown = Snapshot(NOW, (listing,))
    account = Holdings(RICH, lots={(RAIN, side): Lot(size, size)})
    bets = [Bet(RAIN, side, size, limit)] if action == "buy" else []
    sales = [Sale(RAIN, side, size, limit=limit)] if action == "sell" else []
    fills, refused = execute(bets, sales, account, shown, RULES)
    assert len(fills) + len(refused) == 1
    ours = match_listing(action, size, side, listing, RULES, limit)
    through = fills[0] if fills else refused[0]
    wrong = faults(book)
    if wrong:
        assert isinstance(ours, Rejection), (wrong, ours)
        assert ours.code in wrong, (wrong, ours)
        assert through == ours
        return ours.code
    bound = None if limit is None else exact(limit)
    walked = (buy if action == "buy" else sell)(book, side, exact(size), bound)
    if isinstance(ours, Rejection):
        assert ours.code == refusal(book, walked), (ours, walked)
        assert through == ours
        return ours.code
    assert refusal(book, walked) is None, (ours, walked)
    assert isinstance(through, Fill), through
    assert listing.quote is not None
    assert (through.shares, through.amount, through.fee) == (ours.shares, ours.amount, ours.fee)
    assert (through.levels, through.left, through.wanted) == (ours.levels, ours.left, size)
    assert (through.quote_hash, through.quote_at) == (quote_hash(listing.quote), listing.quote.at)
    assert through.fee_rate == listing.market.fee_rate
    (check_bought if action == "buy" else check_sold)(book, ours, walked, size)
    check_words(ours, walked, size - (ours.amount if action == "buy" else ours.shares))
    return "filled" if not ours.left else "partly"


def check_sums(ours: OrderMatch) -> list[FillLevel]:
    """Check that the levels add up to the fill, and return them with those of one price merged."""
    assert ours.shares == sum(level.shares for level in ours.levels)
    assert ours.amount == sum(level.amount for level in ours.levels)
    assert ours.fee == sum(level.fee for level in ours.levels)
    whole: dict[int, FillLevel] = {}
    for x in ours.levels:
        y = whole.get(x.price, FillLevel(x.price, 0, 0, 0))
        whole[x.price] = FillLevel(x.price, x.shares + y.shares, x.amount + y.amount, x.fee + y.fee)
    return list(whole.values())


def check_bought(book: Book, ours: OrderMatch, walked: Walk, size: int) -> None:
    """Check that at most the wanted sum is paid, nothing below its price, no share lost but to rounding."""
    levels = check_sums(ours)
    each = 3 * len(ours.levels)
    lost = (each + 3) / exact(levels[-1].price)
    check_prices(levels, walked, lost)
    for level in levels:
        worth = level.shares * _with_fee(book, exact(level.price), 1)
        assert 0 <= level.amount - worth < each
        assert 0 <= level.fee - _fee(book, level) < len(ours.levels)
    assert 0 <= walked.shares * ONE - ours.shares <= lost
    assert ours.amount <= size
    assert walked.cash * ONE - 3 <= ours.amount < walked.cash * ONE + each


def check_sold(book: Book, ours: OrderMatch, walked: Walk, size: int) -> None:
    """Check for the same shares to the millionth, and each level's worth or a little less."""
    levels = check_sums(ours)
    check_prices(levels, walked, Fraction(0))
    assert ours.shares == walked.shares * ONE <= size
    for level in levels:
        worth = level.shares * _with_fee(book, exact(level.price), -1)
        assert 0 <= worth - level.amount < 2 * len(ours.levels)
        assert 0 <= level.fee - _fee(book, level) < len(ours.levels) or level.amount == 0
    assert 0 <= walked.cash * ONE - ours.amount < 2 * len(ours.levels)


def _with_fee(book: Book, price: Fraction, sign: int) -> Fraction:
    """Return what one share costs with its fee, or brings without it."""
    return price + sign * book.rate * price * (1 - price)


def _fee(book: Book, level: FillLevel) -> Fraction:
    return level.shares * book.rate * exact(level.price) * (1 - exact(level.price))


def check_prices(levels: list[FillLevel], walked: Walk, lost: Fraction) -> None:
    """Check for the same prices in order; the oracle may reach one more, for what rounding has lost."""
    prices = [exact(level.price) for level in levels]
    assert prices == [price for price, _ in walked.levels[: len(prices)]]
    assert sum(shares for _, shares in walked.levels[len(prices) :]) * ONE <= lost


def check_words(ours: OrderMatch, walked: Walk, rest: int) -> None:
    """Check that a rest is reported with its reason, and nothing is reported without a rest."""
    if rest == 0:
        assert ours.left == ""
        assert walked.left * ONE <= 3 * len(ours.levels)
    elif walked.left == 0:
        assert rest <= 3
        assert "too little for another share" in ours.left
    elif walked.beyond is None:
        assert "the book is exhausted" in ours.left
    else:
        next_price = dollars(_whole(walked.beyond))
        reach = dollars(_whole(walked.reach))
        assert f" price is {next_price}, and " in ours.left
        assert ours.left.endswith(f" {reach}")


@pytest.mark.parametrize("name", WIRE)
@pytest.mark.parametrize("rate", ["0", "0.05", "0.25"])
def test_a_real_book_is_walked_as_in_fractions(name: str, rate: str, shared_data: Path) -> None:
    page = json.loads((shared_data / "venues/polymarket/pmvl" / name).read_text(encoding="utf-8"))
    bids, asks = (
        [(Fraction(level["price"]), Fraction(level["size"])) for level in page[side]]
        for side in ("bids", "asks")
    )
    mid = (max(price for price, _ in bids) + min(price for price, _ in asks)) / 2
    book = Book(bids, asks, mid, Fraction(rate), Fraction(page["min_order_size"]))
    listing = as_listing(book)
    random = Random(f"{name}/{rate}")
    ends = [check(book, listing, *wish) for wish in tries(random, book)]
    assert len(ends) == 32
    assert "filled" in ends


def test_a_real_book_comes_worst_first_and_is_walked_best_first(shared_data: Path) -> None:
    """By hand: 142,510.87 shares at 7 cents cost $9,975.7609; the other $15,024.2391 go at 8 cents."""
    page = json.loads((shared_data / "venues/polymarket/pmvl" / WIRE[1]).read_text(encoding="utf-8"))
    listing = Listing(
        a_market(),
        Quote(
            RAIN,
            NOW,
            *(usd("0.06"), usd("0.07"), usd("0.065")),
            bids=tuple(Level(millionths(x["price"]), millionths(x["size"])) for x in page["bids"]),
            asks=tuple(Level(millionths(x["price"]), millionths(x["size"])) for x in page["asks"]),
        ),
    )
    assert listing.quote is not None
    assert (listing.quote.asks[0].price, listing.quote.bids[0].price) == (usd("0.99"), usd("0.01"))
    small = match_listing("buy", usd(500), "YES", listing, RULES)
    assert isinstance(small, OrderMatch)
    assert (small.shares, small.amount) == (usd("7142.857142"), usd(500))
    large = match_listing("buy", usd(25_000), "YES", listing, RULES)
    assert isinstance(large, OrderMatch)
    assert [(x.price, x.shares) for x in large.levels] == [
        (usd("0.07"), usd("142510.87")),
        (usd("0.08"), usd("187802.98875")),
    ]
    sold = match_listing("sell", usd(200_000), "YES", listing, RULES)
    assert isinstance(sold, OrderMatch)
    assert [(x.price, x.shares) for x in sold.levels] == [
        (usd("0.06"), usd("100885.17")),
        (usd("0.05"), usd("99114.83")),
    ]
    assert sold.amount == usd("6053.1102") + usd("4955.7415")


SPOILS = ("crossed", "one_sided", "empty", "range", "size", "wide", "gap", "least")
"""What may be wrong with a made-up book; half of them are left as they are."""


def a_made_up_book(number: int) -> Book:
    """Return the book of that number, always the same, in random order, with repeated prices."""
    random = Random(f"books/{number}")
    tick = Fraction(random.choice((10, 1)), 1_000)
    bid = random.randrange(1, int(1 / tick) - 1)
    ask = min(bid + random.choice((0, 1, 1, 2, 5, 9)), int(1 / tick) - 1)
    deep = random.choice((3, 30, 80))
    bids = [(max(bid - _down(random), 1) * tick, _size(random)) for _ in range(random.randint(1, deep))]
    asks = [
        (min(ask + _down(random), int(1 / tick) - 1) * tick, _size(random))
        for _ in range(random.randint(1, deep))
    ]
    random.shuffle(bids)
    random.shuffle(asks)
    top = max(price for price, _ in bids)
    low = min(price for price, _ in asks)
    mid = (top + low) / 2 if random.random() < 0.9 else None
    book = Book(bids, asks, mid, Fraction(random.choice((0, 0, 1, 20_000, 50_000, 250_000)), ONE))
    return _spoilt(book, random.choice(SPOILS), random) if random.random() < 0.5 else book


def _down(random: Random) -> int:
    """Draw how many ticks a level lies behind the best: many are near, some far."""
    return random.choice((0, 1, 2, 3, random.randrange(40)))


def _size(random: Random) -> Fraction:
    """Draw a level's shares: whole, in hundredths, or down to the last millionth; many are small."""
    unit = random.choice((1, 100, ONE))
    return Fraction(random.randrange(1, random.choice((10, 1_000, 50_000)) * unit), unit)


def _spoilt(book: Book, how: str, random: Random) -> Book:
    bids = list(book.bids)
    asks = list(book.asks)
    mid = book.mid
    if how == "crossed":
        bids.append((max(p for p, _ in bids) / 2 + Fraction(1, 2), Fraction(5)))
    elif how == "one_sided":
        random.choice((bids, asks)).clear()
    elif how == "empty":
        bids = []
        asks = []
    elif how == "range":
        price = random.choice(("0", "1", "1.2", "-0.1"))
        random.choice((bids, asks)).append((Fraction(price), Fraction(5)))
    elif how == "size":
        random.choice((bids, asks)).append((Fraction(1, 2), Fraction(random.choice((0, -3)))))
    elif how == "wide":
        bids = [(price / 2, shares) for price, shares in bids]
    elif how == "gap":
        middle = (max(p for p, _ in bids) + min(p for p, _ in asks)) / 2
        mid = middle + random.choice((-1, 1)) * Fraction(random.choice((50_000, 50_001, 300_000)), ONE)
    return Book(bids, asks, mid, book.rate, Fraction(random.choice((1, 5, 100))))


@cache
def ends_of(batch: int) -> tuple[str, ...]:
    """Return the results of every walk of a batch of made-up books, each compared with the oracle's."""
    ends = list[str]()
    for number in range(batch, BOOKS, BATCHES):
        book = a_made_up_book(number)
        listing = as_listing(book)
        ends += [check(book, listing, *wish) for wish in tries(Random(f"tries/{number}"), book)]
    return tuple(ends)


@pytest.mark.parametrize(
    "batch", [pytest.param(n, marks=[pytest.mark.thorough] * (n >= SAMPLED)) for n in range(BATCHES)]
)
def test_made_up_books_are_walked_as_in_fractions(batch: int) -> None:
    assert len(ends_of(batch)) == 32 * BOOKS // BATCHES


def test_the_made_up_books_are_of_every_kind() -> None:
    books = [a_made_up_book(number) for number in range(BOOKS)]
    assert any(len(book.asks) == 1 for book in books)
    assert any(len(book.asks) > 70 for book in books)
    assert any(len({price for price, _ in book.asks}) < len(book.asks) for book in books)
    assert {book.rate for book in books} >= {Fraction(0), Fraction(1, 4)}
    found = set[str]().union(*(faults(book) for book in books))
    assert found == {"no_book", "one_sided", "bad_price", "bad_book", "crossed", "wide", "gap"}
    good = sum(not faults(book) for book in books)
    assert good > BOOKS // 2
    ends = {end for batch in range(SAMPLED) for end in ends_of(batch)}
    assert ends >= found | {"filled", "partly", "unfilled", "under_min_shares"}
