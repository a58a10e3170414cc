"""One agent over all its cohorts, by indices alone: its worth over time, turns, fills and calls.

Everything here is asked for by the ids of its entrants, one a cohort, so that what other agents did is never
read. Cost grows with what this agent did, and that of its curve with the number of instants asked for.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from sqlalchemy import BigInteger, Connection, func
from sqlalchemy.orm import aliased
from sqlmodel import and_, case

from arena.record.queries.calls import CALL_TOTALS
from arena.record.schema.cohort import EntrantRow, RoundRow
from arena.record.schema.ledger import MarkRow
from arena.record.schema.newest import keyed_instants, keyed_instants_parameter
from arena.record.schema.turn import CallRow, FillRow, ForecastRow, RejectionRow, TurnRow
from arena.record.schema.typed import (
    IDS,
    AnySelect,
    clause,
    col,
    read_nouns,
    select,
    select_noun,
)

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
    select_noun(
        AccountSpan,
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
    asked = keyed_instants(connection.dialect.name, BigInteger)
    until = select(func.max(OWN_MARKS.at)).where(
        OWN_MARKS.entrant_id == asked.c.key, OWN_MARKS.at <= asked.c.at
    )
    here = and_(MarkRow.entrant_id == asked.c.key, MarkRow.at == until.correlate(asked).scalar_subquery())
    query = select_noun(EntrantEquity, MarkRow, total=MarkRow.cash + MarkRow.value)
    query = query.select_from(asked.join(MarkRow, clause(here)))
    rows = connection.execute(query, keyed_instants_parameter(connection, wanted))
    return read_nouns(EntrantEquity, rows)


def _count_by(row: Any, column: Any) -> AnySelect:
    """How many turns, or rows of turns, of some entrants have which value in a column."""
    source = OWN_TURNS if row is TurnRow else OWN_TURNS.join(row, row.turn_id == TurnRow.id)
    counted = select(EntrantRow.id, column, func.count()).select_from(source)
    counted = counted.where(col(EntrantRow.id).in_(IDS))
    return counted.group_by(EntrantRow.id, column).order_by(EntrantRow.id, column)


Counted = Literal["turns", "fills", "rejections", "forecasts"]
COUNTS: dict[Counted, AnySelect] = {
    "turns": _count_by(TurnRow, TurnRow.status),
    "fills": _count_by(FillRow, FillRow.action),
    "rejections": _count_by(RejectionRow, RejectionRow.code),
    "forecasts": _count_by(ForecastRow, ForecastRow.stage),
}


def read_counts(
    connection: Connection, counted: Counted, entrant_ids: Collection[int]
) -> dict[int, dict[str, int]]:
    """By entrant, how many turns ended how, how often it bought and sold, for which reason orders were
    rejected, or how many probabilities it stated at which stage.
    """
    counts: dict[int, dict[str, int]] = {}
    for key, name, times in connection.execute(COUNTS[counted], {"ids": list(entrant_ids)}):
        counts.setdefault(key, {})[name] = times
    return counts


ANSWERING_MODEL = case((col(CallRow.error_code).is_(None), CallRow.model), else_="")
FINGERPRINT = case((col(CallRow.error_code).is_(None), CallRow.fingerprint), else_="")
CALL_SUMS = (
    select_noun(
        CallSums,
        CallRow,
        model=ANSWERING_MODEL,
        fingerprint=FINGERPRINT,
        error=CallRow.error_code,
        **CALL_TOTALS,
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
