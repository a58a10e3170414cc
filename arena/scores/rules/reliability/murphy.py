"""Murphy's decomposition: a Brier score as reliability, resolution and uncertainty.

- Formula: over the distinct values v that were forecast, with the share w(v) of all weight on each, the
  share ō(v) of YES among its outcomes and the share ō of YES in all, reliability = Σ w(v)·(v − ō(v))²,
  resolution = Σ w(v)·(ō(v) − ō)², uncertainty = ō·(1 − ō), and Brier score = reliability − resolution +
  uncertainty, exactly. Markets weigh as in `corp`.
- Direction: lower is better for reliability, higher for resolution; uncertainty is the world's.
- Range: reliability 0 to 1, resolution 0 to uncertainty, uncertainty 0 to 0.25.
- Edge cases: nothing resolved gives NaN throughout.
- Limits: where nearly every forecast is distinct, reliability and resolution say nothing; use `corp`.
- Source: Murphy (1973), over distinct values, so nothing is left over.
"""

import math
from dataclasses import dataclass

from numpy.typing import ArrayLike

from arena.scores.rules._columns import distinct_forecasts


@dataclass(frozen=True, slots=True)
class Murphy:
    """The three parts and their sum."""

    brier: float
    reliability: float
    resolution: float
    uncertainty: float


def decompose(forecast: ArrayLike, outcome: ArrayLike, market: ArrayLike | None = None) -> Murphy:
    """Return the parts of a column's Brier score."""
    rows = distinct_forecasts(forecast, outcome, market)
    if not rows.value.size:
        return Murphy(math.nan, math.nan, math.nan, math.nan)

    came = rows.came
    weight = rows.weight
    observed = came / weight
    base_rate = came.sum()
    brier = came @ (1 - rows.value) ** 2 + (weight - came) @ rows.value**2
    reliability = weight @ (rows.value - observed) ** 2
    resolution = weight @ (observed - base_rate) ** 2
    uncertainty = base_rate * (1 - base_rate)
    return Murphy(float(brier), float(reliability), float(resolution), float(uncertainty))
