"""What markets ask, by their ids or by those of their events, found by index."""

from collections.abc import Sequence

from sqlalchemy import BindParameter, Connection, bindparam, select

from arena.record.queries.lookup import batches, newest
from arena.record.schema.tables import VERSION

IDS: BindParameter[Sequence[str]] = bindparam("ids", expanding=True)
OF_EVENTS = select(VERSION.c.event_id, VERSION.c.question).where(VERSION.c.event_id.in_(IDS))
OLDEST_LAST = OF_EVENTS.order_by(VERSION.c.id.desc())


def read_questions(connection: Connection, market_ids: Sequence[str]) -> dict[str, str]:
    """The question of each market, as its page said last."""
    found: dict[str, str] = {}
    for some in batches(market_ids):
        rows = newest(connection, VERSION, some, "version", "question")
        found |= {key: row.question for key, row in rows.items()}
    return found


def read_events(connection: Connection, event_ids: Sequence[str]) -> dict[str, str]:
    """The question of the first market that was seen of each event: what the event is about."""
    found: dict[str, str] = {}
    for some in batches(event_ids):
        found |= dict(connection.execute(OLDEST_LAST, {"ids": list(some)}).all())
    return found
