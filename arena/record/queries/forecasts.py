"""Forecasts and bets as columns for the scores, in a few queries whatever the size.

Every forecast of every market that a turn was shown, every accepted bet with the two readings of its stake,
and forecasts in pairs, from before and after the prices were shown. No row is made into an object.
"""

import json
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import numpy as np
from sqlalchemy import Connection
from sqlalchemy.orm import aliased, join
from sqlmodel import and_

from arena.record.model.columns import (
    NO_SCORE,
    OPEN,
    UNKNOWN,
    BetColumns,
    Flags,
    Floats,
    ForecastColumns,
    Ints,
    anchored_belief,
    confidence,
    factorize,
    implied_belief,
)
from arena.record.queries.trades import read_payouts
from arena.record.schema.cohort import CohortRow, EntrantRow, RoundRow, SnapshotItemRow
from arena.record.schema.turn import FillLevelRow, FillRow, ForecastRow, TurnRow
from arena.record.schema.typed import AnySelect, clause, col, select
from arena.record.schema.world import MarketRow, MarketVersionRow, QuoteRow, ResolutionRow
from markets.millionths import ONE

__all__ = ["LINE_UP_ORDER", "PLACED_TURNS", "int_column", "read_outcomes", "transpose"]

PLACED_TURNS = (
    TurnRow.__table__.join(RoundRow, clause(TurnRow.round_id == RoundRow.id))
    .join(EntrantRow, clause(TurnRow.entrant_id == EntrantRow.id))
    .join(CohortRow, clause(RoundRow.cohort_id == CohortRow.id))
)
LINE_UP_ORDER = (CohortRow.number, RoundRow.number, EntrantRow.position)


def read_outcomes(connection: Connection, markets: tuple[str, ...]) -> Ints:
    """How each market ended by the latest version of its resolution."""
    rows = connection.execute(
        select(ResolutionRow.market_id, ResolutionRow.payout).order_by(ResolutionRow.version)
    )
    ended = {row.market_id: {ONE: 1, 0: 0}.get(row.payout, NO_SCORE) for row in rows}
    return int_column([ended.get(market, OPEN) for market in markets])


def transpose(rows: Any, width: int) -> list[Any]:
    """Rows turned on their side; empty columns when there is none."""
    return list(zip(*rows, strict=True)) if rows else [()] * width


def int_column(values: Any) -> Ints:
    """A column of whole numbers."""
    return np.array(values, dtype=np.int64)


HAS_FORECASTS = col(TurnRow.status).in_(("played", "malformed"))
"""Failed turns and those of agents that are out are absent."""


@dataclass(frozen=True, slots=True)
class ShownColumns:
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
class TurnColumns:
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


def read_forecast_columns(
    connection: Connection, cohort: int | None = None, stage: str = "final"
) -> ForecastColumns:
    """What every turn that was played forecast for every market it was shown.

    A skip is taken as agreement with the mid, or as even odds from an entrant that sees no prices. A
    malformed turn has said nothing, whatever was read from it.
    """
    shown, turns = _shown_columns(connection, cohort), _turn_columns(connection, cohort)
    turn, item = _turn_market_pairs(turns.snapshot, shown.snapshot)
    market, mid = shown.market[item], shown.mid[item]
    chance = _stated_probabilities(connection, cohort, stage, turns, turn, shown.markets, market)
    skipped = np.where(turns.blind[turn] | (stage != "final"), ONE // 2, mid)
    return ForecastColumns(
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
        outcome=read_outcomes(connection, shown.markets)[market],
    )


def read_newest_mids(connection: Connection, markets: Sequence[str]) -> Floats:
    """The newest mid of each of these markets, from 0 to 1; NaN where its newest quote has none."""
    newest = (
        select(QuoteRow.mid)
        .where(QuoteRow.market_id == MarketRow.id)
        .order_by(col(QuoteRow.at).desc())
        .limit(1)
    )
    rows = connection.execute(select(MarketRow.id, newest.scalar_subquery()))
    mids = {name: mid / ONE for name, mid in rows if mid is not None}
    return np.array([mids.get(name, np.nan) for name in markets], dtype=np.float64)


def read_line_ups(connection: Connection, cohort: int | None = None) -> list[tuple[str, str]]:
    """Every entrant's name, with all that makes two of them twins; cohort by cohort in line-up order."""
    query = (
        select(EntrantRow.name, EntrantRow.kind, EntrantRow.settings)
        .join(CohortRow, EntrantRow.cohort_id == CohortRow.id)
        .order_by(CohortRow.number, EntrantRow.position)
    )
    if cohort is not None:
        query = query.where(CohortRow.number == cohort)
    return [(name, f"{kind} {settings}") for name, kind, settings in connection.execute(query)]


def _turn_columns(connection: Connection, cohort: int | None) -> TurnColumns:
    columns_of = (EntrantRow.name, EntrantRow.id, CohortRow.number, RoundRow.number, RoundRow.at)
    query = (
        select(TurnRow.id, *columns_of, RoundRow.snapshot_id).select_from(PLACED_TURNS).where(HAS_FORECASTS)
    ).order_by(*LINE_UP_ORDER)
    if cohort is not None:
        query = query.where(CohortRow.number == cohort)
    ids, names, entrants, cohorts, rounds, times, snapshots = transpose(connection.execute(query).all(), 7)
    agents, agent = factorize(names)
    blind, released = _entrant_settings(connection)
    return TurnColumns(
        agents,
        int_column(ids),
        agent,
        int_column(cohorts),
        int_column(rounds),
        _seconds_column(times),
        int_column(snapshots),
        np.array([key in blind for key in entrants], dtype=np.bool_),
        int_column([released.get(key, UNKNOWN) for key in entrants]),
    )


def _shown_columns(connection: Connection, cohort: int | None) -> ShownColumns:
    joined = (
        SnapshotItemRow.__table__.join(
            MarketVersionRow, clause(SnapshotItemRow.version_id == MarketVersionRow.id)
        )
        .join(RoundRow, clause(RoundRow.snapshot_id == SnapshotItemRow.snapshot_id))
        .join(CohortRow, clause(RoundRow.cohort_id == CohortRow.id))
        .outerjoin(QuoteRow, clause(SnapshotItemRow.quote_id == QuoteRow.id))
    )
    keys = (
        SnapshotItemRow.snapshot_id,
        SnapshotItemRow.market_id,
        MarketVersionRow.event_id,
        MarketVersionRow.category,
        MarketVersionRow.closes_at,
    )
    query = select(*keys, QuoteRow.mid).select_from(joined).where(SnapshotItemRow.shown == 1)
    if cohort is not None:
        query = query.where(CohortRow.number == cohort)
    query = query.order_by(CohortRow.number, RoundRow.number, SnapshotItemRow.position)
    snapshots, ids, events, categories, closes, mids = transpose(connection.execute(query).all(), 6)
    markets, market = factorize(ids)
    event_names, event = factorize(events)
    category_names, category = factorize(categories)
    mid = int_column([ONE // 2 if price is None else price for price in mids])
    names = (markets, event_names, category_names)
    return ShownColumns(*names, int_column(snapshots), market, event, category, _seconds_column(closes), mid)


def _turn_market_pairs(turns: Ints, snapshots: Ints) -> tuple[Ints, Ints]:
    """Every turn with every market of its snapshot, as places among the turns and among the markets."""
    order = np.argsort(snapshots, kind="stable")
    first = np.searchsorted(snapshots, turns, side="left", sorter=order)
    count = np.searchsorted(snapshots, turns, side="right", sorter=order) - first
    turn = np.repeat(np.arange(turns.size), count)
    within = np.arange(turn.size) - np.repeat(np.cumsum(count) - count, count)
    return turn, order[first[turn] + within]


def _stated_probabilities(
    connection: Connection,
    cohort: int | None,
    stage: str,
    turns: TurnColumns,
    turn: Ints,
    markets: tuple[str, ...],
    market: Ints,
) -> Ints:
    """What was stated for each pair of turn and market, in millionths; -1 where nothing was."""
    query = (
        select(ForecastRow.turn_id, ForecastRow.market_id, ForecastRow.probability)
        .select_from(PLACED_TURNS.join(ForecastRow, clause(ForecastRow.turn_id == TurnRow.id)))
        .where(ForecastRow.stage == stage, TurnRow.status == "played")
    )
    if cohort is not None:
        query = query.where(CohortRow.number == cohort)
    ids, names, chances = transpose(connection.execute(query).all(), 3)
    probabilities = np.full(turn.size, -1, dtype=np.int64)
    if not ids or not turn.size:
        return probabilities
    place = {name: number for number, name in enumerate(markets)}
    order = np.argsort(turns.id)
    of_turn = order[np.searchsorted(turns.id, int_column(ids), sorter=order)]
    key = of_turn * (len(markets) + 1) + int_column([place.get(name, len(markets)) for name in names])
    wanted = turn * (len(markets) + 1) + market
    by_key = np.argsort(wanted)
    at = np.searchsorted(wanted, key, sorter=by_key).clip(max=turn.size - 1)
    matches = wanted[by_key[at]] == key  # what was said of a market that wasn't shown is no row
    probabilities[by_key[at[matches]]] = int_column(chances)[matches]
    return probabilities


def _entrant_settings(connection: Connection) -> tuple[set[int], dict[int, int]]:
    """The entrants that are shown no prices, and when the model of each was released."""
    rows = connection.execute(select(EntrantRow.id, EntrantRow.settings))
    settings = {key: json.loads(text) for key, text in rows}
    blind = {key for key, its in settings.items() if its.get("prices") == "hidden"}
    days = {key: its["released"] for key, its in settings.items() if its.get("released")}
    return blind, {key: _second(datetime.fromisoformat(day).replace(tzinfo=UTC)) for key, day in days.items()}


def _seconds_column(times: Any) -> Ints:
    """Instants as whole seconds since 1970."""
    return np.array([_second(at) for at in times], dtype=np.int64)


def _second(at: datetime) -> int:
    return int(at.timestamp() // 1)


def read_bet_columns(connection: Connection, cohort: int | None = None) -> BetColumns:
    """Every accepted bet with its two readings; what was sold later counts all the same."""
    rows = connection.execute(_purchases(cohort)).all()
    ids, names, cohorts, rounds, market_ids, sides, amounts, bases = transpose(rows, 8)
    agents, agent = factorize(names)
    markets, market = factorize(market_ids)
    yes = np.array([side == "YES" for side in sides], dtype=np.bool_)
    largest = _largest_stakes(connection)
    c = confidence(
        int_column(amounts), int_column(bases), int_column([largest[number] for number in cohorts])
    )
    paid = _prices_paid(connection, cohort)
    own = np.array([paid[fill] for fill in ids], dtype=np.float64)
    price = np.where(yes, own, 1 - own)
    return BetColumns(
        agents,
        markets,
        agent,
        int_column(cohorts),
        int_column(rounds),
        market,
        yes,
        implied_belief(yes, c),
        anchored_belief(yes, c, price),
        price,
        int_column(amounts),
        read_outcomes(connection, markets)[market],
    )


def _purchases(cohort: int | None) -> AnySelect:
    keys = (FillRow.id, EntrantRow.name, CohortRow.number, RoundRow.number, FillRow.market_id)
    query = (
        select(*keys, FillRow.side, FillRow.wanted, FillRow.base)
        .select_from(PLACED_TURNS.join(FillRow, clause(FillRow.turn_id == TurnRow.id)))
        .where(FillRow.action == "buy")
        .order_by(*LINE_UP_ORDER, FillRow.position)
    )
    return query if cohort is None else query.where(CohortRow.number == cohort)


def _largest_stakes(connection: Connection) -> dict[int, int]:
    """`max_bet` of the rules that each cohort has frozen."""
    rows = connection.execute(select(CohortRow.number, CohortRow.frozen))
    return {row.number: int(json.loads(row.frozen)["rules"]["max_bet"]) for row in rows}


def _prices_paid(connection: Connection, cohort: int | None) -> dict[int, float]:
    """The average price of each purchase, of the side's own share; summed here, where nothing overflows."""
    bought = _purchases(cohort).with_only_columns(FillRow.id).order_by(None)
    levels = select(FillLevelRow.fill_id, FillLevelRow.price, FillLevelRow.shares).where(
        col(FillLevelRow.fill_id).in_(bought)
    )
    paid: dict[int, int] = defaultdict(int)
    shares: dict[int, int] = defaultdict(int)
    for fill, price, bought_shares in connection.execute(levels).all():
        paid[fill] += price * bought_shares
        shares[fill] += bought_shares
    return {fill: paid[fill] / (shares[fill] * ONE) for fill in paid}


BEFORE, AFTER = aliased(ForecastRow, name="before"), aliased(ForecastRow, name="after")
ASKED_TWICE = and_(
    AFTER.turn_id == BEFORE.turn_id,
    AFTER.market_id == BEFORE.market_id,
    AFTER.stage == "final",
)
ITEM_OF_PAIR = and_(
    SnapshotItemRow.snapshot_id == RoundRow.snapshot_id, SnapshotItemRow.market_id == BEFORE.market_id
)
FORECAST_PAIRS = (
    join(BEFORE, AFTER, ASKED_TWICE)
    .join(TurnRow, clause(and_(BEFORE.turn_id == TurnRow.id, TurnRow.status == "played")))
    .join(RoundRow, clause(TurnRow.round_id == RoundRow.id))
    .join(EntrantRow, clause(TurnRow.entrant_id == EntrantRow.id))
    .join(CohortRow, clause(RoundRow.cohort_id == CohortRow.id))
    .join(SnapshotItemRow, clause(ITEM_OF_PAIR))
    .join(QuoteRow, clause(SnapshotItemRow.quote_id == QuoteRow.id))
)


@dataclass(frozen=True, slots=True)
class ForecastPairs:
    """One row per market asked both ways in a turn; probabilities and prices in millionths."""

    before: Ints
    after: Ints
    price: Ints
    outcome: Ints
    market: Ints


def read_forecast_pairs(connection: Connection, agent: str, cohort: int | None = None) -> ForecastPairs:
    """The pairs of an agent, over all its cohorts or in one; markets without a mid are left out."""
    query = (
        select(BEFORE.market_id, BEFORE.probability, AFTER.probability, QuoteRow.mid)
        .select_from(FORECAST_PAIRS)
        .where(BEFORE.stage == "blind", EntrantRow.name == agent, col(QuoteRow.mid).is_not(None))
        .order_by(CohortRow.number, RoundRow.number, SnapshotItemRow.position)
    )
    rows = connection.execute(query if cohort is None else query.where(CohortRow.number == cohort)).all()
    names, market = factorize([row[0] for row in rows])
    # Versions come in order, so the newest one stands.
    ended = {name: payout for (name, _), payout in read_payouts(connection, names).items()}
    scores = {None: NO_SCORE, ONE: 1, 0: 0}
    outcome = [scores.get(ended[name], NO_SCORE) if name in ended else OPEN for name in names]
    before, after, price = (np.array([row[k] for row in rows], dtype=np.int64) for k in (1, 2, 3))
    return ForecastPairs(before, after, price, np.array(outcome, dtype=np.int64)[market], market)
