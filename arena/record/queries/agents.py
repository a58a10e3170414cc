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
    ColumnElement,
    Connection,
    FromClause,
    Text,
    bindparam,
    cast,
    func,
)
from sqlalchemy.orm import aliased
from sqlmodel import and_, case

from arena.record.schema.cohort import EntrantRow, RoundRow
from arena.record.schema.dialects import UtcTime, instant_text
from arena.record.schema.ledger import MarkRow
from arena.record.schema.turn import CallRow, FillRow, ForecastRow, RejectionRow, TurnRow
from arena.record.schema.typed import IDS, AnySelect, clause, col, count, read_nouns, select, select_as, total

OWN_TURNS = EntrantRow.__table__.join(RoundRow, clause(RoundRow.cohort_id == EntrantRow.cohort_id)).join(
    TurnRow, clause((TurnRow.round_id == RoundRow.id) & (TurnRow.entrant_id == EntrantRow.id))
)


@dataclass(frozen=True, slots=True)
class AccountSpan:
    """From when to when an entrant's account was valued."""

    entrant_id: int
    first_at: datetime
    last_at: datetime


@dataclass(frozen=True, slots=True)
class EntrantEquity:
    """What an entrant's account was worth at a mark, in millionths: cash with open positions at mid."""

    entrant_id: int
    at: datetime
    total: int


@dataclass(frozen=True, slots=True)
class CallSums:
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


OWN_MARKS = aliased(MarkRow, name="own")
IS_OWN_MARK = OWN_MARKS.entrant_id == EntrantRow.id
FIRST_MARK_TIME = select(func.min(OWN_MARKS.at)).where(IS_OWN_MARK).scalar_subquery()
ACCOUNT_SPANS = (
    select_as(
        entrant_id=EntrantRow.id,
        first_at=FIRST_MARK_TIME,
        last_at=select(func.max(OWN_MARKS.at)).where(IS_OWN_MARK).scalar_subquery(),
    )
    .where(col(EntrantRow.id).in_(IDS), FIRST_MARK_TIME.is_not(None))
    .order_by(EntrantRow.id)
)


def read_account_spans(connection: Connection, entrant_ids: Collection[int]) -> list[AccountSpan]:
    """From when to when each of these accounts was valued; those never valued are left out."""
    return read_nouns(AccountSpan, connection.execute(ACCOUNT_SPANS, {"ids": list(entrant_ids)}))


def read_equity_at(connection: Connection, wanted: Sequence[tuple[int, datetime]]) -> list[EntrantEquity]:
    """For each entrant and instant what the account was worth at its newest mark by then, if any."""
    asked, parameters = _wanted_table(connection, wanted)
    until = select(func.max(OWN_MARKS.at)).where(
        OWN_MARKS.entrant_id == asked.c.id, OWN_MARKS.at <= asked.c.at
    )
    here = and_(MarkRow.entrant_id == asked.c.id, MarkRow.at == until.correlate(asked).scalar_subquery())
    query = select_as(entrant_id=MarkRow.entrant_id, at=MarkRow.at, total=MarkRow.cash + MarkRow.value)
    rows = connection.execute(query.select_from(asked.join(MarkRow, clause(here))), parameters)
    return read_nouns(EntrantEquity, rows)


def _wanted_table(
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
    texts = {at: instant_text(at) for at in {at for _, at in wanted}}
    return pairs, {"pairs": json.dumps([(key, texts[at]) for key, at in wanted])}


STATUS_COUNTS = (
    select(EntrantRow.id, TurnRow.status, func.count())
    .select_from(OWN_TURNS)
    .where(col(EntrantRow.id).in_(IDS))
    .group_by(EntrantRow.id, TurnRow.status)
    .order_by(EntrantRow.id, TurnRow.status)
)


def read_status_counts(connection: Connection, entrant_ids: Collection[int]) -> dict[int, dict[str, int]]:
    """How the turns of these entrants ended, by entrant."""
    return _nested_counts(connection, STATUS_COUNTS, entrant_ids)


ACTION_COUNTS = (
    select(EntrantRow.id, FillRow.action, func.count())
    .select_from(OWN_TURNS.join(FillRow, clause(FillRow.turn_id == TurnRow.id)))
    .where(col(EntrantRow.id).in_(IDS))
    .group_by(EntrantRow.id, FillRow.action)
    .order_by(EntrantRow.id, FillRow.action)
)


def read_action_counts(connection: Connection, entrant_ids: Collection[int]) -> dict[int, dict[str, int]]:
    """How often these entrants bought and sold, by entrant."""
    return _nested_counts(connection, ACTION_COUNTS, entrant_ids)


REJECTION_COUNTS = (
    select(EntrantRow.id, RejectionRow.code, func.count())
    .select_from(OWN_TURNS.join(RejectionRow, clause(RejectionRow.turn_id == TurnRow.id)))
    .where(col(EntrantRow.id).in_(IDS))
    .group_by(EntrantRow.id, RejectionRow.code)
    .order_by(EntrantRow.id, RejectionRow.code)
)


def read_rejection_counts(connection: Connection, entrant_ids: Collection[int]) -> dict[int, dict[str, int]]:
    """How many wishes of these entrants were refused for which reason, by entrant."""
    return _nested_counts(connection, REJECTION_COUNTS, entrant_ids)


STAGE_COUNTS = (
    select(EntrantRow.id, ForecastRow.stage, func.count())
    .select_from(OWN_TURNS.join(ForecastRow, clause(ForecastRow.turn_id == TurnRow.id)))
    .where(col(EntrantRow.id).in_(IDS))
    .group_by(EntrantRow.id, ForecastRow.stage)
)


def read_stage_counts(connection: Connection, entrant_ids: Collection[int]) -> dict[int, dict[str, int]]:
    """How many probabilities these entrants stated at which stage, by entrant."""
    return _nested_counts(connection, STAGE_COUNTS, entrant_ids)


def _nested_counts(
    connection: Connection, query: AnySelect, ids: Collection[int]
) -> dict[int, dict[str, int]]:
    counts: dict[int, dict[str, int]] = {}
    for key, name, times in connection.execute(query, {"ids": list(ids)}):
        counts.setdefault(key, {})[name] = times
    return counts


ANSWERING_MODEL = case((col(CallRow.error_code).is_(None), CallRow.model), else_="")
FINGERPRINT = case((col(CallRow.error_code).is_(None), CallRow.fingerprint), else_="")
CALL_SUMS = (
    select_as(
        entrant_id=CallRow.entrant_id,
        model=ANSWERING_MODEL,
        fingerprint=FINGERPRINT,
        error=CallRow.error_code,
        calls=func.count(),
        tokens_in=total(CallRow.tokens_in),
        tokens_out=total(CallRow.tokens_out),
        cost=total(CallRow.cost),
        unknown=func.count() - count(CallRow.cost),
        first_at=func.min(CallRow.made_at),
        last_at=func.max(CallRow.made_at),
    )
    .where(col(CallRow.entrant_id).in_(IDS))
    .group_by(CallRow.entrant_id, ANSWERING_MODEL, FINGERPRINT, CallRow.error_code)
    .order_by(CallRow.entrant_id, func.min(CallRow.made_at))
)


def read_call_sums(connection: Connection, entrant_ids: Collection[int]) -> list[CallSums]:
    """The calls of these entrants, summed up by what answered or failed, oldest first within an entrant."""
    return read_nouns(CallSums, connection.execute(CALL_SUMS, {"ids": list(entrant_ids)}))
