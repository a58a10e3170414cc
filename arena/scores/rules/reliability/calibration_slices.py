"""Calibration in parts: by price, horizon, category, cohort, or whatever labels rows.

- Formula: the decomposition of `corp` and its null (`reliability`), on the rows of each label alone. Price
  bands are tenths of the market's mid, half-open, [0, .1), [.1, .2) … [.9, 1]; horizons are the time from
  the forecast to the market's close: under a day, 1 to 7 days, 1 to 4 weeks, 4 to 13 weeks, longer.
- Direction: as in `corp`.
- Range: as in `corp`.
- Edge cases: labels without a resolved row are absent. A market whose rows fall under several labels counts
  in each, with the rows that it has there.
- Limits: with many labels some have a small p-value by chance: multiply the smallest by their number.
- Source: ours; Bonferroni for the advice.
"""

import zlib
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike

from arena.scores.rules._columns import as_floats, check_probabilities, distinct_forecasts
from arena.scores.rules.calibration import EDGES
from arena.scores.rules.reliability.corp import ScoreParts, decompose
from arena.scores.rules.reliability.diagram import DRAWS, NullCalibration, null_calibration

PRICE_BANDS = tuple(f"{low:.0%} to {high:.0%}" for low, high in pairwise(EDGES))
HORIZONS = ("under a day", "1 to 7 days", "1 to 4 weeks", "4 to 13 weeks", "longer")
HORIZON_DAYS = (1.0, 7.0, 28.0, 91.0)


@dataclass(frozen=True, slots=True)
class CalibrationSlice:
    """The rows of one label: the numbers of forecasts and markets, the decomposition, and its null."""

    label: str
    forecasts: int
    markets: int
    parts: ScoreParts
    null: NullCalibration


def calibration_by_label(
    label: ArrayLike,
    forecast: ArrayLike,
    outcome: ArrayLike,
    seed: int,
    market: ArrayLike | None = None,
    draws: int = DRAWS,
) -> list[CalibrationSlice]:
    """Return the calibration under each label, in the order of the labels' first rows.

    A label's draws depend only on the seed and its name.
    """
    forecasts = check_probabilities(forecast)
    outcomes = as_floats(outcome)
    labels = np.atleast_1d(np.asarray(label).astype(str))
    markets = np.arange(forecasts.size) if market is None else np.asarray(market)

    slices = []
    for name in dict.fromkeys(labels.tolist()):
        is_labelled = labels == name
        own_columns = (forecasts[is_labelled], outcomes[is_labelled])
        own_markets = markets[is_labelled]
        rows = distinct_forecasts(*own_columns, own_markets)
        if rows.value.size:
            rng = np.random.default_rng([seed, zlib.crc32(name.encode())])
            score_parts = decompose(*own_columns, own_markets)
            chance_alone = null_calibration(*own_columns, rng, own_markets, draws=draws)
            slices.append(CalibrationSlice(name, rows.share.size, rows.markets, score_parts, chance_alone))
    return slices
