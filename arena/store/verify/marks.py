"""Marks worked out again, snapshot by snapshot in the order of time, with what everyone held by then."""

from collections import defaultdict
from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache, partial
from itertools import chain
from typing import NamedTuple

from sqlalchemy import bindparam, select

from arena.store.tables import ENTRANT, ENTRY, MARK, SNAPSHOT
from arena.store.verify.books import Books
from arena.store.verify.difference import Difference
from arena.store.verify.facts import Facts, Following, InTime
from arena.store.verify.naming import compared, key_of
from arena.store.verify.parts import Part, Row, whole
from arena.store.verify.played import SNAPSHOTS, Played, listed, listing
from arena.store.verify.profits import check_total
from arena.store.verify.query import Query
from arena.store.verify.snapshots import check_snapshot
from arena.store.verify.values import Held, Price, prices_of, valued

OF_A_COHORT = ENTRANT.c.cohort_id == bindparam("cohort")
ENTRIES = Query(
    select()
    .select_from(ENTRANT.join(ENTRY, ENTRY.c.entrant_id == ENTRANT.c.id))
    .where(OF_A_COHORT)
    .order_by(ENTRY.c.at, ENTRY.c.entrant_id, ENTRY.c.number),
    Part(ENTRY, "entrant_id", "at", "market_id", "side", "cash", "shares", "cost", "realised"),
    again=True,
)
MARKS = Query(
    select()
    .select_from(ENTRANT.join(MARK, MARK.c.entrant_id == ENTRANT.c.id))
    .where(OF_A_COHORT)
    .order_by(MARK.c.at, MARK.c.entrant_id),
    whole(MARK),
)
ALL = "all of a cohort are marked, and only they"


class Look(NamedTuple):
    """A snapshot, and the prices in it."""

    snapshot: Row
    prices: Mapping[str, Price]


@dataclass
class Marked:
    """What everyone holds as time goes on, who was marked at each snapshot (a bit for each entrant, in the
    order of the line-up), the times of the last two marks of each, and of the last snapshot."""

    bits: dict[int, int]
    held: dict[int, Held]
    masks: dict[int, int] = field(default_factory=lambda: defaultdict(int))
    times: dict[int, tuple[str, str]] = field(default_factory=lambda: defaultdict(lambda: ("", "")))
    last: str | None = None

    def unmarked(self, snapshot_id: int) -> list[int]:
        """The entrants without a mark at a snapshot."""
        mask = self.masks.get(snapshot_id, 0)
        return [entrant for entrant, bit in self.bits.items() if not mask & bit]


def check_marks(
    facts: Facts, cohort: Played, books: Mapping[int, Books]
) -> Generator[Difference, None, Marked]:
    """A cohort's snapshots, and marks that are not what they and the ledgers come to."""
    bits = {entrant: 1 << place for place, entrant in enumerate(cohort.entrants)}
    marked = Marked(bits, {entrant: Held() for entrant in cohort.entrants})
    entries, marks = (InTime(_in_line_up(facts, cohort, query)) for query in (ENTRIES, MARKS))
    elsewhere = lru_cache(maxsize=2)(partial(_elsewhere, facts, cohort))
    places = Following(listed(facts, cohort))
    for snapshot in chain(facts.rows(SNAPSHOTS, cohort=cohort.id), [None]):
        here = None
        if snapshot is not None:
            marked.last, listing = snapshot["at"], places.of(snapshot["at"])
            yield from check_snapshot(facts, cohort, snapshot, listing)
            here = Look(snapshot, prices_of(listing, snapshot, cohort.frozen))
        for row in marks.until(snapshot["at"] if snapshot else None):
            _post(entries.until(row["at"]), marked)
            is_here = here is not None and here.snapshot["id"] == row["snapshot_id"]
            look = here if is_here else elsewhere(row["snapshot_id"])
            yield from _mark(facts, cohort, row, look, marked)
            yield from check_total(facts, row, books[row["entrant_id"]].given)
    _post(entries.until(None), marked)
    yield from _all_or_none(facts, cohort, marked)
    return marked


def _in_line_up(facts: Facts, cohort: Played, query: Query) -> Iterator[Row]:
    return (row for row in facts.rows(query, cohort=cohort.id) if row["entrant_id"] in cohort.entrants)


def _post(entries: Iterator[Row], marked: Marked) -> None:
    for entry in entries:
        marked.held[entry["entrant_id"]].add(entry)


def _mark(facts: Facts, cohort: Played, row: Row, look: Look | None, marked: Marked) -> Iterator[Difference]:
    id = row["entrant_id"]
    marked.times[id] = marked.times[id][1], row["at"]
    marked.masks[row["snapshot_id"]] |= marked.bits[id]
    if look is None:
        return
    expected = valued(marked.held[id], look.prices) | {"at": look.snapshot["at"]}
    if row | expected != row:
        why = "so say the ledger and the snapshot"
        yield from compared(facts, MARK, row, {name: (value, why) for name, value in expected.items()})
    if look.snapshot["cohort_id"] != cohort.id:
        key = f"{key_of(facts, SNAPSHOT, look.snapshot)}, {cohort.entrants[id]['name']}"
        yield Difference("mark", key, "entrant_id", "a mark", None, ALL)


def _all_or_none(facts: Facts, cohort: Played, marked: Marked) -> Iterator[Difference]:
    """Snapshots at which some of a cohort were marked and others were not."""
    everyone = sum(marked.bits.values())
    for id in [id for id, mask in marked.masks.items() if mask != everyone]:
        snapshot = facts.find(SNAPSHOT, id)
        if snapshot is not None and snapshot["cohort_id"] == cohort.id:
            for entrant in marked.unmarked(id):
                key = f"{key_of(facts, SNAPSHOT, snapshot)}, {cohort.entrants[entrant]['name']}"
                yield Difference("mark", key, "entrant_id", None, "a mark", ALL)


def _elsewhere(facts: Facts, cohort: Played, snapshot_id: int) -> Look | None:
    """A snapshot of another time than a mark's, or of another cohort."""
    snapshot = facts.find(SNAPSHOT, snapshot_id)
    if snapshot is None:
        return None
    return Look(snapshot, prices_of(listing(facts, snapshot_id), snapshot, cohort.frozen))
