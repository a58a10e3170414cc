"""The interval of a plain mean score, by event.

- Formula: values are averaged within questions first. Event g has n_g questions and a sum s_g of their
  values; the mean is m = Σ s_g / N, its standard error √(G/(G − 1) · Σ (s_g − n_g·m)²) / N over the G events,
  and the 95% interval m ± t·SE, t of G* − 1 degrees of freedom, where G* = N² / Σ n_g² is the effective
  number of events.
- Direction: narrower is better known.
- Range: that of the score, or a little beyond.
- Edge cases: under 20 effective events there is no interval; neither has a mean that is infinite.
- Limits: it doesn't say whether two forecasters differ: compare those by their differences on the same
  questions.
- Source: Liang and Zeger (1986) for the error; Kish (1965) for the effective number; Wallace's
  approximation (1959) for t, within 0.001 from 19 degrees on.
"""

from dataclasses import dataclass

import numpy as np

from arena.scores.rules._columns import Floats, different
from arena.scores.rules.comparisons.events import ENOUGH_EVENTS, Ints

NORMAL = 1.959963984540054


@dataclass(frozen=True, slots=True)
class MeanIntervals:
    """Means with intervals, one entry a forecaster; NaN if undefined."""

    mean: Floats
    low: Floats
    high: Floats
    effective: Floats


def t_quantile(freedom: Floats) -> Floats:
    """Return the 97.5% quantile of Student's t.

    >>> t_quantile(np.array([19.0, 100.0])).round(3)
    array([2.093, 1.984])
    """
    z = NORMAL * (8 * freedom + 3) / (8 * freedom + 1)
    square = freedom * np.expm1(z * z / freedom)
    return np.sqrt(square)


def mean_intervals(who: Ints, event: Ints, value: Floats, forecasters: int) -> MeanIntervals:
    """Return the mean of each forecaster, given a row for each of their questions; NaN is no value.

    >>> rows = np.arange(40)
    >>> found = mean_intervals(0 * rows, rows, rows % 2 + 0.0, 1)
    >>> found.mean.tolist(), found.low.round(3).tolist(), found.high.round(3).tolist()
    ([0.5], [0.338], [0.662])
    """
    is_known = ~np.isnan(value)
    known = np.flatnonzero(is_known)
    who = who[known]
    event = event[known]
    value = value[known]
    count = np.bincount(who, minlength=forecasters).astype(np.float64)
    total = np.bincount(who, value, minlength=forecasters)

    # A pair is a forecaster and an event.
    events_at_most = event.max(initial=0) + 1
    pair, pair_of_row = different(who * events_at_most + event)
    forecaster_of_pair = pair // events_at_most
    questions = np.bincount(pair_of_row, minlength=pair.size).astype(np.float64)
    pair_total = np.bincount(pair_of_row, value, minlength=pair.size)
    events = np.bincount(forecaster_of_pair, minlength=forecasters).astype(np.float64)
    squares = np.bincount(forecaster_of_pair, questions**2, minlength=forecasters)

    # A forecaster without a value has a mean of 0 / 0, which is NaN.
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = total / count
        effective = count**2 / squares
        deviation = pair_total - questions * mean[forecaster_of_pair]
        squared_deviations = np.bincount(forecaster_of_pair, deviation**2, minlength=forecasters)
        error = np.sqrt(squared_deviations * events / (events - 1))
        t = t_quantile(effective - 1)
        half_width = t * error / count
        has_enough_events = effective >= ENOUGH_EVENTS - 1e-9
        is_enough = has_enough_events & np.isfinite(mean)

    return MeanIntervals(
        mean=mean,
        low=np.where(is_enough, mean - half_width, np.nan),
        high=np.where(is_enough, mean + half_width, np.nan),
        effective=np.where(count > 0, effective, 0.0),
    )
