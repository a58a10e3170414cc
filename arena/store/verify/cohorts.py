"""Cohorts against what they froze: line-up, prompts, and when they start and end."""

from collections.abc import Iterator

from arena.store.tables import COHORT, PROMPT
from arena.store.verify.difference import Difference
from arena.store.verify.facts import Facts
from arena.store.verify.frozen import Frozen
from arena.store.verify.naming import compared, differs, key_of
from arena.store.verify.parts import Row
from arena.store.verify.played import Played

COLUMNS = ("position", "name", "kind", "settings")
NOBODY = (None,) * len(COLUMNS)


def check_cohort(facts: Facts, cohort: Played) -> Iterator[Difference]:
    """A cohort and entrants that are not as they were frozen."""
    row, frozen = cohort.row, cohort.frozen
    if frozen is None:
        yield differs(facts, COHORT, row, "frozen", "a cohort as JSON", "it can't be read")
        return
    own = {name: (getattr(frozen, name), "so it was frozen") for name in ("number", "starts_at")}
    yield from compared(facts, COHORT, row, own)
    if unknown := sorted(hash for hash in frozen.prompts if facts.find(PROMPT, hash) is None):
        yield differs(facts, COHORT, row, "frozen", "known prompts", f"it froze the prompt {unknown[0]}")
    yield from _line_up(key_of(facts, COHORT, row), frozen, list(cohort.entrants.values()))


def check_end(facts: Facts, cohort: Played, last: str | None) -> Iterator[Difference]:
    """A cohort that ended at another time than that of its last snapshot."""
    if cohort.row["ended_at"] not in (None, last):
        yield differs(facts, COHORT, cohort.row, "ended_at", last, "it ends with its last snapshot")


def _line_up(key: str, frozen: Frozen, rows: list[Row]) -> Iterator[Difference]:
    """The entrants of a cohort, place by place."""
    expected = {entrant[0]: entrant for entrant in frozen.entrants}
    found = {row["position"]: tuple(row[name] for name in COLUMNS) for row in rows}
    for place in sorted({*expected, *found}):
        there, frozen_ones = found.get(place, NOBODY), expected.get(place, NOBODY)
        for column, value, wanted in zip(COLUMNS, there, frozen_ones, strict=True):
            if value != wanted:
                yield Difference(
                    "entrant", f"{key}, place {place}", column, value, wanted, "so it was frozen"
                )
