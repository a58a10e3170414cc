"""The reliability diagram: the curve of `corp`, and what chance alone would draw.

- Formula: the consistency band at a forecast f holds the middle `level` of x(f) over `draws` worlds in which
  the forecasts are calibrated: a curve outside it is more than chance. One number is drawn for all rows of a
  market, and a row comes true where it is below f; of the options of a market one does. `expected` is the
  mean MCB in those worlds, and `p_value` = (1 + worlds with an MCB at least as large) ÷ (1 + draws).
- Direction: a curve on the diagonal is best; a small p-value: it is off by more than chance.
- Range: 0 to 1.
- Edge cases: nothing resolved gives no points and NaN. Where there are more than `most` distinct forecasts,
  the diagram shows so many of them, evenly by rank, and the parts and deciles still use all. A decile
  without a forecast is left out; its band holds the share of YES in the same worlds.
- Limits: of twenty points one or two lie outside a band of 90% by chance, so look at `p_value` first, which
  is too small where an event's markets end alike.
- Source: Dimitriadis, Gneiting and Jordan (2021); Bröcker and Smith (2007) for bands by resampling; one draw
  a market is ours.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from arena.scores.rules._columns import DistinctForecasts, Floats, Places, distinct_forecasts, sum_by_value
from arena.scores.rules.calibration import BINS, DUST
from arena.scores.rules.reliability.corp import ScoreParts, brier_of, isotonic_curve, score_parts
from arena.scores.rules.reliability.reading import CalibrationReading, read_calibration

DRAWS = 1_000
LEVEL = 0.90
BAND = [(1 - LEVEL) / 2, (1 + LEVEL) / 2]
"""The shares of worlds below the band, and below its upper end."""
AT_ONCE = 4_000_000
"""The most drawn rows held at a time, which bounds the memory."""


@dataclass(frozen=True, slots=True)
class NullCalibration:
    """The miscalibration by chance alone, and how often it is as large as the observed one."""

    expected: float
    p_value: float
    draws: int


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """A distinct forecast: its rows, its share of the weight, its share of YES, the curve, and the band."""

    forecast: float
    rows: int
    weight: float
    observed: float
    recalibrated: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Decile:
    """Forecasts within a tenth of the scale: rows, mean forecast, share of YES, and the band of that share.

    `place` is 0 for forecasts below 10%, 9 for those of 90% and more.
    """

    place: int
    rows: int
    forecast: float
    observed: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class ReliabilityDiagram:
    """A reliability diagram: points and deciles from the lowest forecast up, parts, null and reading."""

    points: tuple[CurvePoint, ...]
    deciles: tuple[Decile, ...]
    parts: ScoreParts
    null: NullCalibration
    level: float
    sure: CalibrationReading | None


def null_calibration(
    forecast: ArrayLike,
    outcome: ArrayLike,
    rng: np.random.Generator,
    market: ArrayLike | None = None,
    draws: int = DRAWS,
) -> NullCalibration:
    """Return the distribution of miscalibration by chance if these forecasts are calibrated."""
    rows = distinct_forecasts(forecast, outcome, market)
    nothing = np.empty(0, np.intp)
    miscalibrations, _, _ = _draw_worlds(rows, rng, draws, nothing, nothing)
    return _null_of_draws(rows, miscalibrations)


def diagram(
    forecast: ArrayLike,
    outcome: ArrayLike,
    rng: np.random.Generator,
    market: ArrayLike | None = None,
    draws: int = DRAWS,
    most: int = 512,
    event: ArrayLike | None = None,
    before: Floats | None = None,
) -> ReliabilityDiagram:
    """Return the reliability diagram with its consistency band. Rows of one market are drawn together.

    If rows are options of a market, `before` is what each forecast gives to the options before its own: one
    of them comes true in each world. Without events each market is its own event, and without markets each
    row.
    """
    rows = distinct_forecasts(forecast, outcome, market, before)
    value_count = rows.value.size
    # At most so many distinct forecasts are shown, evenly by rank.
    evenly_spaced = np.linspace(0, value_count - 1, min(value_count, most)).round()
    places = np.unique(evenly_spaced.astype(np.intp))
    tenths = (rows.value * BINS + DUST).astype(np.intp)
    tenths = np.minimum(tenths, BINS - 1)
    occupied_tenths, tenth_starts = np.unique(tenths, return_index=True)
    miscalibrations, world_curves, world_shares = _draw_worlds(rows, rng, draws, places, tenth_starts)

    points: tuple[CurvePoint, ...] = ()
    deciles: tuple[Decile, ...] = ()
    if value_count:
        points = _curve_points(rows, places, world_curves)
        deciles = _deciles(rows, occupied_tenths, tenth_starts, world_shares)

    if event is None:
        event = np.arange(np.size(outcome)) if market is None else market
    return ReliabilityDiagram(
        points=points,
        deciles=deciles,
        parts=score_parts(rows, rows.came),
        null=_null_of_draws(rows, miscalibrations),
        level=LEVEL,
        sure=read_calibration(forecast, outcome, event),
    )


def _draw_worlds(
    rows: DistinctForecasts, rng: np.random.Generator, draws: int, places: Places, part_starts: Places
) -> tuple[Floats, Floats, Floats]:
    """Return the miscalibration of each world, its curve at these places, and its shares of YES in parts.

    `part_starts` is the first distinct forecast of each part.
    """
    miscalibration = [np.empty(0)]
    curves = [np.empty((0, places.size))]
    shares = [np.empty((0, part_starts.size))]

    for came in draw_outcomes(rows, draws, rng):
        recalibrated = isotonic_curve(came, rows.weight)
        excess = brier_of(rows, came, rows.value) - brier_of(rows, came, recalibrated)
        miscalibration.append(excess)
        curves.append(recalibrated[:, places])
        if part_starts.size:
            shares.append(_share_of_parts(came, rows, part_starts))

    return np.concatenate(miscalibration), np.concatenate(curves), np.concatenate(shares)


def _share_of_parts(came: Floats, rows: DistinctForecasts, starts: Places) -> Floats:
    """Return the share of each part's weight that came true; for many worlds, a line each."""
    sums = np.add.reduceat(came, starts, axis=-1)
    shares: Floats = sums / np.add.reduceat(rows.weight, starts)
    return shares


def _rows_of_values(rows: DistinctForecasts) -> Places:
    """Return the number of rows with each distinct forecast."""
    return np.diff(rows.start, append=rows.share.size)


def _null_of_draws(rows: DistinctForecasts, drawn: Floats) -> NullCalibration:
    """Return the null distribution of the miscalibration from the worlds drawn."""
    if not rows.value.size or not drawn.size:
        return NullCalibration(math.nan, math.nan, 0)
    observed = score_parts(rows, rows.came).miscalibration
    return NullCalibration(float(drawn.mean()), p_value(observed, drawn), drawn.size)


def _curve_points(rows: DistinctForecasts, places: Places, fits: Floats) -> tuple[CurvePoint, ...]:
    """Return the points of the curve at these places, with their bands from the curves of the worlds."""
    came = rows.came
    observed = came / rows.weight
    columns = [rows.value, _rows_of_values(rows), rows.weight, observed, isotonic_curve(came, rows.weight)]
    chosen = [column[places].tolist() for column in columns]

    low, high = np.quantile(fits, BAND, axis=0)
    points = zip(*chosen, low.tolist(), high.tolist(), strict=True)
    return tuple(CurvePoint(*values) for values in points)


def _deciles(rows: DistinctForecasts, places: Places, starts: Places, shares: Floats) -> tuple[Decile, ...]:
    """Return the deciles at these places, with their bands from the shares of YES in each world."""
    counts = np.add.reduceat(_rows_of_values(rows), starts)
    forecasts = _share_of_parts(rows.value * rows.weight, rows, starts)
    observed = _share_of_parts(rows.came, rows, starts)
    low, high = np.quantile(shares, BAND, axis=0)

    columns = [column.tolist() for column in (places, counts, forecasts, observed, low, high)]
    return tuple(Decile(*values) for values in zip(*columns, strict=True))


def draw_outcomes(rows: DistinctForecasts, draws: int, rng: np.random.Generator) -> Iterator[Floats]:
    """Yield batches of worlds: a line for each with the weight that came true on each distinct value.

    One uniform number u is drawn for all rows of a market, and a row comes true where u < f: so each row
    alone is a fair draw of its own probability (as by Bröcker and Smith, 2007), and rows of one market, which
    in truth end alike, do so here as far as their forecasts agree. The options of a market divide the range
    of u among them, so that one comes true.
    """
    if not rows.value.size:
        return

    row_count = rows.share.size
    markets = rows.markets
    counts = _rows_of_values(rows)
    is_each_alone = markets == row_count and bool((rows.share == rows.share[0]).all())
    width = counts.size if is_each_alone else row_count

    for count in batches(draws, width):
        if is_each_alone:
            # Of independent rows with the same forecast, the number that comes true is binomial.
            came = rng.binomial(counts, rows.value, (count, counts.size))
            yield came * rows.share[0]
        else:
            draw = rng.random((count, markets))[:, rows.market]
            if rows.before is not None:
                # Each option has a part of the range of its own, one after the other.
                draw = (draw - rows.before) % 1
            yield sum_by_value(rows, (draw < rows.forecast) * rows.share)


def batches(draws: int, width: int) -> Iterator[int]:
    """Yield the sizes of batches of worlds, none of which is too large.

    >>> list(batches(10, width=1_000_000))
    [4, 4, 2]
    """
    most = max(AT_ONCE // max(width, 1), 1)
    for done in range(0, draws, most):
        yield min(most, draws - done)


def p_value(observed: float, drawn: Floats) -> float:
    """Return the share of worlds at least as bad as the observed one, which is counted among them.

    >>> p_value(0.3, np.array([0.1, 0.2, 0.3]))
    0.5
    """
    # Rounding errors must not decide between equal values.
    as_bad = np.count_nonzero(drawn >= observed * (1 - 1e-12))
    return float((1 + as_bad) / (1 + drawn.size))
