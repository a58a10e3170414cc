"""The record checked against itself, by code that shares nothing with the code that wrote it.

Each part reads the tables and nothing else of the arena: hashes are taken again, ledgers added up
again, marks worked out again, and whatever one fact says of another is compared.
"""

from collections.abc import Callable, Iterator

from sqlalchemy import Connection

from arena.store.verify.cohorts import check_cohorts
from arena.store.verify.depth import check_depth
from arena.store.verify.difference import Difference
from arena.store.verify.evidence import check_evidence, check_gathered
from arena.store.verify.facts import Facts
from arena.store.verify.fills import check_fills
from arena.store.verify.forecasts import check_forecasts
from arena.store.verify.ledgers import check_ledgers
from arena.store.verify.markets import check_items, check_markets
from arena.store.verify.marks import check_marked, check_marks
from arena.store.verify.open_lots import check_open_lots
from arena.store.verify.parents import check_parents
from arena.store.verify.postings import check_postings
from arena.store.verify.profits import check_profits
from arena.store.verify.quotes import check_quotes
from arena.store.verify.resolutions import check_resolutions
from arena.store.verify.rounds import check_rounds
from arena.store.verify.seals import check_seals
from arena.store.verify.sizes import check_sizes
from arena.store.verify.syncs import check_asides, check_prunes, check_syncs
from arena.store.verify.turns import check_calls, check_turns
from arena.store.verify.wishes import check_wishes

__all__ = ["Difference", "verify"]

CHECKS: tuple[Callable[[Facts], Iterator[Difference]], ...] = (
    check_parents,
    check_seals,
    check_cohorts,
    check_rounds,
    check_markets,
    check_items,
    check_syncs,
    check_prunes,
    check_asides,
    check_resolutions,
    check_evidence,
    check_gathered,
    check_turns,
    check_forecasts,
    check_calls,
    check_postings,
    check_fills,
    check_depth,
    check_quotes,
    check_sizes,
    check_wishes,
    check_ledgers,
    check_profits,
    check_marks,
    check_marked,
    check_open_lots,
)


def verify(connection: Connection) -> list[Difference]:
    """Everything in the record that contradicts something else in it; nothing when all is well."""
    facts = Facts(connection)
    found = [difference for check in CHECKS for difference in check(facts)]
    unreadable = [difference for table in facts.unreadable.values() for difference in table]
    return list(dict.fromkeys(unreadable + found))
