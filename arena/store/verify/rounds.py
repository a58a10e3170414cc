"""Rounds against their cohort's schedule, their snapshot, and what must be in when they are done."""

from collections.abc import Iterator

from arena.store.tables import ROUND, SNAPSHOT
from arena.store.verify.difference import Difference
from arena.store.verify.facts import Facts
from arena.store.verify.frozen import Frozen
from arena.store.verify.naming import differs
from arena.store.verify.parts import Row
from arena.store.verify.shown import Shown


def check_round(facts: Facts, shown: Shown) -> Iterator[Difference]:
    """A round off its schedule, or with another's snapshot."""
    row, snapshot = shown.round, shown.snapshot
    if shown.cohort.frozen is not None:
        yield from _schedule(facts, row, shown.cohort.frozen)
    if snapshot is not None and (snapshot["cohort_id"], snapshot["at"]) != (row["cohort_id"], row["at"]):
        yield differs(facts, ROUND, row, "snapshot_id", "its own", f"that one is of {snapshot['at']}")
    if snapshot is not None and snapshot["taken_at"] < snapshot["at"]:
        late = f"{snapshot['at']} or later"
        yield differs(facts, SNAPSHOT, snapshot, "taken_at", late, "nobody decides before the time")


def _schedule(facts: Facts, row: Row, frozen: Frozen) -> Iterator[Difference]:
    if not 1 <= row["number"] <= frozen.rounds:
        yield differs(facts, ROUND, row, "number", f"1 to {frozen.rounds}", "so many rounds were frozen")
    if row["at"] != frozen.decides_at(row["number"]):
        yield differs(facts, ROUND, row, "at", frozen.decides_at(row["number"]), "so the schedule was frozen")


def check_done(facts: Facts, row: Row, silent: int, unmarked: int, failed: bool) -> Iterator[Difference]:
    """A round that says it is done with something missing, or that it is not with everything there."""
    if row["done"] not in (0, 1):
        yield differs(facts, ROUND, row, "done", "0 or 1", "a round is done or it is not")
    elif row["done"] and (silent or unmarked):
        yield differs(facts, ROUND, row, "done", 0, f"{silent} turns and {unmarked} marks are missing")
    elif not row["done"] and not unmarked and not failed:
        yield differs(facts, ROUND, row, "done", 1, "every mark is in, and no turn can be tried again")
