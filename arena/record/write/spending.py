"""What calls have cost or may cost, by whose money it is."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from functools import cache
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, Table, bindparam, case, func, select, true

from arena.record.model.budget import Scope
from arena.record.schema.clock import NOW
from arena.record.schema.quick import run
from arena.record.schema.tables import CALL, RESERVATION
from arena.record.schema.types import UtcTime

COST = func.coalesce(CALL.c.cost, CALL.c.worst, 0)
SINCE = bindparam("since", type_=UtcTime())
IS_LOST = RESERVATION.c.expires_at <= NOW


def whose(scope: Scope, table: Table) -> ColumnElement[bool]:
    """Which rows count for a limit, among calls or among reservations."""
    within: dict[Scope, ColumnElement[bool]] = {
        "round": table.c.round_id == bindparam("round_id"),
        "agent": table.c.entrant_id == bindparam("entrant_id"),
        "day": table.c.made_at >= SINCE,
        "arena": true(),
    }
    return within[scope]


def cost_of_calls(scope: Scope) -> ColumnElement[int]:
    """What stored calls cost, at their worst where it is not known."""
    return select(func.coalesce(func.sum(COST), 0)).where(whose(scope, CALL)).scalar_subquery()


def worst_of(scope: Scope, which: ColumnElement[bool]) -> ColumnElement[int]:
    """What some of the reservations may cost, of those that count for a limit."""
    mine = case((which & whose(scope, RESERVATION), RESERVATION.c.worst), else_=0)
    return func.coalesce(func.sum(mine), 0)


def spent(
    connection: Connection, round_id: int, entrant_id: int, since: datetime, scopes: tuple[Scope, ...]
) -> dict[Scope, int]:
    """What counts as spent, in a round, by an agent, since then, in all: calls, and those that were lost."""
    if not scopes:
        return {}
    values = {"round_id": round_id, "entrant_id": entrant_id, "since": since}
    [found] = run(connection, _sums(scopes), values)
    return added(scopes, found)


def added(scopes: Iterable[Scope], sums: Sequence[Any]) -> dict[Scope, int]:
    """Two sums for each scope, one list after the other, as one."""
    half = len(sums) // 2
    pairs = zip(scopes, sums[:half], sums[half:], strict=True)
    return {scope: int(calls) + int(lost) for scope, calls, lost in pairs}


@cache
def _sums(scopes: tuple[Scope, ...]) -> Select[Any]:
    look: Select[Any] = select().select_from(RESERVATION)
    return look.add_columns(*map(cost_of_calls, scopes), *(worst_of(scope, IS_LOST) for scope in scopes))
