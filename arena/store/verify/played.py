"""A cohort while it is checked: what it froze, its line-up, its rounds, and what its snapshots list."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sqlalchemy import FromClause, Select, bindparam, select

from arena.store.tables import ENTRANT, ITEM, QUOTE, ROUND, SNAPSHOT, VERSION
from arena.store.verify.facts import Facts
from arena.store.verify.frozen import Frozen, frozen_of
from arena.store.verify.parts import Part, Row, whole
from arena.store.verify.query import Query, rows_of

Listed = tuple[Row, Row | None, Row | None]
"""A place in a snapshot: the item, the market's page and its quote."""

PAGE = Part(VERSION, "id", "market_id", "closes_at", "tick", "fee_rate", "min_shares", "hash")
PRICE = Part(QUOTE, "id", "market_id", "at", "bid", "ask", "mid", "last", "hash")
BOOK = Part(QUOTE, *PRICE.names, "book")


def _with_what_was_seen(source: FromClause) -> Select[tuple[()]]:
    """Places in snapshots with their pages and prices."""
    pages = source.outerjoin(VERSION, VERSION.c.id == ITEM.c.version_id)
    return select().select_from(pages.outerjoin(QUOTE, QUOTE.c.id == ITEM.c.quote_id))


MINE: Any = bindparam("cohort")
ENTRANTS = rows_of(ENTRANT, ENTRANT.c.cohort_id == MINE)
SNAPSHOTS = rows_of(SNAPSHOT, SNAPSHOT.c.cohort_id == MINE, order=[SNAPSHOT.c.at])
ROUNDS = rows_of(ROUND, ROUND.c.cohort_id == MINE, order=[ROUND.c.number])
LISTED = Query(
    _with_what_was_seen(SNAPSHOT.join(ITEM, ITEM.c.snapshot_id == SNAPSHOT.c.id))
    .where(SNAPSHOT.c.cohort_id == MINE)
    .order_by(SNAPSHOT.c.at, ITEM.c.position),
    whole(ITEM),
    PAGE,
    PRICE,
    Part(SNAPSHOT, "at"),
)
LISTING = Query(
    _with_what_was_seen(ITEM).where(ITEM.c.snapshot_id == bindparam("snapshot")).order_by(ITEM.c.position),
    whole(ITEM),
    PAGE,
    BOOK,
    again=True,
)


@dataclass(frozen=True, slots=True)
class Played:
    """A cohort: entrants by id and rounds in order; `frozen` is None where it can't be read."""

    row: Row
    frozen: Frozen | None
    entrants: dict[int, Row]
    rounds: tuple[Row, ...]

    @property
    def id(self) -> int:
        """The id of its row."""
        return int(self.row["id"])


def played(facts: Facts, row: Row) -> Played:
    """The cohort of a row."""
    id = row["id"]
    entrants = {entrant["id"]: entrant for entrant in facts.rows(ENTRANTS, cohort=id)}
    return Played(row, frozen_of(row["frozen"]), entrants, tuple(facts.rows(ROUNDS, cohort=id)))


def listed(facts: Facts, cohort: Played) -> Iterator[tuple[str, Listed]]:
    """All that a cohort's snapshots list, in the order of time, with that time; books are left out."""
    for item, page, price, snapshot in facts.read(LISTED, cohort=cohort.id):
        if snapshot is not None:
            yield snapshot["at"], (item, page, price)


def listing(facts: Facts, snapshot_id: int) -> tuple[Listed, ...]:
    """What one snapshot lists, with the books."""
    return tuple((item, page, price) for item, page, price in facts.read(LISTING, snapshot=snapshot_id))
