"""An agent's profile as pages show it: in depth, in slices of the season, and with notable forecasts.

A few figures of every profile are cached separately, because the leaderboard shows them beside the scores.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from pydantic import TypeAdapter

from arena.record.model.columns import (
    BetColumns,
    ForecastColumns,
    answered_rows,
    rows_of_agent,
    take_rows,
)
from arena.record.model.columns import stated_belief as probability
from arena.record.queries.cohorts import read_newest_time
from arena.record.queries.forecasts import read_forecast_columns
from arena.record.schema.cohort import CohortRow, EntrantRow, RoundRow
from arena.record.schema.database import Connection
from arena.record.schema.turn import ForecastRow, TurnRow
from arena.record.schema.typed import col, joined, select
from arena.scores.cache import CacheKind
from arena.scores.profiles.agent_profile import AgentProfile, build_profile, compute_agent_profile
from arena.scores.profiles.duels import DUELS
from arena.scores.profiles.inputs import CacheInputs, read_inputs
from arena.scores.rules._columns import none_for_nan
from arena.scores.rules.comparisons.gain import Gain
from arena.scores.rules.money.luck import Luck
from arena.scores.rules.reliability import calibration_slices as calibrating
from arena.scores.rules.reliability.calibration_slices import CalibrationSlice as Calibrated
from arena.scores.rules.reliability.diagram import ReliabilityDiagram, diagram
from arena.scores.rules.reliability.reading import CalibrationReading, read_calibration
from arena.scores.rules.statements.blind_forecasts import BlindEffect
from arena.scores.slices import BY, SLICES, Slice, slice_gains

METHOD = "profiles 8"
"""The version of the method by which profiles, and the values taken from them, are computed."""


@dataclass(frozen=True, slots=True)
class ProfileFigures:
    """The figures that the leaderboard shows of an agent beside its scores; None if unknown."""

    agent: str
    luck: Luck | None
    miscalibration: float | None
    miscalibration_p: float | None
    sure: CalibrationReading | None


FIGURES = CacheKind(
    "briefs", f"{METHOD}, {DUELS.method}, {SLICES.method}", TypeAdapter(tuple[ProfileFigures, ...])
)
"""The figures of every agent, in line-up order.

They are written after all else that is cached of agents, and say by their method how that was computed.
"""

PROFILE_SLICES = ("category", "horizon", "price", "cohort")
WORLDS = 250
"""The draws behind the calibration of a slice."""
Parts = Mapping[str, Sequence[Slice]]
BINS = 20
MOST = 5
"""The number of forecasts listed as the best, and as the worst."""


@dataclass(frozen=True, slots=True)
class NotableForecast:
    """A notable forecast: the probability, the price, the stake, and the outcome.

    `gain` is the price's squared error minus the forecast's; `staked` is in millionths on `side`, 0 and ""
    without a bet.
    """

    cohort: int
    round: int
    market_id: str
    question: str
    forecast: float
    price: float
    side: str
    staked: int
    outcome: int
    gain: float


Notable = tuple[NotableForecast, ...]


@dataclass(frozen=True, slots=True)
class DetailedProfile:
    """An agent's profile with its skill and calibration in slices, and its notable forecasts.

    `slices` and `calibrated` are by category, horizon, price and cohort; `histogram` counts the stated
    probabilities in twenty bins of equal width, resolved or not; `anchored` and `implied` are the diagrams of
    its bets in those readings.
    """

    profile: AgentProfile
    anchored: ReliabilityDiagram
    implied: ReliabilityDiagram
    histogram: tuple[int, ...]
    slices: dict[str, tuple[Slice, ...]]
    calibrated: dict[str, tuple[Calibrated, ...]]
    best: Notable
    worst: Notable


PROFILE = CacheKind("profile", METHOD, TypeAdapter(DetailedProfile))
"""The profile of an agent by its name."""


def read_agent_profile(connection: Connection, agent: str) -> AgentProfile:
    """Return an agent's profile, from the cache while nothing was marked since, else as of now."""
    cached = PROFILE.read(connection, agent)
    newest = read_newest_time(connection)

    if cached is not None and cached.is_current and (newest is None or cached.made_at >= newest):
        return cached.value.profile
    return compute_agent_profile(connection, agent)


def compute_profile(inputs: CacheInputs, agent: str, parts: Parts, blind: BlindEffect) -> DetailedProfile:
    """Return an agent's profile, the same digits for the same inputs; `parts` are everyone's slices."""
    rows = rows_of_agent(inputs.stated, agent)
    counted = answered_rows(rows)
    stated = probability(rows.forecast[rows.stated])
    histogram, _ = np.histogram(stated, bins=BINS, range=(0, 1))

    bets = rows_of_agent(inputs.bets, agent)
    anchored_chance = np.random.default_rng([1, 1])
    implied_chance = np.random.default_rng([2, 1])
    best, worst = _notable_forecasts(inputs, agent)

    slices = {}
    calibrated = {}
    for by in PROFILE_SLICES:
        slices[by] = tuple(part for part in parts[by] if part.gain.agent == agent)
        calibrated[by] = tuple(slice_calibrations(counted, by))

    return DetailedProfile(
        profile=build_profile(inputs, agent, blind),
        anchored=diagram(bets.anchored, bets.outcome, anchored_chance, bets.market),
        implied=diagram(bets.implied, bets.outcome, implied_chance, bets.market),
        histogram=tuple(histogram.tolist()),
        slices=slices,
        calibrated=calibrated,
        best=best,
        worst=worst,
    )


def read_sure_forecasts(connection: Connection, cohort: int | None = None) -> dict[str, CalibrationReading]:
    """Return the calibration of each agent's sure forecasts, from the cache if it is current."""
    sure = {}
    cached = None
    if cohort is None:
        cached = FIGURES.read_current(connection)

    if cached is not None:
        for figures in cached:
            if figures.sure is not None:
                sure[figures.agent] = figures.sure
        return sure

    stated = answered_rows(read_forecast_columns(connection, cohort))
    for agent in stated.agents:
        rows = rows_of_agent(stated, agent)
        own_reading = read_calibration(probability(rows.forecast), rows.outcome, rows.story)
        if own_reading is not None:
            sure[agent] = own_reading
    return sure


def profile_figures(detailed: DetailedProfile) -> ProfileFigures:
    """Return the few figures of a profile that the leaderboard shows."""
    profile = detailed.profile
    calibration = profile.calibration
    return ProfileFigures(
        agent=profile.agent,
        luck=None if profile.money is None else profile.money.luck,
        miscalibration=none_for_nan(calibration.parts.miscalibration),
        miscalibration_p=none_for_nan(calibration.null.p_value),
        sure=calibration.sure,
    )


def slice_calibrations(rows: ForecastColumns, by: str) -> list[Calibrated]:
    """Return the calibration of rows in each slice that holds any of them, in the order of slices."""
    names, slice_number = BY[by](rows)
    order = list(names)
    labels = np.array(names, dtype=np.str_)[slice_number]
    slices = calibrating.calibration_by_label(
        labels, probability(rows.forecast), rows.outcome, 0, rows.market, WORLDS
    )
    return sorted(slices, key=lambda part: order.index(part.label))


def _notable_forecasts(inputs: CacheInputs, agent: str) -> tuple[Notable, Notable]:
    """Return the forecasts with the largest gains and losses; no market twice on either side."""
    counted = answered_rows(rows_of_agent(inputs.stated, agent))
    rows = take_rows(counted, counted.outcome >= 0)
    stakes = _stakes_by_round_and_market(rows_of_agent(inputs.bets, agent))
    outcome = rows.outcome
    forecast = probability(rows.forecast)
    price = probability(rows.mid)
    price_error = (price - outcome) ** 2
    gain = price_error - (forecast - outcome) ** 2

    def notable(row: int) -> NotableForecast:
        cohort = int(rows.cohort[row])
        number = int(rows.round[row])
        market = rows.markets[rows.market[row]]
        side, staked = stakes.get((cohort, number, market), ("", 0))
        return NotableForecast(
            cohort=cohort,
            round=number,
            market_id=market,
            question=inputs.pages[market].question,
            forecast=float(forecast[row]),
            price=float(price[row]),
            side=side,
            staked=staked,
            outcome=int(outcome[row]),
            gain=float(gain[row]),
        )

    by_gain = np.argsort(-gain, kind="stable")
    gain_rows = by_gain[gain[by_gain] > 0]
    by_loss = by_gain[::-1]
    loss_rows = by_loss[gain[by_loss] < 0]
    best = _first_of_each_market(rows, gain_rows)
    worst = _first_of_each_market(rows, loss_rows)
    return tuple(map(notable, best)), tuple(map(notable, worst))


def _stakes_by_round_and_market(bets: BetColumns) -> dict[tuple[int, int, str], tuple[str, int]]:
    """Return the side and the amount of each bet, by cohort, round and market."""
    stakes = {}
    columns = (bets.cohort, bets.round, bets.market, bets.yes, bets.amount)
    for cohort, number, market, yes, amount in zip(*(column.tolist() for column in columns), strict=True):
        side = "YES" if yes else "NO"
        stakes[cohort, number, bets.markets[market]] = (side, amount)
    return stakes


@dataclass(frozen=True, slots=True)
class ExplainedForecast:
    """A notable forecast, and the reason that its agent gave for it."""

    forecast: NotableForecast
    reason: str


@dataclass(frozen=True, slots=True)
class NotableForecasts:
    """The forecasts with an agent's largest gains and losses against the price, the largest first."""

    best: tuple[ExplainedForecast, ...]
    worst: tuple[ExplainedForecast, ...]


def read_notable_forecasts(connection: Connection, agent: str) -> NotableForecasts:
    """Return the notable forecasts, from the cached profile if it is current, else as of now."""
    cached = PROFILE.read_current(connection, agent)
    if cached is not None:
        return explain_forecasts(connection, agent, cached.best, cached.worst)

    best, worst = _notable_forecasts(read_inputs(connection, agent), agent)
    return explain_forecasts(connection, agent, best, worst)


def explain_forecasts(
    connection: Connection,
    agent: str,
    best: Notable,
    worst: Notable,
) -> NotableForecasts:
    """Return an agent's best and worst forecasts with the reasons that it gave."""
    markets = {forecast.market_id for forecast in best + worst}
    is_notable = col(ForecastRow.market_id).in_(markets)
    query = (
        select(CohortRow.number, RoundRow.number, ForecastRow.market_id, ForecastRow.reason)
        .select_from(joined(TurnRow, EntrantRow, RoundRow, CohortRow, ForecastRow))
        .where(EntrantRow.name == agent, ForecastRow.stage == "final", is_notable)
    )
    reasons = {}
    for cohort, number, market, reason in connection.execute(query):
        reasons[cohort, number, market] = reason

    def explain(forecast: NotableForecast) -> ExplainedForecast:
        key = (forecast.cohort, forecast.round, forecast.market_id)
        return ExplainedForecast(forecast, reasons.get(key, ""))

    return NotableForecasts(tuple(map(explain, best)), tuple(map(explain, worst)))


def _first_of_each_market(rows: ForecastColumns, rows_in_order: np.ndarray) -> list[int]:
    """Return the first rows in an order that are of different markets."""
    first_row_of: dict[int, int] = {}
    for row in rows_in_order.tolist():
        first_row_of.setdefault(int(rows.market[row]), row)
        if len(first_row_of) == MOST:
            break
    return list(first_row_of.values())


@dataclass(frozen=True, slots=True)
class AgentSlice:
    """A slice of the season by name. `calibration` is None if nothing of it has resolved."""

    name: str
    gain: Gain
    calibration: Calibrated | None


def agent_slices(connection: Connection, agent: str, by: str) -> list[AgentSlice]:
    """Return the slices that hold rows of the agent, from the cache if current, else as of now.

    `by` is one of `PROFILE_SLICES`.
    """
    cached = PROFILE.read_current(connection, agent)
    if cached is not None:
        return _pair_slices(cached.slices[by], cached.calibrated[by])

    stated = read_forecast_columns(connection)
    own = answered_rows(rows_of_agent(stated, agent))
    skills = [part for part in slice_gains(stated, by) if part.gain.agent == agent]
    return _pair_slices(skills, slice_calibrations(own, by))


def _pair_slices(skills: Sequence[Slice], calibrated: Sequence[Calibrated]) -> list[AgentSlice]:
    """Return the gain of each slice together with its calibration."""
    by_name = {part.label: part for part in calibrated}
    return [AgentSlice(part.slice, part.gain, by_name.get(part.slice)) for part in skills]
