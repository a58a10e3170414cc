"""CORP: how reliable probabilities are, from the recalibration that fits the outcomes best.

- Formula: x(f) is the isotonic regression of the outcomes on the forecasts: of all curves that never
  fall, the one closest to the outcomes in squares, found by pooling adjacent violators after equal
  forecasts have been pooled. With S̄(·) the mean Brier score and ō the share of YES,
  miscalibration MCB = S̄(f) − S̄(x), discrimination DSC = S̄(ō) − S̄(x), uncertainty UNC = S̄(ō) =
  ō·(1 − ō), and S̄(f) = MCB − DSC + UNC, exactly. With markets, each market weighs the same and its rows
  share that, so that the sum is the Brier score of the leaderboard.
  The consistency band at a forecast f holds x(f) in the middle `level` of `draws` worlds in which the
  forecasts are calibrated (`worlds`): a curve outside it is more than chance. `expected` is the mean MCB
  in those worlds, since chance alone gives more than 0, and `p_value` = (1 + worlds with an MCB at least
  as large) ÷ (1 + draws).
- Direction: lower is better for MCB, higher for DSC; UNC is the world's.
- Range: MCB 0 to 1, DSC 0 to UNC, UNC 0 to 0.25.
- Edge cases: nothing resolved gives NaN and no points. All forecasts equal give DSC 0; all outcomes equal
  give UNC and DSC 0. Unresolved rows have no recalibrated value (NaN). Where there are more than `most`
  distinct forecasts, the diagram shows so many of them, evenly by rank, and the parts still use all.
- Source: Dimitriadis, Gneiting and Jordan (2021); its consistency bands by resampling.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import isotonic_regression

from arena.scoring._columns import Floats, scored
from arena.scoring._pooled import Counted, Places, counted
from arena.scoring.calibrating.worlds import p_value, worlds

DRAWS = 1_000
LEVEL = 0.90


@dataclass(frozen=True, slots=True)
class Parts:
    """A Brier score and what it is made of: brier = miscalibration − discrimination + uncertainty."""

    brier: float
    miscalibration: float
    discrimination: float
    uncertainty: float


@dataclass(frozen=True, slots=True)
class Null:
    """What the miscalibration would be by chance alone, and how often it would be as large as it is."""

    expected: float
    p_value: float
    draws: int


@dataclass(frozen=True, slots=True)
class Point:
    """A distinct forecast: rows, share of all weight, share of YES, the curve there, and the band."""

    forecast: float
    rows: int
    weight: float
    observed: float
    recalibrated: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Diagram:
    """A reliability diagram: points from the lowest forecast up, the decomposition, and its null."""

    points: tuple[Point, ...]
    parts: Parts
    null: Null
    level: float


def recalibrated(forecast: ArrayLike, outcome: ArrayLike, market: ArrayLike | None = None) -> Floats:
    """The curve x(f) at each row; NaN where a row is not resolved.

    >>> recalibrated([0.1, 0.4, 0.3, 0.9], [0, 0, 1, 1])
    array([0. , 0.5, 0.5, 1. ])
    """
    rows = counted(forecast, outcome, market)
    found = np.full(np.atleast_1d(np.asarray(outcome)).size, np.nan)
    there = np.flatnonzero(scored(outcome)) if found.size else np.empty(0, np.intp)
    own = np.atleast_1d(np.asarray(forecast, dtype=np.float64))[there] if found.size else found
    found[there] = curve(rows.came, rows.weight)[np.searchsorted(rows.value, own)]
    return found


def decompose(forecast: ArrayLike, outcome: ArrayLike, market: ArrayLike | None = None) -> Parts:
    """The parts of a column's Brier score.

    >>> decompose([0.25, 0.25, 0.75, 0.75], [0, 0, 1, 0])
    Parts(brier=0.1875, miscalibration=0.0625, discrimination=0.0625, uncertainty=0.1875)
    """
    rows = counted(forecast, outcome, market)
    return parts(rows, rows.came)


def null(
    forecast: ArrayLike,
    outcome: ArrayLike,
    rng: np.random.Generator,
    market: ArrayLike | None = None,
    together: ArrayLike | None = None,
    draws: int = DRAWS,
) -> Null:
    """What chance alone makes of the miscalibration of a calibrated forecaster with these forecasts."""
    rows = counted(forecast, outcome, market, together)
    drawn, _ = _drawn(rows, rng, draws, np.empty(0, np.intp))
    return _null(rows, drawn)


def diagram(
    forecast: ArrayLike,
    outcome: ArrayLike,
    rng: np.random.Generator,
    market: ArrayLike | None = None,
    together: ArrayLike | None = None,
    draws: int = DRAWS,
    level: float = LEVEL,
    most: int = 512,
) -> Diagram:
    """The reliability diagram with its consistency band. Rows with one label in `together`, by default
    those of one market, are drawn as one.
    """
    rows = counted(forecast, outcome, market, together)
    size = rows.value.size
    shown = np.unique(np.linspace(0, size - 1, min(size, most)).round().astype(np.intp))
    drawn, fits = _drawn(rows, rng, draws, shown)
    points = _points(rows, shown, fits, level) if size else ()
    return Diagram(points, parts(rows, rows.came), _null(rows, drawn), level)


def curve(came: Floats, weight: Floats) -> Floats:
    """The isotonic regression at each distinct forecast, from what came true of the weight on each.

    >>> curve(np.array([1.0, 0.0, 3.0]), np.array([2.0, 2.0, 3.0]))
    array([0.25, 0.25, 1.  ])
    """
    if not weight.size:
        return weight
    return np.asarray(isotonic_regression(came / weight, weights=weight).x, dtype=np.float64)


def parts(rows: Counted, came: Floats) -> Parts:
    """The decomposition for these forecasts, had so much come true on each distinct value."""
    if not rows.value.size:
        return Parts(math.nan, math.nan, math.nan, math.nan)
    base = float(came.sum())
    whole, best = _brier(rows, came, rows.value), _brier(rows, came, curve(came, rows.weight))
    return Parts(whole, max(whole - best, 0.0), max(base * (1 - base) - best, 0.0), base * (1 - base))


def _brier(rows: Counted, came: Floats, forecast: Floats) -> float:
    return float(came @ (1 - forecast) ** 2 + (rows.weight - came) @ forecast**2)


def _drawn(rows: Counted, rng: np.random.Generator, draws: int, shown: Places) -> tuple[Floats, Floats]:
    """The miscalibration of each world, and its curve at the places shown."""
    found, fits = np.empty(draws), np.empty((draws, shown.size))
    each = (came for batch in worlds(rows, draws, rng) for came in batch)
    for number, came in enumerate(each):
        fit = curve(came, rows.weight)
        found[number] = _brier(rows, came, rows.value) - _brier(rows, came, fit)
        fits[number] = fit[shown]
    return found, fits


def _null(rows: Counted, drawn: Floats) -> Null:
    if not rows.value.size or not drawn.size:
        return Null(math.nan, math.nan, 0)
    found = parts(rows, rows.came).miscalibration
    return Null(float(drawn.mean()), p_value(found, drawn), drawn.size)


def _points(rows: Counted, shown: Places, fits: Floats, level: float) -> tuple[Point, ...]:
    came, sizes = rows.came, np.diff(np.append(rows.start, rows.share.size))
    fit, seen = curve(came, rows.weight), came / rows.weight
    low, high = np.quantile(fits, [(1 - level) / 2, (1 + level) / 2], axis=0)
    columns = (rows.value, sizes, rows.weight, seen, fit)
    chosen = [column[shown].tolist() for column in columns]
    return tuple(Point(*values) for values in zip(*chosen, low.tolist(), high.tolist(), strict=True))
