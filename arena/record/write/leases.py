"""Named duties, of which each has one holder: a lease by the database's clock, and a token that fences.

The token grows by one with every holder. Who writes under a lease does so with its token, which is checked
in the same transaction: one that was taken for dead and wakes late writes nothing.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy import Connection, bindparam, literal, select, update
from sqlalchemy.dialects import postgresql, sqlite

from arena.errors import ArenaError
from arena.record.schema.clock import NOW, FromNow, seconds
from arena.record.schema.tables import LEASE


@dataclass(frozen=True, slots=True)
class Fence:
    """A lease under which a record is written: its name, and the token that it must still have."""

    name: str
    token: int


class Superseded(ArenaError):
    """Another process has taken over the duty under which something was to be written."""

    def __init__(self, name: str):
        words = f"another process has taken over as {name}, so nothing was written"
        mend = "nothing is lost: that one goes on; this one can be ended, or started again to stand by"
        super().__init__("superseded", words, mend)


FIRST = {"token": 0, "holder": "", "expires_at": FromNow(literal(-1.0))}
UNTIL = FromNow(bindparam("length"))
MINE = (LEASE.c.name == bindparam("duty"), LEASE.c.token == bindparam("held"))
HELD = select(LEASE.c.token, LEASE.c.holder, (LEASE.c.expires_at <= NOW).label("over")).where(
    LEASE.c.name == bindparam("duty")
)
TAKE = (
    update(LEASE)
    .where(LEASE.c.name == bindparam("duty"))
    .values(token=LEASE.c.token + 1, holder=bindparam("by"), expires_at=UNTIL)
)
RENEW = update(LEASE).where(*MINE).values(expires_at=UNTIL)
STILL_MINE = select(LEASE.c.token).where(*MINE)


def take_lease(
    connection: Connection, name: str, holder: str, length: timedelta, is_gone: Callable[[str], bool]
) -> int | None:
    """The token of a duty that nobody has, or whose holder is gone or late; None where somebody has it."""
    insert = sqlite.insert if connection.dialect.name == "sqlite" else postgresql.insert
    connection.execute(insert(LEASE).values(name=name, **FIRST).on_conflict_do_nothing())
    row = connection.execute(HELD.with_for_update(), {"duty": name}).one()
    if not (row.over or row.holder == holder or is_gone(row.holder)):
        return None
    connection.execute(TAKE, {"duty": name, "by": holder, "length": seconds(length)})
    return int(row.token) + 1


def renew_lease(connection: Connection, name: str, token: int, length: timedelta) -> bool:
    """Have a duty for longer; whether it is still one's own. A length of zero lets go of it."""
    mine = {"duty": name, "held": token, "length": seconds(length)}
    return connection.execute(RENEW, mine).rowcount == 1


def check(connection: Connection, fence: Fence) -> None:
    """That a lease still has its token, and keeps it until the transaction ends."""
    mine = {"duty": fence.name, "held": fence.token}
    if connection.execute(STILL_MINE.with_for_update(read=True), mine).first() is None:
        raise Superseded(fence.name)
