"""From the record to columns: a few queries whatever the size, and no row made into an object."""

import json
from collections import defaultdict
from typing import Any

import numpy as np
from sqlalchemy import Connection, Select, and_, select

from arena.belief import anchored, confidence, implied
from arena.frame import NO_SCORE, OPEN, Bets, Ints, Stated, places
from arena.store.tables import (
    COHORT,
    ENTRANT,
    FILL,
    FORECAST,
    ITEM,
    LEVEL,
    QUOTE,
    RESOLUTION,
    ROUND,
    TURN,
    VERSION,
)
from markets.millionths import ONE

__all__ = ["Connection", "read_bets", "read_stated"]

TURNS = (
    TURN.join(ROUND, TURN.c.round_id == ROUND.c.id)
    .join(ENTRANT, TURN.c.entrant_id == ENTRANT.c.id)
    .join(COHORT, ROUND.c.cohort_id == COHORT.c.id)
)
IN_ORDER = (COHORT.c.number, ROUND.c.number, ENTRANT.c.position)


def read_stated(connection: Connection, cohort: int | None = None) -> Stated:
    """What every turn that was played forecast for every market it was shown.

    A skip is taken as agreement with the mid, or as even odds from an entrant that sees no prices.
    """
    rows = connection.execute(_shown(cohort)).all()
    names, cohorts, rounds, ids, events, entrants, said, mids = _columns(rows, 8)
    agents, agent = places(names)
    markets, market = places(ids)
    event_names, event = places(events)
    mid = _ints([ONE // 2 if price is None else price for price in mids])
    stated = np.array([chance is not None for chance in said], dtype=np.bool_)
    unseen = _without_prices(connection)
    skipped = np.where([entrant in unseen for entrant in entrants], ONE // 2, mid)
    return Stated(
        agents,
        markets,
        event_names,
        agent,
        _ints(cohorts),
        _ints(rounds),
        market,
        event,
        np.where(stated, _ints([chance or 0 for chance in said]), skipped),
        stated,
        mid,
        _outcomes(connection, markets)[market],
    )


def _shown(cohort: int | None) -> Select[Any]:
    """A malformed turn has said nothing, whatever was read from it; failed ones and those out are absent."""
    said = and_(
        FORECAST.c.turn_id == TURN.c.id,
        FORECAST.c.market_id == ITEM.c.market_id,
        FORECAST.c.stage == "final",
        TURN.c.verdict == "played",
    )
    joined = (
        TURNS.join(ITEM, ITEM.c.snapshot_id == ROUND.c.snapshot_id)
        .join(VERSION, ITEM.c.version_id == VERSION.c.id)
        .outerjoin(QUOTE, ITEM.c.quote_id == QUOTE.c.id)
        .outerjoin(FORECAST, said)
    )
    keys = (
        ENTRANT.c.name,
        COHORT.c.number,
        ROUND.c.number,
        ITEM.c.market_id,
        VERSION.c.event_id,
        ENTRANT.c.id,
    )
    query = (
        select(*keys, FORECAST.c.probability, QUOTE.c.mid)
        .select_from(joined)
        .where(ITEM.c.shown == 1, TURN.c.verdict.in_(("played", "malformed")))
        .order_by(*IN_ORDER, ITEM.c.position)
    )
    return query if cohort is None else query.where(COHORT.c.number == cohort)


def _without_prices(connection: Connection) -> set[int]:
    """The entrants that are shown no prices."""
    rows = connection.execute(select(ENTRANT.c.id, ENTRANT.c.settings))
    return {key for key, settings in rows if json.loads(settings).get("prices") == "hidden"}


def read_bets(connection: Connection, cohort: int | None = None) -> Bets:
    """Every accepted bet with its two readings; what was sold later counts all the same."""
    rows = connection.execute(_bought(cohort)).all()
    ids, names, cohorts, rounds, market_ids, sides, amounts, bases = _columns(rows, 8)
    agents, agent = places(names)
    markets, market = places(market_ids)
    yes = np.array([side == "YES" for side in sides], dtype=np.bool_)
    largest = _largest_bets(connection)
    c = confidence(_ints(amounts), _ints(bases), _ints([largest[number] for number in cohorts]))
    paid = _prices_paid(connection, cohort)
    own = np.array([paid[fill] for fill in ids], dtype=np.float64)
    price = np.where(yes, own, 1 - own)
    return Bets(
        agents,
        markets,
        agent,
        _ints(cohorts),
        _ints(rounds),
        market,
        yes,
        implied(yes, c),
        anchored(yes, c, price),
        price,
        _ints(amounts),
        _outcomes(connection, markets)[market],
    )


def _bought(cohort: int | None) -> Select[Any]:
    keys = (FILL.c.id, ENTRANT.c.name, COHORT.c.number, ROUND.c.number, FILL.c.market_id)
    query = (
        select(*keys, FILL.c.side, FILL.c.wanted, FILL.c.base)
        .select_from(TURNS.join(FILL, FILL.c.turn_id == TURN.c.id))
        .where(FILL.c.action == "buy")
        .order_by(*IN_ORDER, FILL.c.position)
    )
    return query if cohort is None else query.where(COHORT.c.number == cohort)


def _largest_bets(connection: Connection) -> dict[int, int]:
    """`max_bet` of the rules that each cohort has frozen."""
    rows = connection.execute(select(COHORT.c.number, COHORT.c.frozen))
    return {row.number: int(json.loads(row.frozen)["rules"]["max_bet"]) for row in rows}


def _prices_paid(connection: Connection, cohort: int | None) -> dict[int, float]:
    """The average price of each purchase, of the side's own share; summed here, where nothing overflows."""
    bought = _bought(cohort).with_only_columns(FILL.c.id).order_by(None)
    levels = select(LEVEL.c.fill_id, LEVEL.c.price, LEVEL.c.shares).where(LEVEL.c.fill_id.in_(bought))
    paid: dict[int, int] = defaultdict(int)
    shares: dict[int, int] = defaultdict(int)
    for row in connection.execute(levels):
        paid[row.fill_id] += row.price * row.shares
        shares[row.fill_id] += row.shares
    return {fill: paid[fill] / (shares[fill] * ONE) for fill in paid}


def _outcomes(connection: Connection, markets: tuple[str, ...]) -> Ints:
    """How each market ended by the latest version of its resolution."""
    rows = connection.execute(
        select(RESOLUTION.c.market_id, RESOLUTION.c.payout).order_by(RESOLUTION.c.version)
    )
    ended = {row.market_id: {ONE: 1, 0: 0}.get(row.payout, NO_SCORE) for row in rows}
    return _ints([ended.get(market, OPEN) for market in markets])


def _columns(rows: Any, width: int) -> list[Any]:
    """Rows turned on their side; empty columns when there is none."""
    return list(zip(*rows, strict=True)) if rows else [()] * width


def _ints(values: Any) -> Ints:
    return np.array(values, dtype=np.int64)
