"""From the record to accounts: each entrant's money, calls and turns, in a few sums."""

from collections import defaultdict
from typing import Any

from sqlalchemy import Connection, Select, and_, func, select

from arena.record.model.columns import Account
from arena.record.schema.tables import CALL, COHORT, ENTRANT, ENTRY, FILL, MARK, TURN


def read_accounts(connection: Connection, cohort: int | None = None) -> list[Account]:
    """Every entrant of every cohort, in line-up order, with its money, its calls and its turns."""
    bankrolls, totals = _bankrolls(connection), _totals(connection)
    costs, turns, sold = _costs(connection), _turns(connection), _sold(connection)
    return [
        Account(
            agent=row.name,
            kind=row.kind,
            cohort=row.number,
            bankroll=bankrolls.get(row.id, 0),
            total=totals.get(row.id),
            cost=costs.get(row.id, 0),
            turns=sum(turns[row.id].values()),
            malformed=turns[row.id]["malformed"],
            failed=turns[row.id]["failed"],
            sold=sold.get(row.id, 0),
        )
        for row in connection.execute(_entrants(cohort))
    ]


def read_profits(connection: Connection) -> dict[int, dict[str, int]]:
    """What each entrant of a cohort has made by its newest mark, by the cohort's number."""
    bankrolls, totals = _bankrolls(connection), _totals(connection)
    found: dict[int, dict[str, int]] = defaultdict(dict)
    for row in connection.execute(_entrants(None)):
        if row.id in totals:
            found[row.number][row.name] = totals[row.id] - bankrolls.get(row.id, 0)
    return found


def _entrants(cohort: int | None) -> Select[Any]:
    query = (
        select(ENTRANT.c.id, ENTRANT.c.name, ENTRANT.c.kind, COHORT.c.number)
        .select_from(ENTRANT.join(COHORT, ENTRANT.c.cohort_id == COHORT.c.id))
        .order_by(COHORT.c.number, ENTRANT.c.position)
    )
    return query if cohort is None else query.where(COHORT.c.number == cohort)


def _bankrolls(connection: Connection) -> dict[int, int]:
    query = select(ENTRY.c.entrant_id, func.sum(ENTRY.c.cash).label("given"))
    rows = connection.execute(query.where(ENTRY.c.kind == "deposit").group_by(ENTRY.c.entrant_id))
    return {row.entrant_id: int(row.given) for row in rows}


def _costs(connection: Connection) -> dict[int, int | None]:
    """What all attempts cost together; None where one of them is unknown, which is not 0."""
    known = func.count(CALL.c.id) == func.count(CALL.c.cost)
    query = select(CALL.c.entrant_id, func.sum(CALL.c.cost).label("cost"), known.label("known"))
    rows = connection.execute(query.group_by(CALL.c.entrant_id))
    return {row.entrant_id: int(row.cost) if row.known else None for row in rows}


def _sold(connection: Connection) -> dict[int, int]:
    """How many sales each entrant has made."""
    query = select(TURN.c.entrant_id, func.count().label("sales"))
    query = query.select_from(TURN.join(FILL, FILL.c.turn_id == TURN.c.id)).where(FILL.c.action == "sell")
    return {row.entrant_id: row.sales for row in connection.execute(query.group_by(TURN.c.entrant_id))}


def _totals(connection: Connection) -> dict[int, int]:
    """Cash and open lots at mid, by each entrant's newest mark."""
    newest = select(MARK.c.entrant_id, func.max(MARK.c.at).label("at")).group_by(MARK.c.entrant_id).subquery()
    here = and_(MARK.c.entrant_id == newest.c.entrant_id, MARK.c.at == newest.c.at)
    rows = connection.execute(select(MARK.c.entrant_id, MARK.c.cash, MARK.c.value).join(newest, here))
    return {row.entrant_id: row.cash + row.value for row in rows}


def _turns(connection: Connection) -> dict[int, dict[str, int]]:
    """How many turns of each entrant ended in which way."""
    found: dict[int, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    ways = (TURN.c.entrant_id, TURN.c.verdict)
    for row in connection.execute(select(*ways, func.count().label("turns")).group_by(*ways)):
        found[row.entrant_id][row.verdict] = row.turns
    return found
