"""How every agent of a cohort stands: profit, Brier scores, and what happened of what it said."""

from dataclasses import dataclass

from arena.record.model.columns import ForecastColumns, answered_rows, rows_of_agent
from arena.record.model.columns import stated_belief as probability
from arena.record.queries.accounts import read_accounts
from arena.record.queries.cohorts import read_min_coverage
from arena.record.queries.forecasts import read_bet_columns, read_forecast_columns
from arena.record.schema.database import Connection
from arena.scores.leaderboard import score_agents
from arena.scores.rules.calibration import bins

BANDS = ((0.0, 0.3), (0.3, 0.7), (0.7, 1.0))
"""Unlikely, open and likely: three points of a calibration curve, which a person reads at a glance."""


@dataclass(frozen=True, slots=True)
class CalibrationBand:
    """Resolved forecasts of about the same probability: their mean, and the share of them that came true."""

    says: float
    happens: float
    forecasts: int


@dataclass(frozen=True, slots=True)
class CohortScore:
    """An agent in one cohort; money in dollars, None where unknown yet."""

    agent: str
    pnl: float | None
    return_pct: float | None
    brier_implied: float | None
    brier_stated: float | None
    brier_market: float | None
    resolved: int
    calibration: tuple[CalibrationBand, ...]


def read_cohort_scores(connection: Connection, number: int) -> list[CohortScore]:
    """Every agent of a cohort, the highest profit first."""
    stated = read_forecast_columns(connection, number)
    accounts = read_accounts(connection, number)
    played = {account.agent for account in accounts}
    least = read_min_coverage(connection, number)
    rows = score_agents(accounts, stated, read_bet_columns(connection, number), least)
    scores = [
        CohortScore(
            row.agent,
            row.pnl,
            row.return_pct,
            row.brier_implied,
            row.brier_stated,
            row.brier_market,
            row.resolved,
            calibration_bands(answered_rows(rows_of_agent(stated, row.agent))),
        )
        for row in rows
        if row.agent in played
    ]
    return sorted(scores, key=lambda one: (one.pnl is None, -(one.pnl or 0), one.agent))


def calibration_bands(rows: ForecastColumns) -> tuple[CalibrationBand, ...]:
    """An agent's calibration in three bands, those without a resolved forecast left out."""
    every = bins(probability(rows.forecast), rows.outcome)
    found = []
    for low, high in BANDS:
        some = [one for one in every if low <= one.low + 1e-9 < high]
        if count := sum(one.count for one in some):
            says, happens = (
                sum(one.count * value for one, value in zip(some, values, strict=True)) / count
                for values in ([one.forecast for one in some], [one.observed for one in some])
            )
            found.append(CalibrationBand(says, happens, count))
    return tuple(found)
