"""The calibration of every agent in a cohort, in each of three readings, and of the price they saw."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from pydantic import TypeAdapter

from arena.errors import natural_key
from arena.record.model.columns import Floats, ForecastColumns, Ints, answered_rows, rows_of_agent, shown_once
from arena.record.model.columns import stated_belief as probability
from arena.record.queries.cohorts import IS_ASKED_FOR, read_cohorts, select_cohorts
from arena.record.queries.forecasts import read_bet_columns, read_forecast_columns
from arena.record.schema.cohort import CohortRow, RoundRow, SnapshotItemRow
from arena.record.schema.database import Connection
from arena.record.schema.typed import col, func, joined, select
from arena.record.schema.world import ResolutionRow
from arena.scores.cache import CacheKind
from arena.scores.comparisons import MARKET
from arena.scores.rules.reliability.diagram import ReliabilityDiagram, diagram
from arena.scores.rules.reliability.reading import named_sentence

WORLDS = 250
"""The draws behind a band: an arena has many cohorts, with many agents each, in three readings."""
POINTS = 24
"""The most points of a diagram: more can't be distinguished on a page."""


@dataclass(frozen=True, slots=True)
class ForecasterCalibration:
    """A forecaster in one reading: of `made` forecasts, `scored` have an outcome and are in the diagram."""

    agent: str
    made: int
    scored: int
    diagram: ReliabilityDiagram = field(repr=False)

    @property
    def sentence(self) -> str:
        """Return the sentence that pages show for the diagram, beginning with the forecaster."""
        return named_sentence(self.agent, self.diagram.sure, self.diagram.null.p_value)


@dataclass(frozen=True, slots=True)
class CohortCalibrations:
    """A cohort's agents in line-up order in each reading, and the price of every market once a round."""

    stated: tuple[ForecasterCalibration, ...]
    anchored: tuple[ForecasterCalibration, ...]
    implied: tuple[ForecasterCalibration, ...]
    market: ForecasterCalibration


SHOWN_MARKETS = (
    select(SnapshotItemRow.market_id)
    .select_from(joined(CohortRow, RoundRow))
    .join(SnapshotItemRow, SnapshotItemRow.snapshot_id == RoundRow.snapshot_id)
    .where(IS_ASKED_FOR, SnapshotItemRow.shown == 1)
)
ENDS_BASIS = select(func.count(), func.coalesce(func.max(ResolutionRow.id), 0)).where(
    col(ResolutionRow.market_id).in_(SHOWN_MARKETS)
)
COUNT_ROUNDS = select(func.count()).select_from(joined(RoundRow, CohortRow)).where(IS_ASKED_FOR)


def _resolutions_basis(connection: Connection, cohort: int) -> str:
    """Return a text that changes with every resolution and round of a cohort."""
    count, last = connection.execute(ENDS_BASIS, {"cohort": cohort}).one()
    rounds = connection.scalar(COUNT_ROUNDS, {"cohort": cohort})
    return f"{count} ends in {rounds} rounds, the last is {last}"


CALIBRATIONS = CacheKind(
    "calibration", "cohort calibration 5", TypeAdapter(CohortCalibrations), _resolutions_basis
)
"""The calibrations of a cohort by its number."""


def compute_calibrations(connection: Connection, number: int) -> CohortCalibrations:
    """Return a cohort's calibrations as of now; the same forecasts give the same digits."""
    [stored] = select_cohorts(read_cohorts(connection), number)
    names = [entrant.name for entrant in stored.cohort.entrants if entrant.kind != MARKET]
    forecasts = read_forecast_columns(connection, number)
    bets = read_bet_columns(connection, number)

    anchored = []
    implied = []
    for name in names:
        own = rows_of_agent(bets, name)
        columns = (own.outcome, own.market, own.market)  # each market counts as an event
        anchored.append(_forecaster_calibration(name, own.anchored, *columns, 2))
        implied.append(_forecaster_calibration(name, own.implied, *columns, 3))

    return CohortCalibrations(
        stated=agent_calibrations(forecasts, names),
        anchored=tuple(anchored),
        implied=tuple(implied),
        market=price_calibration(forecasts),
    )


def agent_calibrations(forecasts: ForecastColumns, names: Sequence[str]) -> tuple[ForecasterCalibration, ...]:
    """Return the calibrations of agents' stated probabilities; equal forecasts have the same digits."""
    calibrations = []
    for name in names:
        own = answered_rows(rows_of_agent(forecasts, name))
        stated = probability(own.forecast)
        calibrations.append(_forecaster_calibration(name, stated, own.outcome, own.market, own.event, 1))
    return tuple(calibrations)


def season_calibrations(connection: Connection, cohort: int | None) -> tuple[ForecasterCalibration, ...]:
    """Return the calibrations of all agents by name, over all cohorts or in one, then the price's."""
    select_cohorts(read_cohorts(connection), cohort)  # raises if there is no such cohort
    forecasts = read_forecast_columns(connection, cohort)
    names = [name for name in forecasts.agents if name != MARKET]
    calibrations = agent_calibrations(forecasts, sorted(names, key=natural_key))
    return (*calibrations, price_calibration(forecasts))


def price_calibration(forecasts: ForecastColumns) -> ForecasterCalibration:
    """Return the calibration of the price of every market shown, once a round."""
    once = shown_once(forecasts)
    return _forecaster_calibration(MARKET, probability(once.mid), once.outcome, once.market, once.event, 4)


def _forecaster_calibration(
    agent: str, forecast: Floats, outcome: Ints, market: Ints, event: Ints, stream: int
) -> ForecasterCalibration:
    """Return the calibration of a forecaster in one reading."""
    scored = int(np.count_nonzero(outcome >= 0))
    rng = np.random.default_rng([0, stream])  # each reading has draws of its own
    reliability = diagram(forecast, outcome, rng, market, draws=WORLDS, most=POINTS, event=event)
    return ForecasterCalibration(agent, outcome.size, scored, reliability)
