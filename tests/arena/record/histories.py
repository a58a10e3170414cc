"""Made-up histories of looks at markets, and what a plain list says of them."""

import shutil
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import strategies as st

from markets.hashes import digest
from markets.model import Listing, MarketId, Quote, Snapshot
from portfolio.rules import SEED
from tests.builders import NOW, a_market
from tests.opened_record import OpenedRecord
from tests.records.full_record import PROMPT, a_cohort

MARKETS = tuple(MarketId(f"sky:{name}") for name in ("fog", "mist", "dew"))
LONGEST = 8
MINUTE = timedelta(minutes=1)


def minute(number: int) -> datetime:
    """Return the time this many minutes after NOW."""
    return NOW + number * MINUTE


@dataclass(frozen=True)
class Look:
    """A sync or a snapshot at a minute: the price of each market that has one, read so long before."""

    sync: bool
    minute: int
    prices: dict[MarketId, int | None]
    before: timedelta = timedelta()

    @property
    def listings(self) -> list[Listing]:
        at = minute(self.minute) - self.before
        return [
            Listing(a_market(market), None if price is None else Quote(market, at, None, None, price))
            for market, price in self.prices.items()
        ]


PRICES = st.dictionaries(
    st.sampled_from(MARKETS), st.none() | st.sampled_from([400_000, 500_000]), min_size=1
)


@st.composite
def histories(draw: st.DrawFn) -> list[Look]:
    """Draw looks in the order in which they reach the record: syncs by time, snapshots at any time."""
    count = draw(st.integers(1, LONGEST))
    minutes = draw(st.permutations(range(count)))
    syncs = [draw(st.booleans()) for _ in minutes]
    of_syncs = iter(sorted(m for m, sync in zip(minutes, syncs, strict=True) if sync))
    return [
        Look(
            sync,
            next(of_syncs) if sync else number,
            draw(PRICES),
            timedelta(seconds=30) * draw(st.booleans()),
        )
        for number, sync in zip(minutes, syncs, strict=True)
    ]


def begun(empty: Path, path: Path) -> OpenedRecord:
    """Return a new record with a cohort that can take snapshots."""
    record = OpenedRecord.join(str(shutil.copy(empty, path)))
    cohort = replace(a_cohort(1, NOW, SEED, "ann"), stamp="live")  # looked at as it pleases
    record.start(cohort, {digest(PROMPT): PROMPT})
    return record


@contextmanager
def played(empty: Path, looks: Sequence[Look]) -> Iterator[OpenedRecord]:
    """Yield a record of its own with these looks in it."""
    with TemporaryDirectory() as folder, closing(begun(empty, Path(folder) / "record.db")) as record:
        for look in looks:
            keep(record, look)
        yield record


def keep(record: OpenedRecord, look: Look) -> None:
    """Write one look into the record."""
    if look.sync:
        record.sync("sky", look.listings, minute(look.minute))
    else:
        record.keep_snapshot(1, 1, Snapshot(minute(look.minute), tuple(look.listings)), None)


def plainly(looks: Sequence[Look], market: MarketId, at: datetime) -> Quote | None:
    """Return what a market cost at an instant, by a plain list of all that was ever seen."""
    seen = [listing.quote for look in looks for listing in look.listings if listing.market.id == market]
    known = [quote for quote in seen if quote is not None and quote.at <= at]
    return max(known, key=lambda quote: quote.at, default=None)


def all_times() -> list[datetime]:
    """Return every half minute of a history, and one before and after."""
    return [NOW - MINUTE + step * MINUTE / 2 for step in range(2 * LONGEST + 4)]
