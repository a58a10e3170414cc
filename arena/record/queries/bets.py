"""From the record to columns: every accepted bet, with the two readings of its stake."""

import json
from collections import defaultdict
from typing import Any

import numpy as np
from sqlalchemy import Connection, Select, select

from arena.record.model.belief import anchored, confidence, implied
from arena.record.model.columns import Bets, places
from arena.record.queries.frame import IN_ORDER, TURNS, columns, ints, outcomes
from arena.record.schema.tables import COHORT, ENTRANT, FILL, LEVEL, ROUND, TURN
from markets.millionths import ONE


def read_bets(connection: Connection, cohort: int | None = None) -> Bets:
    """Every accepted bet with its two readings; what was sold later counts all the same."""
    rows = connection.execute(_bought(cohort)).all()
    ids, names, cohorts, rounds, market_ids, sides, amounts, bases = columns(rows, 8)
    agents, agent = places(names)
    markets, market = places(market_ids)
    yes = np.array([side == "YES" for side in sides], dtype=np.bool_)
    largest = _largest_bets(connection)
    c = confidence(ints(amounts), ints(bases), ints([largest[number] for number in cohorts]))
    paid = _prices_paid(connection, cohort)
    own = np.array([paid[fill] for fill in ids], dtype=np.float64)
    price = np.where(yes, own, 1 - own)
    return Bets(
        agents,
        markets,
        agent,
        ints(cohorts),
        ints(rounds),
        market,
        yes,
        implied(yes, c),
        anchored(yes, c, price),
        price,
        ints(amounts),
        outcomes(connection, markets)[market],
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
    for fill, price, bought_shares in connection.execute(levels).all():
        paid[fill] += price * bought_shares
        shares[fill] += bought_shares
    return {fill: paid[fill] / (shares[fill] * ONE) for fill in paid}
