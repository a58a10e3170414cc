"""Fills with all that they stand on."""

from collections.abc import Iterator
from dataclasses import dataclass

from arena.store.tables import FILL, LEVEL, ROUND, SNAPSHOT, TURN
from arena.store.verify.facts import Facts, Listed, Row
from arena.store.verify.frozen import Frozen, frozen_cohorts


@dataclass(frozen=True, slots=True)
class Deal:
    """A fill, its levels, and what it stands on. `listed` and `frozen` are None where they are missing.

    `seen_at` is when the snapshot was looked at.
    """

    fill: Row
    levels: tuple[Row, ...]
    turn: Row
    round: Row
    seen_at: str
    listed: Listed | None
    frozen: Frozen | None

    @property
    def buys(self) -> bool:
        """Whether it is a purchase."""
        return bool(self.fill["action"] == "buy")


def deals(facts: Facts) -> Iterator[Deal]:
    """Every fill whose turn and round are there, turn by turn and in order."""
    turns, rounds, frozen = facts.by_id(TURN), facts.by_id(ROUND), frozen_cohorts(facts)
    listed = {(s, place[0]["market_id"]): place for s, places in facts.listed.items() for place in places}
    levels, snapshots = facts.grouped(LEVEL, "fill_id"), facts.by_id(SNAPSHOT)
    for fill in sorted(facts.rows(FILL), key=lambda row: (row["turn_id"], row["position"])):
        turn = turns.get(fill["turn_id"])
        round = rounds.get(turn["round_id"]) if turn else None
        if turn is None or round is None:
            continue
        place = listed.get((round["snapshot_id"], fill["market_id"]))
        seen_at = snapshots[round["snapshot_id"]]["taken_at"] if round["snapshot_id"] in snapshots else ""
        cohort, parts = frozen.get(round["cohort_id"]), tuple(levels[fill["id"]])
        yield Deal(fill, parts, turn, round, seen_at or round["at"], place, cohort)
