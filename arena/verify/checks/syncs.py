"""Syncs, each a reading of a venue's whole catalogue: what they report, and what is stored of it.

The hash of the prices that a sync has seen is that of an object with the hash of each market's newest quote
stored by the sync's time.
"""

from bisect import bisect_left, insort
from collections.abc import Generator, Iterator
from dataclasses import dataclass, field

from arena.verify.checks.seals import check_seal
from arena.verify.differences import Difference, Found
from arena.verify.reader import PARTS, RecordReader, Row
from markets.hashes import canonical_bytes, sha256

SYNCS = "SELECT * FROM sync WHERE venue = :venue ORDER BY number"
AGAIN = f"""SELECT sync.*, before.hash AS previous FROM sync
    LEFT JOIN sync AS before ON before.venue = sync.venue AND before.number = sync.number - 1
    WHERE sync.id % {PARTS} = :part ORDER BY sync.id"""
"""The syncs of a part, each with the hash of the one before it."""
SIGHTINGS = "SELECT * FROM sighting WHERE sync_id = :sync ORDER BY market_id"
PRICES = """SELECT market_id, at, hash FROM quote WHERE market_id IN (SELECT sighting.market_id FROM sighting
    JOIN sync ON sync.id = sighting.sync_id WHERE sync.venue = :venue) ORDER BY at, id"""
"""The prices of a venue's markets, in the order in which they became known."""
EDGE = "SELECT max(older_than) AS older_than FROM prune"
SEALS_SYNC = "it seals the sync, each sighting in it, and the hash of the one before"


@dataclass
class SeenPrices:
    """The markets of a venue that have a price at some time, in order, with each price as the hash contains
    it.

    `lost` are markets seen with a price of which none is stored.
    """

    markets: list[str] = field(default_factory=list)
    prices: dict[str, str] = field(default_factory=dict)
    lost: set[str] = field(default_factory=set)
    _hash: str = ""

    def has(self, market: str) -> bool:
        """Tell whether a market is among those with a price."""
        index = bisect_left(self.markets, market)
        return index < len(self.markets) and self.markets[index] == market

    def note_sighting(self, market: str, quoted: bool) -> None:
        """Add a market that appeared, or remove one that disappeared."""
        self._hash = ""
        if quoted and not self.has(market):
            insort(self.markets, market)
            self.lost.add(market)
        elif not quoted and self.has(market):
            del self.markets[bisect_left(self.markets, market)]
            self.lost.discard(market)

    def put_price(self, market: str, price_hash: str) -> None:
        """Replace the price of a market."""
        self.prices[market] = f'{canonical_bytes(market)}:"{price_hash}"'
        self._hash = ""

    @property
    def hash(self) -> str:
        """Return the hash of the prices of all markets seen, computed once until one changes."""
        if not self._hash:
            # The canonical JSON of an object with the hash of each market's price, put together from parts.
            members = ",".join(self.prices[market] for market in self.markets)
            self._hash = sha256(f"{{{members}}}")
        return self._hash


def check_syncs(facts: RecordReader) -> Found:
    """Yield syncs whose hash is wrong, or that saw something that isn't stored.

    For older syncs that are read again only the hash is checked: what they saw follows from all syncs before.
    """
    if facts.verified.number:
        for row in facts.rows("sync", AGAIN, part=facts.part):
            yield from _check_sync_seal(facts, row, row["previous"] or "")
        return

    # Of prices from before this time, some may have been deleted.
    [pruned] = facts.rows("prune", EDGE)
    for venue in facts.column("venue", "sync", "SELECT DISTINCT venue FROM sync ORDER BY venue"):
        yield from _check_venue(facts, venue, pruned["older_than"] or "")


def _check_venue(facts: RecordReader, venue: str, pruned_before: str) -> Found:
    """Check each sync of a venue against its sightings, the sync before it, and the quotes until then."""
    seen_prices = SeenPrices()
    previous = ""
    for row in _syncs_adding_prices(facts, venue, seen_prices):
        sightings = yield from _check_sync_seal(facts, row, previous)
        previous = row["hash"]

        for sighting in sightings:
            expected = {"quoted": int(not seen_prices.has(sighting["market_id"]))}
            yield from sighting.compare(expected, "it records a change")
            seen_prices.note_sighting(sighting["market_id"], bool(sighting["quoted"]))

        seen_prices.lost.difference_update(seen_prices.prices)
        yield from row.compare({"markets": len(seen_prices.markets)}, "by the sightings")
        if row["at"] < pruned_before:
            continue

        if seen_prices.lost:
            first_lost = min(seen_prices.lost)
            yield Difference("quote", first_lost, "at", None, f"{row['at']} or before", "a sync saw a price")
        else:
            yield from row.compare({"seen": seen_prices.hash}, "by the quotes until then")


def _check_sync_seal(facts: RecordReader, row: Row, previous: str) -> Generator[Difference, None, list[Row]]:
    """Check the hash over a sync and its sightings, and return the sightings."""
    sightings = list(facts.rows("sighting", SIGHTINGS, sync=row["id"]))
    quoted_by_market = {sighting["market_id"]: sighting["quoted"] for sighting in sightings}
    content = row.without("id", "left_out", "rejected", "hash")
    yield from check_seal(row, content | {"previous": previous, "sightings": quoted_by_market}, SEALS_SYNC)
    return sightings


def _syncs_adding_prices(facts: RecordReader, venue: str, seen_prices: SeenPrices) -> Iterator[Row]:
    """Yield each sync of a venue, after `seen_prices` has received the prices stored by its time."""
    quotes = facts.rows("quote", PRICES, venue=venue)
    quote = next(quotes, None)
    for row in facts.rows("sync", SYNCS, venue=venue):
        while quote is not None and quote["at"] <= row["at"]:
            seen_prices.put_price(quote["market_id"], quote["hash"])
            quote = next(quotes, None)
        yield row
