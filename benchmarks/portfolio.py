"""How fast the money is: fills in memory, marks against the loop, the reference's workload on disk.

python -m benchmarks.portfolio
"""

import random
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from benchmarks import workload
from benchmarks.measure import Measurement, options, report, row, timed
from markets.millionths import ONE
from markets.model import Level, Listing, Market, MarketId, Quote
from portfolio.execute import execute_at
from portfolio.ledger import fold, open_account, post
from portfolio.marks import mark_all
from portfolio.matching import Offers, SnapshotOffers, find_offers, match_levels
from portfolio.model import Bet, Holdings, Lot
from portfolio.rules import REALISTIC, SEED
from portfolio.value import mark
from tests.builders import match_listing

NOW = datetime(2026, 1, 4, tzinfo=UTC)
TRADER = {"walks": 66_000, "buys": 4_100}
"""What polymarket-paper-trader publishes: books walked and buys committed a second."""
REFERENCE = {"bets": 922, "marks": 11_000, "settlements": 855}
"""The best that the reference system was measured at, a second, on disk."""
LEVELS = 59
STAKE = 500 * ONE
LOTS = 1_000_000


def a_listing(name: str, levels: int = LEVELS) -> Listing:
    """Return a market with a book of this many levels a side, a tenth of a cent apart."""
    rng = random.Random(name)
    market = MarketId(f"bench:{name}")
    sides = [
        tuple(Level(500_000 + sign * (5_000 + 1_000 * n), rng.randint(20, 60) * ONE) for n in range(levels))
        for sign in (-1, 1)
    ]
    quote = Quote(market, NOW, 495_000, 505_000, 500_000, bids=sides[0], asks=sides[1])
    page = Market(
        market, name, "Does it?", "If so.", "made up", NOW, NOW + timedelta(days=9), fee_rate=40_000
    )
    return Listing(page, quote)


def plain_walk(asks: Sequence[tuple[float, float]], amount: float, rate: float) -> float:
    """Return the shares that an amount buys of a book, sorted and walked in floats, each level kept."""
    left = amount
    shares = 0.0
    taken = []
    for price, size in sorted(asks):
        each = price + rate * price * (1 - price)
        bought = min(size, left / each)
        taken.append((price, bought, bought * each))
        shares = shares + bought
        left = left - bought * each
        if left <= 0:
            break
    return shares


def walks() -> list[Measurement]:
    """Fill a bet of $500 from a book of 59 levels: of a new quote, and of one that others traded on."""
    listing = a_listing("walk")
    ready = find_offers("buy", "YES", listing, REALISTIC)
    assert isinstance(ready, Offers)
    assert listing.quote is not None
    asks = [(level.price / ONE, level.shares / ONE) for level in listing.quote.asks]
    count = 2_000
    plain = timed(lambda: [plain_walk(asks, STAKE / ONE, 0.04) for _ in range(count)], count)
    on_floor = timed(lambda: [match_levels(STAKE, ready) for _ in range(count)], count)
    new = timed(lambda: [match_listing("buy", STAKE, "YES", listing, REALISTIC) for _ in range(count)], count)
    return [
        row("a book walked for $500, on a shared floor", on_floor, "published", TRADER["walks"], 1),
        row("", on_floor, "the walk in floats, this run", plain.per_second, 0.5),
        row("a new book checked, sorted and walked", new, "the walk in floats", plain.per_second, 0.05),
    ]


def in_memory() -> list[Measurement]:
    """Execute and post a decision of 500 bets, against bare arithmetic on the same numbers."""
    free = SEED.model_copy(update={"min_bet": 0, "max_bet": ONE})
    snapshot = workload.snapshot(0)
    account = fold([open_account(10_000 * ONE, NOW)])
    bets = [Bet(market, "YES", 10 * ONE) for market in workload.IDS]

    def play() -> None:
        fills, refused = execute_at(SnapshotOffers(snapshot, free), bets, (), account)
        assert not refused
        fold(post(fills, account, NOW, "fill:1"), account)

    took = timed(play, len(bets), repeat=5)
    return [row("a bet executed, posted and folded, in memory", took, "published buys", TRADER["buys"], 1)]


def many_accounts(lots: int) -> list[Holdings]:
    """Return accounts of 500 lots each."""
    rng = random.Random("lots")
    return [
        Holdings(lots={(m, "YES" if rng.random() < 0.5 else "NO"): a_lot(rng) for m in workload.IDS})
        for _ in range(lots // len(workload.IDS))
    ]


def a_lot(rng: random.Random) -> Lot:
    """Return some shares with their cost."""
    return Lot(rng.randint(1, 5_000 * ONE), rng.randint(1, 2_500 * ONE))


def marks() -> list[Measurement]:
    """Mark a million lots at one snapshot: all accounts at once, and account by account."""
    accounts = dict(enumerate(many_accounts(LOTS)))
    snapshot = workload.snapshot(1)
    first = [accounts[number] for number in range(200)]
    assert [mark(account, snapshot) for account in first] == list(mark_all(accounts, snapshot).values())[:200]
    loop = timed(lambda: [mark(account, snapshot) for account in first], 200 * 500)
    together = timed(lambda: mark_all(accounts, snapshot), LOTS)
    return [row("a lot marked, all accounts at once", together, "the loop, this run", loop.per_second, 3)]


def memory() -> str:
    """Measure the peak memory of a process that marks a million lots."""
    script = "from benchmarks.portfolio import peak; print(peak())"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    most = f"{float(done.stdout):,.0f} MiB"
    return f"memory: a process that marks {LOTS:,} lots peaks at {most}; 1,024 MiB are allowed"


def peak() -> float:
    """Mark a million lots; the peak of this process in MiB."""
    import resource

    mark_all(dict(enumerate(many_accounts(LOTS))), workload.snapshot(1))
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def on_disk(folder: Path) -> list[Measurement]:
    """Run the reference's workload in the arena and in a plain loop, each on a database of its own."""
    arena = workload.opened(folder / "arena.db")
    base = workload.plain_opened(folder / "plain.db")
    bets = workload.AGENTS * workload.MARKETS
    steps: list[tuple[str, int, float, Callable[[], object], Callable[[], object]]] = [
        ("bets", bets, 10, lambda: workload.bet(arena), lambda: workload.plain_bet(base)),
        (
            "marks",
            bets * workload.SNAPSHOTS,
            50,
            lambda: workload.mark(arena),
            lambda: workload.plain_mark(base),
        ),
        ("settlements", bets, 20, lambda: workload.end(arena), lambda: workload.plain_end(base)),
    ]
    rows = list[Measurement]()
    for name, parts, wanted, ours, plain in steps:
        took = timed(ours, parts, repeat=1)
        reference = timed(plain, parts, repeat=1)
        rows.append(row(f"{name} on disk", took, "published", REFERENCE[name], wanted))
        rows.append(row("", took, "plain sqlite3, this run", reference.per_second, 1))
    return rows


def main() -> None:
    chosen = options(__doc__).parse_args()
    with tempfile.TemporaryDirectory() as folder:
        rows = [*walks(), *in_memory(), *marks(), *on_disk(Path(folder))]
    report(rows, chosen.json, [memory()])


if __name__ == "__main__":
    main()
