"""Lots that should have been settled and were not."""

from collections.abc import Iterator

from arena.store.tables import COHORT, ENTRANT, ENTRY, MARK, RESOLUTION
from arena.store.verify.difference import Difference
from arena.store.verify.facts import Facts
from arena.store.verify.marks import Held
from arena.store.verify.naming import key_of


def check_open_lots(facts: Facts) -> Iterator[Difference]:
    """Lots of a market whose end was known at the mark before the last, or of a cohort that is over.

    An end that became known since then has not had its turn yet.
    """
    ended = {row["id"] for row in facts.rows(COHORT) if row["ended_at"] is not None}
    entries, marks, known = (
        facts.grouped(ENTRY, "entrant_id"),
        facts.grouped(MARK, "entrant_id"),
        _known(facts),
    )
    for entrant in facts.rows(ENTRANT):
        held = Held()
        for row in entries[entrant["id"]]:
            held.add(row)
        times = sorted(row["at"] for row in marks[entrant["id"]])
        before = times[-2] if len(times) > 1 else ""
        for (market, side), (shares, _) in held.lots.items():
            late = market in known and known[market] <= before
            if late or entrant["cohort_id"] in ended:
                why = "its market has ended" if late else "its cohort is over"
                key = f"{key_of(facts, ENTRANT, entrant)}, {market} {side}"
                yield Difference("entry", key, "held", shares, 0, why)


def _known(facts: Facts) -> dict[str, str]:
    """When the end of each market was first known."""
    rows = sorted(facts.rows(RESOLUTION), key=lambda row: str(row["known_at"]), reverse=True)
    return {row["market_id"]: row["known_at"] for row in rows}
