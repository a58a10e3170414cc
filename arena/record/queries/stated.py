"""From the record to columns: what every turn forecast for every market it was shown."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import numpy as np
from sqlalchemy import Connection, select

from arena.record.model.columns import UNKNOWN, Flags, Floats, Ints, Stated, places
from arena.record.queries.frame import IN_ORDER, TURNS, columns, ints, outcomes
from arena.record.schema.tables import COHORT, ENTRANT, FORECAST, ITEM, MARKET, QUOTE, ROUND, TURN, VERSION
from markets.millionths import ONE

COUNTED = TURN.c.verdict.in_(("played", "malformed"))
"""Failed turns and those of agents that are out are absent."""


@dataclass(frozen=True, slots=True)
class Shown:
    """One row for each market in each snapshot. `market`, `event` and `category` are places in the names."""

    markets: tuple[str, ...]
    events: tuple[str, ...]
    categories: tuple[str, ...]
    snapshot: Ints
    market: Ints
    event: Ints
    category: Ints
    closes: Ints
    mid: Ints


@dataclass(frozen=True, slots=True)
class Turns:
    """One row for each turn; `blind` where the agent saw no prices."""

    agents: tuple[str, ...]
    id: Ints
    agent: Ints
    cohort: Ints
    round: Ints
    at: Ints
    snapshot: Ints
    blind: Flags
    released: Ints


def read_stated(connection: Connection, cohort: int | None = None, stage: str = "final") -> Stated:
    """What every turn that was played forecast for every market it was shown.

    A skip is taken as agreement with the mid, or as even odds from an entrant that sees no prices. A
    malformed turn has said nothing, whatever was read from it.
    """
    shown, turns = _shown(connection, cohort), _turns(connection, cohort)
    turn, item = _pairs(turns.snapshot, shown.snapshot)
    market, mid = shown.market[item], shown.mid[item]
    chance = _said(connection, cohort, stage, turns, turn, shown.markets, market)
    skipped = np.where(turns.blind[turn] | (stage != "final"), ONE // 2, mid)
    return Stated(
        agents=turns.agents,
        markets=shown.markets,
        events=shown.events,
        categories=shown.categories,
        agent=turns.agent[turn],
        cohort=turns.cohort[turn],
        round=turns.round[turn],
        at=turns.at[turn],
        market=market,
        event=shown.event[item],
        category=shown.category[item],
        closes=shown.closes[item],
        forecast=np.where(chance >= 0, chance, skipped),
        stated=chance >= 0,
        mid=mid,
        released=turns.released[turn],
        outcome=outcomes(connection, shown.markets)[market],
    )


def read_latest(connection: Connection, markets: Sequence[str]) -> Floats:
    """The newest mid of each of these markets, from 0 to 1; NaN where its newest quote has none."""
    newest = select(QUOTE.c.mid).where(QUOTE.c.market_id == MARKET.c.id).order_by(QUOTE.c.at.desc()).limit(1)
    rows = connection.execute(select(MARKET.c.id, newest.scalar_subquery()))
    mids = {name: mid / ONE for name, mid in rows if mid is not None}
    return np.array([mids.get(name, np.nan) for name in markets], dtype=np.float64)


def read_line_ups(connection: Connection, cohort: int | None = None) -> list[tuple[str, str]]:
    """Every entrant's name, with all that makes two of them twins; cohort by cohort in line-up order."""
    query = (
        select(ENTRANT.c.name, ENTRANT.c.kind, ENTRANT.c.settings)
        .join(COHORT, ENTRANT.c.cohort_id == COHORT.c.id)
        .order_by(COHORT.c.number, ENTRANT.c.position)
    )
    if cohort is not None:
        query = query.where(COHORT.c.number == cohort)
    return [(name, f"{kind} {settings}") for name, kind, settings in connection.execute(query)]


def _turns(connection: Connection, cohort: int | None) -> Turns:
    columns_of = (ENTRANT.c.name, ENTRANT.c.id, COHORT.c.number, ROUND.c.number, ROUND.c.at)
    query = (select(TURN.c.id, *columns_of, ROUND.c.snapshot_id).select_from(TURNS).where(COUNTED)).order_by(
        *IN_ORDER
    )
    if cohort is not None:
        query = query.where(COHORT.c.number == cohort)
    ids, names, entrants, cohorts, rounds, times, snapshots = columns(connection.execute(query).all(), 7)
    agents, agent = places(names)
    blind, released = _settings(connection)
    return Turns(
        agents,
        ints(ids),
        agent,
        ints(cohorts),
        ints(rounds),
        _seconds(times),
        ints(snapshots),
        np.array([key in blind for key in entrants], dtype=np.bool_),
        ints([released.get(key, UNKNOWN) for key in entrants]),
    )


def _shown(connection: Connection, cohort: int | None) -> Shown:
    joined = (
        ITEM.join(VERSION, ITEM.c.version_id == VERSION.c.id)
        .join(ROUND, ROUND.c.snapshot_id == ITEM.c.snapshot_id)
        .join(COHORT, ROUND.c.cohort_id == COHORT.c.id)
        .outerjoin(QUOTE, ITEM.c.quote_id == QUOTE.c.id)
    )
    keys = (ITEM.c.snapshot_id, ITEM.c.market_id, VERSION.c.event_id, VERSION.c.category, VERSION.c.closes_at)
    query = select(*keys, QUOTE.c.mid).select_from(joined).where(ITEM.c.shown == 1)
    if cohort is not None:
        query = query.where(COHORT.c.number == cohort)
    query = query.order_by(COHORT.c.number, ROUND.c.number, ITEM.c.position)
    snapshots, ids, events, categories, closes, mids = columns(connection.execute(query).all(), 6)
    markets, market = places(ids)
    event_names, event = places(events)
    category_names, category = places(categories)
    mid = ints([ONE // 2 if price is None else price for price in mids])
    names = (markets, event_names, category_names)
    return Shown(*names, ints(snapshots), market, event, category, _seconds(closes), mid)


def _pairs(turns: Ints, snapshots: Ints) -> tuple[Ints, Ints]:
    """Every turn with every market of its snapshot, as places among the turns and among the markets."""
    order = np.argsort(snapshots, kind="stable")
    first = np.searchsorted(snapshots, turns, side="left", sorter=order)
    count = np.searchsorted(snapshots, turns, side="right", sorter=order) - first
    turn = np.repeat(np.arange(turns.size), count)
    within = np.arange(turn.size) - np.repeat(np.cumsum(count) - count, count)
    return turn, order[first[turn] + within]


def _said(
    connection: Connection,
    cohort: int | None,
    stage: str,
    turns: Turns,
    turn: Ints,
    markets: tuple[str, ...],
    market: Ints,
) -> Ints:
    """What was stated for each pair of turn and market, in millionths; -1 where nothing was."""
    query = (
        select(FORECAST.c.turn_id, FORECAST.c.market_id, FORECAST.c.probability)
        .select_from(TURNS.join(FORECAST, FORECAST.c.turn_id == TURN.c.id))
        .where(FORECAST.c.stage == stage, TURN.c.verdict == "played")
    )
    if cohort is not None:
        query = query.where(COHORT.c.number == cohort)
    ids, names, chances = columns(connection.execute(query).all(), 3)
    found = np.full(turn.size, -1, dtype=np.int64)
    if not ids or not turn.size:
        return found
    place = {name: number for number, name in enumerate(markets)}
    order = np.argsort(turns.id)
    of_turn = order[np.searchsorted(turns.id, ints(ids), sorter=order)]
    key = of_turn * (len(markets) + 1) + ints([place.get(name, len(markets)) for name in names])
    wanted = turn * (len(markets) + 1) + market
    by_key = np.argsort(wanted)
    at = np.searchsorted(wanted, key, sorter=by_key).clip(max=turn.size - 1)
    matches = wanted[by_key[at]] == key  # what was said of a market that wasn't shown is no row
    found[by_key[at[matches]]] = ints(chances)[matches]
    return found


def _settings(connection: Connection) -> tuple[set[int], dict[int, int]]:
    """The entrants that are shown no prices, and when the model of each was released."""
    rows = connection.execute(select(ENTRANT.c.id, ENTRANT.c.settings))
    settings = {key: json.loads(text) for key, text in rows}
    blind = {key for key, its in settings.items() if its.get("prices") == "hidden"}
    days = {key: its["released"] for key, its in settings.items() if its.get("released")}
    return blind, {key: _second(datetime.fromisoformat(day).replace(tzinfo=UTC)) for key, day in days.items()}


def _seconds(times: Any) -> Ints:
    """Instants as whole seconds since 1970."""
    return np.array([_second(at) for at in times], dtype=np.int64)


def _second(at: datetime) -> int:
    return int(at.timestamp() // 1)
