"""Rounds against their cohort's schedule, their snapshot, and what must be in when they are done."""

from collections.abc import Iterator

from arena.store.tables import ENTRANT, MARK, ROUND, SNAPSHOT, TURN
from arena.store.verify.difference import Difference
from arena.store.verify.facts import Facts, Row
from arena.store.verify.frozen import Frozen, frozen_cohorts
from arena.store.verify.naming import differs


def check_rounds(facts: Facts) -> Iterator[Difference]:
    """Rounds off their schedule, with another's snapshot, or done with something missing."""
    cohorts, snapshots = frozen_cohorts(facts), facts.by_id(SNAPSHOT)
    turns, marks = facts.grouped(TURN, "round_id"), facts.grouped(MARK, "snapshot_id")
    entrants = facts.grouped(ENTRANT, "cohort_id")
    for row in facts.rows(ROUND):
        if (frozen := cohorts.get(row["cohort_id"])) is not None:
            yield from _schedule(facts, row, frozen)
        snapshot = snapshots.get(row["snapshot_id"])
        if snapshot is not None and (snapshot["cohort_id"], snapshot["at"]) != (row["cohort_id"], row["at"]):
            yield differs(facts, ROUND, row, "snapshot_id", "its own", f"that one is of {snapshot['at']}")
        if snapshot is not None and snapshot["taken_at"] < snapshot["at"]:
            late = f"{snapshot['at']} or later"
            yield differs(facts, SNAPSHOT, snapshot, "taken_at", late, "nobody decides before the time")
        everyone = {entrant["id"] for entrant in entrants[row["cohort_id"]]}
        silent = everyone - {turn["entrant_id"] for turn in turns[row["id"]]}
        failed = any(turn["verdict"] == "failed" for turn in turns[row["id"]])
        unmarked = everyone - {mark["entrant_id"] for mark in marks[row["snapshot_id"]]}
        yield from _done(facts, row, len(silent), len(unmarked), failed)


def _schedule(facts: Facts, row: Row, frozen: Frozen) -> Iterator[Difference]:
    if not 1 <= row["number"] <= frozen.rounds:
        yield differs(facts, ROUND, row, "number", f"1 to {frozen.rounds}", "so many rounds were frozen")
    if row["at"] != frozen.decides_at(row["number"]):
        yield differs(facts, ROUND, row, "at", frozen.decides_at(row["number"]), "so the schedule was frozen")


def _done(facts: Facts, row: Row, silent: int, unmarked: int, failed: bool) -> Iterator[Difference]:
    if row["done"] not in (0, 1):
        yield differs(facts, ROUND, row, "done", "0 or 1", "a round is done or it is not")
    elif row["done"] and (silent or unmarked):
        yield differs(facts, ROUND, row, "done", 0, f"{silent} turns and {unmarked} marks are missing")
    elif not row["done"] and not unmarked and not failed:
        yield differs(facts, ROUND, row, "done", 1, "every mark is in, and no turn can be tried again")
