"""An agent in depth over all its cohorts, and of every agent the few figures that a board shows beside.

Of every agent in depth the few figures that a board shows beside its scores.

One agent in parts of the season: its skill and its calibration in each, side by side.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isnan

import numpy as np
from pydantic import TypeAdapter

from arena.record.model.columns import (
    BetColumns,
    Floats,
    ForecastColumns,
    evidence_rows,
    rows_of_agent,
    take_rows,
)
from arena.record.model.columns import stated_belief as probability
from arena.record.queries.forecasts import Connection, read_forecast_columns
from arena.record.write.rollups import scores_basis
from arena.scores.agent_profile import AgentProfile, ProfileInputs, build_profile
from arena.scores.cache.entry import CacheEntry, read_entry
from arena.scores.cache.inputs import CacheInputs
from arena.scores.rules.comparisons.gain import Gain
from arena.scores.rules.money.luck import Luck
from arena.scores.rules.reliability import calibration_slices as calibrating
from arena.scores.rules.reliability.calibration_slices import CalibrationSlice as Calibrated
from arena.scores.rules.reliability.diagram import ReliabilityDiagram, diagram
from arena.scores.rules.statements.blind_forecasts import BlindEffect
from arena.scores.slices import BY, Slice, slice_gains

PROFILES_METHOD = "profiles 1"
"""The way in which profiles are worked out, and so what is taken from them."""
FIGURES_NAME = "briefs"


@dataclass(frozen=True, slots=True)
class ProfileFigures:
    """What a board shows of an agent beside its scores; None where nothing can be said yet."""

    agent: str
    luck: Luck | None
    miscalibration: float | None
    miscalibration_p: float | None


FIGURES_FORM = TypeAdapter(tuple[ProfileFigures, ...])


def cached_figures(connection: Connection) -> CacheEntry[tuple[ProfileFigures, ...]] | None:
    """The brief of every agent, in line-up order, as they were worked out last."""
    return read_entry(connection, FIGURES_NAME, scores_basis(connection, PROFILES_METHOD), FIGURES_FORM)


SLICES = ("category", "horizon", "price", "cohort")
WORLDS = 250
"""The draws by which the calibration of a part is judged."""
Parts = Mapping[str, Sequence[Slice]]
BINS = 20
MOST = 5
"""The forecasts that are named as the best, and as the worst."""


@dataclass(frozen=True, slots=True)
class NotableForecast:
    """A forecast that stands out: what was claimed, at which price, what was staked on it, what happened.

    `gain` is the price's squared error less the forecast's; `staked` in millionths on `side`, 0 and "" where
    nothing was.
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


@dataclass(frozen=True, slots=True)
class DetailedProfile:
    """An agent: its portrait, skill and calibration in parts, and what stands out.

    `slices` and `slice_calibrations` are by category, horizon, price and cohort; `histogram` counts the
    stated
    probabilities in twenty bins of equal width, resolved or not; `anchored` and `implied` are the diagrams
    of its bets in those readings.
    """

    portrait: AgentProfile
    anchored: ReliabilityDiagram
    implied: ReliabilityDiagram
    histogram: tuple[int, ...]
    slices: dict[str, tuple[Slice, ...]]
    calibrated: dict[str, tuple[Calibrated, ...]]
    best: tuple[NotableForecast, ...]
    worst: tuple[NotableForecast, ...]


PROFILE_FORM = TypeAdapter(DetailedProfile)


def cached_profile(connection: Connection, agent: str) -> CacheEntry[DetailedProfile] | None:
    """An agent's profile as it was worked out last."""
    return read_entry(
        connection, profile_name(agent), scores_basis(connection, PROFILES_METHOD), PROFILE_FORM
    )


def profile_name(agent: str) -> str:
    """Under which name a profile is kept."""
    return f"profile/{agent}"


def compute_profile(
    material: CacheInputs, agent: str, parts: Parts, blind: BlindEffect, seed: int = 0
) -> DetailedProfile:
    """An agent's profile, worked out; the same seed gives the same digits. `parts` are those of everyone."""
    rows, bets = rows_of_agent(material.stated, agent), rows_of_agent(material.bets, agent)
    accounts = material.traded.get(agent, ())
    sitting = ProfileInputs(agent, rows, accounts, material.families, blind)
    counted = evidence_rows(rows)
    said = probability(rows.forecast[rows.stated])
    best, worst = _notable_forecasts(
        take_rows(counted, counted.stated & (counted.outcome >= 0)), bets, material
    )
    return DetailedProfile(
        portrait=build_profile(sitting, seed),
        anchored=_diagram(bets, bets.anchored, seed + 1),
        implied=_diagram(bets, bets.implied, seed + 2),
        histogram=tuple(np.histogram(said, bins=BINS, range=(0, 1))[0].tolist()),
        slices={by: tuple(one for one in parts[by] if one.gain.agent == agent) for by in SLICES},
        calibrated={by: tuple(slice_calibrations(counted, by, seed)) for by in SLICES},
        best=best,
        worst=worst,
    )


def profile_figures(found: DetailedProfile) -> ProfileFigures:
    """The few figures of a profile that stand on a board."""
    drawn, money = found.portrait.calibration, found.portrait.money
    known = not isnan(drawn.parts.miscalibration)
    return ProfileFigures(
        agent=found.portrait.agent,
        luck=None if money is None else money.luck,
        miscalibration=drawn.parts.miscalibration if known else None,
        miscalibration_p=drawn.null.p_value if known else None,
    )


def slice_calibrations(rows: ForecastColumns, by: str, seed: int = 0) -> list[Calibrated]:
    """How calibrated some rows are in each slice that holds any of them, in the order of the slices."""
    names, place = BY[by](rows)
    labels = np.array(names, dtype=np.str_)[place]
    found = calibrating.by(labels, probability(rows.forecast), rows.outcome, seed, rows.market, WORLDS)
    return sorted(found, key=lambda one: list(names).index(one.label))


def _diagram(bets: BetColumns, reading: Floats, seed: int) -> ReliabilityDiagram:
    return diagram(reading, bets.outcome, np.random.default_rng([seed, 1]), bets.market)


def _notable_forecasts(
    rows: ForecastColumns, bets: BetColumns, material: CacheInputs
) -> tuple[tuple[NotableForecast, ...], tuple[NotableForecast, ...]]:
    """What was gained most by, and what was lost most by; no market twice on either side."""
    said, price = probability(rows.forecast), probability(rows.mid)
    gain = (price - rows.outcome) ** 2 - (said - rows.outcome) ** 2
    stakes = _stakes(bets)

    def remark(row: int) -> NotableForecast:
        name, key = rows.markets[rows.market[row]], (int(rows.cohort[row]), int(rows.round[row]))
        side, staked = stakes.get((*key, name), ("", 0))
        chances = float(said[row]), float(price[row])
        question = material.pages[name].question
        return NotableForecast(
            *key, name, question, *chances, side, staked, int(rows.outcome[row]), float(gain[row])
        )

    order = np.argsort(-gain, kind="stable")
    best, worst = (
        _first_of_each_market(rows, places)
        for places in (order[gain[order] > 0], order[::-1][gain[order[::-1]] < 0])
    )
    return tuple(map(remark, best)), tuple(map(remark, worst))


def _first_of_each_market(rows: ForecastColumns, order: np.ndarray) -> list[int]:
    """The first rows in an order, of different markets."""
    found: dict[int, int] = {}
    for row in order.tolist():
        found.setdefault(int(rows.market[row]), row)
        if len(found) == MOST:
            break
    return list(found.values())


def _stakes(bets: BetColumns) -> dict[tuple[int, int, str], tuple[str, int]]:
    """What was bet by cohort, round and market: on which side, and how much."""
    columns = (bets.cohort, bets.round, bets.market, bets.yes, bets.amount)
    return {
        (cohort, number, bets.markets[market]): ("YES" if yes else "NO", amount)
        for cohort, number, market, yes, amount in zip(*(x.tolist() for x in columns), strict=True)
    }


@dataclass(frozen=True, slots=True)
class AgentSlice:
    """A part of the season by its name. `calibration` is None where nothing of it is resolved."""

    name: str
    gain: Gain
    calibration: Calibrated | None


def agent_slices(connection: Connection, agent: str, by: str) -> list[AgentSlice]:
    """The parts that hold something of the agent, as they were worked out last, or now where that is old.

    `by` is one of `arena.scores.cache.profiles.SLICES`.
    """
    kept = cached_profile(connection, agent)
    if kept is not None and kept.fresh:
        return _pair_slices(kept.value.slices[by], kept.value.calibrated[by])
    stated = read_forecast_columns(connection)
    rows = rows_of_agent(stated, agent)
    skills = [one for one in slice_gains(stated, by) if one.gain.agent == agent]
    return _pair_slices(skills, slice_calibrations(evidence_rows(rows), by))


def _pair_slices(skills: Sequence[Slice], found: Sequence[Calibrated]) -> list[AgentSlice]:
    by_name = {one.label: one for one in found}
    return [AgentSlice(one.slice, one.gain, by_name.get(one.slice)) for one in skills]
