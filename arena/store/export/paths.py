"""How rows are named without ids: by the numbers of cohort and round, agents' names, markets' ids."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Column, ColumnElement, FromClause, Table, select

from arena.store.export.sheet import Field, Parent, Some, field
from arena.store.tables import (
    COHORT,
    ENTRANT,
    FILL,
    GATHERING,
    ITEM,
    QUOTE,
    ROUND,
    SNAPSHOT,
    SYNC,
    TURN,
    VERSION,
)

COHORT_NUMBER = field(COHORT.c.number, "the cohort's number", name="cohort")
ROUND_NUMBER = field(ROUND.c.number, "the round's number in its cohort, from 1", name="round")
AGENT = field(ENTRANT.c.name, "the agent's name in the line-up", name="agent")

PLACE: tuple[Field, ...] = (COHORT_NUMBER, ROUND_NUMBER, AGENT)
"""What a turn is named by."""
PLACES = ("cohort", "round", "agent")
PLACE_ORDER = (COHORT.c.number, ROUND.c.number, ENTRANT.c.position)


def of_cohort(table: Table) -> FromClause:
    """Rows of a cohort, with it."""
    return table.join(COHORT, table.c.cohort_id == COHORT.c.id)


def of_round(table: Table) -> FromClause:
    """Rows of a round, with it and its cohort."""
    joined = table.join(ROUND, table.c.round_id == ROUND.c.id)
    return joined.join(COHORT, ROUND.c.cohort_id == COHORT.c.id)


def of_entrant(table: Table) -> FromClause:
    """Rows of an entrant, with it and its cohort."""
    joined = table.join(ENTRANT, table.c.entrant_id == ENTRANT.c.id)
    return joined.join(COHORT, ENTRANT.c.cohort_id == COHORT.c.id)


def placed(table: Table) -> FromClause:
    """Rows of a round and an entrant, with both and the cohort."""
    return of_round(table).join(ENTRANT, table.c.entrant_id == ENTRANT.c.id)


def of_turn(table: Table) -> FromClause:
    """Rows of a turn, with it and all that names it."""
    return placed(TURN).join(table, table.c.turn_id == TURN.c.id)


def in_cohorts(numbers: Sequence[int]) -> ColumnElement[bool]:
    """Rows that are read together with their cohort."""
    return COHORT.c.number.in_(numbers)


def seen(column: Column[Any], listed: Column[Any]) -> Some:
    """Rows whose column is one of those that the snapshots of some cohorts list."""
    joined = ITEM.join(SNAPSHOT, ITEM.c.snapshot_id == SNAPSHOT.c.id)
    known = select(listed).select_from(joined.join(COHORT, SNAPSHOT.c.cohort_id == COHORT.c.id))
    return lambda numbers: column.in_(known.where(in_cohorts(numbers)))


def parent(column: str, id: Column[Any], path: FromClause, **names: Column[Any]) -> Parent:
    """The row behind a column, by the columns of the record that name it: `cohort=COHORT.c.number`."""
    ids = select(id, *names.values()).select_from(path)
    return Parent(column, tuple(names), tuple(names.values()), ids)


TURN_NAMES: dict[str, Column[Any]] = {
    "cohort": COHORT.c.number,
    "round": ROUND.c.number,
    "agent": ENTRANT.c.name,
}
ITS_COHORT = parent("cohort_id", COHORT.c.id, COHORT, cohort=COHORT.c.number)
ITS_ENTRANT = parent(
    "entrant_id", ENTRANT.c.id, of_cohort(ENTRANT), cohort=COHORT.c.number, agent=ENTRANT.c.name
)
ITS_ROUND = parent("round_id", ROUND.c.id, of_cohort(ROUND), cohort=COHORT.c.number, round=ROUND.c.number)
ITS_SNAPSHOT = parent(
    "snapshot_id", SNAPSHOT.c.id, of_cohort(SNAPSHOT), cohort=COHORT.c.number, at=SNAPSHOT.c.at
)
ITS_PAGE = parent("version_id", VERSION.c.id, VERSION, market_id=VERSION.c.market_id, page=VERSION.c.version)
ITS_QUOTE = parent(
    "quote_id", QUOTE.c.id, QUOTE, market_id=QUOTE.c.market_id, quote_at=QUOTE.c.at, quote_hash=QUOTE.c.hash
)
ITS_TURN = parent("turn_id", TURN.c.id, placed(TURN), **TURN_NAMES)
ITS_FILL = parent("fill_id", FILL.c.id, of_turn(FILL), **TURN_NAMES, fill=FILL.c.position)
ITS_GATHERING = parent(
    "gathering_id", GATHERING.c.id, of_round(GATHERING), cohort=COHORT.c.number, round=ROUND.c.number
)
ITS_SYNC = parent("sync_id", SYNC.c.id, SYNC, venue=SYNC.c.venue, sync=SYNC.c.number)
