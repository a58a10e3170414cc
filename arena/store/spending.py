"""What calls have cost, by whose money it is."""

from datetime import datetime
from functools import cache
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, bindparam, func, select, true

from arena.budget import Scope
from arena.store.tables import CALL

COST = func.coalesce(CALL.c.cost, CALL.c.worst, 0)
WITHIN: dict[Scope, ColumnElement[bool]] = {
    "round": CALL.c.round_id == bindparam("round_id"),
    "agent": CALL.c.entrant_id == bindparam("entrant_id"),
    "day": CALL.c.made_at >= bindparam("since", type_=CALL.c.made_at.type),
    "arena": true(),
}


def spent(
    connection: Connection, round_id: int, entrant_id: int, since: datetime, scopes: tuple[Scope, ...]
) -> dict[Scope, int]:
    """What calls cost, at their worst where it is not known: in a round, an agent's, since then, of all."""
    whose = {"round_id": round_id, "entrant_id": entrant_id, "since": since}
    found = connection.execute(_sums(scopes), whose).one()
    return {scope: int(total) for scope, total in zip(scopes, found, strict=True)}


@cache
def _sums(scopes: tuple[Scope, ...]) -> Select[Any]:
    whole = select(func.coalesce(func.sum(COST), 0))
    return select(*(whole.where(WITHIN[scope]).scalar_subquery() for scope in scopes))
