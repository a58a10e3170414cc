"""Opens the questions that are held out, once and for good.

That they were opened stands in the chain of heads alone, where nothing can be taken back.
"""

import json
from datetime import datetime

from sqlalchemy import Connection

from arena.record.schema.chain import HeadRow
from arena.record.schema.typed import col, select
from arena.record.write.heads import add_head
from markets.hashes import plain_value

HOLDOUT = "holdout"
"""The kind of fact by which a head says that they were opened."""


OPENING_HEADS = (
    select(HeadRow.at, HeadRow.members)
    .where(col(HeadRow.members).contains(f'"{HOLDOUT}"'))
    .order_by(HeadRow.number)
)


def read_opened_at(connection: Connection) -> datetime | None:
    """Return when the held-out questions were opened; None while they are not."""
    for at, members in connection.execute(OPENING_HEADS):
        if HOLDOUT in json.loads(members):
            opened_at: datetime = at
            return opened_at
    return None


def open_holdout(connection: Connection, at: datetime) -> bool:
    """Open the held-out questions to scores from now on; return whether they were still closed."""
    if read_opened_at(connection) is not None:
        return False
    add_head(connection, at, {HOLDOUT: [["opened", plain_value(at)]]})
    return True
