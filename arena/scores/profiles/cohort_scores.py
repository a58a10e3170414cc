"""How every agent of a cohort stands: profit, Brier scores, and what happened of what it said."""

from typing import Any

from arena.errors import natural_key
from arena.record.model.columns import ForecastColumns, answered_rows, rows_of_agent
from arena.record.model.columns import stated_belief as probability
from arena.record.queries.accounts import read_accounts
from arena.record.queries.cohorts import read_min_coverage
from arena.record.queries.forecasts import read_bet_columns, read_forecast_columns
from arena.record.schema.database import Connection
from arena.scores.leaderboard import score_agents
from arena.scores.rules.calibration import bins

FIGURES = ("agent", "pnl", "return_pct", "brier_implied", "brier_stated", "brier_market", "resolved")
BANDS = ((0.0, 0.3), (0.3, 0.7), (0.7, 1.0))
"""Unlikely, open and likely: three points of a calibration curve, which a person reads at a glance."""


def read_cohort_scores(connection: Connection, number: int) -> list[dict[str, Any]]:
    """Every agent of a cohort for JSON, the highest profit first; money in dollars, None where unknown."""
    stated = read_forecast_columns(connection, number)
    accounts = read_accounts(connection, number)
    played = {account.agent for account in accounts}
    least = read_min_coverage(connection, number)
    rows = score_agents(accounts, stated, read_bet_columns(connection, number), least)
    rows.sort(key=lambda one: (one.pnl is None, -(one.pnl or 0), natural_key(one.agent)))
    return [
        {name: getattr(row, name) for name in FIGURES}
        | {"calibration": calibration_bands(answered_rows(rows_of_agent(stated, row.agent)))}
        for row in rows
        if row.agent in played
    ]


def calibration_bands(rows: ForecastColumns) -> list[dict[str, float]]:
    """Resolved forecasts in three bands: their mean, and the share of them that came true."""
    every = bins(probability(rows.forecast), rows.outcome)
    found = []
    for low, high in BANDS:
        some = [one for one in every if low <= one.low + 1e-9 < high]
        if count := sum(one.count for one in some):
            says, happens = (
                sum(one.count * value for one, value in zip(some, values, strict=True)) / count
                for values in ([one.forecast for one in some], [one.observed for one in some])
            )
            found.append({"says": says, "happens": happens, "forecasts": count})
    return found
