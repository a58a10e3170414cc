"""One agent over all its cohorts, by indices alone: its worth over time, turns, fills and calls.

Everything here is asked for by the ids of its entrants, one a cohort, so that what other agents did is never
read. Cost grows with what this agent did, and that of its curve with the number of instants asked for.
"""

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import (
    ARRAY,
    BigInteger,
    BindParameter,
    ColumnElement,
    Connection,
    FromClause,
    Select,
    Text,
    and_,
    bindparam,
    case,
    cast,
    func,
    select,
)

from arena.record.schema.tables import CALL, ENTRANT, FILL, FORECAST, MARK, REJECTION, ROUND, TURN
from arena.record.schema.types import UtcTime, instant

IDS: BindParameter[Sequence[int]] = bindparam("ids", expanding=True)
OWN_TURNS = ENTRANT.join(ROUND, ROUND.c.cohort_id == ENTRANT.c.cohort_id).join(
    TURN, (TURN.c.round_id == ROUND.c.id) & (TURN.c.entrant_id == ENTRANT.c.id)
)


@dataclass(frozen=True, slots=True)
class Span:
    """From when to when an entrant's account was valued."""

    entrant_id: int
    first_at: datetime
    last_at: datetime


@dataclass(frozen=True, slots=True)
class Valued:
    """What an entrant's account was worth at a mark, in millionths: cash with open positions at mid."""

    entrant_id: int
    at: datetime
    total: int


@dataclass(frozen=True, slots=True)
class Answers:
    """Calls of an entrant that one model answered, or that ended in one error; costs in millionths.

    The cost is of those calls whose cost is known; of `unknown` calls it isn't.
    """

    entrant_id: int
    model: str
    fingerprint: str
    error: str | None
    calls: int
    tokens_in: int
    tokens_out: int
    cost: int
    unknown: int
    first_at: datetime
    last_at: datetime


own = MARK.alias("own")
SPANS = (
    select(
        ENTRANT.c.id,
        select(func.min(own.c.at)).where(own.c.entrant_id == ENTRANT.c.id).scalar_subquery().label("first"),
        select(func.max(own.c.at)).where(own.c.entrant_id == ENTRANT.c.id).scalar_subquery().label("last"),
    )
    .where(ENTRANT.c.id.in_(IDS))
    .order_by(ENTRANT.c.id)
)


def read_spans(connection: Connection, entrant_ids: Collection[int]) -> list[Span]:
    """From when to when each of these accounts was valued; those never valued are left out."""
    rows = connection.execute(SPANS, {"ids": list(entrant_ids)})
    return [Span(*row) for row in rows if row.first is not None]


def read_worth_at(connection: Connection, wanted: Sequence[tuple[int, datetime]]) -> list[Valued]:
    """For each entrant and instant what the account was worth at its newest mark by then, if any."""
    asked, parameters = _asked(connection, wanted)
    until = select(func.max(own.c.at)).where(own.c.entrant_id == asked.c.id, own.c.at <= asked.c.at)
    here = and_(MARK.c.entrant_id == asked.c.id, MARK.c.at == until.correlate(asked).scalar_subquery())
    query = select(MARK.c.entrant_id, MARK.c.at, MARK.c.cash + MARK.c.value)
    rows = connection.execute(query.select_from(asked.join(MARK, here)), parameters)
    return [Valued(*row) for row in rows]


def _asked(
    connection: Connection, wanted: Sequence[tuple[int, datetime]]
) -> tuple[FromClause, dict[str, Any]]:
    """What is asked for as a table, given as one parameter or two, however much it is."""
    if connection.dialect.name == "postgresql":
        keys = bindparam("keys", type_=ARRAY(BigInteger))
        found = func.unnest(keys, bindparam("times", type_=ARRAY(UtcTime)))
        given = {"keys": [key for key, _ in wanted], "times": [at for _, at in wanted]}
        return found.table_valued("id", "at", name="asked").render_derived(), given
    each = func.json_each(bindparam("pairs", type_=Text)).table_valued("value")
    parts: list[ColumnElement[Any]] = [func.json_extract(each.c.value, f"$[{place}]") for place in (0, 1)]
    pairs = select(parts[0].label("id"), cast(parts[1], Text).label("at")).select_from(each).subquery()
    return pairs, {"pairs": json.dumps([(key, instant(at)) for key, at in wanted])}


VERDICTS = (
    select(ENTRANT.c.id, TURN.c.verdict, func.count())
    .select_from(OWN_TURNS)
    .where(ENTRANT.c.id.in_(IDS))
    .group_by(ENTRANT.c.id, TURN.c.verdict)
    .order_by(ENTRANT.c.id, TURN.c.verdict)
)


def read_verdicts(connection: Connection, entrant_ids: Collection[int]) -> dict[int, dict[str, int]]:
    """How the turns of these entrants ended, by entrant."""
    return _nested(connection, VERDICTS, entrant_ids)


ACTIONS = (
    select(ENTRANT.c.id, FILL.c.action, func.count())
    .select_from(OWN_TURNS.join(FILL, FILL.c.turn_id == TURN.c.id))
    .where(ENTRANT.c.id.in_(IDS))
    .group_by(ENTRANT.c.id, FILL.c.action)
    .order_by(ENTRANT.c.id, FILL.c.action)
)


def read_actions(connection: Connection, entrant_ids: Collection[int]) -> dict[int, dict[str, int]]:
    """How often these entrants bought and sold, by entrant."""
    return _nested(connection, ACTIONS, entrant_ids)


REFUSED = (
    select(ENTRANT.c.id, REJECTION.c.code, func.count())
    .select_from(OWN_TURNS.join(REJECTION, REJECTION.c.turn_id == TURN.c.id))
    .where(ENTRANT.c.id.in_(IDS))
    .group_by(ENTRANT.c.id, REJECTION.c.code)
    .order_by(ENTRANT.c.id, REJECTION.c.code)
)


def read_refused(connection: Connection, entrant_ids: Collection[int]) -> dict[int, dict[str, int]]:
    """How many wishes of these entrants were refused for which reason, by entrant."""
    return _nested(connection, REFUSED, entrant_ids)


STATED = (
    select(ENTRANT.c.id, FORECAST.c.stage, func.count())
    .select_from(OWN_TURNS.join(FORECAST, FORECAST.c.turn_id == TURN.c.id))
    .where(ENTRANT.c.id.in_(IDS))
    .group_by(ENTRANT.c.id, FORECAST.c.stage)
)


def read_stages(connection: Connection, entrant_ids: Collection[int]) -> dict[int, dict[str, int]]:
    """How many probabilities these entrants stated at which stage, by entrant."""
    return _nested(connection, STATED, entrant_ids)


def _nested(connection: Connection, query: Select[Any], ids: Collection[int]) -> dict[int, dict[str, int]]:
    found: dict[int, dict[str, int]] = {}
    for key, name, count in connection.execute(query, {"ids": list(ids)}):
        found.setdefault(key, {})[name] = count
    return found


ANSWERED = case((CALL.c.error_code.is_(None), CALL.c.model), else_="")
FINGERPRINT = case((CALL.c.error_code.is_(None), CALL.c.fingerprint), else_="")
ALIKE = (CALL.c.entrant_id, ANSWERED, FINGERPRINT, CALL.c.error_code)
ANSWERS = (
    select(
        *ALIKE,
        func.count(),
        func.sum(CALL.c.tokens_in),
        func.sum(CALL.c.tokens_out),
        func.coalesce(func.sum(CALL.c.cost), 0),
        func.count() - func.count(CALL.c.cost),
        func.min(CALL.c.made_at),
        func.max(CALL.c.made_at),
    )
    .where(CALL.c.entrant_id.in_(IDS))
    .group_by(*ALIKE)
    .order_by(CALL.c.entrant_id, func.min(CALL.c.made_at))
)


def read_answers_of(connection: Connection, entrant_ids: Collection[int]) -> list[Answers]:
    """The calls of these entrants, summed up by what answered or failed, oldest first within an entrant."""
    rows = connection.execute(ANSWERS, {"ids": list(entrant_ids)})
    return [Answers(*alike, *map(int, sums), *times) for *alike, sums, times in map(_apart, rows)]


def _apart(row: Sequence[Any]) -> tuple[Any, ...]:
    """What calls have in common, their sums, and their first and last time."""
    return (*row[:4], row[4:-2], row[-2:])
