"""From the record to a cohort as it was last marked: ledgers, prices, and what its markets ask."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import ColumnElement, Connection, func, select

from arena.record.queries.ledgers import read_ledgers
from arena.record.queries.read import snapshot
from arena.record.schema.tables import ENTRANT, ENTRY, MARK, VERSION
from markets.model import MarketId, Snapshot
from portfolio.model import Entry


@dataclass(frozen=True, slots=True)
class Marked:
    """A cohort at its newest mark: every ledger until then, and the snapshot that it was valued at."""

    at: datetime
    snapshot: Snapshot
    ledgers: Mapping[str, list[Entry]]
    questions: Mapping[MarketId, str]


def read_marked(connection: Connection, cohort_id: int, agent: str | None = None) -> Marked | None:
    """A cohort at its newest mark, with all ledgers or one; None before the first mark."""
    joined = MARK.join(ENTRANT, MARK.c.entrant_id == ENTRANT.c.id)
    newest = select(func.max(MARK.c.at)).select_from(joined).where(*_of(cohort_id, agent))
    at = connection.scalar(newest)
    found = None if at is None else snapshot(connection, cohort_id, at)
    if at is None or found is None:
        return None
    entries = read_ledgers(connection, cohort_id, agent).items()
    until = {name: [entry for entry in rows if entry.at <= at] for name, rows in entries}
    return Marked(at, found[1], until, _questions(connection, cohort_id, agent))


def _of(cohort_id: int, agent: str | None) -> list[ColumnElement[bool]]:
    """All entrants of a cohort, or one."""
    named = [] if agent is None else [ENTRANT.c.name == agent]
    return [ENTRANT.c.cohort_id == cohort_id, *named]


def _questions(connection: Connection, cohort_id: int, agent: str | None) -> dict[MarketId, str]:
    """What the markets that they ever traded ask, by the newest version of each page."""
    joined = ENTRY.join(ENTRANT, ENTRY.c.entrant_id == ENTRANT.c.id)
    traded = select(ENTRY.c.market_id).select_from(joined).where(*_of(cohort_id, agent))
    pages = select(VERSION.c.market_id, VERSION.c.question).where(VERSION.c.market_id.in_(traded))
    rows = connection.execute(pages.order_by(VERSION.c.market_id, VERSION.c.version))
    return {MarketId(row.market_id): row.question for row in rows}
