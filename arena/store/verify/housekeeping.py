"""What was let go, and what was set aside."""

from collections.abc import Iterator

from arena.store.tables import PRUNE, SET_ASIDE
from arena.store.verify.difference import Difference
from arena.store.verify.facts import Facts
from arena.store.verify.naming import differs, numbered
from arena.store.verify.query import rows_of

PRUNES, ASIDES = rows_of(PRUNE, order=[PRUNE.c.number]), rows_of(SET_ASIDE)
KINDS = ("article", "market", "page", "quote", "resolution")


def check_prunes(facts: Facts) -> Iterator[Difference]:
    """Prunings that are missing, or that let nothing go or what was still to come."""
    yield from numbered(facts, PRUNE, facts.rows(PRUNES), "number", 1)
    for row in facts.rows(PRUNES):
        if row["quotes"] < 1:
            yield differs(facts, PRUNE, row, "quotes", "1 or more", "it is kept when a quote goes")
        if row["older_than"] > row["at"]:
            yield differs(facts, PRUNE, row, "older_than", f"{row['at']} or before", "it had passed")


def check_asides(facts: Facts) -> Iterator[Difference]:
    """What was set aside at times or as often as can't be."""
    for row in facts.rows(ASIDES):
        if row["kind"] not in KINDS:
            yield differs(facts, SET_ASIDE, row, "kind", " or ".join(KINDS), "there is no other")
        if row["times"] < 1:
            yield differs(facts, SET_ASIDE, row, "times", "1 or more", "it was seen")
        if row["first_seen_at"] > row["last_seen_at"]:
            expected = f"{row['last_seen_at']} or before"
            yield differs(facts, SET_ASIDE, row, "first_seen_at", expected, "it was seen last after that")
