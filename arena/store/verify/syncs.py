"""Readings of whole catalogues: what they say they saw, and what is stored of it.

A sync's hash is taken over venue, stamp, number, time, how many markets had a price, the hash of those
prices, the hash of the sync before, and its sightings. The hash of the prices is that of an object with
the hash of each market's quote: the newest that is stored until the sync's time.
"""

from bisect import bisect_left, insort
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice

from sqlalchemy import bindparam, select

from arena.store.tables import PRUNE, QUOTE, SIGHTING, SYNC
from arena.store.verify.difference import Difference
from arena.store.verify.facts import Facts, Following, InTime
from arena.store.verify.naming import compared, differs, numbered
from arena.store.verify.parts import Part, Row, whole
from arena.store.verify.query import Query, rows_of
from arena.store.verify.seals import hashed, json_of, sha256_of, without

STAMPS = ("live", "replay", "simulated")
WINDOW = 1_000
"""So many syncs at a time have the prices until them sorted by the database."""
HERE = SYNC.c.venue == bindparam("venue")
VENUES = Query(select().distinct().order_by(SYNC.c.venue), Part(SYNC, "venue"), again=True)
SYNCS = rows_of(SYNC, HERE, order=[SYNC.c.number])
SIGHTINGS = Query(
    select()
    .select_from(SIGHTING.join(SYNC, SYNC.c.id == SIGHTING.c.sync_id))
    .where(HERE)
    .order_by(SYNC.c.number, SIGHTING.c.market_id),
    whole(SIGHTING),
    Part(SYNC, "number"),
)
MINE = select(SIGHTING.c.market_id).join(SYNC, SYNC.c.id == SIGHTING.c.sync_id).where(HERE)
PRICES = Query(
    select()
    .where(QUOTE.c.market_id.in_(MINE), QUOTE.c.at > bindparam("after"), QUOTE.c.at <= bindparam("until"))
    .order_by(QUOTE.c.at, QUOTE.c.id),
    Part(QUOTE, "market_id", "at", "hash"),
    again=True,
)
"""The prices of a venue's markets, in the order in which they became known."""
PRUNES = rows_of(PRUNE)
BEFORE_ALL = "0001-01-01T00:00:00.000000Z"


@dataclass
class Board:
    """The markets that have a price at some time, in order, and every price as JSON."""

    there: list[str] = field(default_factory=list)
    prices: dict[str, str] = field(default_factory=dict)
    lost: set[str] = field(default_factory=set)

    def price(self, market: str, hash: str) -> None:
        """A market's newest price."""
        self.prices[market] = f"{json_of(market)}:{json_of(hash)}"
        self.lost.discard(market)

    def has(self, market: str) -> bool:
        """Whether a market is there."""
        place = bisect_left(self.there, market)
        return place < len(self.there) and self.there[place] == market

    def turn(self, market: str, quoted: bool) -> None:
        """A market comes, or goes."""
        if quoted and not self.has(market):
            insort(self.there, market)
            self.lost |= set() if market in self.prices else {market}
        elif not quoted and self.has(market):
            del self.there[bisect_left(self.there, market)]
            self.lost.discard(market)

    @property
    def seen(self) -> str:
        """The hash of the prices of all markets that are there."""
        return hashed(f"{{{','.join(map(self.prices.__getitem__, self.there))}}}")


def check_syncs(facts: Facts) -> Iterator[Difference]:
    """Syncs that are missing, out of order, not as they were sealed, or that saw what isn't there."""
    for venue in [row["venue"] for row in facts.rows(VENUES)]:
        yield from numbered(facts, SYNC, facts.rows(SYNCS, venue=venue), "number", 1)
        yield from _sealed(facts, venue)
        yield from _seen(facts, venue)


def _sightings(facts: Facts, venue: str) -> Following:
    """What each sync of a venue saw come and go, by its number."""
    read = facts.read(SIGHTINGS, venue=venue)
    return Following((sync["number"], row) for row, sync in read if sync is not None)


def _sealed(facts: Facts, venue: str) -> Iterator[Difference]:
    """Every sync of a venue against its sightings and the sync before it."""
    sightings, previous = _sightings(facts, venue), None
    for row in facts.rows(SYNCS, venue=venue):
        turned = {seen["market_id"]: seen["quoted"] for seen in sightings.of(row["number"])}
        before = {"previous": previous["hash"] if previous else "", "sightings": turned}
        why = "it seals the sync, each sighting in it, and the hash of the one before"
        yield from compared(facts, SYNC, row, {"hash": (sha256_of(without(row, "id", "hash") | before), why)})
        if previous is not None and row["at"] <= previous["at"]:
            yield differs(facts, SYNC, row, "at", f"later than {previous['at']}", "syncs follow one another")
        if row["stamp"] not in STAMPS:
            yield differs(facts, SYNC, row, "stamp", " or ".join(STAMPS), "there is no other")
        previous = row


def _seen(facts: Facts, venue: str) -> Iterator[Difference]:
    """What each sync of a venue saw against the quotes, which are played back beside it."""
    sightings, edge, board = _sightings(facts, venue), _pruned_until(facts), Board()
    for row, quotes in _played_back(facts, venue):
        for quote in quotes:
            board.price(quote["market_id"], quote["hash"])
        for sighting in sightings.of(row["number"]):
            yield from _turned(facts, sighting, board)
        yield from compared(facts, SYNC, row, {"markets": (len(board.there), "so say the sightings")})
        if row["at"] < edge:
            continue
        if board.lost:
            first, why = min(board.lost), "a sync saw a price"
            yield Difference("quote", first, "at", None, f"{row['at']} or before", why)
        else:
            yield from compared(facts, SYNC, row, {"seen": (board.seen, "so say the quotes until then")})


def _turned(facts: Facts, sighting: Row, board: Board) -> Iterator[Difference]:
    """A sighting, by which a market comes to be there, or is no more."""
    market = sighting["market_id"]
    expected = int(not board.has(market))
    if sighting["quoted"] != expected:
        yield differs(facts, SIGHTING, sighting, "quoted", expected, "it tells of a change")
    board.turn(market, bool(sighting["quoted"]))


def _played_back(facts: Facts, venue: str) -> Iterator[tuple[Row, Iterable[Row]]]:
    """Each sync of a venue with the prices that came between the one before and it."""
    syncs, after = facts.rows(SYNCS, venue=venue), BEFORE_ALL
    while some := list(islice(syncs, WINDOW)):
        until = max(row["at"] for row in some)
        prices = InTime(facts.rows(PRICES, venue=venue, after=after, until=until))
        for row in some:
            yield row, prices.until(row["at"])
        after = max(after, until)


def _pruned_until(facts: Facts) -> str:
    """From when every quote that a sync has seen must be there: those from before may be pruned."""
    return max((row["older_than"] for row in facts.rows(PRUNES)), default="")
