"""An agent in depth over all its cohorts, and of every agent the few figures that a board shows beside."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isnan

import numpy as np
from pydantic import TypeAdapter

from arena.belief import stated as probability
from arena.frame import Bets, Floats, Stated, evidence, of_agent, take
from arena.portrait import Portrait, Sitting, drawn
from arena.prepared.briefs import METHOD, Brief
from arena.prepared.kept import Kept, kept
from arena.prepared.material import Material
from arena.scoring.calibrating import slices as calibrating
from arena.scoring.calibrating.reliability import Diagram, diagram
from arena.scoring.calibrating.slices import Slice as Calibrated
from arena.scoring.stating.blind import Blind
from arena.slices import BY, Slice
from arena.store.frame import Connection
from arena.store.rollups import basis_of

SLICES = ("category", "horizon", "price", "cohort")
WORLDS = 250
"""The draws by which the calibration of a part is judged."""
Parts = Mapping[str, Sequence[Slice]]
BINS = 20
MOST = 5
"""The forecasts that are named as the best, and as the worst."""


@dataclass(frozen=True, slots=True)
class Remark:
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
class Profile:
    """An agent: its portrait, skill and calibration in parts, and what stands out.

    `slices` and `calibrated` are by category, horizon, price and cohort; `histogram` counts the stated
    probabilities in twenty bins of equal width, resolved or not; `anchored` and `implied` are the diagrams
    of its bets in those readings.
    """

    portrait: Portrait
    anchored: Diagram
    implied: Diagram
    histogram: tuple[int, ...]
    slices: dict[str, tuple[Slice, ...]]
    calibrated: dict[str, tuple[Calibrated, ...]]
    best: tuple[Remark, ...]
    worst: tuple[Remark, ...]


FORM = TypeAdapter(Profile)


def kept_profile(connection: Connection, agent: str) -> Kept[Profile] | None:
    """An agent's profile as it was worked out last."""
    return kept(connection, name_of(agent), basis_of(connection, METHOD), FORM)


def name_of(agent: str) -> str:
    """Under which name a profile is kept."""
    return f"profile/{agent}"


def profile(material: Material, agent: str, parts: Parts, blind: Blind, seed: int = 0) -> Profile:
    """An agent's profile, worked out; the same seed gives the same digits. `parts` are those of everyone."""
    rows, bets = of_agent(material.stated, agent), of_agent(material.bets, agent)
    accounts = material.traded.get(agent, ())
    sitting = Sitting(agent, rows, accounts, material.families, blind)
    counted = evidence(rows)
    said = probability(rows.forecast[rows.stated])
    best, worst = _remarks(take(counted, counted.stated & (counted.outcome >= 0)), bets, material)
    return Profile(
        portrait=drawn(sitting, seed),
        anchored=_diagram(bets, bets.anchored, seed + 1),
        implied=_diagram(bets, bets.implied, seed + 2),
        histogram=tuple(np.histogram(said, bins=BINS, range=(0, 1))[0].tolist()),
        slices={by: tuple(one for one in parts[by] if one.gain.agent == agent) for by in SLICES},
        calibrated={by: tuple(calibrated(counted, by, seed)) for by in SLICES},
        best=best,
        worst=worst,
    )


def brief(found: Profile) -> Brief:
    """The few figures of a profile that stand on a board."""
    drawn, money = found.portrait.calibration, found.portrait.money
    known = not isnan(drawn.parts.miscalibration)
    return Brief(
        agent=found.portrait.agent,
        luck=None if money is None else money.luck,
        miscalibration=drawn.parts.miscalibration if known else None,
        miscalibration_p=drawn.null.p_value if known else None,
    )


def calibrated(rows: Stated, by: str, seed: int = 0) -> list[Calibrated]:
    """How calibrated some rows are in each slice that holds any of them, in the order of the slices."""
    names, place = BY[by](rows)
    labels = np.array(names, dtype=np.str_)[place]
    found = calibrating.by(labels, probability(rows.forecast), rows.outcome, seed, rows.market, WORLDS)
    return sorted(found, key=lambda one: list(names).index(one.label))


def _diagram(bets: Bets, reading: Floats, seed: int) -> Diagram:
    return diagram(reading, bets.outcome, np.random.default_rng([seed, 1]), bets.market)


def _remarks(rows: Stated, bets: Bets, material: Material) -> tuple[tuple[Remark, ...], tuple[Remark, ...]]:
    """What was gained most by, and what was lost most by; no market twice on either side."""
    said, price = probability(rows.forecast), probability(rows.mid)
    gain = (price - rows.outcome) ** 2 - (said - rows.outcome) ** 2
    stakes = _stakes(bets)

    def remark(row: int) -> Remark:
        name, key = rows.markets[rows.market[row]], (int(rows.cohort[row]), int(rows.round[row]))
        side, staked = stakes.get((*key, name), ("", 0))
        chances = float(said[row]), float(price[row])
        question = material.pages[name].question
        return Remark(*key, name, question, *chances, side, staked, int(rows.outcome[row]), float(gain[row]))

    order = np.argsort(-gain, kind="stable")
    best, worst = (
        _firsts(rows, places) for places in (order[gain[order] > 0], order[::-1][gain[order[::-1]] < 0])
    )
    return tuple(map(remark, best)), tuple(map(remark, worst))


def _firsts(rows: Stated, order: np.ndarray) -> list[int]:
    """The first rows in an order, of different markets."""
    found: dict[int, int] = {}
    for row in order.tolist():
        found.setdefault(int(rows.market[row]), row)
        if len(found) == MOST:
            break
    return list(found.values())


def _stakes(bets: Bets) -> dict[tuple[int, int, str], tuple[str, int]]:
    """What was bet by cohort, round and market: on which side, and how much."""
    columns = (bets.cohort, bets.round, bets.market, bets.yes, bets.amount)
    return {
        (cohort, number, bets.markets[market]): ("YES" if yes else "NO", amount)
        for cohort, number, market, yes, amount in zip(*(x.tolist() for x in columns), strict=True)
    }
