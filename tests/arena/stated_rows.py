"""Stated forecasts without a record: so many events of so many markets, as columns."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import numpy as np

from arena.record.model.columns import OPEN, UNKNOWN, AccountSummary, BetColumns, ForecastColumns, take_rows
from markets.millionths import ONE

DAY = 86_400
BEGAN = int(datetime(2026, 1, 4, tzinfo=UTC).timestamp())


def a_season(
    agents: Mapping[str, float],
    *,
    events: int = 40,
    markets: int = 2,
    rounds: int = 1,
    seed: int = 1,
    released: Mapping[str, int] | None = None,
) -> ForecastColumns:
    """Return agents that know the truth this much better than the market, whose price is off by a quarter.

    A share of 0 is the price itself, of 1 the truth. All are shown all markets in every round.
    """
    chance = np.random.default_rng(seed)
    count = events * markets
    truth = chance.uniform(0.1, 0.9, count)
    outcome = (chance.uniform(size=count) < truth).astype(np.int64)
    price = np.clip(truth + chance.choice([-0.25, 0.25], count), 0.02, 0.98)
    names = tuple(agents)
    agent, number, market = (
        part.ravel() for part in np.meshgrid(range(len(names)), range(rounds), range(count), indexing="ij")
    )
    share = np.array(list(agents.values()))[agent]
    said = np.clip(price[market] + share * (truth - price)[market], 0.01, 0.99)
    dates = released or {}
    return ForecastColumns(
        agents=names,
        markets=tuple(f"m{place}" for place in range(count)),
        events=tuple(f"e{place}" for place in range(events)),
        stories=tuple(f"e{place}" for place in range(events)),
        categories=("sport", "politics"),
        agent=agent,
        cohort=np.ones_like(agent),
        round=number + 1,
        at=BEGAN + 7 * DAY * number,
        market=market,
        event=market // markets,
        story=market // markets,
        category=market % 2,
        closes=BEGAN + DAY * (7 * number + 1 + market % 40),
        forecast=(said * ONE).round().astype(np.int64),
        stated=np.ones(agent.size, dtype=np.bool_),
        mid=(price[market] * ONE).round().astype(np.int64),
        released=np.array([dates.get(name, UNKNOWN) for name in names])[agent],
        outcome=outcome[market],
        payout=outcome[market].astype(np.float64),
        known=BEGAN + DAY * (7.0 * number + 1 + market % 70),
        quoted=np.ones(agent.size, dtype=np.bool_),
        priced=np.ones(agent.size, dtype=np.bool_),
    )


def _none(kind: str) -> Any:
    return np.zeros(0, dtype=kind)


_INTS = _none("int64")
_FLOATS = _none("float64")
NO_BETS = BetColumns(
    agents=(),
    markets=(),
    agent=_INTS,
    cohort=_INTS,
    round=_INTS,
    market=_INTS,
    yes=_none("bool"),
    implied=_FLOATS,
    anchored=_FLOATS,
    price=_FLOATS,
    amount=_INTS,
    outcome=_INTS,
)


def an_account(agent: str) -> AccountSummary:
    """Return an account that was never marked and paid for nothing."""
    return AccountSummary(agent, "llm", 1, 10_000 * ONE, None, 0, 1, 0, 0, 0)


def only(rows: ForecastColumns, which: Any) -> ForecastColumns:
    """Return these of the forecasts: by a mask, or by their places."""
    return take_rows(rows, which)


def still_open(rows: ForecastColumns) -> ForecastColumns:
    """Return the same forecasts before any market has ended."""
    return replace(rows, outcome=np.full_like(rows.outcome, OPEN))
