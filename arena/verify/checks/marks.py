"""Marks worked out again from ledgers and quotes, snapshot by snapshot, with what everyone held by then.

A lot is worth its shares at the mid, or at the last trade where there is no mid, or its cost where there
is neither; sold at once it brings its shares at the bid, or nothing. The price of a NO share is 1 less
that of a YES share. A lot is stale without a mid, or if its quote is older than the cohort's rules allow. The
age of a mark is that of the oldest quote that prices a lot.

Lots that should have been settled and were not.
"""

from collections import defaultdict
from collections.abc import Generator, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache, partial
from itertools import chain
from typing import NamedTuple

from sqlalchemy import bindparam

from arena.record.schema.cohort import EntrantRow, SnapshotRow
from arena.record.schema.ledger import EntryRow, MarkRow
from arena.record.schema.typed import clause, col, joined
from arena.record.schema.world import ResolutionRow
from arena.verify.checks.ledgers import check_total
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
from arena.verify.ledger import LedgerSums
from arena.verify.reader import (
    RecordReader,
    RowPart,
    RowsByParent,
    RowsByTime,
    RowsQuery,
    moment,
    rows_of,
    rows_query,
)
from arena.verify.row_names import key_of

Key = tuple[str, str]


class SnapshotPrice(NamedTuple):
    """What a snapshot says of a market's side: a price and its age in seconds, what a sale brings, whether a
    mark is stale."""

    price: int | None
    bid: int
    age: int
    stale: bool


DAY = 86_400
NOTHING = SnapshotPrice(None, 0, 0, True)


@dataclass(slots=True)
class HoldingsSum:
    """What a ledger comes to at some time: cash, what was realised, and lots of shares and their cost."""

    cash: int = 0
    realised: int = 0
    lots: dict[Key, tuple[int, int]] = field(default_factory=dict)

    def add(self, row: Row) -> None:
        """One more entry."""
        key = row["market_id"], row["side"]
        shares, cost = self.lots.pop(key, (0, 0))
        self.cash, self.realised = self.cash + row["cash"], self.realised + row["realised"]
        if shares + row["shares"]:
            self.lots[key] = shares + row["shares"], cost + row["cost"]


class SnapshotPrices(dict[Key, SnapshotPrice]):
    """What a snapshot says of the price of each market and side, worked out for those that somebody holds."""

    def __init__(self, snapshot: Row, places: Iterable[ListedPlace], frozen: FrozenCohort | None):
        super().__init__()
        self.snapshot = snapshot
        self._taken_at = moment(snapshot["taken_at"])
        self._places = {place.market_id: place for place in places}
        self._oldest = frozen.max_quote_age if frozen else None

    def __missing__(self, key: Key) -> SnapshotPrice:
        place, price = self._places.get(key[0]), NOTHING
        if place is not None and place.quote_market is not None:
            quoted, age, aged = moment(place.quoted_at or ""), 0, False
            if self._taken_at and quoted:
                since = self._taken_at - quoted
                age = since.days * DAY + since.seconds
                aged = self._oldest is not None and (age, since.microseconds) > (self._oldest, 0)
            own, bid = place.last if place.mid is None else place.mid, place.bid
            if key[1] != "YES":
                own = None if own is None else ONE - own
                bid = None if place.ask is None else ONE - place.ask
            price = SnapshotPrice(own, bid or 0, 0 if own is None else age, aged or place.mid is None)
        self[key] = price
        return price


def expected_mark(held: HoldingsSum, prices: SnapshotPrices) -> dict[str, int | str]:
    """What a mark of these holdings must say."""
    value = liquidation = costs = stale = age = 0
    for key, (shares, cost) in held.lots.items():
        price, bid, past, is_stale = prices[key]
        value += cost if price is None else shares * price // ONE
        if past > age:  # not by max(): of a year there are millions
            age = past
        liquidation += shares * bid // ONE
        stale += is_stale
        costs += cost
    return {
        "cash": held.cash,
        "value": value,
        "liquidation": liquidation,
        "cost": costs,
        "realised": held.realised,
        "stale": stale,
        "age": age,
    }


OF_A_COHORT = EntrantRow.cohort_id == bindparam("cohort")
ENTRIES = rows_query(
    joined(EntrantRow, EntryRow),
    RowPart(EntryRow, "entrant_id", "at", "market_id", "side", "cash", "shares", "cost", "realised"),
    where=OF_A_COHORT,
    order=(EntryRow.at, EntryRow.entrant_id, EntryRow.number),
    again=True,
)
MARKS = rows_query(
    joined(EntrantRow, MarkRow),
    MarkRow,
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
    masks: dict[int, int] = field(default_factory=lambda: defaultdict(int))
    times: dict[int, tuple[str, str]] = field(default_factory=lambda: defaultdict(lambda: ("", "")))
    last: str | None = None
    due: dict[str, int] = field(default_factory=dict)

    def unmarked(self, snapshot_id: int) -> list[int]:
        """The entrants without a mark at a snapshot."""
        mask = self.masks.get(snapshot_id, 0)
        return [entrant for entrant, bit in self.bits.items() if not mask & bit]


def check_marks(
    facts: RecordReader, cohort: CheckedCohort, books: Mapping[int, LedgerSums]
) -> Generator[AnyDifference, None, MarkProgress]:
    """A cohort's snapshots, and marks that are not what they and the ledgers come to."""
    bits = {entrant: 1 << place for place, entrant in enumerate(cohort.entrants)}
    marked = MarkProgress(bits, {entrant: HoldingsSum() for entrant in cohort.entrants})
    marked.due |= cohort.frozen.times() if cohort.frozen else {}
    entries, marks = (RowsByTime(_in_line_up(facts, cohort, query)) for query in (ENTRIES, MARKS))
    after = facts.after(SnapshotRow)
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
        for row in marks.until(snapshot["at"] if snapshot else None):
            _post(entries.until(row["at"]), marked)
            is_here = here is not None and here.snapshot["id"] == row["snapshot_id"]
            look = here if is_here else elsewhere(row["snapshot_id"])
            yield from _mark(facts, cohort, row, look, marked)
            yield from check_total(facts, row, books[row["entrant_id"]].given)
    _post(entries.until(None), marked)
    yield from _all_or_none(facts, cohort, marked)
    return marked


def _in_line_up(facts: RecordReader, cohort: CheckedCohort, query: RowsQuery) -> Iterator[Row]:
    rows = facts.rows(query, cohort=cohort.id, after=facts.after(SnapshotRow))
    return (row for row in rows if row["entrant_id"] in cohort.entrants)


def _post(entries: Iterator[Row], marked: MarkProgress) -> None:
    for entry in entries:
        marked.held[entry["entrant_id"]].add(entry)


def _mark(
    facts: RecordReader, cohort: CheckedCohort, row: Row, look: SnapshotPrices | None, marked: MarkProgress
) -> Found:
    id = row["entrant_id"]
    marked.times[id] = marked.times[id][1], row["at"]
    marked.masks[row["snapshot_id"]] |= marked.bits[id]
    if look is None:
        return
    expected = expected_mark(marked.held[id], look) | {"at": look.snapshot["at"]}
    if row | expected != row:
        why = "by the ledger and the snapshot"
        yield from row.check({name: (value, why) for name, value in expected.items()})
    if look.snapshot["cohort_id"] != cohort.id:
        key = f"{key_of(facts, look.snapshot)}, {cohort.entrants[id]['name']}"
        yield Difference("mark", key, "entrant_id", "a mark", None, ALL)


def _all_or_none(facts: RecordReader, cohort: CheckedCohort, marked: MarkProgress) -> Found:
    """Snapshots at which some of a cohort were marked and others were not."""
    everyone = sum(marked.bits.values())
    for id in [id for id, mask in marked.masks.items() if mask != everyone]:
        snapshot = facts.find(SnapshotRow, id)
        if snapshot is not None and snapshot["cohort_id"] == cohort.id:
            for entrant in marked.unmarked(id):
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
    for id, entrant in cohort.entrants.items():
        before, _ = marked.times[id]
        for (market, side), (shares, _) in marked.held[id].lots.items():
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
    settled = _in_line_up(facts, cohort, SETTLED)
    last = {(row["entrant_id"], row["market_id"], row["side"]): row for row in settled}
    for (id, market, side), row in last.items():
        known = [v for at, v in versions(market) if over or at <= marked.times[id][0 if live else 1]]
        newest, paid = max(known, default=0), row["ref"].removeprefix("resolution:")
        if not paid.isdecimal() or int(paid) < newest:
            key = f"{key_of(facts, cohort.entrants[id])}, {market} {side}"
            yield Difference("entry", key, "ref", row["ref"], f"resolution:{newest}", UNPAID)


def _versions(facts: RecordReader, market: str) -> list[tuple[str, int]]:
    """When each version of a market's end was learnt."""
    return [(row["learnt_at"], row["version"]) for row in facts.rows(ENDS, market=market)]
