"""Lots that should have been settled and were not."""

from collections.abc import Iterator
from functools import lru_cache, partial

from sqlalchemy import bindparam

from arena.store.tables import ENTRANT, RESOLUTION
from arena.store.verify.difference import Difference
from arena.store.verify.facts import Facts
from arena.store.verify.marks import Marked
from arena.store.verify.naming import key_of
from arena.store.verify.played import Played
from arena.store.verify.query import rows_of

ENDS = rows_of(RESOLUTION, RESOLUTION.c.market_id == bindparam("market"), order=[RESOLUTION.c.known_at])
MARKETS = 10_000
"""Of so many the end is remembered."""


def check_open_lots(facts: Facts, cohort: Played, marked: Marked) -> Iterator[Difference]:
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
                key = f"{key_of(facts, ENTRANT, entrant)}, {market} {side}"
                yield Difference("entry", key, "held", shares, 0, why)


def _known(facts: Facts, market: str) -> str | None:
    """When the end of a market was first known."""
    return next((row["known_at"] for row in facts.rows(ENDS, market=market)), None)
