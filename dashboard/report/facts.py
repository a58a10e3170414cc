"""What a report is made of, read in one look at the record."""

from collections.abc import Mapping
from dataclasses import dataclass

from arena.errors import ArenaError
from arena.record.queries.accounts import read_cohort_depths, read_equity_curves
from arena.record.queries.cohorts import StoredCohort, read_cohorts, read_rounds
from arena.record.queries.forecasts import read_forecast_columns
from arena.record.schema.database import Connection
from arena.scores.comparisons import MARKET
from arena.scores.leaderboard import Leaderboard, read_leaderboard
from arena.scores.profiles.calibrations import ForecasterCalibration, agent_calibrations, price_calibration
from dashboard.record import CohortLine, PnlPoint, RoundDecision, line_of
from dashboard.svg import AgentLook, looks
from markets.millionths import ONE

MOST_COHORTS = 6
"""The curves of so many cohorts are drawn, the newest."""
MOST_PANELS = 12
"""Of so many agents it is drawn how well they are calibrated: of those that stand first."""


@dataclass(frozen=True, slots=True)
class ReportCurves:
    """What the accounts of a cohort have gained, and when its rounds were decided."""

    line: CohortLine
    points: tuple[PnlPoint, ...]
    rounds: tuple[RoundDecision, ...]


@dataclass(frozen=True, slots=True)
class ReportFacts:
    """A season, or one cohort of it: `cohort` is its number. Curves stand newest first."""

    cohort: int | None
    lines: tuple[CohortLine, ...]
    ranking: Leaderboard
    curves: tuple[ReportCurves, ...]
    calibrations: tuple[ForecasterCalibration, ...]
    price: ForecasterCalibration
    looks: Mapping[str, AgentLook]


def gather(connection: Connection, cohort: int | None) -> ReportFacts:
    """All that is said, of every cohort or of one."""
    stored = read_cohorts(connection)
    if not stored:
        hint = "arena round plays the first, arena demo a season"
        raise ArenaError("no_cohort", "the record holds no cohort yet", hint)
    found = read_leaderboard(connection, cohort)
    chosen = [one for one in stored if cohort in (None, one.cohort.number)]
    kinds = {entrant.name: entrant.kind for one in stored for entrant in one.cohort.entrants}
    kinds.setdefault(MARKET, MARKET)
    shown = read_forecast_columns(connection, cohort)
    depths = read_cohort_depths(connection)
    names = [row.agent for row in found.rows if row.kind != MARKET][:MOST_PANELS]
    return ReportFacts(
        cohort=cohort,
        lines=tuple(line_of(connection, one, depths) for one in chosen),
        ranking=found,
        curves=tuple(_curves(connection, one) for one in reversed(chosen[-MOST_COHORTS:])),
        calibrations=agent_calibrations(shown, names),
        price=price_calibration(shown),
        looks=looks(kinds.items()),
    )


def _curves(connection: Connection, stored: StoredCohort) -> ReportCurves:
    number, bankroll = stored.cohort.number, stored.cohort.bankroll
    worth = read_equity_curves(connection, number)
    gains = [(mark.agent, mark.at, mark.total - bankroll) for mark in worth]
    points = (PnlPoint(agent, at, gain / ONE, 100 * gain / bankroll) for agent, at, gain in gains)
    decided = (RoundDecision(begun.number, begun.at) for begun in read_rounds(connection, stored.id))
    return ReportCurves(line_of(connection, stored, {}), tuple(points), tuple(decided))
