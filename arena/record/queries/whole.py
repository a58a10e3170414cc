"""Turns as they were written, read back whole: what was decided, what came of it, what was refused."""

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import fields
from typing import Any, TypeVar

from sqlalchemy import BindParameter, Connection, Select, bindparam, func, select

from agents.model import Decision, Forecast
from arena.record.model.model import Turn
from arena.record.schema.codec import wishes_of
from arena.record.schema.tables import ENTRANT, ENTRY, FILL, FORECAST, LEVEL, REJECTION, ROUND, TURN
from portfolio.model import Entry, Fill, FillLevel, Rejection

T = TypeVar("T")
ROUND_ID: BindParameter[int] = bindparam("round_id")
FILL_NAMES = [field.name for field in fields(Fill) if field.name != "levels"]
TURNS = (
    select(TURN, ENTRANT.c.name)
    .join(ENTRANT, TURN.c.entrant_id == ENTRANT.c.id)
    .where(TURN.c.round_id == ROUND_ID)
    .order_by(ENTRANT.c.position)
)
MINE = TURN.c.round_id == ROUND_ID
FORECASTS = (
    select(TURN.c.id, *(FORECAST.c[field.name] for field in fields(Forecast)))
    .join_from(TURN, FORECAST, FORECAST.c.turn_id == TURN.c.id)
    .where(MINE)
    .order_by(FORECAST.c.stage, FORECAST.c.market_id)
)
REJECTIONS = (
    select(TURN.c.id, *(REJECTION.c[field.name] for field in fields(Rejection)))
    .join_from(TURN, REJECTION, REJECTION.c.turn_id == TURN.c.id)
    .where(MINE)
    .order_by(REJECTION.c.position)
)
FILLS = (
    select(TURN.c.id, FILL.c.id, *(FILL.c[name] for name in FILL_NAMES))
    .join_from(TURN, FILL, FILL.c.turn_id == TURN.c.id)
    .where(MINE)
    .order_by(FILL.c.position)
)
LEVELS = (
    select(FILL.c.id, *(LEVEL.c[field.name] for field in fields(FillLevel)))
    .join_from(TURN, FILL, FILL.c.turn_id == TURN.c.id)
    .join(LEVEL, LEVEL.c.fill_id == FILL.c.id)
    .where(MINE)
    .order_by(LEVEL.c.position)
)
ENTRIES = (
    select(TURN.c.id, *(ENTRY.c[field.name] for field in fields(Entry)))
    .join_from(TURN, ROUND, TURN.c.round_id == ROUND.c.id)
    .join(ENTRY, (ENTRY.c.entrant_id == TURN.c.entrant_id) & (ENTRY.c.at == ROUND.c.at))
    .where(MINE, func.substr(ENTRY.c.ref, 1, 5) == "fill:")
    .order_by(ENTRY.c.number)
)


def read_turns(connection: Connection, round_id: int, entrant_ids: Collection[int]) -> list[Turn]:
    """The turns of a round that are in, of these entrants, in line-up order."""
    whose = {"round_id": round_id}
    forecasts = _grouped(connection, FORECASTS, whose, Forecast)
    rejections = _grouped(connection, REJECTIONS, whose, Rejection)
    entries = _grouped(connection, ENTRIES, whose, Entry)
    fills = _fills(connection, whose)
    found = []
    for row in connection.execute(TURNS, whose):
        if row.entrant_id not in entrant_ids:
            continue
        bets, sales = wishes_of(row.wishes)
        decision = Decision(tuple(forecasts[row.id]), bets, sales, verdict=row.verdict, note=row.note)
        facts = tuple(fills[row.id]), tuple(rejections[row.id]), tuple(entries[row.id])
        found.append(Turn(row.name, row.cash, decision, *facts))
    return found


def _grouped(
    connection: Connection, question: Select[Any], whose: Mapping[str, int], kind: type[T]
) -> dict[int, list[T]]:
    found: dict[int, list[T]] = defaultdict(list)
    for key, *values in connection.execute(question, whose):
        found[key].append(kind(*values))
    return found


def _fills(connection: Connection, whose: Mapping[str, int]) -> dict[int, list[Fill]]:
    levels = _grouped(connection, LEVELS, whose, FillLevel)
    found: dict[int, list[Fill]] = defaultdict(list)
    for turn_id, fill_id, *values in connection.execute(FILLS, whose):
        known = dict(zip(FILL_NAMES, values, strict=True))
        found[turn_id].append(Fill(**known, levels=tuple(levels[fill_id])))
    return found
