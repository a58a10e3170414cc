"""Marks worked out again from ledgers and quotes, snapshot by snapshot, with what everyone held by then.

A lot is worth its shares at the mid, or at the last trade where there is no mid, or its cost where there
is neither; sold at once it brings its shares at the bid, or nothing. The price of a NO share is 1 less
that of a YES share. A lot is stale without a mid, or if its quote is older than the cohort's rules allow. The
age of a mark is that of the oldest quote that prices a lot.

Lots that should have been settled and were not.
"""

from collections import defaultdict
from collections.abc import Generator, Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache, partial
from itertools import accumulate, chain, groupby
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np
from sqlalchemy import bindparam

from arena.record.schema.cohort import EntrantRow, SnapshotRow
from arena.record.schema.ledger import EntryRow, MarkRow
from arena.record.schema.typed import clause, col, joined
from arena.record.schema.world import ResolutionRow
from arena.verify.checks.markets import check_snapshot
from arena.verify.cohort import (
    LISTED,
    LISTED_ONCE,
    ONE,
    SNAPSHOTS,
    CheckedCohort,
    FrozenCohort,
    ListedPlace,
    read_places,
)
from arena.verify.differences import AnyDifference, Difference, Found, Row
from arena.verify.reader import (
    LinesByTime,
    RecordReader,
    RowPart,
    RowsByParent,
    moment,
    rows_of,
    rows_query,
)
from arena.verify.row_names import key_of

Key = tuple[str, str]


class SnapshotPrice(NamedTuple):
    """What a snapshot says of a market's side: whether there is a price, the price and its age in seconds,
    what a sale brings, whether a mark is stale."""

    known: bool
    price: int
    age: int
    bid: int
    stale: bool


DAY = 86_400
NOTHING = SnapshotPrice(False, 0, 0, 0, True)


class PostedEntry(NamedTuple):
    """What an entry does to its entrant's holdings."""

    entrant_id: int
    at: str
    market_id: str
    side: str
    cash: int
    shares: int
    cost: int
    realised: int


SUMS = ("cash", "value", "liquidation", "cost", "realised", "stale", "age")
STORED = ("entrant_id", "at", "snapshot_id", *SUMS)
"""What is read of a mark; what is worked out again comes last."""
ID, CASH = STORED.index("entrant_id"), STORED.index("cash")


class MarksTogether(NamedTuple):
    """The marks of some time by one snapshot, each as it is stored: of a year there are millions."""

    at: str
    snapshot_id: int
    stored: list[Any]


@dataclass(slots=True)
class HoldingsSum:
    """What a ledger comes to at some time: cash, what was realised, and lots of shares and their cost."""

    cash: int = 0
    realised: int = 0
    cost: int = 0
    lots: dict[Key, tuple[int, int]] = field(default_factory=dict)

    def add(self, entry: PostedEntry) -> None:
        """One more entry."""
        key = entry.market_id, entry.side
        shares, cost = self.lots.pop(key, (0, 0))
        self.cash, self.realised = self.cash + entry.cash, self.realised + entry.realised
        self.cost -= cost
        if shares + entry.shares:
            self.lots[key] = shares + entry.shares, cost + entry.cost
            self.cost += cost + entry.cost


class SnapshotPrices(dict[Key, SnapshotPrice]):
    """A snapshot's price of each market and side that somebody holds, `usual` while none leaves 0 to 1."""

    def __init__(self, snapshot: Row, places: Iterable[ListedPlace], frozen: FrozenCohort | None):
        super().__init__()
        self.snapshot, self.usual = snapshot, True
        self._taken_at = moment(snapshot["taken_at"])
        self._places = {place.market_id: place for place in places}
        self._oldest = frozen.max_quote_age if frozen else None
        self._ages: dict[str | None, tuple[int, bool]] = {}

    def __missing__(self, key: Key) -> SnapshotPrice:
        place, price = self._places.get(key[0]), NOTHING
        if place is not None and place.quote_market is not None:
            age, aged = self._ages.get(place.quoted_at) or self._age_of(place.quoted_at)
            own, bid = place.last if place.mid is None else place.mid, place.bid
            if key[1] != "YES":
                own = None if own is None else ONE - own
                bid = None if place.ask is None else ONE - place.ask
            self.usual = self.usual and 0 <= (own or 0) <= ONE and 0 <= (bid or 0) <= ONE
            known, stale = own is not None, aged or place.mid is None
            price = SnapshotPrice(known, own or 0, max(age, 0) if known else 0, bid or 0, stale)
        self[key] = price
        return price

    def _age_of(self, quoted_at: str | None) -> tuple[int, bool]:
        """How old a quote is in seconds, and whether that is too old; a snapshot has few such times."""
        quoted, age, aged = moment(quoted_at or ""), 0, False
        if self._taken_at and quoted:
            since = self._taken_at - quoted
            age = since.days * DAY + since.seconds
            aged = self._oldest is not None and (age, since.microseconds) > (self._oldest, 0)
        self._ages[quoted_at] = age, aged
        return age, aged


USUAL = (1 << 62) // ONE
"""Shares and costs below this are multiplied as they are; what is more, by Python's own integers."""
NO_LOTS = 0, 0, 0, 0


class OpenLots:
    """The open lots of a line-up in columns, those of each holder together: of a year there are millions."""

    def __init__(self, held: Mapping[int, HoldingsSum]):
        counts = {entrant_id: len(one.lots) for entrant_id, one in held.items() if one.lots}
        self._holders, self._firsts = list(counts), [0, *accumulate(counts.values())][:-1]
        lots = [lot for one in held.values() for lot in one.lots.values()]
        keys = [key for one in held.values() for key in one.lots]
        places = {key: place for place, key in enumerate(dict.fromkeys(keys))}
        self._keys, self._places = list(places), np.array([places[key] for key in keys], int)
        self._usual = all(-USUAL < number < USUAL for lot in lots for number in lot)
        self._lots = np.array(lots, np.int64 if self._usual else object).T

    def worth(self, prices: SnapshotPrices) -> dict[int, tuple[int, ...]]:
        """By holder: what all lots are worth and would bring, how many are stale, the oldest price's age."""
        if not self._holders:
            return {}
        said = [*chain.from_iterable([prices[key] for key in self._keys])]
        kind = np.int64 if self._usual and prices.usual else object
        known, price, age, bid, stale = np.array(said, kind).reshape(-1, 5).T[:, self._places]
        shares, costs = self._lots.astype(kind, copy=False)
        value = np.where(known, shares * price // ONE, costs)
        sums = np.add.reduceat([value, shares * bid // ONE, stale], self._firsts, axis=1)
        columns = *sums.tolist(), np.maximum.reduceat(age, self._firsts).tolist()
        return dict(zip(self._holders, zip(*columns, strict=True), strict=True))


OF_A_COHORT = EntrantRow.cohort_id == bindparam("cohort")
ENTRIES = rows_query(
    joined(EntrantRow, EntryRow),
    RowPart(EntryRow, *PostedEntry._fields),
    where=OF_A_COHORT,
    order=(EntryRow.at, EntryRow.entrant_id, EntryRow.number),
    again=True,
)
MARKS = rows_query(
    joined(EntrantRow, MarkRow),
    RowPart(MarkRow, *STORED),
    where=clause(OF_A_COHORT) & clause(MarkRow.snapshot_id > bindparam("after")),
    order=(MarkRow.at, MarkRow.entrant_id),
)
ALL = "all of a cohort are marked, and only they"


@dataclass
class MarkProgress:
    """What everyone holds as time goes on, who was marked at each snapshot (a bit for each entrant, in the
    order of the line-up), the times of the last two marks of each, that of the last snapshot,
    and when a round was due that has none."""

    bits: dict[int, int]
    held: dict[int, HoldingsSum]
    lots: OpenLots | None = None
    masks: dict[int, int] = field(default_factory=lambda: defaultdict(int))
    times: dict[int, tuple[str, str]] = field(default_factory=lambda: defaultdict(lambda: ("", "")))
    last: str | None = None
    due: dict[str, int] = field(default_factory=dict)

    def unmarked(self, snapshot_id: int) -> list[int]:
        """The entrants without a mark at a snapshot."""
        mask = self.masks.get(snapshot_id, 0)
        return [entrant for entrant, bit in self.bits.items() if not mask & bit]

    def post(self, entries: Iterable[PostedEntry]) -> None:
        """Add entries to what is held."""
        for entry in entries:
            self.held[entry.entrant_id].add(entry)
            self.lots = None

    def expected(self, prices: SnapshotPrices) -> dict[int, tuple[int, ...]]:
        """What the mark of each entrant must say by these prices, from its cash on."""
        self.lots = self.lots or OpenLots(self.held)
        worth, found = self.lots.worth(prices), dict[int, tuple[int, ...]]()
        for entrant_id, held in self.held.items():
            value, liquidation, stale, age = worth.get(entrant_id, NO_LOTS)
            found[entrant_id] = held.cash, value, liquidation, held.cost, held.realised, stale, age
        return found


def check_marks(facts: RecordReader, cohort: CheckedCohort) -> Generator[AnyDifference, None, MarkProgress]:
    """A cohort's snapshots, and marks that are not what they and the ledgers come to."""
    bits = {entrant: 1 << place for place, entrant in enumerate(cohort.entrants)}
    marked = MarkProgress(bits, {entrant: HoldingsSum() for entrant in cohort.entrants})
    marked.due |= cohort.frozen.times() if cohort.frozen else {}
    after = facts.after(SnapshotRow)
    posted = facts.lines(ENTRIES, cohort=cohort.id, after=after)
    entries = LinesByTime(PostedEntry(*line) for line in posted if line[0] in cohort.entrants)
    stored = groupby(facts.lines(MARKS, cohort=cohort.id, after=after), key=itemgetter(1, 2))
    marks = LinesByTime(
        MarksTogether(at, snapshot_id, [line for line in some if line[ID] in cohort.entrants])
        for (at, snapshot_id), some in stored
    )
    elsewhere = lru_cache(maxsize=2)(partial(_elsewhere, facts, cohort))
    places = RowsByParent(read_places(facts, LISTED, cohort=cohort.id, after=after))
    for snapshot in chain(facts.rows(SNAPSHOTS, cohort=cohort.id, after=after), [None]):
        here = None
        if snapshot is not None:
            listing, ended_at = places.of(snapshot["at"]), cohort.row["ended_at"]
            if listing or ended_at is None or snapshot["at"] <= ended_at:
                marked.last = snapshot["at"]  # what comes after the end and lists nothing is a correction
            marked.due.pop(snapshot["at"], None)
            yield from check_snapshot(cohort, snapshot, listing)
            here = SnapshotPrices(snapshot, listing, cohort.frozen)
        for together in marks.until(snapshot["at"] if snapshot else None):
            marked.post(entries.until(together.at))
            is_here = here is not None and here.snapshot["id"] == together.snapshot_id
            look = here if is_here else elsewhere(together.snapshot_id)
            yield from _marks(facts, cohort, together, look, marked)
    marked.post(entries.until(None))
    yield from _all_or_none(facts, cohort, marked)
    return marked


def _marks(
    facts: RecordReader,
    cohort: CheckedCohort,
    together: MarksTogether,
    look: SnapshotPrices | None,
    marked: MarkProgress,
) -> Found:
    at, times, bits = together.at, marked.times, marked.bits
    for entrant_id, *_ in together.stored:
        times[entrant_id] = times[entrant_id][1], at
        marked.masks[together.snapshot_id] |= bits[entrant_id]
    if look is None:
        return
    expected, snapshot = marked.expected(look), look.snapshot
    for line in together.stored:
        entrant_id = line[ID]
        if tuple(line[CASH:]) != expected[entrant_id] or at != snapshot["at"]:
            why, names = "by the ledger and the snapshot", (*SUMS, "at")
            wanted = zip(names, (*expected[entrant_id], snapshot["at"]), strict=True)
            yield from MARKS.own.row(line).check({name: (value, why) for name, value in wanted})
        if snapshot["cohort_id"] != cohort.id:
            key = f"{key_of(facts, snapshot)}, {cohort.entrants[entrant_id]['name']}"
            yield Difference("mark", key, "entrant_id", "a mark", None, ALL)


def _all_or_none(facts: RecordReader, cohort: CheckedCohort, marked: MarkProgress) -> Found:
    """Snapshots at which some of a cohort were marked and others were not."""
    everyone = sum(marked.bits.values())
    for snapshot_id in [snapshot_id for snapshot_id, mask in marked.masks.items() if mask != everyone]:
        snapshot = facts.find(SnapshotRow, snapshot_id)
        if snapshot is not None and snapshot["cohort_id"] == cohort.id:
            for entrant in marked.unmarked(snapshot_id):
                key = f"{key_of(facts, snapshot)}, {cohort.entrants[entrant]['name']}"
                yield Difference("mark", key, "entrant_id", None, "a mark", ALL)


def _elsewhere(facts: RecordReader, cohort: CheckedCohort, snapshot_id: int) -> SnapshotPrices | None:
    """A snapshot of another time than a mark's, or of another cohort."""
    snapshot = facts.find(SnapshotRow, snapshot_id)
    if snapshot is None:
        return None
    places = (place for _, place in read_places(facts, LISTED_ONCE, snapshot=snapshot_id))
    return SnapshotPrices(snapshot, places, cohort.frozen)


ENDS = rows_of(ResolutionRow, ResolutionRow.market_id == bindparam("market"), order=[ResolutionRow.known_at])
UNPAID = "the newest version that was learnt is paid"
MARKETS = 10_000
"""Of so many the end is remembered."""


def check_open_lots(facts: RecordReader, cohort: CheckedCohort, marked: MarkProgress) -> Found:
    """Lots of a market whose end was known at the mark before the last, or of a cohort that is over.

    An end that became known since then has not had its turn yet.
    """
    known, is_over = lru_cache(maxsize=MARKETS)(partial(_known, facts)), cohort.row["ended_at"] is not None
    for entrant_id, entrant in cohort.entrants.items():
        before, _ = marked.times[entrant_id]
        for (market, side), (shares, _) in marked.held[entrant_id].lots.items():
            at = known(market)
            late = at is not None and at <= before
            if late or is_over:
                why = "its market has ended" if late else "its cohort is over"
                key = f"{key_of(facts, entrant)}, {market} {side}"
                yield Difference("entry", key, "held", shares, 0, why)


def _known(facts: RecordReader, market: str) -> str | None:
    """When the end of a market was first known."""
    return next((row["known_at"] for row in facts.rows(ENDS, market=market)), None)


SETTLED = rows_query(
    joined(EntrantRow, EntryRow),
    RowPart(EntryRow, "entrant_id", "number", "market_id", "side", "ref"),
    where=clause(OF_A_COHORT) & col(EntryRow.ref).startswith("resolution:"),
    order=(EntryRow.entrant_id, EntryRow.number),
    again=True,
)


def check_settled(facts: RecordReader, cohort: CheckedCohort, marked: MarkProgress) -> Found:
    """Lots that are settled by a version which a newer one had replaced when they were settled last.

    A cohort that is over is settled whenever an end is learnt. Of one at a live venue it is the mark before
    the last that counts: another cohort's round may be kept under an earlier time than that of its reading.
    """
    versions, over = lru_cache(maxsize=MARKETS)(partial(_versions, facts)), cohort.row["ended_at"] is not None
    live = cohort.frozen is not None and cohort.frozen.stamp == "live"
    settled = (row for row in facts.rows(SETTLED, cohort=cohort.id) if row["entrant_id"] in cohort.entrants)
    last = {(row["entrant_id"], row["market_id"], row["side"]): row for row in settled}
    for (entrant_id, market, side), row in last.items():
        known = [v for at, v in versions(market) if over or at <= marked.times[entrant_id][0 if live else 1]]
        newest, paid = max(known, default=0), row["ref"].removeprefix("resolution:")
        if not paid.isdecimal() or int(paid) < newest:
            key = f"{key_of(facts, cohort.entrants[entrant_id])}, {market} {side}"
            yield Difference("entry", key, "ref", row["ref"], f"resolution:{newest}", UNPAID)


def _versions(facts: RecordReader, market: str) -> list[tuple[str, int]]:
    """When each version of a market's end was learnt."""
    return [(row["learnt_at"], row["version"]) for row in facts.rows(ENDS, market=market)]
