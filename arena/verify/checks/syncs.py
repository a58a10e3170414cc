"""Readings of whole catalogues: what they say they saw, and what is stored of it.

A sync's hash is taken over venue, stamp, number, time, how many markets had a price, the hash of those
prices, the hash of the sync before, and its sightings. The hash of the prices is that of an object with
the hash of each market's quote: the newest that is stored until the sync's time.

What was let go, and what was set aside.
"""

from bisect import bisect_left, insort
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from itertools import islice

from sqlalchemy import bindparam

from arena.record.schema.cohort import SnapshotRow
from arena.record.schema.typed import clause, col, joined, select
from arena.record.schema.world import PruneRow, QuarantineRow, QuoteRow, SightingRow, SyncRow
from arena.verify.differences import Difference, Found, Row, check_numbers
from arena.verify.hashes import hash_of, json_of, sha256_of, without
from arena.verify.reader import RecordReader, RowPart, RowsByParent, RowsQuery, rows_of, rows_query

DRAWN = rows_query(
    joined(SnapshotRow).outerjoin(SyncRow.__table__, clause(SnapshotRow.catalogue == SyncRow.hash)),
    SnapshotRow,
    RowPart(SyncRow, "at"),
    where=SnapshotRow.catalogue != "",
)
"""The snapshots that were drawn from a sync, with its time."""
STAMPS = ("live", "replay", "simulated")
WINDOW = 1_000
"""So many syncs at a time have the prices until them sorted by the database."""
HERE = SyncRow.venue == bindparam("venue")
VENUES = RowsQuery(select().distinct().order_by(SyncRow.venue), RowPart(SyncRow, "venue"), again=True)
SYNCS = rows_of(SyncRow, HERE, order=[SyncRow.number])
SIGHTINGS = rows_query(
    joined(SightingRow, SyncRow),
    SightingRow,
    RowPart(SyncRow, "number"),
    where=HERE,
    order=(SyncRow.number, SightingRow.market_id),
)
MINE = select(SightingRow.market_id).join(SyncRow, SyncRow.id == SightingRow.sync_id).where(HERE)
PRICES = rows_query(
    QuoteRow,
    RowPart(QuoteRow, "market_id", "at", "hash"),
    where=col(QuoteRow.market_id).in_(MINE)
    & (QuoteRow.at > bindparam("after"))
    & (QuoteRow.at <= bindparam("until")),
    order=(QuoteRow.at, QuoteRow.id),
    again=True,
)
"""The prices of a venue's markets, in the order in which they became known."""
PRUNES = rows_of(PruneRow)
BEFORE_ALL = "0001-01-01T00:00:00.000000Z"
NO_PRICE = ("", "~", "")
"""What comes after the last price: it is later than all."""


@dataclass
class VenuePrices:
    """The markets that have a price at some time, in order, every price as JSON, and the `new` ones."""

    there: list[str] = field(default_factory=list)
    new: dict[str, str] = field(default_factory=dict)
    prices: dict[str, str] = field(default_factory=dict)
    lost: set[str] = field(default_factory=set)
    names: Callable[[str], str] = field(default_factory=lambda: cache(json_of))
    _seen: str | None = None

    def has(self, market: str) -> bool:
        """Whether a market is there."""
        place = bisect_left(self.there, market)
        return place < len(self.there) and self.there[place] == market

    def turn(self, market: str, quoted: bool) -> None:
        """A market comes, or goes."""
        self._seen = None
        if quoted and not self.has(market):
            insort(self.there, market)
            self.lost.add(market)
        elif not quoted and self.has(market):
            del self.there[bisect_left(self.there, market)]
            self.lost.discard(market)

    def take_in(self) -> None:
        """The new prices count."""
        if self.new:
            names, self._seen = self.names, None
            self.prices |= {
                market: f'{names(market)}:"{price_hash}"' for market, price_hash in self.new.items()
            }
            self.new.clear()
        self.lost = {market for market in self.lost if market not in self.prices}

    @property
    def seen(self) -> str:
        """The hash of the prices of all markets that are there; as long as none changes it is the same."""
        if self._seen is None:
            self._seen = hash_of(f"{{{','.join(map(self.prices.__getitem__, self.there))}}}")
        return self._seen


def check_catalogues(facts: RecordReader) -> Found:
    """Snapshots that were drawn from what no sync has seen, or from one that came later."""
    for row, sync in facts.read(DRAWN):
        why = "a live round is drawn from what a sync has seen"
        if sync is None:
            yield row.differs("catalogue", "the hash of a sync", why)
        elif sync["at"] >= row["taken_at"]:
            yield row.differs("catalogue", f"a sync before {row['taken_at']}", why)


def check_syncs(facts: RecordReader) -> Found:
    """Syncs that are missing, out of order, not as they were sealed, or that saw what isn't there."""
    for venue in [row["venue"] for row in facts.rows(VENUES)]:
        yield from check_numbers(facts.rows(SYNCS, venue=venue), "number", 1)
        yield from _sealed(facts, venue)
        yield from _seen(facts, venue)


def _sightings(facts: RecordReader, venue: str) -> RowsByParent:
    """What each sync of a venue saw come and go, by its number."""
    read = facts.read(SIGHTINGS, venue=venue)
    return RowsByParent((sync["number"], row) for row, sync in read if sync is not None)


def _sealed(facts: RecordReader, venue: str) -> Found:
    """Every sync of a venue against its sightings and the sync before it."""
    sightings, previous = _sightings(facts, venue), None
    for row in facts.rows(SYNCS, venue=venue):
        turned = {seen["market_id"]: seen["quoted"] for seen in sightings.of(row["number"])}
        before = {"previous": previous["hash"] if previous else "", "sightings": turned}
        why = "it seals the sync, each sighting in it, and the hash of the one before"
        yield from row.check(
            {"hash": (sha256_of(without(row, "id", "left_out", "rejected", "hash") | before), why)}
        )
        if previous is not None and row["at"] <= previous["at"]:
            yield row.differs("at", f"later than {previous['at']}", "syncs follow one another")
        if row["stamp"] not in STAMPS:
            yield row.differs("stamp", " or ".join(STAMPS), "there is no other")
        previous = row


def _seen(facts: RecordReader, venue: str) -> Found:
    """What each sync of a venue saw against the quotes, which are played back beside it."""
    edge = max((row["older_than"] for row in facts.rows(PRUNES)), default="")
    sightings, board = _sightings(facts, venue), VenuePrices()
    for row in _played_back(facts, venue, board.new):
        for sighting in sightings.of(row["number"]):
            market = sighting["market_id"]
            expected = int(not board.has(market))
            if sighting["quoted"] != expected:
                yield sighting.differs("quoted", expected, "it records a change")
            board.turn(market, bool(sighting["quoted"]))
        board.take_in()
        yield from row.check({"markets": (len(board.there), "by the sightings")})
        if row["at"] < edge:
            continue
        if board.lost:
            first, why = min(board.lost), "a sync saw a price"
            yield Difference("quote", first, "at", None, f"{row['at']} or before", why)
        else:
            yield from row.check({"seen": (board.seen, "by the quotes until then")})


def _played_back(facts: RecordReader, venue: str, prices: dict[str, str]) -> Iterator[Row]:
    """Each sync of a venue, once the `prices` are in that came between the one before and it."""
    syncs, after = facts.rows(SYNCS, venue=venue), BEFORE_ALL
    while some := list(islice(syncs, WINDOW)):
        until = max(row["at"] for row in some)
        lines = facts.lines(PRICES, venue=venue, after=after, until=until)
        market, at, price_hash = next(lines, NO_PRICE)
        for row in some:
            end = row["at"]
            while at <= end:
                prices[market] = price_hash
                market, at, price_hash = next(lines, NO_PRICE)
            yield row
        after = max(after, until)


PRUNES, ASIDES = rows_of(PruneRow, order=[PruneRow.number]), rows_of(QuarantineRow)
KINDS = ("article", "market", "page", "quote", "resolution")


def check_prunes(facts: RecordReader) -> Found:
    """Prunings that are missing, or that let nothing go or what was still to come."""
    yield from check_numbers(facts.rows(PRUNES), "number", 1)
    for row in facts.rows(PRUNES):
        if row["quotes"] < 1:
            yield row.differs("quotes", "1 or more", "it is kept when a quote is deleted")
        if row["older_than"] > row["at"]:
            yield row.differs("older_than", f"{row['at']} or before", "it had passed")


def check_rejected(facts: RecordReader) -> Found:
    """What was set aside at times or as often as can't be."""
    for row in facts.rows(ASIDES):
        if row["kind"] not in KINDS:
            yield row.differs("kind", " or ".join(KINDS), "there is no other")
        if row["times"] < 1:
            yield row.differs("times", "1 or more", "it was seen")
        if row["first_seen_at"] > row["last_seen_at"]:
            expected = f"{row['last_seen_at']} or before"
            yield row.differs("first_seen_at", expected, "it was seen last after that")
