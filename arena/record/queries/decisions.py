"""Turns read back whole: decisions, fills, rejections and ledger entries."""

import json
from collections import defaultdict
from collections.abc import Collection, Sequence
from typing import Any

from sqlalchemy import Connection, func

from agents.model import Decision, Forecast
from arena.record.model.cohort import Turn
from arena.record.queries.cohorts import FORECAST_COLUMNS
from arena.record.schema.codec import orders_of
from arena.record.schema.cohort import EntrantRow, RoundRow
from arena.record.schema.ledger import EntryRow
from arena.record.schema.statements import attributes_of
from arena.record.schema.turn import FillLevelRow, FillRow, ForecastRow, RejectionRow, TurnRow
from arena.record.schema.typed import IDS, col, columns_of, read_objects_by_key, select
from arena.record.write.turns import FILL_FIELDS
from portfolio.model import Entry, Fill, FillLevel, Rejection

LEVELS = (
    select(FillLevelRow.fill_id, *columns_of(FillLevelRow, FillLevel.__dataclass_fields__))
    .from_joined(FillLevelRow, FillRow)
    .where(col(FillRow.turn_id).in_(IDS))
    .order_by(FillLevelRow.fill_id, FillLevelRow.position)
)
FILLS = (
    select(FillRow.turn_id, FillRow.id, *columns_of(FillRow, FILL_FIELDS))
    .where(col(FillRow.turn_id).in_(IDS))
    .order_by(FillRow.turn_id, FillRow.position)
)


def read_fills(connection: Connection, turn_ids: Sequence[int]) -> dict[int, list[Fill]]:
    """Return what turns bought and sold, level by level, by turn."""
    levels = read_objects_by_key(FillLevel, connection.execute(LEVELS, {"ids": turn_ids}))
    fills: dict[int, list[Fill]] = defaultdict(list)
    for row in connection.execute(FILLS, {"ids": turn_ids}):
        fill = Fill(**attributes_of(row, *FILL_FIELDS), levels=tuple(levels[row.id]))
        fills[row.turn_id].append(fill)
    return fills


def read_rejections(connection: Connection, turn_ids: Sequence[int]) -> dict[int, list[Rejection]]:
    """Return the orders of turns that were rejected, by turn."""
    query = (
        select(RejectionRow.turn_id, *columns_of(RejectionRow, Rejection.__dataclass_fields__))
        .where(col(RejectionRow.turn_id).in_(turn_ids))
        .order_by(RejectionRow.turn_id, RejectionRow.position)
    )
    return read_objects_by_key(Rejection, connection.execute(query))


def _read_forecasts(connection: Connection, turn_ids: Sequence[int]) -> dict[int, list[Forecast]]:
    """Return the probabilities that turns stated, by turn."""
    query = (
        select(ForecastRow.turn_id, *FORECAST_COLUMNS)
        .where(col(ForecastRow.turn_id).in_(turn_ids))
        .order_by(ForecastRow.stage, ForecastRow.market_id)
    )
    return read_objects_by_key(Forecast, connection.execute(query))


def _read_entries(connection: Connection, turn_ids: Sequence[int]) -> dict[int, list[Entry]]:
    """Return the ledger entries of turns' fills, by turn."""
    is_of_turn = (EntryRow.entrant_id == TurnRow.entrant_id) & (EntryRow.at == RoundRow.at)
    query = (
        select(TurnRow.id, *columns_of(EntryRow, Entry.__dataclass_fields__))
        .from_joined(TurnRow, RoundRow)
        .join(EntryRow, is_of_turn)
        .where(col(TurnRow.id).in_(turn_ids), func.substr(EntryRow.ref, 1, 5) == "fill:")
        .order_by(EntryRow.number)
    )
    return read_objects_by_key(Entry, connection.execute(query))


def read_turns(connection: Connection, round_id: int, entrant_ids: Collection[int]) -> list[Turn]:
    """Return the turns of these entrants in a round, in line-up order; without second quotes."""
    query = (
        select(TurnRow.__table__, EntrantRow.name)
        .join(EntrantRow, TurnRow.entrant_id == EntrantRow.id)
        .where(TurnRow.round_id == round_id, col(TurnRow.entrant_id).in_(entrant_ids))
        .order_by(EntrantRow.position)
    )
    rows: Sequence[Any] = connection.execute(query).all()
    ids = [row.id for row in rows]
    forecasts = _read_forecasts(connection, ids)
    entries = _read_entries(connection, ids)
    fills = read_fills(connection, ids)
    rejections = read_rejections(connection, ids)

    turns = []
    for row in rows:
        bets, sales = orders_of(row.orders)
        repaired = tuple(json.loads(row.repaired))
        forecast = tuple(forecasts[row.id])
        decision = Decision(forecast, bets, sales, status=row.status, note=row.note, repaired=repaired)
        turn = Turn(
            row.name,
            row.cash,
            decision,
            fills=tuple(fills[row.id]),
            rejections=tuple(rejections[row.id]),
            entries=tuple(entries[row.id]),
        )
        turns.append(turn)
    return turns
