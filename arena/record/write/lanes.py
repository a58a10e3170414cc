"""What is known of a provider's limits: narrower after "too many", a pause, wider again with each answer.

A lane that was never too narrow, or has grown back, has no pause noted and is as wide as the config says.
"""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, bindparam, case, literal, select, update
from sqlalchemy.dialects import postgresql, sqlite

from agents.model import CallError
from arena.record.model.reservation import Reservation, pause_for
from arena.record.schema.clock import NOW, FromNow
from arena.record.schema.quick import run
from arena.record.schema.tables import LANE
from arena.record.schema.types import Whole
from markets.millionths import ONE

MOST = bindparam("most", type_=Whole)
THIS = LANE.c.provider == bindparam("provider")
FIRST = {"provider": bindparam("provider"), "room": MOST}
SEEN = {
    "sqlite": sqlite.insert(LANE).values(FIRST).on_conflict_do_nothing(),
    "postgresql": postgresql.insert(LANE).values(FIRST).on_conflict_do_nothing(),
}
LOCK = select(literal(1)).where(THIS).with_for_update()
ROOM = case((LANE.c.paused_until.is_(None), MOST), else_=LANE.c.room)
WIDTH = case((ROOM < MOST, ROOM), else_=MOST)
LATER = FromNow(bindparam("pause"))
HALF = case((WIDTH > 2 * ONE, WIDTH // 2), else_=ONE)
NARROW = (
    update(LANE)
    .where(THIS)
    .values(
        room=case((LANE.c.paused_until > NOW, LANE.c.room), else_=HALF),  # of many at once, the first halves
        paused_until=case((LANE.c.paused_until > LATER, LANE.c.paused_until), else_=LATER),
    )
)
GROWN = WIDTH + literal(ONE * ONE) // WIDTH
WIDEN = (
    update(LANE)
    .where(THIS, LANE.c.paused_until.is_not(None))
    .values(
        room=case((GROWN >= MOST, MOST), else_=GROWN),
        paused_until=case((GROWN >= MOST, None), else_=LANE.c.paused_until),
    )
)


def lock_lane(connection: Connection, provider: str, most: int) -> None:
    """Keep others from taking room at a provider until the transaction ends; `most` is its width."""
    lane = {"provider": provider, "most": most * ONE}
    if not run(connection, LOCK, lane):
        run(connection, SEEN[connection.dialect.name], lane)
        run(connection, LOCK, lane)


def learn(connection: Connection, place: Reservation, error: CallError | None) -> None:
    """What the end of a call says of its provider."""
    lane: Mapping[str, Any] = {"provider": place.provider, "most": place.most * ONE}
    if (pause := pause_for(error)) is not None:
        run(connection, SEEN[connection.dialect.name], lane)
        run(connection, NARROW, {**lane, "pause": pause})
    elif error is None and place.narrow:
        run(connection, WIDEN, lane)
